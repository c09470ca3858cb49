// Bucket accumulation: the product of the transposed matrix with the vector of bases, balanced by length.
//
// Rows are cut into pieces of at most `limit` entries, pieces are ordered by length, longest first, and
// each work-item sums one piece: neighbours work equally long whatever the scalars are. A row's first
// piece starts from what its bucket holds already, so that chunks of points follow one another into the
// same buckets. Pieces of one row stand side by side in `partial` and are merged by a tree in place,
// whose last level writes the bucket; a row of one piece writes it at once.
// Every row of a kernel's grid is bounded on the device by piece_offsets[rows]: the host knows a bound
// only, and never waits to learn the number.

#define BINS 512u

typedef struct {
    u32 start, length, row;
} piece_t;

// piece_counts[row] = ⌈length / limit⌉.
KERNEL(256)
void msm_cut_rows(u32 rows, u32 limit, GLOBAL const u32 *offsets, GLOBAL u32 *piece_counts) {
    u32 row = GLOBAL_ID;
    if (row < rows) piece_counts[row] = (offsets[row + 1] - offsets[row] + limit - 1) / limit;
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

// Describes every piece and counts lengths, longest first: bin = limit − length.
KERNEL(256)
void msm_describe_pieces(u32 rows, u32 limit, GLOBAL const u32 *offsets, GLOBAL const u32 *piece_offsets,
                         GLOBAL piece_t *pieces, GLOBAL u32 *bins) {
    LOCAL u32 local_bins[BINS];
    for (u32 i = LOCAL_ID; i < BINS; i += 256) local_bins[i] = 0;
    BARRIER();
    u32 p = GLOBAL_ID;
    if (p < piece_offsets[rows]) {
        piece_t piece;
        piece.row = row_of_piece(p, rows, piece_offsets);
        piece.start = offsets[piece.row] + (p - piece_offsets[piece.row]) * limit;
        u32 left = offsets[piece.row + 1] - piece.start;
        piece.length = left < limit ? left : limit;
        pieces[p] = piece;
        ATOMIC_ADD(&local_bins[limit - piece.length], 1u);
    }
    BARRIER();
    for (u32 i = LOCAL_ID; i < BINS; i += 256)
        if (local_bins[i] != 0) ATOMIC_ADD(&bins[i], local_bins[i]);
}

// order[slot] = piece, longest first; `bins` holds the first slot of each length and is used up.
KERNEL(256)
void msm_order_pieces(u32 rows, u32 limit, GLOBAL const u32 *piece_offsets, GLOBAL const piece_t *pieces,
                      GLOBAL u32 *bins, GLOBAL u32 *order) {
    LOCAL u32 local_bins[BINS];
    for (u32 i = LOCAL_ID; i < BINS; i += 256) local_bins[i] = 0;
    BARRIER();
    u32 p = GLOBAL_ID, bin = 0, rank = 0;
    bool live = p < piece_offsets[rows];
    if (live) {
        bin = limit - pieces[p].length;
        rank = ATOMIC_ADD(&local_bins[bin], 1u);
    }
    BARRIER();
    for (u32 i = LOCAL_ID; i < BINS; i += 256)
        if (local_bins[i] != 0) local_bins[i] = ATOMIC_ADD(&bins[i], local_bins[i]);
    BARRIER();
    if (live) order[local_bins[bin] + rank] = p;
}

// The piece's sum Σ ±base over its entries, with what the bucket holds if it is the row's first:
// to the bucket if it is the row's only piece, to partial[p] else.
KERNEL(128)
void msm_accumulate(u32 rows, GLOBAL const u32 *piece_offsets, GLOBAL const piece_t *pieces, GLOBAL const u32 *order,
                    GLOBAL const u32 *entries, GLOBAL const affine_t *bases, GLOBAL point_t *buckets,
                    GLOBAL point_t *partial) {
    u32 slot = GLOBAL_ID;
    if (slot >= piece_offsets[rows]) return;
    u32 p = order[slot];
    piece_t piece = pieces[p];
    u32 first = piece_offsets[piece.row], end = piece_offsets[piece.row + 1];
    point_t sum = point_infinity();
    if (p == first) sum = buckets[piece.row];
    for (u32 i = 0; i < piece.length; i++) {
        u32 entry = entries[piece.start + i];
        affine_t base = bases[entry & ~SIGN_BIT];
        if (entry & SIGN_BIT) base.y = F(neg)(base.y);
        sum = point_add_affine(sum, base);
    }
    if (end - first == 1) buckets[piece.row] = sum;
    else partial[p] = sum;
}

// One level of the merging tree: pieces whose number is a multiple of fan_in·stride take in the
// following fan_in − 1 at distances of stride. The level after which one is left writes the bucket.
KERNEL(128)
void msm_merge_pieces(u32 rows, u32 stride, u32 fan_in, GLOBAL const u32 *piece_offsets,
                      GLOBAL const piece_t *pieces, GLOBAL point_t *buckets, GLOBAL point_t *partial) {
    u32 p = GLOBAL_ID;
    if (p >= piece_offsets[rows]) return;
    u32 row = pieces[p].row, index = p - piece_offsets[row], count = piece_offsets[row + 1] - piece_offsets[row];
    if (index % (stride * fan_in) != 0 || index + stride >= count) return;
    point_t sum = partial[p];
    for (u32 k = 1; k < fan_in && index + k * stride < count; k++) sum = point_add(sum, partial[p + k * stride]);
    if (index == 0 && (u64)stride * fan_in >= count) buckets[row] = sum;
    else partial[p] = sum;
}
