// Combination of the windows' sums by Horner's rule.
//
// The doublings are one chain of c·(windows − 1) steps, so what counts is the latency of a step. Four
// work-items share each doubling (dbl-2008-s-1): its nine products have a depth of three. Coordinates
// and intermediates stand in slots of local memory.

#define LANES 4u

enum { X, Y, ZZ, ZZZ, U, V, W, XX_S, M, MM, D, A, B, SLOTS };

// slots[out] = slots[a]·slots[b] on the lanes below `lanes`; operands may be other lanes' results of
// before, and a result may replace an operand.
DEVICE void lanes_multiply(LOCAL_POINTER F(t) *slots, u32 lanes, u32 a, u32 b, u32 out) {
    F(t) product;
    if (LOCAL_ID < lanes) product = F(mul)(slots[a], slots[b]);
    BARRIER();
    if (LOCAL_ID < lanes) slots[out] = product;
    BARRIER();
}

// The value that stands for this lane.
DEVICE u32 pick(u32 lane0, u32 lane1, u32 lane2, u32 lane3) {
    return LOCAL_ID == 0 ? lane0 : LOCAL_ID == 1 ? lane1 : LOCAL_ID == 2 ? lane2 : lane3;
}

// Doubles the point in X, Y, ZZ, ZZZ; infinity stays infinity, since ZZ is multiplied.
DEVICE void lanes_double(LOCAL_POINTER F(t) *slots) {
    if (LOCAL_ID == 0) slots[U] = F(dbl)(slots[Y]);
    BARRIER();
    lanes_multiply(slots, 2, pick(U, X, X, X), pick(U, X, X, X), pick(V, XX_S, 0, 0));
    if (LOCAL_ID == 0) slots[M] = F(add)(F(dbl)(slots[XX_S]), slots[XX_S]);
    BARRIER();
    lanes_multiply(slots, 4, pick(U, X, M, V), pick(V, V, M, ZZ), pick(W, XX_S, MM, ZZ));
    if (LOCAL_ID == 0) {
        F(t) s = slots[XX_S];
        slots[X] = F(sub)(slots[MM], F(dbl)(s));
        slots[D] = F(sub)(s, slots[X]);
    }
    BARRIER();
    lanes_multiply(slots, 3, pick(W, M, W, W), pick(Y, D, ZZZ, ZZZ), pick(A, B, ZZZ, ZZZ));
    if (LOCAL_ID == 0) slots[Y] = F(sub)(slots[B], slots[A]);
    BARRIER();
}

DEVICE point_t slots_get(LOCAL_POINTER const F(t) *slots) {
    point_t point;
    point.x = slots[X];
    point.y = slots[Y];
    point.zz = slots[ZZ];
    point.zzz = slots[ZZZ];
    return point;
}

DEVICE void slots_put(LOCAL_POINTER F(t) *slots, point_t point) {
    slots[X] = point.x;
    slots[Y] = point.y;
    slots[ZZ] = point.zz;
    slots[ZZZ] = point.zzz;
}

// result = Σ_w 2^(c·w)·sums[w]. One group of LANES.
KERNEL(LANES)
void msm_combine(u32 windows, u32 c, GLOBAL const point_t *sums, GLOBAL jacobian_t *result) {
    LOCAL F(t) slots[SLOTS];
    if (LOCAL_ID == 0) slots_put(slots, sums[windows - 1]);
    BARRIER();
    for (u32 w = windows - 1; w-- > 0;) {
        for (u32 i = 0; i < c; i++) lanes_double(slots);
        if (LOCAL_ID == 0) slots_put(slots, point_add(slots_get(slots), sums[w]));
        BARRIER();
    }
    if (LOCAL_ID == 0) result[0] = point_to_jacobian(slots_get(slots));
}
