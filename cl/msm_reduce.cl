// Bucket reduction: from the buckets of every window to few points whose weighted sum is the result. Some windows are
// wide; the others have half as many buckets, and segments half as long.
//
// The sum of a window is Σ b·S_b over its buckets b = 1 … B. Segments of s buckets give
//   Σ_k share_k + s·Σ_k k·total_k,  share_k = Σ_{j=1…s} j·S_{ks+j},  total_k = Σ_j S_{ks+j},
// by running sums from the top of each segment. Σ_k k·total_k = Σ_i 2^i·(Σ of the total_k with bit i of k set). The
// sums over bits, and the sum of all shares, are plain sums, made in two steps by many groups. They leave (bits + 1)
// points per window, weighted by powers of two, to the host: its core does the chain of 255 doublings in a fraction of
// the time of one GPU work-item.

// Holds the buckets of segment `id` of all: `length` from `first` on. A window has 2^bits segments, `segment` long in
// wide windows. The buckets are those of the sets from … to − 1, one vector after the other.
typedef struct {
    u32 first, length;
} segment_t;

DEVICE segment_t segment_at(u32 id, reduce_params_t params) {
    u32 bits = params.bits, segment = params.segment, from = params.from, to = params.to;
    u32 sets = params.sets, wide = params.wide;
    segment_t at;
    u32 vector = (id >> bits) / (to - from), set = from + (id >> bits) % (to - from);
    u32 before = wide_before(set, wide, sets), first = from + wide_before(from, wide, sets);
    bool is_wide = wide_before(set + 1, wide, sets) > before;
    u32 narrow_windows = vector * (to + wide_before(to, wide, sets) - first) + set + before - first;
    at.length = is_wide ? segment : segment / 2;
    at.first = (narrow_windows << bits) * (segment / 2) + (id & ((1u << bits) - 1)) * at.length;
    return at;
}

// Computes shares and totals of every segment k of every window w of every vector, at [w·2^bits + k]. Grid: one quad
// per segment.
PDL_KERNEL(msm_reduce_segments)
KERNEL(SUM_GROUP)
void msm_reduce_segments(GRID_CONSTANT reduce_params_t params, GLOBAL const point_t *buckets, GLOBAL point_t *shares,
                         GLOBAL point_t *totals) {
    LOCAL F(t) running[SUM_QUADS * COORDINATES], share[SUM_QUADS * COORDINATES];
    LOCAL F(t) operand[SUM_QUADS * COORDINATES], scratch[SUM_QUADS * COORDINATES];
    u32 id = GLOBAL_ID / QUAD, at = (LOCAL_ID / QUAD) * COORDINATES;
    segment_t own = segment_at(id, params);
    // Takes as many steps as the longest segment of the group needs. A group that spans several windows may have a wide
    // one.
    bool of_one_window = 1u << params.bits >= SUM_QUADS;
    u32 steps = 2 * (of_one_window ? own.length : params.segment);
    quad_set_infinity(running + at);
    quad_set_infinity(share + at);
    PDL_WAIT();
    // Adds in turn the next bucket to the running sum, and the running sum to the share. (One call for both: PoCL 3.1
    // gives wrong sums if a loop has two.)
    for (u32 step = 0; step < steps; step++) {
        bool to_share = step & 1, live = id < params.segments && step / 2 < own.length;
        if (to_share) operand[at + LANE] = running[at + LANE];
        else if (live) operand[at + LANE] = point_coordinate(buckets, own.first + own.length - 1 - step / 2);
        quad_add((to_share ? share : running) + at, operand + at, scratch + at, live);
    }
    PDL_TRIGGER();
    if (id >= params.segments) return;
    point_set_coordinate(shares, id, share[at + LANE]);
    point_set_coordinate(totals, id, running[at + LANE]);
}

// Computes shares and totals with one work-item per segment, for more segments: fewer instructions, longer latency. It
// writes each running sum over its bucket, then adds these up: one addition in the code, and one point in registers.
// The values written over buckets are loose.
PDL_KERNEL(msm_reduce_segments_scalar)
KERNEL_BOUNDED(SUM_GROUP, REDUCE_OCCUPANCY)
void msm_reduce_segments_scalar(GRID_CONSTANT reduce_params_t params, GLOBAL point_t *buckets, GLOBAL point_t *shares,
                                GLOBAL point_t *totals) {
    u32 id = GLOBAL_ID;
    PDL_WAIT();
    if (id >= params.segments) return;
    segment_t own = segment_at(id, params);
    buckets += own.first;
    point_t sum = buckets[own.length - 1];
    // The last running sum is the total, and the first of the second sum.
    for (u32 step = 1; step < 2 * own.length - 1; step++) {
        bool running = step < own.length;
        GLOBAL point_t *bucket = buckets + (running ? own.length - 1 - step : step - own.length + 1);
        sum = point_add_loose(sum, *bucket);
        if (running) *bucket = sum;
    }
    PDL_TRIGGER();
    shares[id] = point_tight(sum);
    totals[id] = point_tight(buckets[0]);
}

// Returns the `i`-th number that has `bit` set.
DEVICE u32 with_bit(u32 i, u32 bit) {
    return ((i >> bit) << (bit + 1)) | (1u << bit) | (i & ((1u << bit) - 1));
}

// Computes out[(w·(bits + 1) + s)·parts + p]: for s < bits, part p of the sum of the totals of window w with bit s set;
// for s = bits, of all its shares. A window has 2^bits segments. Grid: windows·(bits + 1)·parts groups.
PDL_KERNEL(msm_weighted_bit_sums)
KERNEL(SUM_GROUP)
void msm_weighted_bit_sums(u32 bits, u32 parts, GLOBAL const point_t *shares, GLOBAL const point_t *totals,
                           GLOBAL point_t *out) {
    LOCAL F(t) sum[SUM_QUADS * COORDINATES], operand[SUM_QUADS * COORDINATES], scratch[SUM_QUADS * COORDINATES];
    u32 part = GROUP_ID % parts, bit = (GROUP_ID / parts) % (bits + 1), window = GROUP_ID / parts / (bits + 1);
    u32 quad = LOCAL_ID / QUAD, at = quad * COORDINATES;
    u32 count = (bit == bits ? 1u << bits : (1u << bits) / 2), length = (count + parts - 1) / parts;
    quad_set_infinity(sum + at);
    PDL_WAIT();
    for (u32 first = 0; first < length; first += SUM_QUADS) {
        u32 i = part * length + first + quad;
        bool live = first + quad < length && i < count;
        u32 place = (window << bits) + (bit == bits ? i : with_bit(i, bit));
        if (live) operand[at + LANE] = point_coordinate(bit == bits ? shares : totals, place);
        quad_add(sum + at, operand + at, scratch + at, live);
    }
    PDL_TRIGGER();
    quad_sum_group(sum, operand, scratch, SUM_QUADS);
    if (quad == 0) point_set_coordinate(out, GROUP_ID, sum[LANE]);
}

// Computes out[g] = Σ of the g-th `count` points, in Jacobian coordinates. Grid: one group per sum.
PDL_KERNEL(msm_sum_parts)
KERNEL(SUM_GROUP)
void msm_sum_parts(u32 count, GLOBAL const point_t *parts, GLOBAL jacobian_t *out) {
    LOCAL F(t) sum[SUM_QUADS * COORDINATES], operand[SUM_QUADS * COORDINATES], scratch[SUM_QUADS * COORDINATES];
    u32 quad = LOCAL_ID / QUAD, at = quad * COORDINATES;
    quad_set_infinity(sum + at);
    PDL_WAIT();
    for (u32 first = 0; first < count; first += SUM_QUADS) {
        bool live = first + quad < count;
        if (live) operand[at + LANE] = point_coordinate(parts, GROUP_ID * count + first + quad);
        quad_add(sum + at, operand + at, scratch + at, live);
    }
    quad_sum_group(sum, operand, scratch, SUM_QUADS);
    if (LOCAL_ID == 0) out[GROUP_ID] = point_to_jacobian(quad_gather(sum));
}
