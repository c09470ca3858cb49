// Checks points that come from outside, in Montgomery form: on y² = x³ + b, and in the subgroup of prime order.
//
// Membership is tested by an endomorphism ε(x, y) = (αxᵖ, βyᵖ) that multiplies by the short FACTOR m on the subgroup
// (M. Scott, ePrint 2021/1130; Y. El Housni, A. Guillevic and T. Piellard, ePrint 2022/352). α and β are read off the
// generator of the subgroup. For each curve, an equation that ε satisfies on the whole curve implies ε(P) = [m]P for no
// other point:
// - over F_p, BLS12: −ε = (x, y) → (αx, y), α³ = 1, so ε² − ε + 1 = 0 and [m² − m + 1]P = O. With m = z² for the
//   parameter z of the curve, m² − m + 1 = r. The cofactor h₁ has no factor r, so P is in the subgroup of order r.
// - over F_p²: ±ε is Frobenius seen from the twist, ψ² − tψ + p = 0, and ψ(P) = [t − 1]P = [±m]P. So
//   [(t − 1)² − t(t − 1) + p]P = [p + 1 − t]P = O: the order of P divides #E(F_p), which is r for BN254. For BLS12-381
//   and BLS12-377 that is h₁·r. The order of P divides h₂·r too, the number of points of the twist. With
//   h₁ = (z − 1)²/3 and h₂ = (z⁸ − 4z⁷ + 5z⁶ − 4z⁴ + 6z³ − 4z² − 4z + 13)/9, gcd(h₁, h₂) = 1 for z of either curve:
//   −0xd201000000010000 and 0x8508c00000000001.

DEVICE bool affine_is_on_curve(affine_t p) {
    const F(t) b = CURVE_B_LIMBS;
    F(t) right = F(add)(F(mul)(F(sqr)(p.x), p.x), b);
    return F(eq)(F(sqr)(p.y), right);
}

#ifdef FACTOR_WORDS

CONSTANT u32 subgroup_factor[FACTOR_WORDS] = FACTOR_LIMBS;

// Returns [m]P, by doubling and adding from the highest bit of m on.
DEVICE point_t times_factor(affine_t p) {
    point_t sum = point_infinity();
    for (int i = 32 * FACTOR_WORDS - 1; i >= 0; i--) {
        sum = point_double(sum);
        if ((subgroup_factor[i / 32] >> (i % 32)) & 1) sum = point_add_affine(sum, p);
    }
    return sum;
}

// Returns whether ε(P) = [m]P, for a P on the curve that is not infinity.
DEVICE bool affine_is_in_subgroup(affine_t p) {
    const F(t) alpha = ALPHA_LIMBS, beta = BETA_LIMBS;
    point_t multiple = times_factor(p);
    F(t) x = F(mul)(F(mul)(alpha, F(frobenius)(p.x)), multiple.zz);
    F(t) y = F(mul)(F(mul)(beta, F(frobenius)(p.y)), multiple.zzz);
    return !point_is_infinity(multiple) && F(eq)(multiple.x, x) && F(eq)(multiple.y, y);
}

#else

// Returns true: the curve has no other points.
DEVICE bool affine_is_in_subgroup(affine_t p) {
    (void)p;
    return true;
}

#endif

DEVICE u32 affine_fault(affine_t p) {
    if (affine_is_infinity(p)) return FAULT_NONE;
    if (!F(is_reduced)(p.x) || !F(is_reduced)(p.y)) return FAULT_NOT_REDUCED;
    if (!affine_is_on_curve(p)) return FAULT_NOT_ON_CURVE;
    return affine_is_in_subgroup(p) ? FAULT_NONE : FAULT_OUTSIDE_SUBGROUP;
}

DEVICE void note_fault(GLOBAL u32 *first, u32 chunk, u32 i, u32 fault) {
    ATOMIC_MIN(&first[chunk], FAULTS * i + fault);
}

// Sets first[chunk] = min(first[chunk], FAULTS·i + fault) over all points[start + i] with a fault, i < n ≤ 2^28. Grid:
// one work-item per point.
KERNEL(POINT_GROUP)
void points_check(u32 start, u32 n, u32 chunk, GLOBAL const affine_t *points, GLOBAL u32 *first) {
    u32 i = GLOBAL_ID;
    if (i >= n) return;
    u32 fault = affine_fault(points[start + i]);
    if (fault != FAULT_NONE) note_fault(first, chunk, i, fault);
}
