// Applies field operations to the elements of vectors of length n: out = operation(a, b). Grids of any size.

#define VECTOR_KERNEL(name, expression)                                              \
    KERNEL(128)                                                                      \
    void name(u32 n, GLOBAL const F(t) *a, GLOBAL const F(t) *b, GLOBAL F(t) *out) { \
        for (u32 i = GLOBAL_ID; i < n; i += GLOBAL_SIZE) {                           \
            F(t) x = a[i], y = b[i];                                                 \
            (void)y;                                                                 \
            out[i] = expression;                                                     \
        }                                                                            \
    }

VECTOR_KERNEL(vector_add, F(add)(x, y))
VECTOR_KERNEL(vector_sub, F(sub)(x, y))
VECTOR_KERNEL(vector_mul, F(mul)(x, y))
VECTOR_KERNEL(vector_sqr, F(sqr)(x))
VECTOR_KERNEL(vector_mul_sub_mul, F(mul_sub_mul)(x, y, F(add)(x, y), F(sub)(x, y)))
VECTOR_KERNEL(vector_neg_add, F(add)(F(neg)(x), F(dbl)(y)))
VECTOR_KERNEL(vector_div, F(mul)(x, F(inv)(y)))

// Computes out = a^(rounds + 1) by a chain of products in registers, to measure the rate of products.
KERNEL(128)
void vector_mul_chain(u32 n, u32 rounds, GLOBAL const F(t) *a, GLOBAL F(t) *out) {
    u32 i = GLOBAL_ID;
    if (i >= n) return;
    F(t) x = a[i], power = x;
    for (u32 k = 0; k < rounds; k++) power = F(mul)(power, x);
    out[i] = power;
}

// Inverts the elements of `a`, none of them zero, a group at a time, and the results again, `rounds` times in all, to
// measure the inversion of a group. Grid: whole groups, n work-items.
KERNEL_BOUNDED(INVERSE_GROUP, INVERSE_OCCUPANCY)
void vector_invert_groups(u32 n, u32 rounds, GLOBAL const F(t) *a, GLOBAL F(t) *out) {
    LOCAL inverse_locals_t locals;
    F(t) x = GLOBAL_ID < n ? a[GLOBAL_ID] : F(one)();
    for (u32 k = 0; k < rounds; k++) {
        x = invert_in_group(&locals, x);
        BARRIER();
    }
    if (GLOBAL_ID < n) out[GLOBAL_ID] = x;
}
