// The extension SUBFIELD[X]/(X^DEGREE − RESIDUE) of a field of one or two words, DEGREE at most 4. Elements are arrays
// of coefficients, that of 1 first.
//
// Invariant and layout are those of the coefficients.

#define SUB(op) JOIN(SUBFIELD, op)

typedef struct ALIGNED(16) {
    SUB(t) c[DEGREE];
} F(t);

// Returns the element for one of the subfield.
DEVICE F(t) F(lift)(SUB(t) a) {
    F(t) r;
    r.c[0] = a;
#pragma unroll
    for (int i = 1; i < DEGREE; i++) r.c[i] = SUB(zero)();
    return r;
}

DEVICE F(t) F(zero)(void) {
    return F(lift)(SUB(zero)());
}

DEVICE F(t) F(add)(F(t) a, F(t) b) {
#pragma unroll
    for (int i = 0; i < DEGREE; i++) a.c[i] = SUB(add)(a.c[i], b.c[i]);
    return a;
}

DEVICE F(t) F(sub)(F(t) a, F(t) b) {
#pragma unroll
    for (int i = 0; i < DEGREE; i++) a.c[i] = SUB(sub)(a.c[i], b.c[i]);
    return a;
}

DEVICE F(t) F(dbl)(F(t) a) {
    return F(add)(a, a);
}

// Returns a·b with one reduction per coefficient, and one for each coefficient that is wrapped around.
DEVICE F(t) F(mul)(F(t) a, F(t) b) {
    const SUB(t) residue = {RESIDUE_LIMBS};
    SUB(t) wrapped[DEGREE];
    F(t) r;
#pragma unroll
    for (int i = 1; i < DEGREE; i++) wrapped[i] = SUB(mul)(residue, b.c[i]);
#pragma unroll
    for (int k = 0; k < DEGREE; k++) {
        SUB(few_t) sum = SUB(few_zero)();
#pragma unroll
        for (int i = 0; i < DEGREE; i++) SUB(few_add)(&sum, a.c[i], i <= k ? b.c[k - i] : wrapped[DEGREE + k - i]);
        r.c[k] = SUB(few_value)(sum);
    }
    return r;
}

// Returns a·b for `b` in the subfield.
DEVICE F(t) F(times_sub)(F(t) a, SUB(t) b) {
#pragma unroll
    for (int i = 0; i < DEGREE; i++) a.c[i] = SUB(mul)(a.c[i], b);
    return a;
}
