// Points of y² = x³ + b over FIELD.
//
// affine_t: (x, y); all zero is infinity. point_t: extended Jacobian coordinates XYZZ, x = X/ZZ, y = Y/ZZZ, ZZ³ = ZZZ²;
// ZZ = 0 is infinity. Formulas are from the Explicit-Formulas Database, shortw/xyzz (madd-2008-s, add-2008-s,
// dbl-2008-s-1). Every exceptional case is decided, so that results are exact for any input. Coordinates are reduced,
// in Montgomery form.

typedef struct {
    F(t) x, y;
} affine_t;

typedef struct {
    F(t) x, y, zz, zzz;
} point_t;

typedef struct {
    F(t) x, y, z;
} jacobian_t;

DEVICE point_t point_infinity(void) {
    point_t r;
    r.x = F(zero)();
    r.y = F(zero)();
    r.zz = F(zero)();
    r.zzz = F(zero)();
    return r;
}

DEVICE bool affine_is_infinity(affine_t p) {
    return F(is_zero)(p.x) && F(is_zero)(p.y);
}

DEVICE bool point_is_infinity(point_t p) {
    return F(is_zero)(p.zz);
}

DEVICE point_t point_from_affine(affine_t p) {
    if (affine_is_infinity(p)) return point_infinity();
    point_t r;
    r.x = p.x;
    r.y = p.y;
    r.zz = F(one)();
    r.zzz = F(one)();
    return r;
}

// Returns 2·p, 6M + 3S. A point of order two gives ZZ = 0, which is infinity as required.
DEVICE_NOINLINE point_t point_double(point_t p) {
    F(t) u = F(dbl)(p.y);
    F(t) v = F(sqr)(u);
    F(t) w = F(mul)(u, v);
    F(t) s = F(mul)(p.x, v);
    F(t) xx = F(sqr)(p.x);
    F(t) m = F(add)(F(dbl)(xx), xx);
    point_t r;
    r.x = F(sub)(F(sqr)(m), F(dbl)(s));
    r.y = F(mul_sub_mul)(m, F(sub)(s, r.x), w, p.y);
    r.zz = F(mul)(v, p.zz);
    r.zzz = F(mul)(w, p.zzz);
    return r;
}

// Finishes both additions: returns the sum from P = U2 − U1, R = S2 − S1, U1, S1, and the ZZ and ZZZ of the result
// before their products with P² and P³. All values are loose.
DEVICE point_t point_finish_add(F(t) p, F(t) r, F(t) u1, F(t) s1, F(t) zz, F(t) zzz) {
    F(t) pp = F(sqr_loose)(p);
    F(t) ppp = F(mul_loose)(p, pp);
    F(t) q = F(mul_loose)(u1, pp);
    point_t sum;
    sum.zz = F(mul_loose)(zz, pp);
    sum.zzz = F(mul_loose)(zzz, ppp);
    sum.x = F(sub_loose)(F(sub_loose)(F(sqr_loose)(r), ppp), F(dbl_loose)(q));
    sum.y = F(mul_sub_mul_loose)(r, F(sub_loose)(q, sum.x), s1, ppp);
    return sum;
}

DEVICE point_t point_tight(point_t p) {
    p.x = F(tight)(p.x);
    p.y = F(tight)(p.y);
    p.zz = F(tight)(p.zz);
    p.zzz = F(tight)(p.zzz);
    return p;
}

// Returns the loose sum a + b for loose `a` and affine `b` with x reduced, y loose, 8M + 2S. Infinity is all zeros, in
// loose form too: products of non-zero values are never zero.
DEVICE point_t point_add_affine_loose(point_t a, affine_t b) {
    if (F(is_zero)(b.x) && F(is_zero)(F(tight)(b.y))) return a;
    if (point_is_infinity(a)) return point_from_affine(b);
    F(t) p = F(sub_loose)(F(mul_loose)(b.x, a.zz), a.x);
    F(t) r = F(sub_loose)(F(mul_loose)(b.y, a.zzz), a.y);
    if (F(may_be_zero)(p) && F(is_zero)(F(tight)(p)))
        return F(is_zero)(F(tight)(r)) ? point_double(point_tight(a)) : point_infinity();
    return point_finish_add(p, r, a.x, a.y, a.zz, a.zzz);
}

DEVICE point_t point_add_affine(point_t a, affine_t b) {
    return point_tight(point_add_affine_loose(a, b));
}

// Returns the loose sum a + b for loose points, 12M + 2S. It first multiplies the coordinates that are used up first:
// fewer of them wait in registers.
DEVICE point_t point_add_loose(point_t a, point_t b) {
    if (point_is_infinity(b)) return a;
    if (point_is_infinity(a)) return b;
    F(t) u1 = F(mul_loose)(a.x, b.zz);
    F(t) p = F(sub_loose)(F(mul_loose)(b.x, a.zz), u1);
    F(t) zz = F(mul_loose)(a.zz, b.zz);
    F(t) s1 = F(mul_loose)(a.y, b.zzz);
    F(t) r = F(sub_loose)(F(mul_loose)(b.y, a.zzz), s1);
    if (F(may_be_zero)(p) && F(is_zero)(F(tight)(p)))
        return F(is_zero)(F(tight)(r)) ? point_double(point_tight(a)) : point_infinity();
    return point_finish_add(p, r, u1, s1, zz, F(mul_loose)(a.zzz, b.zzz));
}

DEVICE_NOINLINE point_t point_add(point_t a, point_t b) {
    return point_tight(point_add_loose(a, b));
}

// Returns Jacobian coordinates with Z = ZZZ. That is z³ for the z with ZZ = z², ZZZ = z³, so no inversion is needed.
DEVICE jacobian_t point_to_jacobian(point_t p) {
    jacobian_t r;
    r.x = F(mul)(p.x, F(sqr)(p.zz));
    r.y = F(mul)(p.y, F(sqr)(p.zzz));
    r.z = p.zzz;
    return r;
}

// Returns x = X/ZZ, y = Y/ZZZ with one inversion: ZZ/ZZZ = 1/z for the z with ZZ = z², ZZZ = z³.
DEVICE affine_t point_to_affine(point_t p) {
    F(t) inverse = F(inv)(p.zzz), z_inverse = F(mul)(p.zz, inverse);
    affine_t r;
    r.x = F(mul)(p.x, F(sqr)(z_inverse));
    r.y = F(mul)(p.y, inverse);
    return r;
}
