// Functions that follow from the arithmetic of a field, whichever dialect that is in.

DEVICE F(t) F(dbl)(F(t) a) {
    return F(add)(a, a);
}

DEVICE F(t) F(neg)(F(t) a) {
    return F(sub)(F(zero)(), a);
}

// Returns whether `a`, as found in memory, is an element: below p.
DEVICE bool F(is_reduced)(F(t) a) {
    const u32 p[LIMBS] = P_LIMBS;
    u32 borrow = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) borrow = (u32)(((u64)a.limb[i] - p[i] - borrow) >> 63);
    return borrow != 0;
}

// Returns aᵖ, which is `a`.
DEVICE F(t) F(frobenius)(F(t) a) {
    return a;
}

// Returns the canonical form of an element: the one place where Montgomery form is left.
DEVICE F(t) F(to_canonical)(F(t) a) {
    F(t) one = F(zero)();
    one.limb[0] = 1;
    return F(mul)(a, one);
}

// Returns base^exponent for a 32-bit exponent.
DEVICE F(t) F(pow)(F(t) base, u32 exponent) {
    F(t) r = F(one)();
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1) r = F(mul)(r, base);
        base = F(sqr)(base);
    }
    return r;
}

// Returns the element of [0, p) for one of [0, 2p), such as a lazy product.
DEVICE F(t) F(reduced)(F(t) a) {
    return F(reduce)(a);
}
