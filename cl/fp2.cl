// The quadratic extension SUBFIELD[u]/(u² + β): c0 + c1·u. kernels/source_text.rs defines FP2_NONRESIDUE, the small
// positive number β: 1 for BLS12-381 and BN254, 5 for BLS12-377.
//
// Invariant and layout are those of the two coordinates, c0 first.

#define SUB(op) JOIN(SUBFIELD, op)

typedef struct {
    SUB(t) c0, c1;
} F(t);

DEVICE F(t) F(zero)(void) {
    F(t) r;
    r.c0 = SUB(zero)();
    r.c1 = SUB(zero)();
    return r;
}

DEVICE F(t) F(one)(void) {
    F(t) r;
    r.c0 = SUB(one)();
    r.c1 = SUB(zero)();
    return r;
}

DEVICE bool F(is_zero)(F(t) a) {
    return SUB(is_zero)(a.c0) && SUB(is_zero)(a.c1);
}

DEVICE bool F(eq)(F(t) a, F(t) b) {
    return SUB(eq)(a.c0, b.c0) && SUB(eq)(a.c1, b.c1);
}

DEVICE F(t) F(add)(F(t) a, F(t) b) {
    a.c0 = SUB(add)(a.c0, b.c0);
    a.c1 = SUB(add)(a.c1, b.c1);
    return a;
}

DEVICE F(t) F(sub)(F(t) a, F(t) b) {
    a.c0 = SUB(sub)(a.c0, b.c0);
    a.c1 = SUB(sub)(a.c1, b.c1);
    return a;
}

DEVICE F(t) F(dbl)(F(t) a) {
    return F(add)(a, a);
}

DEVICE F(t) F(neg)(F(t) a) {
    return F(sub)(F(zero)(), a);
}

// Returns whether `a`, as found in memory, is an element: both coefficients are below p.
DEVICE bool F(is_reduced)(F(t) a) {
    return SUB(is_reduced)(a.c0) && SUB(is_reduced)(a.c1);
}

// Returns aᵖ, the conjugate: uᵖ = (−β)^((p − 1)/2)·u = −u, since −β is no square modulo p.
DEVICE F(t) F(frobenius)(F(t) a) {
    a.c1 = SUB(neg)(a.c1);
    return a;
}

#if FP2_NONRESIDUE == 1

DEVICE SUB(t) F(times_nonresidue)(SUB(t) a) {
    return a;
}

#else

// Returns β·a, by doubling and adding from the second highest bit of β on.
DEVICE SUB(t) F(times_nonresidue)(SUB(t) a) {
    SUB(t) r = a;
    u32 bit = 1;
    while (2 * bit <= FP2_NONRESIDUE) bit *= 2;
    for (bit /= 2; bit != 0; bit /= 2) {
        r = SUB(dbl)(r);
        if (FP2_NONRESIDUE & bit) r = SUB(add)(r, a);
    }
    return r;
}

#endif

// Returns c0² + β·c1², the product of `a` and its conjugate.
DEVICE SUB(t) F(norm)(F(t) a) {
    return SUB(add)(SUB(sqr)(a.c0), F(times_nonresidue)(SUB(sqr)(a.c1)));
}

#ifdef HAS_PTX

#if FP2_NONRESIDUE == 1

DEVICE SUB(wide) F(wide_times_nonresidue)(SUB(wide) a) {
    return a;
}

#else

// Returns β·a, not reduced, for a product `a` of elements: β·p² < p·R if β·p < R.
DEVICE SUB(wide) F(wide_times_nonresidue)(SUB(wide) a) {
    u64 word = 0;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(a) / sizeof(u32)); i++) {
        word = (u64)a.limb[i] * FP2_NONRESIDUE + (word >> 32);
        a.limb[i] = (u32)word;
    }
    return a;
}

#endif

// Returns a·b by Karatsuba: three wide products of the subfield, two reductions. 4p < R in all fields, so the product
// of the sums, which are not reduced, is below p·R too. So is β·w1: R > 152·p for BLS12-377.
DEVICE_NOINLINE F(t) F(mul)(F(t) a, F(t) b) {
    SUB(wide) cross = SUB(mul_wide)(SUB(add_lazy)(a.c0, a.c1), SUB(add_lazy)(b.c0, b.c1));
    SUB(wide) w0 = SUB(mul_wide)(a.c0, b.c0), w1 = SUB(mul_wide)(a.c1, b.c1);
    F(t) r;
    r.c0 = SUB(wide_reduce)(SUB(wide_sub_mod)(w0, F(wide_times_nonresidue)(w1)));
    r.c1 = SUB(wide_reduce)(SUB(wide_sub)(SUB(wide_sub)(cross, w0), w1));
    return r;
}

#else

// Returns a·b by Karatsuba: three products of the subfield.
DEVICE_NOINLINE F(t) F(mul)(F(t) a, F(t) b) {
    SUB(t) cross = SUB(mul)(SUB(add)(a.c0, a.c1), SUB(add)(b.c0, b.c1));
    a.c0 = SUB(mul)(a.c0, b.c0);
    a.c1 = SUB(mul)(a.c1, b.c1);
    b.c0 = SUB(sub)(a.c0, F(times_nonresidue)(a.c1));
    b.c1 = SUB(sub)(SUB(sub)(cross, a.c0), a.c1);
    return b;
}

#endif

// Returns `a`: products are reduced here, lazy ones too.
DEVICE F(t) F(reduced)(F(t) a) {
    return a;
}

// Returns a·b for callers that accept a product in [0, 2p).
DEVICE F(t) F(mul_lazy)(F(t) a, F(t) b) {
    return F(mul)(a, b);
}

// Returns a·b − c·d.
DEVICE F(t) F(mul_sub_mul)(F(t) a, F(t) b, F(t) c, F(t) d) {
    return F(sub)(F(mul)(a, b), F(mul)(c, d));
}

// Returns a² = (c0 + c1)(c0 − β·c1) + (β − 1)·c0·c1 + 2·c0·c1·u.
DEVICE_NOINLINE F(t) F(sqr)(F(t) a) {
    F(t) r;
    r.c0 = SUB(mul)(SUB(add)(a.c0, a.c1), SUB(sub)(a.c0, F(times_nonresidue)(a.c1)));
    a.c0 = SUB(mul)(a.c0, a.c1);
    r.c1 = SUB(dbl)(a.c0);
#if FP2_NONRESIDUE != 1
    r.c0 = SUB(add)(r.c0, SUB(sub)(F(times_nonresidue)(a.c0), a.c0));
#endif
    return r;
}

// Returns the inverse (c0 − c1·u) / (c0² + β·c1²), and zero for zero.
DEVICE F(t) F(inv)(F(t) a) {
    SUB(t) norm_inverse = SUB(inv)(F(norm)(a));
    a.c0 = SUB(mul)(a.c0, norm_inverse);
    a.c1 = SUB(neg)(SUB(mul)(a.c1, norm_inverse));
    return a;
}

// Returns the inverse, computed by a group of work-items that all pass the same `a`.
DEVICE F(t) F(inv_by_group)(LOCAL_PTR digit_sums_t *sums, F(t) a) {
    SUB(t) norm_inverse = SUB(inv_by_group)(sums, F(norm)(a));
    a.c0 = SUB(mul)(a.c0, norm_inverse);
    a.c1 = SUB(neg)(SUB(mul)(a.c1, norm_inverse));
    return a;
}
