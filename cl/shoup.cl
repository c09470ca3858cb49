// Products by numbers known beforehand (V. Shoup's, as in NTL; Harvey, "Faster arithmetic for number-theoretic
// transforms", 2014), and additions that leave their result in [0, 2p).
//
// A fixed factor b comes with ⌊b·R/p⌋, R = 2^(32·LIMBS), and is not in Montgomery form: the product keeps the other
// factor's form. Invariant: values in [0, 2p), 2p < R. Any a below R will do as the other factor:
// a·b − ⌊a·quotient/R⌋·p < (1 + a/R)·p + what the truncated quotient adds, far below p/2³⁰.

typedef struct ALIGNED(16) {
    F(t) value;
    F(t) quotient;
} F(fixed);

// The fixed factor for an element: one Montgomery reduction gives its canonical form, and the reduction's digits
// are the quotient, since b·R = quotient·p + (b·R mod p).
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

#ifndef HAS_PTX

// a·b modulo p, in [0, 2p).
DEVICE_CALL F(t) F(mul_fixed)(F(t) a, F(fixed) b) {
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
    // a·b − q·p modulo R, a row at a time.
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

// a + b, in [0, 2p).
DEVICE F(t) F(add_2p)(F(t) a, F(t) b) {
    const u32 p2[LIMBS] = P2_LIMBS;
    F(t) sum, less;
    u64 carry = 0, borrow = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        carry = (u64)a.limb[i] + b.limb[i] + (carry >> 32);
        sum.limb[i] = (u32)carry;
        u64 difference = (u64)sum.limb[i] - p2[i] - borrow;
        less.limb[i] = (u32)difference;
        borrow = difference >> 63;
    }
    bool below = (carry >> 32) < borrow;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) sum.limb[i] = below ? sum.limb[i] : less.limb[i];
    return sum;
}

// a − b, in [0, 2p).
DEVICE F(t) F(sub_2p)(F(t) a, F(t) b) {
    const u32 p2[LIMBS] = P2_LIMBS;
    u64 borrow = 0, carry = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        u64 difference = (u64)a.limb[i] - b.limb[i] - borrow;
        a.limb[i] = (u32)difference;
        borrow = difference >> 63;
    }
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        carry = (u64)a.limb[i] + (borrow ? p2[i] : 0u) + (carry >> 32);
        a.limb[i] = (u32)carry;
    }
    return a;
}

#endif
