// Sums and differences of a field element's words on NVIDIA GPUs: the portable ones are in field.cl.
#ifdef HAS_PTX

// a + b, not reduced. Without the carry of add_words, which ptxas drops, but not from the order of what surrounds it.
DEVICE F(t) F(add_lazy)(F(t) a, F(t) b) {
    a.limb[0] = ptx_add_cc(a.limb[0], b.limb[0]);
#pragma unroll
    for (int i = 1; i < LIMBS - 1; i++) a.limb[i] = ptx_addc_cc(a.limb[i], b.limb[i]);
    a.limb[LIMBS - 1] = ptx_addc(a.limb[LIMBS - 1], b.limb[LIMBS - 1]);
    return a;
}

// sum = a + b; the carry.
DEVICE u32 F(add_words)(u32 *sum, const u32 *a, const u32 *b) {
    sum[0] = ptx_add_cc(a[0], b[0]);
#pragma unroll
    for (int i = 1; i < LIMBS; i++) sum[i] = ptx_addc_cc(a[i], b[i]);
    return ptx_addc(0, 0);
}

// difference = a − b; the word `high`, less what is borrowed.
DEVICE u32 F(sub_words)(u32 *difference, const u32 *a, const u32 *b, u32 high) {
    difference[0] = ptx_sub_cc(a[0], b[0]);
#pragma unroll
    for (int i = 1; i < LIMBS; i++) difference[i] = ptx_subc_cc(a[i], b[i]);
    return ptx_subc(high, 0);
}

#endif
