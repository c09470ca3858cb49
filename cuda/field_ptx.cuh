// Multiplies in a prime field on NVIDIA GPUs.
//
// A product keeps two accumulators, `even` for partial products whose weight is an even power of 2³² and `odd` for the
// others. Each 32×32→64 product thus lands on an aligned pair of words and is one IMAD.WIDE (the form of Emmart,
// Luitjens, Weems and Woolley, ARITH 2016; sppark and era-bellman-cuda use it too). LIMBS must be even. There are
// 2·LIMBS² + LIMBS wide products in all: 136 for 8 limbs, 300 for 12.
#ifdef HAS_PTX

// −p⁻¹ mod 2³², in constant memory. If it were an immediate of −1 (BLS12-381 Fr), ptxas would turn the product by it
// into a negation. It would push that into the products that follow, and not fuse those (48 of 128 pairs).
CONSTANT u32 F(inv32) = INV32;

// Sets `accumulator` to the products of every second limb of a, from a[0], with b.
DEVICE void F(mul_row)(u32 *accumulator, const u32 *a, u32 b) {
#pragma unroll
    for (int i = 0; i < LIMBS; i += 2) {
        accumulator[i] = ptx_mul_lo(a[i], b);
        accumulator[i + 1] = ptx_mul_hi(a[i], b);
    }
}

// Adds the products of every second limb of a with b to `accumulator`; the carry out is left in CC.
DEVICE void F(mad_row)(u32 *accumulator, const u32 *a, u32 b) {
    accumulator[0] = ptx_mad_lo_cc(a[0], b, accumulator[0]);
    accumulator[1] = ptx_madc_hi_cc(a[0], b, accumulator[1]);
#pragma unroll
    for (int i = 2; i < LIMBS; i += 2) {
        accumulator[i] = ptx_madc_lo_cc(a[i], b, accumulator[i]);
        accumulator[i + 1] = ptx_madc_hi_cc(a[i], b, accumulator[i + 1]);
    }
}

// Sets accumulator = (accumulator >> 64) + products of every second limb of a with b + CC.
DEVICE void F(shift_mad_row)(u32 *accumulator, const u32 *a, u32 b) {
#pragma unroll
    for (int i = 0; i < LIMBS - 2; i += 2) {
        accumulator[i] = ptx_madc_lo_cc(a[i], b, accumulator[i + 2]);
        accumulator[i + 1] = ptx_madc_hi_cc(a[i], b, accumulator[i + 3]);
    }
    accumulator[LIMBS - 2] = ptx_madc_lo_cc(a[LIMBS - 2], b, 0);
    accumulator[LIMBS - 1] = ptx_madc_hi(a[LIMBS - 2], b, 0);
}

// Adds the multiple of p that makes the lowest word zero; the next row shifts it out.
DEVICE void F(reduce_row)(u32 *even, u32 *odd) {
    const u32 p[LIMBS] = P_LIMBS;
    u32 m = ptx_mul_lo(even[0], F(inv32));
    F(mad_row)(odd, p + 1, m);
    F(mad_row)(even, p, m);
    odd[LIMBS - 1] = ptx_addc(odd[LIMBS - 1], 0);
}

// Computes one row: (even + 2³²·odd) / 2³² + a·b. The division swaps the roles of the two accumulators.
DEVICE void F(next_row)(u32 *even, u32 *odd, const u32 *a, u32 b) {
    even[0] = ptx_add_cc(even[0], odd[1]);
    F(shift_mad_row)(odd, a + 1, b);
    F(mad_row)(even, a, b);
    odd[LIMBS - 1] = ptx_addc(odd[LIMBS - 1], 0);
    F(reduce_row)(even, odd);
}

// Returns even + odd / 2³², which the last row leaves.
DEVICE F(t) F(join)(const u32 *even, const u32 *odd) {
    F(t) r;
    r.limb[0] = ptx_add_cc(even[0], odd[1]);
#pragma unroll
    for (int i = 1; i < LIMBS - 1; i++) r.limb[i] = ptx_addc_cc(even[i], odd[i + 1]);
    r.limb[LIMBS - 1] = ptx_addc(even[LIMBS - 1], 0);
    return r;
}

// Returns a·b/R in [0, 2p), for a·b < 2^(32·LIMBS)·p.
DEVICE F(t) F(mul_lazy)(F(t) a, F(t) b) {
    u32 even[LIMBS], odd[LIMBS];
    F(mul_row)(odd, a.limb + 1, b.limb[0]);
    F(mul_row)(even, a.limb, b.limb[0]);
    F(reduce_row)(even, odd);
    F(next_row)(odd, even, a.limb, b.limb[1]);
#pragma unroll
    for (int i = 2; i < LIMBS; i += 2) {
        F(next_row)(even, odd, a.limb, b.limb[i]);
        F(next_row)(odd, even, a.limb, b.limb[i + 1]);
    }
    return F(join)(even, odd);
}

DEVICE F(t) F(mul)(F(t) a, F(t) b) {
    return F(reduce)(F(mul_lazy)(a, b));
}

// Adds a·b to even + 2³²·odd.
DEVICE void F(add_row)(u32 *even, u32 *odd, const u32 *a, u32 b) {
    F(mad_row)(odd, a + 1, b);
    F(mad_row)(even, a, b);
    odd[LIMBS - 1] = ptx_addc(odd[LIMBS - 1], 0);
}

// Computes one row of two products: (even + 2³²·odd) / 2³² + a·b + c·d.
DEVICE void F(next_rows)(u32 *even, u32 *odd, const u32 *a, u32 b, const u32 *c, u32 d) {
    even[0] = ptx_add_cc(even[0], odd[1]);
    F(shift_mad_row)(odd, a + 1, b);
    F(mad_row)(even, a, b);
    odd[LIMBS - 1] = ptx_addc(odd[LIMBS - 1], 0);
    F(add_row)(even, odd, c, d);
    F(reduce_row)(even, odd);
}

// Returns (a·b + c·d)/R plus less than p, for a + c + p ≤ R: rows of both products share a reduction.
DEVICE F(t) F(mul_add_mul_lazy)(F(t) a, F(t) b, F(t) c, F(t) d) {
    u32 even[LIMBS], odd[LIMBS];
    F(mul_row)(odd, a.limb + 1, b.limb[0]);
    F(mul_row)(even, a.limb, b.limb[0]);
    F(add_row)(even, odd, c.limb, d.limb[0]);
    F(reduce_row)(even, odd);
    F(next_rows)(odd, even, a.limb, b.limb[1], c.limb, d.limb[1]);
#pragma unroll
    for (int i = 2; i < LIMBS; i += 2) {
        F(next_rows)(even, odd, a.limb, b.limb[i], c.limb, d.limb[i]);
        F(next_rows)(odd, even, a.limb, b.limb[i + 1], c.limb, d.limb[i + 1]);
    }
    return F(join)(even, odd);
}

#endif
