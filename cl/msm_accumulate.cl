// Bucket accumulation: the product of the transposed matrix with the vector of bases, balanced by length.
//
// Here a row is the part of it that the rounds of msm_batch_affine.cl have left, slots of level `level`: offsets, which
// are multiples of 2^level, are shifted by it. With GLV a row is the two rows of a bucket, and the points of the second one
// are multiplied by λ when they are read: (x, y) → (βx, y). Rows are cut into pieces of at most `limit` entries. Pieces
// are ordered by length, longest first, and each work-item sums one piece: neighbours work equally long for any
// scalars. The first piece of a row starts from the current value of its bucket, so that chunks of points add up in the
// same buckets. A row of one piece writes its bucket at once. The sums of the pieces of other rows go to `partial`, and
// groups of quads merge them in two steps. The device bounds the rows of every grid by piece_offsets[rows]: the host
// knows only a bound, and never waits to learn the number.

// Flags of a piece (piece_t), beside its row: whether it is the first piece of that row, and the last.
#define FIRST_PIECE 0x80000000u
#define LAST_PIECE 0x40000000u
#define ONLY_PIECE (FIRST_PIECE | LAST_PIECE)

// Returns where the sum of a piece is in `partial`, for rows of several pieces. All but the last piece of such a row
// have `limit` slots. The last one of a row may be in the same `limit` slots as the first of the next, but no other
// two.
DEVICE u32 partial_index(u32 start, u32 limit, bool is_first) {
    return 2 * (start / limit) + !is_first;
}

// Returns the row of `piece`: the last row that is not empty and whose first piece is not after it.
DEVICE u32 row_of_piece(u32 piece, u32 rows, GLOBAL const u32 *piece_offsets) {
    u32 low = 0, high = rows;
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (piece_offsets[middle] <= piece) low = middle;
        else high = middle;
    }
    return low;
}

// Lists the merges that start at piece `p`; counts = (units, long rows).
DEVICE void list_merges(u32 p, u32 row, GLOBAL const u32 *piece_offsets, GLOBAL u32 *counts, GLOBAL u32 *units,
                        GLOBAL u32 *long_rows) {
    u32 index = p - piece_offsets[row], count = piece_offsets[row + 1] - piece_offsets[row];
    if (count > 1 && index % MERGE == 0) units[ATOMIC_ADD(&counts[0], 1u)] = p;
    if (count > MERGE && index == 0) long_rows[ATOMIC_ADD(&counts[1], 1u)] = row;
}

// Returns where `row` starts, in slots of `level`.
DEVICE u32 row_start(u32 row, u32 level, u32 halved, GLOBAL const u32 *offsets) {
    return offsets[row << halved] >> level;
}

// Returns piece `p`, which is one of `row`.
DEVICE piece_t piece_at(u32 p, u32 row, u32 level, u32 limit, u32 halved, GLOBAL const u32 *offsets,
                        GLOBAL const u32 *piece_offsets) {
    u32 first = piece_offsets[row], end = piece_offsets[row + 1];
    piece_t piece;
    piece.row = row | (p == first ? FIRST_PIECE : 0) | (p + 1 == end ? LAST_PIECE : 0);
    piece.start = row_start(row, level, halved, offsets) + (p - first) * limit;
    u32 left = row_start(row + 1, level, halved, offsets) - piece.start;
    u32 length = left < limit ? left : limit, plain = length;
    if (halved) {
        u32 second = offsets[2 * row + 1] >> level;
        plain = second < piece.start ? 0 : second - piece.start;
    }
    piece.length = length;
    piece.plain = plain < length ? plain : length;
    return piece;
}

// Finds the row of every piece, lists the merges, and counts lengths, longest first: bin = limit − length.
PDL_KERNEL(msm_build_chunks)
KERNEL(PIECE_GROUP)
void msm_build_chunks(GRID_CONSTANT rows_params_t params, GLOBAL const u32 *offsets, GLOBAL const u32 *piece_offsets,
                      GLOBAL u32 *piece_rows, GLOBAL u32 *counters, GLOBAL u32 *units, GLOBAL u32 *long_rows) {
    LOCAL u32 local_bins[BINS];
    u32 rows = params.rows, level = params.level, limit = params.limit, halved = params.halved;
    for (u32 i = LOCAL_ID; i < BINS; i += PIECE_GROUP) local_bins[i] = 0;
    PDL_WAIT();
    BARRIER();
    u32 p = GLOBAL_ID;
    if (p < piece_offsets[rows]) {
        u32 row = row_of_piece(p, rows, piece_offsets);
        piece_rows[p] = row;
        list_merges(p, row, piece_offsets, counters + MERGE_COUNTS, units, long_rows);
        ATOMIC_ADD(&local_bins[limit - piece_at(p, row, level, limit, halved, offsets, piece_offsets).length], 1u);
    }
    PDL_TRIGGER();
    BARRIER();
    for (u32 i = LOCAL_ID; i < BINS; i += PIECE_GROUP)
        if (local_bins[i] != 0) ATOMIC_ADD(&counters[PIECE_COUNTS + i], local_bins[i]);
}

// Sorts the pieces, longest first. Every group finds by itself where each length starts.
PDL_KERNEL(msm_sort_chunks)
KERNEL(PIECE_GROUP)
void msm_sort_chunks(GRID_CONSTANT rows_params_t params, GLOBAL const u32 *offsets, GLOBAL const u32 *piece_offsets,
                     GLOBAL const u32 *piece_rows, GLOBAL u32 *counters, GLOBAL piece_t *pieces) {
    LOCAL u32 local_bins[BINS], starts[BINS], scratch[SCAN_GROUP];
    u32 rows = params.rows, level = params.level, limit = params.limit, halved = params.halved;
    for (u32 i = LOCAL_ID; i < BINS; i += PIECE_GROUP) local_bins[i] = 0;
    PDL_WAIT();
    for (u32 i = LOCAL_ID; i < BINS; i += PIECE_GROUP) starts[i] = counters[PIECE_COUNTS + i];
    BARRIER();
    u32 p = GLOBAL_ID, bin = 0, rank = 0;
    bool live = p < piece_offsets[rows];
    piece_t piece;
    if (live) {
        piece = piece_at(p, piece_rows[p], level, limit, halved, offsets, piece_offsets);
        bin = limit - piece.length;
        rank = ATOMIC_ADD(&local_bins[bin], 1u);
    }
    scan_local(starts, BINS, scratch);
    PDL_TRIGGER();
    for (u32 i = LOCAL_ID; i < BINS; i += PIECE_GROUP)
        if (local_bins[i] != 0) local_bins[i] = starts[i] + ATOMIC_ADD(&counters[PIECE_CURSORS + i], local_bins[i]);
    BARRIER();
    if (live) pieces[local_bins[bin] + rank] = piece;
}

// Returns λP; infinity stays infinity.
DEVICE affine_t endo_map(affine_t p) {
    const F(t) beta = LAMBDA_X_LIMBS;
    p.x = F(mul)(p.x, beta);
    return p;
}

// Computes the sum of a piece, Σ ±point over its slots, which `entries` has. It adds the value of the bucket if the
// piece is the first of its row. The sum goes to the bucket if the piece is the only one of its row, else to its place
// in `partial`. Row 0 has bucket `first_bucket`.
PDL_KERNEL(msm_accumulate)
KERNEL_BOUNDED(ACCUMULATE_GROUP, ACCUMULATE_OCCUPANCY)
void msm_accumulate(u32 rows, u32 limit, u32 first_bucket, GLOBAL const u32 *piece_offsets,
                    GLOBAL const piece_t *pieces, GLOBAL const u32 *entries, GLOBAL const affine_t *points,
                    GLOBAL point_t *buckets, GLOBAL point_t *partial) {
    buckets += first_bucket;
    PDL_WAIT();
    if (GLOBAL_ID >= piece_offsets[rows]) return;
    u32 p = GLOBAL_ID;
    piece_t piece = pieces[p];
    u32 end = piece.start + piece.length, plain = piece.start + piece.plain, entry = entries[piece.start];
    point_t sum = point_infinity();
    if (piece.row & FIRST_PIECE) sum = buckets[piece.row & ~ONLY_PIECE];
    for (u32 slot = piece.start; slot < end; slot++) {
        affine_t point = entry_point_loose(points, entry);
        // Loads the entry of the next point before its address is needed.
        if (slot + 1 < end) entry = entries[slot + 1];
        if (slot >= plain) point = endo_map(point);
        sum = point_add_affine_loose(sum, point);
    }
    PDL_TRIGGER();
    sum = point_tight(sum);
    SCHEDULE_FENCE(p);
    piece = pieces[p];
    if ((piece.row & ONLY_PIECE) == ONLY_PIECE) buckets[piece.row & ~ONLY_PIECE] = sum;
    else partial[partial_index(piece.start, limit, piece.row & FIRST_PIECE)] = sum;
}

// Leaves in the slots of the first quad the sum of the pieces k, k + stride … of a row before `end`.
DEVICE void merge_run(LOCAL_PTR F(t) *sum, LOCAL_PTR F(t) *operand, LOCAL_PTR F(t) *scratch,
                      GLOBAL const point_t *partial, u32 start, u32 limit, u32 k, u32 end, u32 stride) {
    u32 quad = LOCAL_ID / QUAD, at = quad * COORDINATES;
    quad_set_infinity(sum + at);
    for (; k < end; k += SUM_QUADS * stride) {
        u32 own = k + quad * stride;
        u32 index = partial_index(start + own * limit, limit, own == 0);
        if (own < end) operand[at + LANE] = point_coordinate(partial, index);
        quad_add(sum + at, operand + at, scratch + at, own < end);
    }
    quad_sum_group(sum, operand, scratch, SUM_QUADS);
}

// Merges, step 1: a group sums up to MERGE pieces of one row, to the bucket if they are the whole row, else to the
// place of the first of them. `units` lists the first pieces. Grid: any number of groups, which take units in turn.
PDL_KERNEL(msm_merge_chunks)
KERNEL(SUM_GROUP)
void msm_merge_chunks(GRID_CONSTANT rows_params_t params, GLOBAL const u32 *offsets, GLOBAL const u32 *piece_offsets,
                      GLOBAL const u32 *piece_rows, GLOBAL const u32 *counters, GLOBAL const u32 *units,
                      GLOBAL point_t *buckets, GLOBAL point_t *partial) {
    LOCAL F(t) sum[SUM_QUADS * COORDINATES], operand[SUM_QUADS * COORDINATES], scratch[SUM_QUADS * COORDINATES];
    u32 level = params.level, limit = params.limit, halved = params.halved;
    PDL_WAIT();
    // There is usually little to do.
    PDL_TRIGGER();
    for (u32 u = GROUP_ID; u < counters[MERGE_COUNTS]; u += GROUPS) {
        u32 row = piece_rows[units[u]], start = row_start(row, level, halved, offsets);
        u32 k = units[u] - piece_offsets[row], count = piece_offsets[row + 1] - piece_offsets[row];
        merge_run(sum, operand, scratch, partial, start, limit, k, count < k + MERGE ? count : k + MERGE, 1);
        bool whole = count <= MERGE;
        u32 place = whole ? params.first_bucket + row : partial_index(start + k * limit, limit, k == 0);
        if (LOCAL_ID < QUAD) point_set_coordinate(whole ? buckets : partial, place, sum[LANE]);
        BARRIER();
    }
}

// Merges, step 2: a group sums the results of step 1 for a row of more than MERGE pieces. Grid: as in step 1.
PDL_KERNEL(msm_merge_rows)
KERNEL(SUM_GROUP)
void msm_merge_rows(GRID_CONSTANT rows_params_t params, GLOBAL const u32 *offsets, GLOBAL const u32 *piece_offsets,
                    GLOBAL const u32 *counters, GLOBAL const u32 *long_rows, GLOBAL point_t *buckets,
                    GLOBAL const point_t *partial) {
    LOCAL F(t) sum[SUM_QUADS * COORDINATES], operand[SUM_QUADS * COORDINATES], scratch[SUM_QUADS * COORDINATES];
    u32 level = params.level, limit = params.limit, halved = params.halved;
    PDL_WAIT();
    for (u32 r = GROUP_ID; r < counters[MERGE_COUNTS + 1]; r += GROUPS) {
        u32 row = long_rows[r], count = piece_offsets[row + 1] - piece_offsets[row];
        merge_run(sum, operand, scratch, partial, row_start(row, level, halved, offsets), limit, 0, count, MERGE);
        if (LOCAL_ID < QUAD) point_set_coordinate(buckets, params.first_bucket + row, sum[LANE]);
        BARRIER();
    }
}
