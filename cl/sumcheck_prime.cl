// What sums over a prime field need beside its arithmetic.

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

// low + number·difference, for a number from 0 to 7.
DEVICE F(t) F(at)(F(t) low, F(t) difference, u32 number) {
    if (number == 0) return low;
    F(t) multiple = difference;
    for (u32 bit = number >= 4 ? 2 : number >= 2 ? 1 : 0; bit != 0; bit >>= 1) {
        multiple = F(dbl)(multiple);
        if (number & bit) multiple = F(add)(multiple, difference);
    }
    return F(add)(low, multiple);
}
