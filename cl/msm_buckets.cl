// Bucket reduction: from the buckets of every window to the window's sum.
//
// A window's sum is Σ b·S_b over buckets b = 1 … 2^(c−1). A work-item takes a segment of buckets
// lo + 1 … lo + s: running sums from the top give Σ (b − lo)·S_b and Σ S_b, and the segment's share is
// the first plus lo times the second. Shares are summed by trees in local memory.

#define TREE 64u

// factor·point by doubling and adding, from the highest bit.
DEVICE point_t point_multiply(point_t point, u32 factor) {
    point_t r = point_infinity();
    for (u32 mask = 0x80000000u; mask != 0; mask >>= 1) {
        if (!point_is_infinity(r)) r = point_double(r);
        if (factor & mask) r = point_add(r, point);
    }
    return r;
}

// shares[w·segments + k]: the k-th segment's share of window w, which has `width` buckets. Grid: one item
// a segment.
KERNEL(128)
void msm_reduce_segments(u32 windows, u32 width, u32 segment, GLOBAL const point_t *buckets,
                         GLOBAL point_t *shares) {
    u32 segments = width / segment, id = GLOBAL_ID;
    if (id >= windows * segments) return;
    u32 window = id / segments, low = (id % segments) * segment;
    point_t running = point_infinity(), share = point_infinity();
    for (u32 b = segment; b-- > 0;) {
        running = point_add(running, buckets[window * width + low + b]);
        share = point_add(share, running);
    }
    shares[id] = point_add(share, point_multiply(running, low));
}

// out[w·groups + g] = Σ of the g-th run of TREE points of window w, which has `count` points.
// Grid: windows·groups groups, groups = ⌈count / TREE⌉.
KERNEL(TREE)
void msm_sum_tree(u32 count, u32 groups, GLOBAL const point_t *in, GLOBAL point_t *out) {
    LOCAL point_t tile[TREE];
    u32 window = GROUP_ID / groups, at = (GROUP_ID % groups) * TREE + LOCAL_ID;
    point_t sum = point_infinity();
    if (at < count) sum = in[window * count + at];
    for (u32 step = TREE / 2; step > 0; step >>= 1) {
        tile[LOCAL_ID] = sum;
        BARRIER();
        if (LOCAL_ID < step) sum = point_add(sum, tile[LOCAL_ID + step]);
        BARRIER();
    }
    if (LOCAL_ID == 0) out[GROUP_ID] = sum;
}
