// A prime field F_p, p < 2^(32·LIMBS − 1), in Montgomery form: an element is R·a mod p, R = 2^(32·LIMBS).
//
// Invariant: every function takes and returns elements in [0, p), and so does memory, unless stated otherwise. Layout:
// little-endian 32-bit limbs, aligned to 16 bytes so that global accesses are vectors. The text is compiled once per
// field. kernels/mod.rs defines FIELD, LIMBS, INV32 = −p⁻¹ mod 2³², the lists of limbs, and LOOSE (field_loose.cl).

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

// Sets sum = a + b, and returns the carry.
DEVICE u32 F(add_words)(u32 *sum, const u32 *a, const u32 *b) {
    u64 word = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        word = (u64)a[i] + b[i] + (word >> 32);
        sum[i] = (u32)word;
    }
    return (u32)(word >> 32);
}

// Returns a + b, not reduced.
DEVICE F(t) F(add_lazy)(F(t) a, F(t) b) {
    (void)F(add_words)(a.limb, a.limb, b.limb);
    return a;
}

// Sets difference = a − b, and returns `high` less the borrow.
DEVICE u32 F(sub_words)(u32 *difference, const u32 *a, const u32 *b, u32 high) {
    u32 borrow = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        u64 word = (u64)a[i] - b[i] - borrow;
        difference[i] = (u32)word;
        borrow = (u32)(word >> 63);
    }
    return high - borrow;
}

#endif
