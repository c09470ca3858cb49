// Precomputed multiples of the bases: with copies 2^(c·sets·k)·P of each base, windows that are c·sets bits apart share
// their buckets.

// Computes table[to + i] = 2^doublings · table[from + i], affine. Infinity stays, since its inverse is zero. Grid: one
// work-item per point.
KERNEL(POINT_GROUP)
void msm_precompute_multiples(u32 n, u32 doublings, u32 from, u32 to, GLOBAL affine_t *table) {
    u32 i = GLOBAL_ID;
    if (i >= n) return;
    point_t point = point_from_affine(table[from + i]);
    for (u32 k = 0; k < doublings; k++) point = point_double(point);
    table[to + i] = point_to_affine(point);
}
