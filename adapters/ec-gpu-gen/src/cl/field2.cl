// Implements the quadratic extension by u² = −1: elements are c0 + c1·u.

DEVICE FIELD F(zero)(void) {
    FIELD r;
    r.c0 = SUB(ZERO);
    r.c1 = SUB(ZERO);
    return r;
}

DEVICE FIELD F(one)(void) {
    FIELD r;
    r.c0 = SUB(ONE);
    r.c1 = SUB(ZERO);
    return r;
}

DEVICE bool F(eq)(FIELD a, FIELD b) {
    return SUB(eq)(a.c0, b.c0) && SUB(eq)(a.c1, b.c1);
}

DEVICE FIELD F(add)(FIELD a, FIELD b) {
    a.c0 = SUB(add)(a.c0, b.c0);
    a.c1 = SUB(add)(a.c1, b.c1);
    return a;
}

DEVICE FIELD F(sub)(FIELD a, FIELD b) {
    a.c0 = SUB(sub)(a.c0, b.c0);
    a.c1 = SUB(sub)(a.c1, b.c1);
    return a;
}

DEVICE FIELD F(double)(FIELD a) {
    return F(add)(a, a);
}

// Multiplies by Karatsuba: three products of the subfield.
DEVICE FIELD F(mul)(FIELD a, FIELD b) {
    FIELD r;
    SUBFIELD low = SUB(mul)(a.c0, b.c0);
    SUBFIELD high = SUB(mul)(a.c1, b.c1);
    SUBFIELD cross = SUB(mul)(SUB(add)(a.c0, a.c1), SUB(add)(b.c0, b.c1));
    r.c0 = SUB(sub)(low, high);
    r.c1 = SUB(sub)(SUB(sub)(cross, low), high);
    return r;
}

// Computes (c0 + c1)(c0 − c1) + 2·c0·c1·u.
DEVICE FIELD F(sqr)(FIELD a) {
    FIELD r;
    r.c0 = SUB(mul)(SUB(add)(a.c0, a.c1), SUB(sub)(a.c0, a.c1));
    r.c1 = SUB(double)(SUB(mul)(a.c0, a.c1));
    return r;
}
