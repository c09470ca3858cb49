// Point additions by four work-items, a quad: for sums of few points, where the latency of an addition counts. Its
// fourteen products (add-2008-s) have a depth of four.
//
// A point has four slots of local memory (x, y, zz, zzz), one per lane; groups are whole quads. Every lane of the group
// calls these functions together.

// Quads of a group that sums points.
#define SUM_QUADS (SUM_GROUP / QUAD)
#define LANE (LOCAL_ID & (QUAD - 1))

enum { X, Y, ZZ, ZZZ, COORDINATES };

DEVICE void quad_set_infinity(LOCAL_PTR F(t) *point) {
    point[LANE] = F(zero)();
}

// Returns the coordinate of a point in global memory that belongs to this lane.
DEVICE F(t) point_coordinate(GLOBAL const point_t *points, u32 index) {
    return ((GLOBAL const F(t) *)(points + index))[LANE];
}

DEVICE void point_set_coordinate(GLOBAL point_t *points, u32 index, F(t) value) {
    ((GLOBAL F(t) *)(points + index))[LANE] = value;
}

DEVICE point_t quad_gather(LOCAL_PTR const F(t) *point) {
    point_t r;
    r.x = point[X];
    r.y = point[Y];
    r.zz = point[ZZ];
    r.zzz = point[ZZZ];
    return r;
}

// Adds, by one lane, two points with the same x, for which the formulas of the addition do not hold.
DEVICE_NOINLINE void quad_add_same_x(LOCAL_PTR F(t) *a, bool same_y) {
    point_t sum = same_y ? point_double(quad_gather(a)) : point_infinity();
    a[X] = sum.x;
    a[Y] = sum.y;
    a[ZZ] = sum.zz;
    a[ZZZ] = sum.zzz;
}

// Adds b to a if `active`, which is equal in all lanes of the quad; b is used up. `t` has four slots of scratch memory.
DEVICE void quad_add(LOCAL_PTR F(t) *a, LOCAL_PTR F(t) *b, LOCAL_PTR F(t) *t, bool active) {
    u32 lane = LANE;
    QUAD_BARRIER();
    bool a_infinity = F(is_zero)(a[ZZ]), b_infinity = F(is_zero)(b[ZZ]);
    bool both = active && !a_infinity && !b_infinity;
    // Lanes compute U1 = X1·ZZ2, S1 = Y1·ZZZ2, U2 = X2·ZZ1, S2 = Y2·ZZZ1.
    if (both) t[lane] = F(mul)(lane < 2 ? a[lane] : b[lane - 2], lane < 2 ? b[ZZ + lane] : a[lane]);
    QUAD_BARRIER();
    if (active && a_infinity) a[lane] = b[lane];
    bool same_x = both && F(eq)(t[0], t[2]);
    bool regular = both && !same_x;
    if (same_x && lane == 0) quad_add_same_x(a, F(eq)(t[1], t[3]));
    // Lanes compute PP = P², RR = R², ZZ1·ZZ2, ZZZ1·ZZZ2, where P = U2 − U1, R = S2 − S1; the slots of b are free now.
    F(t) p = F(sub)(t[2 + (lane & 1)], t[lane & 1]);
    if (regular) b[lane] = F(mul)(lane < 2 ? p : a[lane], lane < 2 ? p : b[lane]);
    QUAD_BARRIER();
    // Lanes compute PPP = P·PP, Q = U1·PP, ZZ3 = ZZ1·ZZ2·PP; the second lane still holds R.
    F(t) product;
    if (regular && lane != ZZZ) product = F(mul)(lane == 0 ? p : lane == 1 ? t[0] : b[ZZ], b[0]);
    QUAD_BARRIER();
    if (regular && lane == 0) t[2] = product;
    if (regular && lane == 1) t[0] = product;
    if (regular && lane == 2) a[ZZ] = product;
    QUAD_BARRIER();
    // Lanes compute X3 = RR − PPP − 2Q, then R·(Q − X3), S1·PPP and ZZZ3 = ZZZ1·ZZZ2·PPP.
    F(t) x = F(sub)(F(sub)(b[1], t[2]), F(dbl)(t[0]));
    if (regular && lane != 2) {
        F(t) other = lane == 1 ? F(sub)(t[0], x) : t[2];
        product = F(mul)(lane == 0 ? t[1] : lane == 1 ? p : b[ZZZ], other);
    }
    QUAD_BARRIER();
    if (regular && lane == 0) t[3] = product;
    if (regular && lane == 2) a[X] = x;
    if (regular && lane == 3) a[ZZZ] = product;
    QUAD_BARRIER();
    if (regular && lane == 1) a[Y] = F(sub)(product, t[3]);
    QUAD_BARRIER();
}

// Sums the `quads` points of the group (a power of two), one per quad, into the place of the first. `points` and the
// scratch slots have COORDINATES slots per quad.
DEVICE void quad_sum_group(LOCAL_PTR F(t) *points, LOCAL_PTR F(t) *b, LOCAL_PTR F(t) *t, u32 quads) {
    u32 quad = LOCAL_ID / QUAD;
    for (u32 step = quads / 2; step > 0; step >>= 1) {
        BARRIER();
        bool active = quad < step;
        if (active) b[quad * COORDINATES + LANE] = points[(quad + step) * COORDINATES + LANE];
        quad_add(points + quad * COORDINATES, b + quad * COORDINATES, t + quad * COORDINATES, active);
    }
    BARRIER();
}
