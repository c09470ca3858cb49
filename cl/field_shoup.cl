// Products by numbers known beforehand (V. Shoup, as in NTL; Harvey, Faster arithmetic for number-theoretic transforms,
// 2014), and additions with results in [0, 2p).
//
// A fixed factor b comes with ⌊b·R/p⌋, R = 2^(32·LIMBS), and is not in Montgomery form: the product keeps the form of
// the other factor. Invariant: values are in [0, 2p), 2p < R. The other factor may be any a below R: a·b −
// ⌊a·quotient/R⌋·p < (1 + a/R)·p plus the error of the truncated quotient, which is far below p/2³⁰.

typedef struct ALIGNED(16) {
    F(t) value;
    F(t) quotient;
} F(fixed);

// Returns the fixed factor for an element. One Montgomery reduction gives its canonical form, and the digits of the
// reduction are the quotient, since b·R = quotient·p + (b·R mod p).
DEVICE F(fixed) F(fix)(F(t) a) {
    const u32 p[LIMBS] = P_LIMBS;
    F(fixed) r;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        u32 m = a.limb[0] * INV32;
        r.quotient.limb[i] = m;
        u64 sum = (u64)m * p[0] + a.limb[0];
#pragma unroll
        for (int j = 1; j < LIMBS; j++) {
            sum = (u64)m * p[j] + a.limb[j] + (sum >> 32);
            a.limb[j - 1] = (u32)sum;
        }
        a.limb[LIMBS - 1] = (u32)(sum >> 32);
    }
    r.value = a;
    return r;
}

// Returns a + b, in [0, 2p).
DEVICE F(t) F(add_2p)(F(t) a, F(t) b) {
    const u32 p2[LIMBS] = P2_LIMBS;
    F(t) less;
    u32 carry = F(add_words)(a.limb, a.limb, b.limb);
    bool below = F(sub_words)(less.limb, a.limb, p2, carry) != 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) a.limb[i] = below ? a.limb[i] : less.limb[i];
    return a;
}

// Returns a − b, in [0, 2p).
DEVICE F(t) F(sub_2p)(F(t) a, F(t) b) {
    const u32 p2[LIMBS] = P2_LIMBS;
    F(t) multiple;
    u32 mask = F(sub_words)(a.limb, a.limb, b.limb, 0);
#pragma unroll
    for (int i = 0; i < LIMBS; i++) multiple.limb[i] = p2[i] & mask;
    return F(add_lazy)(a, multiple);
}

#ifndef HAS_PTX

// Returns a·b modulo p, in [0, 2p).
DEVICE_NOINLINE F(t) F(mul_fixed)(F(t) a, F(fixed) b) {
    const u32 p[LIMBS] = P_LIMBS;
    u32 product[2 * LIMBS];
    for (int i = 0; i < 2 * LIMBS; i++) product[i] = 0;
    for (int i = 0; i < LIMBS; i++) {
        u64 sum = 0;
        for (int j = 0; j < LIMBS; j++) {
            sum = (u64)a.limb[i] * b.quotient.limb[j] + product[i + j] + (sum >> 32);
            product[i + j] = (u32)sum;
        }
        product[i + LIMBS] = (u32)(sum >> 32);
    }
    // Computes a·b − q·p modulo R, one row at a time.
    F(t) r = F(zero)();
    for (int i = 0; i < LIMBS; i++) {
        u64 plus = 0, minus = 0;
        for (int j = 0; i + j < LIMBS; j++) {
            plus = (u64)a.limb[i] * b.value.limb[j] + r.limb[i + j] + (plus >> 32);
            minus = (u64)product[LIMBS + i] * p[j] + (minus >> 32);
            u64 difference = (u64)(u32)plus - (u32)minus;
            r.limb[i + j] = (u32)difference;
            minus += (difference >> 63) << 32;
        }
    }
    return r;
}

#endif
