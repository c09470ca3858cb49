// Adds and subtracts in a prime field, by words with carries (field.cl, field_add_ptx.cuh), and multiplies portably.

// Returns a − m if a ≥ m, else a.
DEVICE F(t) F(reduce_by)(F(t) a, const u32 *m) {
    F(t) r;
    u32 borrow = F(sub_words)(r.limb, a.limb, m, 0);
#pragma unroll
    for (int i = 0; i < LIMBS; i++) r.limb[i] = borrow ? a.limb[i] : r.limb[i];
    return r;
}

// Returns a − b, plus m if that is negative.
DEVICE F(t) F(sub_by)(F(t) a, F(t) b, const u32 *m) {
    F(t) multiple;
    u32 mask = F(sub_words)(a.limb, a.limb, b.limb, 0);
#pragma unroll
    for (int i = 0; i < LIMBS; i++) multiple.limb[i] = PREDICATES(LIMBS) ? m[i] : m[i] & mask;
    if (!PREDICATES(LIMBS) || mask != 0) a = F(add_lazy)(a, multiple);
    return a;
}

// Returns a − b + m, for b ≤ a + m.
DEVICE F(t) F(sub_lazy)(F(t) a, F(t) b, const u32 *m) {
    F(t) multiple;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) multiple.limb[i] = m[i];
    (void)F(sub_words)(a.limb, a.limb, b.limb, 0);
    return F(add_lazy)(a, multiple);
}

// Returns a − p if a ≥ p, else a, for a < 2p.
DEVICE F(t) F(reduce)(F(t) a) {
    const u32 p[LIMBS] = P_LIMBS;
    return F(reduce_by)(a, p);
}

DEVICE F(t) F(add)(F(t) a, F(t) b) {
    return F(reduce)(F(add_lazy)(a, b));
}

DEVICE F(t) F(sub)(F(t) a, F(t) b) {
    const u32 p[LIMBS] = P_LIMBS;
    return F(sub_by)(a, b, p);
}

#ifndef HAS_PTX

// Returns a·b/R in [0, p + a·b/R), for a + p < R: a Montgomery product whose rows of products are interleaved with rows
// of reduction (CIOS; Koç, Acar and Kaliski 1996), in the form without a carry word.
DEVICE F(t) F(mul_rows)(F(t) a, F(t) b) {
    const u32 p[LIMBS] = P_LIMBS;
    F(t) r = F(zero)();
    for (int i = 0; i < LIMBS; i++) {
        u64 product = (u64)a.limb[0] * b.limb[i] + r.limb[0];
        u32 m = (u32)product * INV32;
        u64 reduced = (u64)m * p[0] + (u32)product;
        for (int j = 1; j < LIMBS; j++) {
            product = (u64)a.limb[j] * b.limb[i] + r.limb[j] + (product >> 32);
            reduced = (u64)m * p[j] + (u32)product + (reduced >> 32);
            r.limb[j - 1] = (u32)reduced;
        }
        r.limb[LIMBS - 1] = (u32)((product >> 32) + (reduced >> 32));
    }
    return r;
}

DEVICE_NOINLINE F(t) F(mul)(F(t) a, F(t) b) {
    return F(reduce)(F(mul_rows)(a, b));
}

// Returns a·b/R in [0, 2p), for a·b < R·p.
DEVICE_NOINLINE F(t) F(mul_lazy)(F(t) a, F(t) b) {
    return F(mul_rows)(a, b);
}

DEVICE F(t) F(sqr_lazy)(F(t) a) {
    return F(mul_lazy)(a, a);
}

DEVICE F(t) F(sqr)(F(t) a) {
    return F(mul)(a, a);
}

// Returns a·b − c·d.
DEVICE F(t) F(mul_sub_mul)(F(t) a, F(t) b, F(t) c, F(t) d) {
    return F(sub)(F(mul)(a, b), F(mul)(c, d));
}

#endif
