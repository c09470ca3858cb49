// Decodes points in place from the uncompressed encoding of BLS12-381: x and y as big-endian numbers, in the extension
// c1 before c0. The three highest bits of the first byte are flags. They are zero for a finite point; all other bits
// are zero for infinity.

#ifdef SUBFIELD

#define FIRST_WORD(point) (point).x.c0.limb[0]

DEVICE F(t) F(from_big_endian)(F(t) a) {
    F(t) r;
    r.c0 = SUB(from_big_endian)(a.c1);
    r.c1 = SUB(from_big_endian)(a.c0);
    return r;
}

DEVICE F(t) F(from_canonical)(F(t) a) {
    a.c0 = SUB(from_canonical)(a.c0);
    a.c1 = SUB(from_canonical)(a.c1);
    return a;
}

#else

#define FIRST_WORD(point) (point).x.limb[0]

#endif

// Decodes a point other than infinity, and returns its fault. A point with x = 0 is of order three, so outside the
// subgroup: blst, and decoders based on it, refuse it even if the subgroup is not checked.
DEVICE u32 affine_decode(affine_t *point) {
    point->x = F(from_big_endian)(point->x);
    point->y = F(from_big_endian)(point->y);
    if (!F(is_reduced)(point->x) || !F(is_reduced)(point->y)) return FAULT_NOT_REDUCED;
    point->x = F(from_canonical)(point->x);
    point->y = F(from_canonical)(point->y);
    if (!affine_is_on_curve(*point)) return FAULT_NOT_ON_CURVE;
    return F(is_zero)(point->x) ? FAULT_OUTSIDE_SUBGROUP : FAULT_NONE;
}

// Decodes points[start .. start + n). Points with a fault become infinity, and the first of these is noted as in
// points_check, which also checks the subgroup. Grid: one work-item per point.
KERNEL(POINT_GROUP)
void points_decode(u32 start, u32 n, u32 chunk, u32 infinity_is_fault, GLOBAL affine_t *points, GLOBAL u32 *first) {
    u32 i = GLOBAL_ID;
    if (i >= n) return;
    affine_t point = points[start + i];
    u32 flags = FIRST_WORD(point) & ENCODING_FLAGS;
    FIRST_WORD(point) ^= flags;
    u32 fault;
    if (flags == 0) fault = affine_decode(&point);
    else if (flags == ENCODING_INFINITY && affine_is_infinity(point))
        fault = infinity_is_fault ? FAULT_INFINITY : FAULT_NONE;
    else fault = FAULT_ENCODING;
    if (fault != FAULT_NONE) {
        point.x = F(zero)();
        point.y = F(zero)();
        note_fault(first, chunk, i, fault);
    }
    points[start + i] = point;
}
