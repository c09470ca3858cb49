// Bucket accumulation: the product of the transposed matrix with the vector of bases, balanced by length.
//
// Here a row is what the rounds of msm_affine.cl have left of it, slots of level `level`: offsets, which are
// multiples of 2^level, are shifted by it. Rows are cut into pieces of at most `limit` entries, pieces are ordered by length, longest first, and
// each work-item sums one piece: neighbours work equally long whatever the scalars are. A row's first
// piece starts from what its bucket holds already, so that chunks of points follow one another into the
// same buckets. A row of one piece writes its bucket at once; pieces of other rows stand side by side in
// `partial` and are merged in two steps by groups of quads.
// Every row of a kernel's grid is bounded on the device by piece_offsets[rows]: the host knows a bound
// only, and never waits to learn the number.

// Pieces that one group merges.
#define MERGE 64u

typedef struct {
    u32 start, length, row;
} piece_t;

// The row of a piece: the last one whose first piece is not after it and that is not empty.
DEVICE u32 row_of_piece(u32 piece, u32 rows, GLOBAL const u32 *piece_offsets) {
    u32 low = 0, high = rows;
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (piece_offsets[middle] <= piece) low = middle;
        else high = middle;
    }
    return low;
}

// Lists what is to be merged from this piece on; counts = (units, long rows).
DEVICE void list_merges(u32 p, u32 row, GLOBAL const u32 *piece_offsets, GLOBAL u32 *counts, GLOBAL u32 *units,
                        GLOBAL u32 *long_rows) {
    u32 index = p - piece_offsets[row], count = piece_offsets[row + 1] - piece_offsets[row];
    if (count > 1 && index % MERGE == 0) units[ATOMIC_ADD(&counts[0], 1u)] = p;
    if (count > MERGE && index == 0) long_rows[ATOMIC_ADD(&counts[1], 1u)] = row;
}

// Describes every piece, lists what is to be merged, and counts lengths, longest first: bin = limit − length.
STARTS_EARLY(msm_describe_pieces)
KERNEL(256)
void msm_describe_pieces(u32 rows, u32 level, u32 limit, GLOBAL const u32 *offsets, GLOBAL const u32 *piece_offsets,
                         GLOBAL piece_t *pieces, GLOBAL u32 *counters, GLOBAL u32 *units, GLOBAL u32 *long_rows) {
    LOCAL u32 local_bins[BINS];
    for (u32 i = LOCAL_ID; i < BINS; i += 256) local_bins[i] = 0;
    AWAIT_STREAM();
    BARRIER();
    u32 p = GLOBAL_ID;
    if (p < piece_offsets[rows]) {
        piece_t piece;
        piece.row = row_of_piece(p, rows, piece_offsets);
        piece.start = (offsets[piece.row] >> level) + (p - piece_offsets[piece.row]) * limit;
        u32 left = (offsets[piece.row + 1] >> level) - piece.start;
        piece.length = left < limit ? left : limit;
        pieces[p] = piece;
        list_merges(p, piece.row, piece_offsets, counters + MERGE_COUNTS, units, long_rows);
        ATOMIC_ADD(&local_bins[limit - piece.length], 1u);
    }
    LET_NEXT_START();
    BARRIER();
    for (u32 i = LOCAL_ID; i < BINS; i += 256)
        if (local_bins[i] != 0) ATOMIC_ADD(&counters[PIECE_COUNTS + i], local_bins[i]);
}

// order[slot] = piece, longest first. Every group finds by itself where each length starts.
STARTS_EARLY(msm_order_pieces)
KERNEL(256)
void msm_order_pieces(u32 rows, u32 limit, GLOBAL const u32 *piece_offsets, GLOBAL const piece_t *pieces,
                      GLOBAL u32 *counters, GLOBAL u32 *order) {
    LOCAL u32 local_bins[BINS], starts[BINS], scratch[SCAN_GROUP];
    for (u32 i = LOCAL_ID; i < BINS; i += 256) local_bins[i] = 0;
    AWAIT_STREAM();
    for (u32 i = LOCAL_ID; i < BINS; i += 256) starts[i] = counters[PIECE_COUNTS + i];
    BARRIER();
    u32 p = GLOBAL_ID, bin = 0, rank = 0;
    bool live = p < piece_offsets[rows];
    if (live) {
        bin = limit - pieces[p].length;
        rank = ATOMIC_ADD(&local_bins[bin], 1u);
    }
    scan_local(starts, BINS, scratch);
    LET_NEXT_START();
    for (u32 i = LOCAL_ID; i < BINS; i += 256)
        if (local_bins[i] != 0) local_bins[i] = starts[i] + ATOMIC_ADD(&counters[PIECE_CURSORS + i], local_bins[i]);
    BARRIER();
    if (live) order[local_bins[bin] + rank] = p;
}

// The piece's sum Σ ±base over its slots, with what the bucket holds if it is the row's first: to the bucket
// if it is the row's only piece, to partial[p] else. Row 0 has bucket `first_bucket`.
STARTS_EARLY(msm_accumulate)
KERNEL_BOUNDED(128, ACCUMULATE_OCCUPANCY)
void msm_accumulate(u32 rows, u32 level, u32 first_bucket, GLOBAL const u32 *piece_offsets, GLOBAL const piece_t *pieces, GLOBAL const u32 *order,
                    GLOBAL const u32 *entries, GLOBAL const affine_t *points, GLOBAL point_t *buckets,
                    GLOBAL point_t *partial) {
    operands_t from;
    from.level = level;
    from.entries = entries;
    from.points = points;
    buckets += first_bucket;
    u32 slot = GLOBAL_ID;
    AWAIT_STREAM();
    if (slot >= piece_offsets[rows]) return;
    u32 p = order[slot];
    piece_t piece = pieces[p];
    u32 first = piece_offsets[piece.row], end = piece_offsets[piece.row + 1];
    point_t sum = point_infinity();
    if (p == first) sum = buckets[piece.row];
    for (u32 i = 0; i < piece.length; i++)
        sum = point_add_affine_loose(sum, entry_point_loose(from, slot_entry(from, piece.start + i)));
    LET_NEXT_START();
    sum = point_tight(sum);
    if (end - first == 1) buckets[piece.row] = sum;
    else partial[p] = sum;
}

// Leaves in the first quad's slots the sum of partial[first], partial[first + stride] … before `end`.
DEVICE void merge_run(LOCAL_POINTER F(t) *sum, LOCAL_POINTER F(t) *operand, LOCAL_POINTER F(t) *scratch,
                      GLOBAL const point_t *partial, u32 first, u32 end, u32 stride) {
    u32 quad = LOCAL_ID / QUAD, at = quad * COORDINATES;
    quad_set_infinity(sum + at);
    for (u32 start = first; start < end; start += SUM_QUADS * stride) {
        u32 p = start + quad * stride;
        if (p < end) operand[at + LANE] = point_coordinate(partial, p);
        quad_add(sum + at, operand + at, scratch + at, p < end);
    }
    quad_sum_group(sum, operand, scratch, SUM_QUADS);
}

// Step 1 of merging: a group sums up to MERGE pieces of one row, to the bucket if they are the whole row,
// to the place of the first of them else. `units` lists the first pieces. Grid: any number of groups, which
// take units in turn.
STARTS_EARLY(msm_merge_units)
KERNEL(SUM_GROUP)
void msm_merge_units(u32 first_bucket, GLOBAL const u32 *counters, GLOBAL const u32 *units, GLOBAL const u32 *piece_offsets,
                     GLOBAL const piece_t *pieces, GLOBAL point_t *buckets, GLOBAL point_t *partial) {
    LOCAL F(t) sum[SUM_QUADS * COORDINATES], operand[SUM_QUADS * COORDINATES], scratch[SUM_QUADS * COORDINATES];
    AWAIT_STREAM();
    // There is little to do, as a rule.
    LET_NEXT_START();
    for (u32 u = GROUP_ID; u < counters[MERGE_COUNTS]; u += GROUPS) {
        u32 first = units[u], row = pieces[first].row, end = piece_offsets[row + 1];
        merge_run(sum, operand, scratch, partial, first, end < first + MERGE ? end : first + MERGE, 1);
        bool whole = first == piece_offsets[row] && end <= first + MERGE;
        if (LOCAL_ID < QUAD) point_set_coordinate(whole ? buckets : partial, whole ? first_bucket + row : first, sum[LANE]);
        BARRIER();
    }
}

// Step 2: a group sums what step 1 left of a row that has more than MERGE pieces. Grid: as in step 1.
STARTS_EARLY(msm_merge_rows)
KERNEL(SUM_GROUP)
void msm_merge_rows(u32 first_bucket, GLOBAL const u32 *counters, GLOBAL const u32 *long_rows, GLOBAL const u32 *piece_offsets,
                    GLOBAL point_t *buckets, GLOBAL const point_t *partial) {
    LOCAL F(t) sum[SUM_QUADS * COORDINATES], operand[SUM_QUADS * COORDINATES], scratch[SUM_QUADS * COORDINATES];
    AWAIT_STREAM();
    for (u32 r = GROUP_ID; r < counters[MERGE_COUNTS + 1]; r += GROUPS) {
        u32 row = long_rows[r];
        merge_run(sum, operand, scratch, partial, piece_offsets[row], piece_offsets[row + 1], MERGE);
        if (LOCAL_ID < QUAD) point_set_coordinate(buckets, first_bucket + row, sum[LANE]);
        BARRIER();
    }
}
