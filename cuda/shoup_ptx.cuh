// Products by fixed factors on NVIDIA GPUs: see field_shoup.cl. For 8 limbs they take 43 of the 64 partial products with the
// quotient, and 36 each for value and modulus, of which 8 need their low half only. BLS12-381 Fr and the Pasta fields
// have words of −p that are 0 or 2³² − 1, which cost additions only.
#ifdef HAS_PTX

// Adds a[from]·b, a[from + 2]·b, … to accumulator[at …] below word `words`; the last may be a low half.
DEVICE void F(low_row)(u32 *accumulator, int at, int words, const u32 *a, int from, u32 b) {
    if (at >= words) return;
    if (at + 1 == words) {
        accumulator[at] += a[from] * b;
        return;
    }
    accumulator[at] = ptx_mad_lo_cc(a[from], b, accumulator[at]);
    accumulator[at + 1] = ptx_madc_hi_cc(a[from], b, accumulator[at + 1]);
#pragma unroll
    for (int k = 2; at + k < words; k += 2) {
        if (at + k + 1 < words) {
            accumulator[at + k] = ptx_madc_lo_cc(a[from + k], b, accumulator[at + k]);
            accumulator[at + k + 1] = ptx_madc_hi_cc(a[from + k], b, accumulator[at + k + 1]);
        } else {
            accumulator[at + k] = ptx_madc_lo(a[from + k], b, accumulator[at + k]);
        }
    }
}

// Returns the upper half of a·b, at most 1 too small: products of weight below 2^(32·(LIMBS − 2)) are left out.
DEVICE F(t) F(mul_high)(F(t) a, F(t) b) {
    // even[i] has the weight of word i, odd[i] of word i + 1.
    u32 even[2 * LIMBS], odd[2 * LIMBS];
#pragma unroll
    for (int i = 0; i < 2 * LIMBS; i++) even[i] = odd[i] = 0;
#pragma unroll
    for (int j = 0; j < LIMBS; j++) {
        int from = j < LIMBS - 2 ? LIMBS - 2 - j : 0, even_from = from + ((from + j) & 1);
        int odd_from = from + 1 - ((from + j) & 1);
        F(wide_row)(even, even_from + j, a.limb, even_from, b.limb[j]);
        F(wide_row)(odd, odd_from + j - 1, a.limb, odd_from, b.limb[j]);
    }
    F(t) r;
    (void)ptx_add_cc(even[LIMBS - 1], odd[LIMBS - 2]);
#pragma unroll
    for (int i = 0; i < LIMBS - 1; i++) r.limb[i] = ptx_addc_cc(even[LIMBS + i], odd[LIMBS + i - 1]);
    r.limb[LIMBS - 1] = ptx_addc(even[2 * LIMBS - 1], odd[2 * LIMBS - 2]);
    return r;
}

// Returns a + (q << 32·(at + 1)) − (q << 32·at) modulo R: adds the row of a word of −p that is 2³² − 1.
DEVICE F(t) F(add_full_row)(F(t) a, F(t) q, int at) {
    if (at + 1 < LIMBS) {
        a.limb[at + 1] = ptx_add_cc(a.limb[at + 1], q.limb[0]);
#pragma unroll
        for (int i = at + 2; i < LIMBS; i++) a.limb[i] = ptx_addc_cc(a.limb[i], q.limb[i - at - 1]);
    }
    a.limb[at] = ptx_sub_cc(a.limb[at], q.limb[0]);
#pragma unroll
    for (int i = at + 1; i < LIMBS; i++) a.limb[i] = ptx_subc_cc(a.limb[i], q.limb[i - at]);
    return a;
}

// Returns a·b modulo p, in [0, 2p).
DEVICE F(t) F(mul_fixed)(F(t) a, F(fixed) b) {
    const u32 p[LIMBS] = P_LIMBS;
    F(t) q = F(mul_high)(a, b.quotient), r;
    u32 even[LIMBS], odd[LIMBS];
#pragma unroll
    for (int i = 0; i < LIMBS; i++) even[i] = odd[i] = 0;
#pragma unroll
    for (int j = 0; j < LIMBS; j++) {
        // Word j of −p; p is odd.
        u32 m = j == 0 ? 0u - p[0] : ~p[j];
        bool row = m != 0 && m != 0xffffffffu;
        F(low_row)(even, j + (j & 1), LIMBS, a.limb, j & 1, b.value.limb[j]);
        if (row) F(low_row)(even, j + (j & 1), LIMBS, q.limb, j & 1, m);
        F(low_row)(odd, j - (j & 1), LIMBS - 1, a.limb, 1 - (j & 1), b.value.limb[j]);
        if (row) F(low_row)(odd, j - (j & 1), LIMBS - 1, q.limb, 1 - (j & 1), m);
    }
    r.limb[0] = even[0];
    r.limb[1] = ptx_add_cc(even[1], odd[0]);
#pragma unroll
    for (int i = 2; i < LIMBS - 1; i++) r.limb[i] = ptx_addc_cc(even[i], odd[i - 1]);
    r.limb[LIMBS - 1] = ptx_addc(even[LIMBS - 1], odd[LIMBS - 2]);
#pragma unroll
    for (int j = 0; j < LIMBS; j++)
        if ((j == 0 ? 0u - p[0] : ~p[j]) == 0xffffffffu) r = F(add_full_row)(r, q, j);
    return r;
}

#endif
