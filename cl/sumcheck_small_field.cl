// Sums and folds over a field of one or two words, and over its extensions: products are reduced to elements at once.

typedef struct {
    F(t) value;
} F(sum_t);

DEVICE F(sum_t) F(sum_zero)(void) {
    F(sum_t) sum;
    sum.value = F(zero)();
    return sum;
}

DEVICE void F(add_product)(F(sum_t) *sum, F(t) a, F(t) b) {
    sum->value = F(add)(sum->value, F(mul)(a, b));
}

DEVICE F(t) F(sum_value)(F(sum_t) sum) {
    return sum.value;
}
