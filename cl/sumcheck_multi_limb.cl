// Sums and folds over a prime field of many limbs: a sum of products is reduced once, at its end (field_accumulator.cl), and a
// challenge is a fixed factor (field_shoup.cl).

typedef F(lazy_t) F(sum_t);

DEVICE F(sum_t) F(sum_zero)(void) {
    return F(lazy_zero)();
}

DEVICE void F(add_product)(F(sum_t) *sum, F(t) a, F(t) b) {
    F(lazy_add)(sum, a, b);
}

DEVICE F(t) F(sum_value)(F(sum_t) sum) {
    return F(lazy_value)(sum);
}

#define SUMCHECK_FIXED
typedef F(fixed) sumcheck_challenge_t;

DEVICE F(t) sumcheck_fold_rows(F(t) low, F(t) high, sumcheck_challenge_t r) {
    const u32 p[LIMBS] = P_LIMBS;
    // In (0, 2p): the product by a fixed factor takes any number below R.
    F(t) difference = F(sub_lazy)(high, low, p);
    return F(add)(low, F(reduce)(F(mul_fixed)(difference, r)));
}
