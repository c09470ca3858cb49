// Products of 2·LIMBS limbs, of which several share a reduction, on NVIDIA GPUs. A wide number is below p·R, R =
// 2^(32·LIMBS). Its reduction costs LIMBS² + LIMBS products, as many as a product itself (144 + 156 for 12 limbs; a
// square takes 78). Columns of even and of odd weight are summed apart, as in field_ptx.cuh.
#ifdef HAS_PTX

typedef struct {
    u32 limb[2 * LIMBS];
} F(wide);

// Adds a[from]·b, a[from + 2]·b, … below a[LIMBS] to accumulator[at …]. The carry goes to the word after them, which is
// zero or an earlier carry.
DEVICE void F(wide_row)(u32 *accumulator, int at, const u32 *a, int from, u32 b) {
    if (from >= LIMBS) return;
    accumulator[at] = ptx_mad_lo_cc(a[from], b, accumulator[at]);
    accumulator[at + 1] = ptx_madc_hi_cc(a[from], b, accumulator[at + 1]);
    int k = at + 2;
#pragma unroll
    for (int j = from + 2; j < LIMBS; j += 2, k += 2) {
        accumulator[k] = ptx_madc_lo_cc(a[j], b, accumulator[k]);
        accumulator[k + 1] = ptx_madc_hi_cc(a[j], b, accumulator[k + 1]);
    }
    if (k < 2 * LIMBS) accumulator[k] = ptx_addc(accumulator[k], 0);
}

// Returns even + 2³²·odd.
DEVICE F(wide) F(wide_join)(const u32 *even, const u32 *odd) {
    F(wide) r;
    r.limb[0] = even[0];
    r.limb[1] = ptx_add_cc(even[1], odd[0]);
#pragma unroll
    for (int i = 2; i < 2 * LIMBS - 1; i++) r.limb[i] = ptx_addc_cc(even[i], odd[i - 1]);
    r.limb[2 * LIMBS - 1] = ptx_addc(even[2 * LIMBS - 1], odd[2 * LIMBS - 2]);
    return r;
}

// Returns a·b, not reduced.
DEVICE F(wide) F(mul_wide)(F(t) a, F(t) b) {
    u32 even[2 * LIMBS], odd[2 * LIMBS];
#pragma unroll
    for (int i = 0; i < 2 * LIMBS; i++) even[i] = odd[i] = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i += 2) {
        F(wide_row)(even, i, a.limb, 0, b.limb[i]);
        F(wide_row)(odd, i, a.limb, 1, b.limb[i]);
        F(wide_row)(odd, i, a.limb, 0, b.limb[i + 1]);
        F(wide_row)(even, i + 2, a.limb, 1, b.limb[i + 1]);
    }
    return F(wide_join)(even, odd);
}

// Returns a², not reduced: products of different limbs once, doubled, and the squares of the limbs.
DEVICE F(wide) F(sqr_wide)(F(t) a) {
    u32 even[2 * LIMBS], odd[2 * LIMBS];
#pragma unroll
    for (int i = 0; i < 2 * LIMBS; i++) even[i] = odd[i] = 0;
#pragma unroll
    for (int i = 0; i < LIMBS - 1; i++) {
        F(wide_row)(odd, 2 * i, a.limb, i + 1, a.limb[i]);
        F(wide_row)(even, 2 * i + 2, a.limb, i + 2, a.limb[i]);
    }
    F(wide) r = F(wide_join)(even, odd);
    r.limb[0] = ptx_add_cc(r.limb[0], r.limb[0]);
#pragma unroll
    for (int i = 1; i < 2 * LIMBS - 1; i++) r.limb[i] = ptx_addc_cc(r.limb[i], r.limb[i]);
    r.limb[2 * LIMBS - 1] = ptx_addc(r.limb[2 * LIMBS - 1], r.limb[2 * LIMBS - 1]);
    r.limb[0] = ptx_mad_lo_cc(a.limb[0], a.limb[0], r.limb[0]);
    r.limb[1] = ptx_madc_hi_cc(a.limb[0], a.limb[0], r.limb[1]);
#pragma unroll
    for (int i = 1; i < LIMBS; i++) {
        r.limb[2 * i] = ptx_madc_lo_cc(a.limb[i], a.limb[i], r.limb[2 * i]);
        r.limb[2 * i + 1] = ptx_madc_hi_cc(a.limb[i], a.limb[i], r.limb[2 * i + 1]);
    }
    return r;
}

// Returns a − b, for b ≤ a.
DEVICE F(wide) F(wide_sub)(F(wide) a, F(wide) b) {
    a.limb[0] = ptx_sub_cc(a.limb[0], b.limb[0]);
#pragma unroll
    for (int i = 1; i < 2 * LIMBS - 1; i++) a.limb[i] = ptx_subc_cc(a.limb[i], b.limb[i]);
    a.limb[2 * LIMBS - 1] = ptx_subc(a.limb[2 * LIMBS - 1], b.limb[2 * LIMBS - 1]);
    return a;
}

// Returns a − b modulo p·R, for both below that.
DEVICE F(wide) F(wide_sub_mod)(F(wide) a, F(wide) b) {
    const u32 p[LIMBS] = P_LIMBS;
    a.limb[0] = ptx_sub_cc(a.limb[0], b.limb[0]);
#pragma unroll
    for (int i = 1; i < 2 * LIMBS; i++) a.limb[i] = ptx_subc_cc(a.limb[i], b.limb[i]);
    u32 mask = ptx_subc(0, 0);
    a.limb[LIMBS] = ptx_add_cc(a.limb[LIMBS], p[0] & mask);
#pragma unroll
    for (int i = 1; i < LIMBS - 1; i++) a.limb[LIMBS + i] = ptx_addc_cc(a.limb[LIMBS + i], p[i] & mask);
    a.limb[2 * LIMBS - 1] = ptx_addc(a.limb[2 * LIMBS - 1], p[LIMBS - 1] & mask);
    return a;
}

// Computes one row of a reduction without a product: (even + 2³²·odd) / 2³² plus the multiple of p that makes the
// lowest word zero. The division swaps the roles of the accumulators. The carry of their lowest words waits for the
// products of the row.
DEVICE void F(wide_reduce_row)(u32 *even, u32 *odd) {
    const u32 p[LIMBS] = P_LIMBS;
    even[0] = ptx_add_cc(even[0], odd[1]);
    u32 m = ptx_mul_lo(even[0], F(inv32));
    F(shift_mad_row)(odd, p + 1, m);
    F(mad_row)(even, p, m);
    odd[LIMBS - 1] = ptx_addc(odd[LIMBS - 1], 0);
}

// Returns a/R in [0, 2p).
DEVICE F(t) F(wide_reduce_lazy)(F(wide) a) {
    u32 even[LIMBS], odd[LIMBS];
    F(t) high;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        even[i] = a.limb[i];
        odd[i] = 0;
        high.limb[i] = a.limb[LIMBS + i];
    }
    F(reduce_row)(even, odd);
    F(wide_reduce_row)(odd, even);
#pragma unroll
    for (int i = 2; i < LIMBS; i += 2) {
        F(wide_reduce_row)(even, odd);
        F(wide_reduce_row)(odd, even);
    }
    return F(add_lazy)(F(join)(even, odd), high);
}

// Returns a/R, reduced.
DEVICE F(t) F(wide_reduce)(F(wide) a) {
    return F(reduce)(F(wide_reduce_lazy)(a));
}

// Returns a²/R in [0, 2p), for a² < R·p.
DEVICE F(t) F(sqr_lazy)(F(t) a) {
    return F(wide_reduce_lazy)(F(sqr_wide)(a));
}

DEVICE F(t) F(sqr)(F(t) a) {
    return F(wide_reduce)(F(sqr_wide)(a));
}

// Returns a·b − c·d with one reduction.
DEVICE F(t) F(mul_sub_mul)(F(t) a, F(t) b, F(t) c, F(t) d) {
    return F(wide_reduce)(F(wide_sub_mod)(F(mul_wide)(a, b), F(mul_wide)(c, d)));
}

#endif
