// A prime field F_p, p < 2^(32·LIMBS − 1), in Montgomery form: an element is R·a mod p, R = 2^(32·LIMBS).
//
// Invariant: every function takes and returns elements in [0, p), and so does memory, unless it says otherwise. Layout: little-endian 32-bit limbs,
// aligned to 16 bytes so that global accesses are vectors. The text is compiled once per field, with
// FIELD, LIMBS, INV32 = −p⁻¹ mod 2³², the lists of limbs, and LOOSE (field_loose.cl) defined by kernels/mod.rs.

typedef struct ALIGNED(16) {
    u32 limb[LIMBS];
} F(t);

DEVICE F(t) F(zero)(void) {
    F(t) r;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) r.limb[i] = 0;
    return r;
}

DEVICE F(t) F(one)(void) {
    const u32 one[LIMBS] = ONE_LIMBS;
    F(t) r;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) r.limb[i] = one[i];
    return r;
}

DEVICE bool F(is_zero)(F(t) a) {
    u32 any = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) any |= a.limb[i];
    return any == 0;
}

DEVICE bool F(eq)(F(t) a, F(t) b) {
    u32 any = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) any |= a.limb[i] ^ b.limb[i];
    return any == 0;
}

#ifndef HAS_PTX

// a − m if a ≥ m.
DEVICE F(t) F(reduce_by)(F(t) a, const u32 *m) {
    F(t) r;
    u32 borrow = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        u64 d = (u64)a.limb[i] - m[i] - borrow;
        r.limb[i] = (u32)d;
        borrow = (u32)(d >> 63);
    }
#pragma unroll
    for (int i = 0; i < LIMBS; i++) r.limb[i] = borrow ? a.limb[i] : r.limb[i];
    return r;
}

// a + b, not reduced.
DEVICE F(t) F(add_lazy)(F(t) a, F(t) b) {
    u64 sum = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        sum += (u64)a.limb[i] + b.limb[i];
        a.limb[i] = (u32)sum;
        sum >>= 32;
    }
    return a;
}

// a − b, plus m if that is negative.
DEVICE F(t) F(sub_by)(F(t) a, F(t) b, const u32 *m) {
    u32 borrow = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        u64 d = (u64)a.limb[i] - b.limb[i] - borrow;
        a.limb[i] = (u32)d;
        borrow = (u32)(d >> 63);
    }
    u64 sum = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        sum += (u64)a.limb[i] + (borrow ? m[i] : 0u);
        a.limb[i] = (u32)sum;
        sum >>= 32;
    }
    return a;
}

// a − b + m, for b ≤ a + m.
DEVICE F(t) F(sub_lazy)(F(t) a, F(t) b, const u32 *m) {
    u32 borrow = 0;
    u64 sum = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        u64 d = (u64)a.limb[i] - b.limb[i] - borrow;
        borrow = (u32)(d >> 63);
        sum += (u64)m[i] + (u32)d;
        a.limb[i] = (u32)sum;
        sum >>= 32;
    }
    return a;
}

// a − p if a ≥ p, for a < 2p.
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

// Montgomery product by rows of products interleaved with rows of reduction (CIOS; Koç, Acar and
// Kaliski 1996), in the form without a carry word, for a + p < R: a·b/R in [0, p + a·b/R).
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

DEVICE_CALL F(t) F(mul)(F(t) a, F(t) b) {
    return F(reduce)(F(mul_rows)(a, b));
}

// a·b/R in [0, 2p), for a·b < R·p.
DEVICE_CALL F(t) F(mul_lazy)(F(t) a, F(t) b) {
    return F(mul_rows)(a, b);
}

DEVICE F(t) F(sqr_lazy)(F(t) a) {
    return F(mul_lazy)(a, a);
}

DEVICE F(t) F(sqr)(F(t) a) {
    return F(mul)(a, a);
}

// a·b − c·d.
DEVICE F(t) F(mul_sub_mul)(F(t) a, F(t) b, F(t) c, F(t) d) {
    return F(sub)(F(mul)(a, b), F(mul)(c, d));
}

#endif
