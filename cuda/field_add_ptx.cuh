// Adds and subtracts the words of field elements on NVIDIA GPUs: the portable functions are in field.cl.
#ifdef HAS_PTX

// Returns a + b, not reduced. It does not use add_words: ptxas drops the carry, but not its effect on the order of the
// surrounding code.
DEVICE F(t) F(add_lazy)(F(t) a, F(t) b) {
    a.limb[0] = ptx_add_cc(a.limb[0], b.limb[0]);
#pragma unroll
    for (int i = 1; i < LIMBS - 1; i++) a.limb[i] = ptx_addc_cc(a.limb[i], b.limb[i]);
    a.limb[LIMBS - 1] = ptx_addc(a.limb[LIMBS - 1], b.limb[LIMBS - 1]);
    return a;
}

// Sets sum = a + b, and returns the carry.
DEVICE u32 F(add_words)(u32 *sum, const u32 *a, const u32 *b) {
    sum[0] = ptx_add_cc(a[0], b[0]);
#pragma unroll
    for (int i = 1; i < LIMBS; i++) sum[i] = ptx_addc_cc(a[i], b[i]);
    return ptx_addc(0, 0);
}

// Sets difference = a − b, and returns `high` less the borrow.
DEVICE u32 F(sub_words)(u32 *difference, const u32 *a, const u32 *b, u32 high) {
    difference[0] = ptx_sub_cc(a[0], b[0]);
#pragma unroll
    for (int i = 1; i < LIMBS; i++) difference[i] = ptx_subc_cc(a[i], b[i]);
    return ptx_subc(high, 0);
}

#endif
