// Sums of products of a prime field that are reduced once, at their end, and conversions of numbers to and from
// elements.
//
// A lazy sum has 2·LIMBS + 1 limbs: a product is below p² < 2^(64·LIMBS − 2), so 2³³ of them fit. A short sum is of
// products by 32-bit numbers and has LIMBS + 2 limbs: 2³² of them fit.

typedef struct {
    u32 limb[2 * LIMBS + 1];
} F(lazy_t);

typedef struct {
    u32 limb[LIMBS + 2];
} F(short_t);

DEVICE F(lazy_t) F(lazy_zero)(void) {
    F(lazy_t) sum;
#pragma unroll
    for (int i = 0; i <= 2 * LIMBS; i++) sum.limb[i] = 0;
    return sum;
}

DEVICE F(short_t) F(short_zero)(void) {
    F(short_t) sum;
#pragma unroll
    for (int i = 0; i < LIMBS + 2; i++) sum.limb[i] = 0;
    return sum;
}

#ifdef HAS_PTX

// Adds a·b to `sum`: LIMBS² products, and one addition of 2·LIMBS + 1 limbs.
DEVICE void F(lazy_add)(F(lazy_t) *sum, F(t) a, F(t) b) {
    F(wide) product = F(mul_wide)(a, b);
    sum->limb[0] = ptx_add_cc(sum->limb[0], product.limb[0]);
#pragma unroll
    for (int i = 1; i < 2 * LIMBS; i++) sum->limb[i] = ptx_addc_cc(sum->limb[i], product.limb[i]);
    sum->limb[2 * LIMBS] = ptx_addc(sum->limb[2 * LIMBS], 0);
}

// Adds a·b to `sum`: products of even limbs in one carry chain, of odd ones in another.
DEVICE void F(short_add)(F(short_t) *sum, u32 a, F(t) b) {
    sum->limb[0] = ptx_mad_lo_cc(b.limb[0], a, sum->limb[0]);
    sum->limb[1] = ptx_madc_hi_cc(b.limb[0], a, sum->limb[1]);
#pragma unroll
    for (int i = 2; i < LIMBS; i += 2) {
        sum->limb[i] = ptx_madc_lo_cc(b.limb[i], a, sum->limb[i]);
        sum->limb[i + 1] = ptx_madc_hi_cc(b.limb[i], a, sum->limb[i + 1]);
    }
    sum->limb[LIMBS] = ptx_addc_cc(sum->limb[LIMBS], 0);
    sum->limb[LIMBS + 1] = ptx_addc(sum->limb[LIMBS + 1], 0);
    sum->limb[1] = ptx_mad_lo_cc(b.limb[1], a, sum->limb[1]);
    sum->limb[2] = ptx_madc_hi_cc(b.limb[1], a, sum->limb[2]);
#pragma unroll
    for (int i = 3; i < LIMBS; i += 2) {
        sum->limb[i] = ptx_madc_lo_cc(b.limb[i], a, sum->limb[i]);
        sum->limb[i + 1] = ptx_madc_hi_cc(b.limb[i], a, sum->limb[i + 1]);
    }
    sum->limb[LIMBS + 1] = ptx_addc(sum->limb[LIMBS + 1], 0);
}

// Adds `b` to `sum`.
DEVICE void F(short_add_element)(F(short_t) *sum, F(t) b) {
    sum->limb[0] = ptx_add_cc(sum->limb[0], b.limb[0]);
#pragma unroll
    for (int i = 1; i < LIMBS; i++) sum->limb[i] = ptx_addc_cc(sum->limb[i], b.limb[i]);
    sum->limb[LIMBS] = ptx_addc(sum->limb[LIMBS], 0);
}

#else

DEVICE_NOINLINE void F(lazy_add)(F(lazy_t) *sum, F(t) a, F(t) b) {
    u32 product[2 * LIMBS];
    for (int i = 0; i < 2 * LIMBS; i++) product[i] = 0;
    for (int i = 0; i < LIMBS; i++) {
        u64 word = 0;
        for (int j = 0; j < LIMBS; j++) {
            word = (u64)a.limb[i] * b.limb[j] + product[i + j] + (word >> 32);
            product[i + j] = (u32)word;
        }
        product[i + LIMBS] = (u32)(word >> 32);
    }
    u64 word = 0;
    for (int i = 0; i < 2 * LIMBS; i++) {
        word = (u64)sum->limb[i] + product[i] + (word >> 32);
        sum->limb[i] = (u32)word;
    }
    sum->limb[2 * LIMBS] += (u32)(word >> 32);
}

DEVICE_NOINLINE void F(short_add)(F(short_t) *sum, u32 a, F(t) b) {
    u64 word = 0;
    for (int i = 0; i < LIMBS; i++) {
        word = (u64)b.limb[i] * a + sum->limb[i] + (word >> 32);
        sum->limb[i] = (u32)word;
    }
    word = (u64)sum->limb[LIMBS] + (word >> 32);
    sum->limb[LIMBS] = (u32)word;
    sum->limb[LIMBS + 1] += (u32)(word >> 32);
}

// Adds `b` to `sum`.
DEVICE_NOINLINE void F(short_add_element)(F(short_t) *sum, F(t) b) {
    F(short_add)(sum, 1, b);
}

#endif

DEVICE F(t) F(r2)(void) {
    const u32 words[LIMBS] = R2_LIMBS;
    F(t) r;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) r.limb[i] = words[i];
    return r;
}

DEVICE F(t) F(of_word)(u32 word) {
    F(t) r = F(zero)();
    r.limb[0] = word;
    return r;
}

// Returns the number S/R mod p for S = S0 + S1·R + S2·R², by three products of an element and a number below R. The
// element is the first factor, as the rows of a product require (field_add.cl).
DEVICE F(t) F(lazy_value)(F(lazy_t) sum) {
    F(t) low, high;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        low.limb[i] = sum.limb[i];
        high.limb[i] = sum.limb[LIMBS + i];
    }
    F(t) value = F(add)(F(mul)(F(of_word)(1), low), F(mul)(F(one)(), high));
    return F(add)(value, F(mul)(F(r2)(), F(of_word)(sum.limb[2 * LIMBS])));
}

// Returns the number S mod p for S = S0 + S1·R.
DEVICE F(t) F(short_value)(F(short_t) sum) {
    F(t) low, high = F(zero)();
#pragma unroll
    for (int i = 0; i < LIMBS; i++) low.limb[i] = sum.limb[i];
    high.limb[0] = sum.limb[LIMBS];
    high.limb[1] = sum.limb[LIMBS + 1];
    return F(add)(F(mul)(F(one)(), low), F(mul)(F(r2)(), high));
}

// Returns the element for a number below 2³².
DEVICE F(t) F(from_word)(u32 word) {
    return F(mul)(F(r2)(), F(of_word)(word));
}

// Returns the distance of `a`, a number in [0, p) in any form, to 0 or to p, whichever is nearer. *negative is 1 if
// that is p.
DEVICE F(t) F(magnitude)(F(t) a, u32 *negative) {
    F(t) other = F(neg)(a);
    u32 scratch[LIMBS];
    u32 below = F(sub_words)(scratch, other.limb, a.limb, 0);
    *negative = below != 0;
    return below != 0 ? other : a;
}
