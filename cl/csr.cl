// Sparse matrix times vectors: y = A·x over F_p, A in compressed rows (CSR).
//
// A non-zero is a column and an index into a dictionary of coefficients. The first two coefficients are 1 and −1, whose
// products are additions and subtractions. `index_bits` says where the index is:
//   0             in the same word as the column, above its `column_bits`, if both fit
//   16 or 32      in an array of its own, with entries of that size
//   CSR_IN_PLACE  nowhere: coefficients are in the order of the non-zeros, so non-zero i has the index i + 2
// Kernels take several vectors: vector k of x starts at element x_first + k·x_stride, vector k of y at y_first +
// k·y_stride. All values are reduced and in Montgomery form. Every element of y is written, so rows without non-zeros
// become zero.
//
// The host chooses one of three kernels by the lengths of the rows:
//   csr_scalar    one work-item per row
//   csr_vector    CSR_LANES work-items per row
//   csr_balanced  one group per tile of about CSR_TILE non-zeros: it multiplies them first, then sums by row
//                 (the "stream" part of CSR-Adaptive; Greathouse and Daga, SC 2014)

typedef struct {
    u32 column_bits;
    u32 index_bits;
    GLOBAL const u32 *entries;
    GLOBAL const u32 *indices;
    GLOBAL const F(t) *dictionary;
} csr_t;

// Initialises a csr_t from the parameters of a kernel, of which `params` holds the numbers of bits.
#define CSR_MATRIX {params.column_bits, params.index_bits, entries, indices, dictionary}
#define CSR_X(vector) (x + params.x_first + (vector) * params.x_stride)
#define CSR_Y(vector) (y + params.y_first + (vector) * params.y_stride)

// Returns the column of non-zero `i`, and sets *index to the index of its coefficient.
DEVICE u32 csr_entry(csr_t a, u32 i, u32 *index) {
    u32 word = a.entries[i];
    if (a.index_bits == 0) {
        *index = word >> a.column_bits;
        return word & ((1u << a.column_bits) - 1);
    }
    if (a.index_bits == CSR_IN_PLACE) *index = i + 2;
    else *index = a.index_bits == 16 ? ((GLOBAL const u16 *)a.indices)[i] : a.indices[i];
    return word;
}

// Holds an element of x and the index of its coefficient.
typedef struct {
    F(t) value;
    u32 index;
} csr_term_t;

// Number of terms whose columns are loaded before any element of x, so that all these elements are in flight at once.
// It is the share of a work-item in a tile.
#define CSR_AHEAD (CSR_TILE / CSR_GROUP)

typedef struct {
    csr_term_t term[CSR_AHEAD];
} csr_terms_t;

// Loads every `step`-th term from `i` on, CSR_AHEAD in all; terms from `end` on are zero.
DEVICE csr_terms_t csr_load(csr_t a, GLOBAL const F(t) *x, u32 i, u32 end, u32 step) {
    csr_terms_t terms;
    u32 column[CSR_AHEAD];
    _Pragma("unroll") for (u32 k = 0; k < CSR_AHEAD; k++) {
        terms.term[k].index = CSR_PLUS_ONE;
        if (i + k * step < end) column[k] = csr_entry(a, i + k * step, &terms.term[k].index);
    }
    _Pragma("unroll") for (u32 k = 0; k < CSR_AHEAD; k++) {
        terms.term[k].value = F(zero)();
        if (i + k * step < end) terms.term[k].value = x[column[k]];
    }
    return terms;
}

// Returns sum + coefficient·x.
DEVICE F(t) csr_add(csr_t a, F(t) sum, csr_term_t term) {
    if (term.index > CSR_MINUS_ONE) term.value = F(mul)(term.value, a.dictionary[term.index]);
    return term.index == CSR_MINUS_ONE ? F(sub)(sum, term.value) : F(add)(sum, term.value);
}

// Returns the sum over every `step`-th non-zero from `start` on, below `end`.
DEVICE F(t) csr_sum_terms(csr_t a, GLOBAL const F(t) *x, u32 start, u32 end, u32 step) {
    F(t) sum = F(zero)();
    for (u32 i = start; i < end; i += CSR_AHEAD * step) {
        csr_terms_t terms = csr_load(a, x, i, end, step);
        _Pragma("unroll") for (u32 k = 0; k < CSR_AHEAD; k++) if (i + k * step < end) sum =
            csr_add(a, sum, terms.term[k]);
    }
    return sum;
}

// Returns the sum over `lanes` neighbours, a power of two, to the first of them. All work-items of the group must take
// part.
DEVICE F(t) csr_sum(LOCAL_PTR F(t) *sums, F(t) value, u32 lanes) {
    for (u32 distance = lanes / 2; distance > 0; distance /= 2) {
        BARRIER();
        sums[LOCAL_ID] = value;
        BARRIER();
        if ((LOCAL_ID & (lanes - 1)) < distance) value = F(add)(value, sums[LOCAL_ID + distance]);
    }
    return value;
}

// Computes one row of params.units per work-item. Grid: params.blocks groups for each vector.
KERNEL(CSR_GROUP)
void csr_scalar(csr_params_t params, GLOBAL const u32 *pointers, GLOBAL const u32 *entries, GLOBAL const u32 *indices,
                GLOBAL const F(t) *dictionary, GLOBAL const F(t) *x, GLOBAL F(t) *y) {
    csr_t a = CSR_MATRIX;
    u32 vector = GROUP_ID / params.blocks, row = (GROUP_ID % params.blocks) * CSR_GROUP + LOCAL_ID;
    if (row >= params.units) return;
    CSR_Y(vector)[row] = csr_sum_terms(a, CSR_X(vector), pointers[row], pointers[row + 1], 1);
}

// Computes one row of params.units per CSR_LANES work-items. Grid: params.blocks groups for each vector.
KERNEL(CSR_GROUP)
void csr_vector(csr_params_t params, GLOBAL const u32 *pointers, GLOBAL const u32 *entries, GLOBAL const u32 *indices,
                GLOBAL const F(t) *dictionary, GLOBAL const F(t) *x, GLOBAL F(t) *y) {
    LOCAL F(t) sums[CSR_GROUP];
    csr_t a = CSR_MATRIX;
    u32 rows = params.units, blocks = params.blocks, vector = GROUP_ID / blocks, lane = LOCAL_ID % CSR_LANES;
    u32 row = (GROUP_ID % blocks) * (CSR_GROUP / CSR_LANES) + LOCAL_ID / CSR_LANES;
    u32 start = row < rows ? pointers[row] : 0, end = row < rows ? pointers[row + 1] : 0;
    F(t) sum = csr_sum_terms(a, CSR_X(vector), start + lane, end, CSR_LANES);
    sum = csr_sum(sums, sum, CSR_LANES);
    if (row < rows && lane == 0) CSR_Y(vector)[row] = sum;
}

// Returns the work-items per row of a tile with `rows` rows: the largest power of two for which the group suffices.
DEVICE u32 csr_lanes(u32 rows) {
    u32 lanes = 1;
    while (2 * lanes * rows <= CSR_GROUP) lanes *= 2;
    return lanes;
}

// Holds half of an element of a tile in local memory. Element i has its halves at i and CSR_TILE + i. Neighbours are
// thus contiguous, and rows of three, which are read side by side, have no bank conflicts.
typedef struct ALIGNED(16) {
    u32 limb[FIELD_WORDS / 2];
} csr_half_t;

DEVICE void csr_put(LOCAL_PTR csr_half_t *elements, u32 i, F(t) value) {
    csr_half_t low, high;
    for (int k = 0; k < FIELD_WORDS / 2; k++)
        low.limb[k] = value.limb[k], high.limb[k] = value.limb[FIELD_WORDS / 2 + k];
    elements[i] = low, elements[CSR_TILE + i] = high;
}

DEVICE F(t) csr_get(LOCAL_PTR const csr_half_t *elements, u32 i) {
    csr_half_t low = elements[i], high = elements[CSR_TILE + i];
    F(t) value;
    for (int k = 0; k < FIELD_WORDS / 2; k++)
        value.limb[k] = low.limb[k], value.limb[FIELD_WORDS / 2 + k] = high.limb[k];
    return value;
}

// Returns coefficient·x.
DEVICE F(t) csr_product(csr_t a, csr_term_t term) {
    if (term.index == CSR_PLUS_ONE) return term.value;
    if (term.index == CSR_MINUS_ONE) return F(sub)(F(zero)(), term.value);
    return F(mul)(term.value, a.dictionary[term.index]);
}

typedef struct {
    u32 row, start, next_row, end;
    // Whether the sum goes to `partials`.
    bool piece;
} csr_tile_t;

DEVICE csr_tile_t csr_tile(GLOBAL const u32 *starts, GLOBAL const u32 *pointers, u32 number) {
    csr_tile_t tile;
    tile.row = starts[2 * number], tile.start = starts[2 * number + 1];
    tile.next_row = starts[2 * number + 2], tile.end = starts[2 * number + 3];
    tile.piece = tile.next_row == tile.row || pointers[tile.row] != tile.start;
    return tile;
}

// Holds where the non-zeros of row r of a tile start and end: an empty range if there is no such row.
typedef struct {
    u32 from, to;
} csr_row_t;

DEVICE csr_row_t csr_row(csr_tile_t tile, GLOBAL const u32 *pointers, u32 r) {
    csr_row_t row = {tile.start, tile.end};
    if (tile.piece) return row;
    bool there = tile.row + r < tile.next_row;
    row.from = there ? pointers[tile.row + r] : tile.end;
    row.to = there ? pointers[tile.row + r + 1] : tile.end;
    return row;
}

// Computes one tile per group. Tile t has the non-zeros from starts[2t + 1] to starts[2t + 3] and the whole rows from
// starts[2t] to starts[2t + 2]. If it is a piece of a row longer than a tile, its sum goes to partials[t]. Grid:
// params.units groups, one for each tile, for each vector, whose partials are params.units apart.
KERNEL(CSR_GROUP)
void csr_balanced(csr_params_t params, GLOBAL const u32 *starts, GLOBAL const u32 *pointers, GLOBAL F(t) *partials,
                  GLOBAL const u32 *entries, GLOBAL const u32 *indices, GLOBAL const F(t) *dictionary,
                  GLOBAL const F(t) *x, GLOBAL F(t) *y) {
    LOCAL csr_half_t products[2 * CSR_TILE];
    LOCAL F(t) sums[CSR_GROUP];
    csr_t a = CSR_MATRIX;
    u32 tiles = params.units, vector = GROUP_ID / tiles, number = GROUP_ID % tiles;
    csr_tile_t tile = csr_tile(starts, pointers, number);
    csr_terms_t terms = csr_load(a, CSR_X(vector), tile.start + LOCAL_ID, tile.end, CSR_GROUP);
    u32 rows = tile.piece ? 1 : tile.next_row - tile.row, lanes = csr_lanes(rows), lane = LOCAL_ID & (lanes - 1);
    // Overlaps these loads with those of the elements.
    csr_row_t row = csr_row(tile, pointers, LOCAL_ID / lanes);
    _Pragma("unroll") for (u32 k = 0; k < CSR_AHEAD; k++)
        csr_put(products, k * CSR_GROUP + LOCAL_ID, csr_product(a, terms.term[k]));
    BARRIER();
    for (u32 first = 0; first < rows; first += CSR_GROUP / lanes) {
        u32 r = first + LOCAL_ID / lanes;
        if (first > 0) row = csr_row(tile, pointers, r);
        F(t) sum = F(zero)();
        for (u32 i = row.from + lane; i < row.to; i += lanes) sum = F(add)(sum, csr_get(products, i - tile.start));
        sum = csr_sum(sums, sum, lanes);
        GLOBAL F(t) *out = tile.piece ? partials + (u64)vector * tiles + number : CSR_Y(vector) + tile.row + r;
        if (r < rows && lane == 0) *out = sum;
    }
}

// Sums the partials of rows longer than a tile, with CSR_LANES work-items per row. long_rows has three words for each
// of `count` rows: the row, its first tile and its number of tiles. Grid: `blocks` groups for each vector.
KERNEL(CSR_GROUP)
void csr_merge(u32 count, u32 blocks, u32 tiles, GLOBAL const u32 *long_rows, GLOBAL const F(t) *partials,
               GLOBAL F(t) *y, u64 y_first, u64 y_stride) {
    LOCAL F(t) sums[CSR_GROUP];
    u32 vector = GROUP_ID / blocks, lane = LOCAL_ID % CSR_LANES;
    u32 number = (GROUP_ID % blocks) * (CSR_GROUP / CSR_LANES) + LOCAL_ID / CSR_LANES;
    u32 pieces = number < count ? long_rows[3 * number + 2] : 0;
    GLOBAL const F(t) *piece = partials + (u64)vector * tiles + (number < count ? long_rows[3 * number + 1] : 0);
    F(t) sum = F(zero)();
    for (u32 i = lane; i < pieces; i += CSR_LANES) sum = F(add)(sum, piece[i]);
    sum = csr_sum(sums, sum, CSR_LANES);
    if (number < count && lane == 0) (y + y_first + vector * y_stride)[long_rows[3 * number]] = sum;
}
