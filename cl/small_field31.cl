// A prime field F_p, 2^30 < p < 2^31, in Montgomery form: an element is R·a mod p, R = 2^32, one word of memory.
//
// Invariant: every function takes and returns elements in [0, p), unless stated otherwise. One factor of a product may
// be any word. kernels/mod.rs defines FIELD, LIMBS = 1, INV32 = −p⁻¹ mod 2³², and the lists of limbs.

typedef struct {
    u32 limb[1];
} F(t);

// Holds a sum of products that is reduced once. It is below 2^96: 2³⁴ products of elements fit, or 2³³ of elements and
// 32-bit numbers.
typedef struct {
    u32 limb[3];
} F(lazy_t);
typedef F(lazy_t) F(short_t);

// Returns `word` itself as limb, not its element.
DEVICE F(t) F(of_word)(u32 word) {
    F(t) r;
    r.limb[0] = word;
    return r;
}

DEVICE F(t) F(zero)(void) {
    return F(of_word)(0);
}

DEVICE u32 F(modulus)(void) {
    const u32 p[1] = P_LIMBS;
    return p[0];
}

DEVICE F(t) F(one)(void) {
    const u32 one[1] = ONE_LIMBS;
    return F(of_word)(one[0]);
}

DEVICE F(t) F(r2)(void) {
    const u32 r2[1] = R2_LIMBS;
    return F(of_word)(r2[0]);
}

// Returns a − p if a ≥ p, else a, for a < 2p: the difference of a smaller number wraps to a larger one.
DEVICE F(t) F(reduce_word)(u32 a) {
    const u32 p[1] = P_LIMBS;
    u32 less = a - p[0];
    return F(of_word)(less < a ? less : a);
}

DEVICE F(t) F(add)(F(t) a, F(t) b) {
    return F(reduce_word)(a.limb[0] + b.limb[0]);
}

DEVICE F(t) F(sub)(F(t) a, F(t) b) {
    const u32 p[1] = P_LIMBS;
    u32 difference = a.limb[0] - b.limb[0], more = difference + p[0];
    return F(of_word)(more < difference ? more : difference);
}

DEVICE F(t) F(dbl)(F(t) a) {
    return F(add)(a, a);
}

DEVICE F(t) F(neg)(F(t) a) {
    return F(sub)(F(zero)(), a);
}

// Returns a number congruent to a/R modulo p, below p + a/R, for a < R·p: a + m·p < 2R·p < 2^64.
DEVICE u32 F(redc_word)(u64 a) {
    const u32 p[1] = P_LIMBS;
    u32 m = (u32)a * INV32;
    return (u32)((a + (u64)m * p[0]) >> 32);
}

// Returns a/R mod p, for a < R·p.
DEVICE F(t) F(redc)(u64 a) {
    return F(reduce_word)(F(redc_word)(a));
}

DEVICE F(t) F(mul)(F(t) a, F(t) b) {
    return F(redc)((u64)a.limb[0] * b.limb[0]);
}

DEVICE F(t) F(sqr)(F(t) a) {
    return F(mul)(a, a);
}

// Holds a sum of at most four products, below 4p² < 2R·p, in one 64-bit word.
typedef struct {
    u64 word;
} F(few_t);

DEVICE F(few_t) F(few_zero)(void) {
    F(few_t) sum;
    sum.word = 0;
    return sum;
}

DEVICE void F(few_add)(F(few_t) *sum, F(t) a, F(t) b) {
    sum->word += (u64)a.limb[0] * b.limb[0];
}

DEVICE F(t) F(few_value)(F(few_t) sum) {
    const u32 p[1] = P_LIMBS;
    u64 less = sum.word - ((u64)p[0] << 32);
    return F(redc)((sum.word >> 32) >= p[0] ? less : sum.word);
}

// Returns the canonical form: the one place where Montgomery form is left.
DEVICE F(t) F(to_canonical)(F(t) a) {
    return F(redc)(a.limb[0]);
}

DEVICE F(lazy_t) F(lazy_zero)(void) {
    F(lazy_t) sum;
#pragma unroll
    for (int i = 0; i < 3; i++) sum.limb[i] = 0;
    return sum;
}

DEVICE F(short_t) F(short_zero)(void) {
    return F(lazy_zero)();
}

// Adds a·b to `sum`, for any words.
DEVICE void F(add_words)(F(lazy_t) *sum, u32 a, u32 b) {
#ifdef HAS_PTX
    sum->limb[0] = ptx_mad_lo_cc(a, b, sum->limb[0]);
    sum->limb[1] = ptx_madc_hi_cc(a, b, sum->limb[1]);
    sum->limb[2] = ptx_addc(sum->limb[2], 0);
#else
    u64 product = (u64)a * b, low = ((u64)sum->limb[1] << 32 | sum->limb[0]) + product;
    sum->limb[0] = (u32)low;
    sum->limb[1] = (u32)(low >> 32);
    sum->limb[2] += low < product;
#endif
}

DEVICE void F(lazy_add)(F(lazy_t) *sum, F(t) a, F(t) b) {
    F(add_words)(sum, a.limb[0], b.limb[0]);
}

DEVICE void F(short_add)(F(short_t) *sum, u32 a, F(t) b) {
    F(add_words)(sum, a, b.limb[0]);
}

DEVICE void F(short_add_element)(F(short_t) *sum, F(t) b) {
    F(add_words)(sum, 1, b.limb[0]);
}

// Returns the number S/R mod p for S = S0 + S1·R + S2·R².
DEVICE F(t) F(lazy_value)(F(lazy_t) sum) {
    F(t) low = F(redc)(sum.limb[0]), middle = F(mul)(F(one)(), F(of_word)(sum.limb[1]));
    return F(add)(F(add)(low, middle), F(mul)(F(r2)(), F(of_word)(sum.limb[2])));
}

// Returns the number S mod p.
DEVICE F(t) F(short_value)(F(short_t) sum) {
    return F(mul)(F(lazy_value)(sum), F(r2)());
}

// Returns the element for a number below 2³².
DEVICE F(t) F(from_word)(u32 word) {
    return F(mul)(F(r2)(), F(of_word)(word));
}

// Returns the distance of `a`, a number in [0, p) in any form, to 0 or to p, whichever is nearer. *negative is 1 if
// that is p.
DEVICE F(t) F(magnitude)(F(t) a, u32 *negative) {
    F(t) other = F(neg)(a);
    *negative = other.limb[0] < a.limb[0];
    return *negative ? other : a;
}
