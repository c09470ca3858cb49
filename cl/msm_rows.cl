// Bucket accumulation: the product of the transposed matrix with the vector of bases, balanced by length.
//
// Here a row is what the rounds of msm_affine.cl have left of it, slots of level `level`: offsets, which are
// multiples of 2^level, are shifted by it. Where scalars are halved a row is a bucket's two, of which the second one's points
// are multiplied by λ on their way: (x, y) → (βx, y). Rows are cut into pieces of at most `limit` entries, pieces are ordered by
// length, longest first, and each work-item sums one piece: neighbours work equally long whatever the scalars are. A
// row's first piece starts from what its bucket holds already, so that chunks of points follow one another into the
// same buckets. A row of one piece writes its bucket at once; the sums of other rows' pieces go to `partial` and are
// merged in two steps by groups of quads.
// Every row of a kernel's grid is bounded on the device by piece_offsets[rows]: the host knows a bound
// only, and never waits to learn the number.

// Pieces that one group merges.
#define MERGE 64u

// The first `plain` of a piece's points are added as they are, the others times λ. Beside its row it says whether it is that
// row's first piece, and its last.
#define FIRST_PIECE 0x80000000u
#define LAST_PIECE 0x40000000u
#define ONLY_PIECE (FIRST_PIECE | LAST_PIECE)
typedef struct {
    u32 start;
    u16 length, plain;
    u32 row;
} piece_t;

// Where the sum of a piece of a row of several is. All but the last of these have `limit` slots: the last one of a row may be in
// the same `limit` slots as the first of the next, but no other two.
DEVICE u32 partial_place(u32 start, u32 limit, bool is_first) {
    return 2 * (start / limit) + !is_first;
}

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

// Where a row is, in slots of `level`.
DEVICE u32 row_start(u32 row, u32 level, u32 halved, GLOBAL const u32 *offsets) {
    return offsets[row << halved] >> level;
}

// Piece p, of a row.
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

// Finds every piece's row, lists what is to be merged, and counts lengths, longest first: bin = limit − length.
STARTS_EARLY(msm_find_pieces)
KERNEL(256)
void msm_find_pieces(u32 rows, u32 level, u32 limit, u32 halved, GLOBAL const u32 *offsets, GLOBAL const u32 *piece_offsets,
                     GLOBAL u32 *piece_rows, GLOBAL u32 *counters, GLOBAL u32 *units, GLOBAL u32 *long_rows) {
    LOCAL u32 local_bins[BINS];
    for (u32 i = LOCAL_ID; i < BINS; i += 256) local_bins[i] = 0;
    AWAIT_STREAM();
    BARRIER();
    u32 p = GLOBAL_ID;
    if (p < piece_offsets[rows]) {
        u32 row = row_of_piece(p, rows, piece_offsets);
        piece_rows[p] = row;
        list_merges(p, row, piece_offsets, counters + MERGE_COUNTS, units, long_rows);
        ATOMIC_ADD(&local_bins[limit - piece_at(p, row, level, limit, halved, offsets, piece_offsets).length], 1u);
    }
    LET_NEXT_START();
    BARRIER();
    for (u32 i = LOCAL_ID; i < BINS; i += 256)
        if (local_bins[i] != 0) ATOMIC_ADD(&counters[PIECE_COUNTS + i], local_bins[i]);
}

// The pieces, longest first. Every group finds by itself where each length starts.
STARTS_EARLY(msm_order_pieces)
KERNEL(256)
void msm_order_pieces(u32 rows, u32 level, u32 limit, u32 halved, GLOBAL const u32 *offsets, GLOBAL const u32 *piece_offsets,
                      GLOBAL const u32 *piece_rows, GLOBAL u32 *counters, GLOBAL piece_t *pieces) {
    LOCAL u32 local_bins[BINS], starts[BINS], scratch[SCAN_GROUP];
    for (u32 i = LOCAL_ID; i < BINS; i += 256) local_bins[i] = 0;
    AWAIT_STREAM();
    for (u32 i = LOCAL_ID; i < BINS; i += 256) starts[i] = counters[PIECE_COUNTS + i];
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
    LET_NEXT_START();
    for (u32 i = LOCAL_ID; i < BINS; i += 256)
        if (local_bins[i] != 0) local_bins[i] = starts[i] + ATOMIC_ADD(&counters[PIECE_CURSORS + i], local_bins[i]);
    BARRIER();
    if (live) pieces[local_bins[bin] + rank] = piece;
}

// λP; infinity stays what it is.
DEVICE affine_t times_lambda(affine_t p) {
    const F(t) beta = LAMBDA_X_LIMBS;
    p.x = F(mul)(p.x, beta);
    return p;
}

// The piece's sum Σ ±point over its slots, whose entries these are, with what the bucket holds if it is the row's first: to the bucket
// if it is the row's only piece, to its place in `partial` else. Row 0 has bucket `first_bucket`.
STARTS_EARLY(msm_accumulate)
KERNEL_BOUNDED(128, ACCUMULATE_OCCUPANCY)
void msm_accumulate(u32 rows, u32 limit, u32 first_bucket, GLOBAL const u32 *piece_offsets, GLOBAL const piece_t *pieces,
                    GLOBAL const u32 *entries, GLOBAL const affine_t *points, GLOBAL point_t *buckets, GLOBAL point_t *partial) {
    buckets += first_bucket;
    AWAIT_STREAM();
    if (GLOBAL_ID >= piece_offsets[rows]) return;
    u32 p = GLOBAL_ID;
    piece_t piece = pieces[p];
    u32 end = piece.start + piece.length, plain = piece.start + piece.plain, entry = entries[piece.start];
    point_t sum = point_infinity();
    if (piece.row & FIRST_PIECE) sum = buckets[piece.row & ~ONLY_PIECE];
    for (u32 slot = piece.start; slot < end; slot++) {
        affine_t point = entry_point_loose(points, entry);
        // The next point's address is there when it is needed.
        if (slot + 1 < end) entry = entries[slot + 1];
        if (slot >= plain) point = times_lambda(point);
        sum = point_add_affine_loose(sum, point);
    }
    LET_NEXT_START();
    sum = point_tight(sum);
    NOT_BEFORE(p);
    piece = pieces[p];
    if ((piece.row & ONLY_PIECE) == ONLY_PIECE) buckets[piece.row & ~ONLY_PIECE] = sum;
    else partial[partial_place(piece.start, limit, piece.row & FIRST_PIECE)] = sum;
}

// Leaves in the first quad's slots the sum of a row's pieces k, k + stride … before `end`.
DEVICE void merge_run(LOCAL_POINTER F(t) *sum, LOCAL_POINTER F(t) *operand, LOCAL_POINTER F(t) *scratch,
                      GLOBAL const point_t *partial, u32 start, u32 limit, u32 k, u32 end, u32 stride) {
    u32 quad = LOCAL_ID / QUAD, at = quad * COORDINATES;
    quad_set_infinity(sum + at);
    for (; k < end; k += SUM_QUADS * stride) {
        u32 own = k + quad * stride;
        if (own < end) operand[at + LANE] = point_coordinate(partial, partial_place(start + own * limit, limit, own == 0));
        quad_add(sum + at, operand + at, scratch + at, own < end);
    }
    quad_sum_group(sum, operand, scratch, SUM_QUADS);
}

// Step 1 of merging: a group sums up to MERGE pieces of one row, to the bucket if they are the whole row,
// to the place of the first of them else. `units` lists the first pieces. Grid: any number of groups, which
// take units in turn.
STARTS_EARLY(msm_merge_units)
KERNEL(SUM_GROUP)
void msm_merge_units(u32 level, u32 limit, u32 halved, u32 first_bucket, GLOBAL const u32 *offsets, GLOBAL const u32 *piece_offsets,
                     GLOBAL const u32 *piece_rows, GLOBAL const u32 *counters, GLOBAL const u32 *units, GLOBAL point_t *buckets,
                     GLOBAL point_t *partial) {
    LOCAL F(t) sum[SUM_QUADS * COORDINATES], operand[SUM_QUADS * COORDINATES], scratch[SUM_QUADS * COORDINATES];
    AWAIT_STREAM();
    // There is little to do, as a rule.
    LET_NEXT_START();
    for (u32 u = GROUP_ID; u < counters[MERGE_COUNTS]; u += GROUPS) {
        u32 row = piece_rows[units[u]], start = row_start(row, level, halved, offsets);
        u32 k = units[u] - piece_offsets[row], count = piece_offsets[row + 1] - piece_offsets[row];
        merge_run(sum, operand, scratch, partial, start, limit, k, count < k + MERGE ? count : k + MERGE, 1);
        bool whole = count <= MERGE;
        u32 place = whole ? first_bucket + row : partial_place(start + k * limit, limit, k == 0);
        if (LOCAL_ID < QUAD) point_set_coordinate(whole ? buckets : partial, place, sum[LANE]);
        BARRIER();
    }
}

// Step 2: a group sums what step 1 left of a row that has more than MERGE pieces. Grid: as in step 1.
STARTS_EARLY(msm_merge_rows)
KERNEL(SUM_GROUP)
void msm_merge_rows(u32 level, u32 limit, u32 halved, u32 first_bucket, GLOBAL const u32 *offsets, GLOBAL const u32 *piece_offsets,
                    GLOBAL const u32 *counters, GLOBAL const u32 *long_rows, GLOBAL point_t *buckets,
                    GLOBAL const point_t *partial) {
    LOCAL F(t) sum[SUM_QUADS * COORDINATES], operand[SUM_QUADS * COORDINATES], scratch[SUM_QUADS * COORDINATES];
    AWAIT_STREAM();
    for (u32 r = GROUP_ID; r < counters[MERGE_COUNTS + 1]; r += GROUPS) {
        u32 row = long_rows[r], count = piece_offsets[row + 1] - piece_offsets[row];
        merge_run(sum, operand, scratch, partial, row_start(row, level, halved, offsets), limit, 0, count, MERGE);
        if (LOCAL_ID < QUAD) point_set_coordinate(buckets, first_bucket + row, sum[LANE]);
        BARRIER();
    }
}
