// The prime field of p = 2^64 − 2^32 + 1. Elements are its numbers as they are: there is no other form.
//
// Invariant: every function takes any 64-bit number, as memory may have, and returns one in [0, p), unless stated
// otherwise. Arithmetic uses
// 2^64 = 2^32 − 1 and 2^96 = −1 modulo p. kernels/mod.rs defines FIELD, LIMBS = 2, and the lists of limbs.

typedef struct ALIGNED(8) {
    u32 limb[2];
} F(t);

// Holds a sum of products that is reduced once: 2³² products of two 64-bit numbers fit.
typedef struct {
    u32 limb[5];
} F(lazy_t);

// Holds a sum of products that is reduced once: 2³² products of a 64-bit and a 32-bit number fit.
typedef struct {
    u32 limb[4];
} F(short_t);

// 2^64 mod p, which is also 2^64 − p.
#define GOLDILOCKS_EXCESS 0xffffffffu
#ifdef __CUDACC__
#define GOLDILOCKS_HIGH(a, b) __umul64hi(a, b)
#else
#define GOLDILOCKS_HIGH(a, b) mul_hi(a, b)
#endif

DEVICE u64 F(number)(F(t) a) {
    return (u64)a.limb[1] << 32 | a.limb[0];
}

// Returns the element with this number as it is.
DEVICE F(t) F(of_number)(u64 number) {
    F(t) r;
    r.limb[0] = (u32)number;
    r.limb[1] = (u32)(number >> 32);
    return r;
}

// Returns the number in [0, p): numbers from p on plus 2^64 − p leave 64 bits.
DEVICE u64 F(tight_number)(u64 number) {
    u64 more = number + GOLDILOCKS_EXCESS;
    return more < number ? more : number;
}

DEVICE F(t) F(zero)(void) {
    return F(of_number)(0);
}

DEVICE F(t) F(one)(void) {
    return F(of_number)(1);
}

DEVICE F(t) F(add)(F(t) a, F(t) b) {
    u64 first = F(tight_number)(F(number)(a)), sum = first + F(tight_number)(F(number)(b));
    // If the sum has left 64 bits, it is below p: 2p − 2^64 < p.
    return F(of_number)(sum < first ? sum + GOLDILOCKS_EXCESS : F(tight_number)(sum));
}

DEVICE F(t) F(sub)(F(t) a, F(t) b) {
    u64 first = F(number)(a), second = F(tight_number)(F(number)(b)), difference = first - second;
    return F(of_number)(first < second ? difference - GOLDILOCKS_EXCESS : F(tight_number)(difference));
}

DEVICE F(t) F(dbl)(F(t) a) {
    return F(add)(a, a);
}

DEVICE F(t) F(neg)(F(t) a) {
    return F(sub)(F(zero)(), a);
}

// Returns a number congruent to low + 2^64·high modulo p, of 64 bits. With high = h0 + 2^32·h1 it is low − h1 +
// (2^32 − 1)·h0.
DEVICE u64 F(fold)(u64 low, u64 high) {
    u64 h1 = high >> 32, h0 = high & GOLDILOCKS_EXCESS, rest = low - h1;
    if (low < h1) rest -= GOLDILOCKS_EXCESS;
    u64 sum = rest + ((h0 << 32) - h0);
    if (sum < rest) sum += GOLDILOCKS_EXCESS;
    return sum;
}

// Returns low + 2^64·high mod p.
DEVICE F(t) F(of_two)(u64 low, u64 high) {
    return F(of_number)(F(tight_number)(F(fold)(low, high)));
}

DEVICE F(t) F(mul)(F(t) a, F(t) b) {
    u64 first = F(number)(a), second = F(number)(b);
    return F(of_two)(first * second, GOLDILOCKS_HIGH(first, second));
}

// Returns any number congruent to a·b, not only that below p.
DEVICE F(t) F(mul_loose)(F(t) a, F(t) b) {
    u64 first = F(number)(a), second = F(number)(b);
    return F(of_number)(F(fold)(first * second, GOLDILOCKS_HIGH(first, second)));
}

DEVICE F(t) F(sqr)(F(t) a) {
    return F(mul)(a, a);
}

DEVICE F(t) F(to_canonical)(F(t) a) {
    return F(of_number)(F(tight_number)(F(number)(a)));
}

DEVICE F(lazy_t) F(lazy_zero)(void) {
    F(lazy_t) sum;
#pragma unroll
    for (int i = 0; i < 5; i++) sum.limb[i] = 0;
    return sum;
}

DEVICE F(short_t) F(short_zero)(void) {
    F(short_t) sum;
#pragma unroll
    for (int i = 0; i < 4; i++) sum.limb[i] = 0;
    return sum;
}

// Returns the first two limbs of `limb` as a number.
DEVICE u64 F(pair)(const u32 *limb) {
    return (u64)limb[1] << 32 | limb[0];
}

#ifdef HAS_PTX

// Adds a·b to `sum`.
DEVICE void F(lazy_add)(F(lazy_t) *sum, F(t) a, F(t) b) {
    u32 *s = sum->limb;
    s[0] = ptx_mad_lo_cc(a.limb[0], b.limb[0], s[0]);
    s[1] = ptx_madc_hi_cc(a.limb[0], b.limb[0], s[1]);
    s[2] = ptx_madc_lo_cc(a.limb[1], b.limb[1], s[2]);
    s[3] = ptx_madc_hi_cc(a.limb[1], b.limb[1], s[3]);
    s[4] = ptx_addc(s[4], 0);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        s[1] = ptx_mad_lo_cc(a.limb[i], b.limb[1 - i], s[1]);
        s[2] = ptx_madc_hi_cc(a.limb[i], b.limb[1 - i], s[2]);
        s[3] = ptx_addc_cc(s[3], 0);
        s[4] = ptx_addc(s[4], 0);
    }
}

DEVICE void F(short_add)(F(short_t) *sum, u32 a, F(t) b) {
    u32 *s = sum->limb;
    s[0] = ptx_mad_lo_cc(b.limb[0], a, s[0]);
    s[1] = ptx_madc_hi_cc(b.limb[0], a, s[1]);
    s[2] = ptx_addc_cc(s[2], 0);
    s[3] = ptx_addc(s[3], 0);
    s[1] = ptx_mad_lo_cc(b.limb[1], a, s[1]);
    s[2] = ptx_madc_hi_cc(b.limb[1], a, s[2]);
    s[3] = ptx_addc(s[3], 0);
}

#else

// Adds a 128-bit number to four limbs, and returns the carry.
DEVICE u32 F(add_limbs)(u32 *limb, u64 low, u64 high) {
    u64 first = F(pair)(limb) + low, second = F(pair)(limb + 2), carry = first < low, sum = second + high;
    u32 out = sum < high;
    sum += carry;
    out += sum < carry;
    limb[0] = (u32)first;
    limb[1] = (u32)(first >> 32);
    limb[2] = (u32)sum;
    limb[3] = (u32)(sum >> 32);
    return out;
}

// Adds a·b to `sum`.
DEVICE void F(lazy_add)(F(lazy_t) *sum, F(t) a, F(t) b) {
    u64 first = F(number)(a), second = F(number)(b);
    sum->limb[4] += F(add_limbs)(sum->limb, first * second, GOLDILOCKS_HIGH(first, second));
}

DEVICE void F(short_add)(F(short_t) *sum, u32 a, F(t) b) {
    u64 first = a, second = F(number)(b);
    (void)F(add_limbs)(sum->limb, first * second, GOLDILOCKS_HIGH(first, second));
}

#endif

DEVICE void F(short_add_element)(F(short_t) *sum, F(t) b) {
    F(short_add)(sum, 1, b);
}

// Returns the sum mod p: 2^128 is −2^32.
DEVICE F(t) F(lazy_value)(F(lazy_t) sum) {
    return F(sub)(F(of_two)(F(pair)(sum.limb), F(pair)(sum.limb + 2)), F(of_number)((u64)sum.limb[4] << 32));
}

// Sums of few products are lazy sums.
typedef F(lazy_t) F(few_t);

DEVICE F(few_t) F(few_zero)(void) {
    return F(lazy_zero)();
}

DEVICE void F(few_add)(F(few_t) *sum, F(t) a, F(t) b) {
    F(lazy_add)(sum, a, b);
}

DEVICE F(t) F(few_value)(F(few_t) sum) {
    return F(lazy_value)(sum);
}

DEVICE F(t) F(short_value)(F(short_t) sum) {
    return F(of_two)(F(pair)(sum.limb), F(pair)(sum.limb + 2));
}

DEVICE F(t) F(from_word)(u32 word) {
    return F(of_number)(word);
}

// Returns the distance of `a` to 0 or to p, whichever is nearer; *negative is 1 if that is p.
DEVICE F(t) F(magnitude)(F(t) a, u32 *negative) {
    F(t) same = F(to_canonical)(a), other = F(neg)(same);
    *negative = F(number)(other) < F(number)(same);
    return *negative ? other : same;
}

#undef GOLDILOCKS_EXCESS
#undef GOLDILOCKS_HIGH
