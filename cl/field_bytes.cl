// Makes elements from numbers, such as the big-endian bytes of files. Only families that read these include it.

#define SWAP_BYTES(word) ((word) >> 24 | ((word) >> 8 & 0xff00u) | ((word) << 8 & 0xff0000u) | (word) << 24)

// Returns the number whose highest byte comes first in memory.
DEVICE F(t) F(from_big_endian)(F(t) a) {
    F(t) r;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) r.limb[i] = SWAP_BYTES(a.limb[LIMBS - 1 - i]);
    return r;
}

// Returns the element for a number below p: the one place where Montgomery form is entered.
DEVICE F(t) F(from_canonical)(F(t) a) {
    const F(t) r2 = {R2_LIMBS};
    return F(mul)(a, r2);
}

#undef SWAP_BYTES
