// Points in the uncompressed encoding of BLS12-381, decoded in place: x and y as big-endian numbers, of a coordinate in
// the extension c1 before c0. The three highest bits of the first byte are flags; of a point other than infinity they
// are zero, and of infinity all other bits are.

// In the first word, which is the first byte's low end.
#define ENCODING_FLAGS 0xe0u
#define ENCODING_INFINITY 0x40u

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

// Decodes a point that is all but infinity. One with x = 0 is of order three, so outside the subgroup: blst, and who
// decodes by it, refuses it even where that is not checked.
DEVICE u32 affine_decode(affine_t *point) {
    point->x = F(from_big_endian)(point->x);
    point->y = F(from_big_endian)(point->y);
    if (!F(is_reduced)(point->x) || !F(is_reduced)(point->y)) return FAULT_NOT_REDUCED;
    point->x = F(from_canonical)(point->x);
    point->y = F(from_canonical)(point->y);
    if (!affine_is_on_curve(*point)) return FAULT_NOT_ON_CURVE;
    return F(is_zero)(point->x) ? FAULT_OUTSIDE_SUBGROUP : FAULT_NONE;
}

// Decodes points[start .. start + n), of which those with a fault become infinity, and notes the first of these as
// points_check does. Whether points are in the subgroup is left to that. Grid: one item a point.
KERNEL(128)
void points_decode(u32 start, u32 n, u32 chunk, u32 infinity_is_fault, GLOBAL affine_t *points, GLOBAL u32 *first) {
    u32 i = GLOBAL_ID;
    if (i >= n) return;
    affine_t point = points[start + i];
    u32 flags = FIRST_WORD(point) & ENCODING_FLAGS;
    FIRST_WORD(point) ^= flags;
    u32 fault;
    if (flags == 0)
        fault = affine_decode(&point);
    else if (flags == ENCODING_INFINITY && affine_is_infinity(point))
        fault = infinity_is_fault ? FAULT_INFINITY : FAULT_NONE;
    else
        fault = FAULT_ENCODING;
    if (fault != FAULT_NONE) {
        point.x = F(zero)();
        point.y = F(zero)();
        note_fault(first, chunk, i, fault);
    }
    points[start + i] = point;
}
