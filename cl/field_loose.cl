// Loose elements: representatives in [0, 2p) if 5p < R (LOOSE is defined). Otherwise, and for extensions, they are in
// [0, p), and all functions here are plain arithmetic.
//
// The rows of a Montgomery product take two loose factors to [0, 2p) by themselves (C. Walter, Montgomery
// exponentiation needs no final subtractions, 1999): a·b/R + p < 4p·p/R + p < 2p. A factor that is 2p changes nothing.
// Zero has two loose forms, 0 and p. Memory is never loose unless stated otherwise.

#ifdef LOOSE

DEVICE F(t) F(mul_loose)(F(t) a, F(t) b) {
    return F(mul_lazy)(a, b);
}

DEVICE F(t) F(sqr_loose)(F(t) a) {
    return F(sqr_lazy)(a);
}

DEVICE F(t) F(sub_loose)(F(t) a, F(t) b) {
    const u32 p2[LIMBS] = P2_LIMBS;
    return F(sub_by)(a, b, p2);
}

DEVICE F(t) F(dbl_loose)(F(t) a) {
    const u32 p2[LIMBS] = P2_LIMBS;
    return F(reduce_by)(F(add_lazy)(a, a), p2);
}

#ifdef HAS_PTX

// Returns a·b − c·d as a·b + c·(2p − d) ≤ 8p², which the rows take below 8p·p/R + p < 3p. They may, since 2p + 2p + p <
// R.
DEVICE F(t) F(mul_sub_mul_loose)(F(t) a, F(t) b, F(t) c, F(t) d) {
    const u32 p[LIMBS] = P_LIMBS, p2[LIMBS] = P2_LIMBS;
    return F(reduce_by)(F(mul_add_mul_lazy)(a, b, c, F(sub_lazy)(F(zero)(), d, p2)), p);
}

#else

DEVICE F(t) F(mul_sub_mul_loose)(F(t) a, F(t) b, F(t) c, F(t) d) {
    return F(sub_loose)(F(mul_lazy)(a, b), F(mul_lazy)(c, d));
}

#endif

// Returns the element in [0, p).
DEVICE F(t) F(tight)(F(t) a) {
    return F(reduce)(a);
}

// Returns whether `a` may be zero: true for both forms of zero, and hardly ever otherwise.
DEVICE bool F(may_be_zero)(F(t) a) {
    const u32 p[LIMBS] = P_LIMBS;
    return a.limb[0] == 0 || a.limb[0] == p[0];
}

// Returns the loose sum of elements in [0, p].
DEVICE F(t) F(loose_sum)(F(t) a, F(t) b) {
    return F(add_lazy)(a, b);
}

DEVICE F(t) F(loose_difference)(F(t) a, F(t) b) {
    const u32 p[LIMBS] = P_LIMBS;
    return F(sub_lazy)(a, b, p);
}

// Returns −b in [0, p].
DEVICE F(t) F(loose_negative)(F(t) b) {
    return F(loose_difference)(F(zero)(), b);
}

// Returns a − b in [0, p), for loose a and b in [0, p].
DEVICE F(t) F(tight_difference)(F(t) a, F(t) b) {
    return F(reduce)(F(sub)(a, b));
}

#else

DEVICE F(t) F(mul_loose)(F(t) a, F(t) b) {
    return F(mul)(a, b);
}

DEVICE F(t) F(sqr_loose)(F(t) a) {
    return F(sqr)(a);
}

DEVICE F(t) F(sub_loose)(F(t) a, F(t) b) {
    return F(sub)(a, b);
}

DEVICE F(t) F(mul_sub_mul_loose)(F(t) a, F(t) b, F(t) c, F(t) d) {
    return F(mul_sub_mul)(a, b, c, d);
}

DEVICE F(t) F(dbl_loose)(F(t) a) {
    return F(dbl)(a);
}

DEVICE F(t) F(tight)(F(t) a) {
    return a;
}

DEVICE F(t) F(loose_sum)(F(t) a, F(t) b) {
    return F(add)(a, b);
}

DEVICE F(t) F(loose_difference)(F(t) a, F(t) b) {
    return F(sub)(a, b);
}

DEVICE F(t) F(loose_negative)(F(t) a) {
    return F(neg)(a);
}

DEVICE F(t) F(tight_difference)(F(t) a, F(t) b) {
    return F(sub)(a, b);
}

DEVICE bool F(may_be_zero)(F(t) a) {
    return F(is_zero)(a);
}

#endif
