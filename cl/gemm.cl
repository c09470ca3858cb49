// Products of dense matrices over fields of several words (cl/gemm_common.cl has the shared definitions).
//
// Field elements are reduced, in Montgomery form, and have 32 bytes. Each is one sector of memory, so the order in
// which neighbours read does not count.
//
// A group computes GEMM_ROWS × GEMM_COLUMNS entries, a work-item two of a column. The group loads GEMM_DEPTH columns of
// A and rows of B at a time into local memory, and prefetches the next ones while it multiplies these. In local memory,
// elements are split into halves of 16 bytes, [k][half][row or column]. 32 neighbours read one element of A and 32 of B
// side by side, so there are no bank conflicts.

#define GEMM_DEPTH 8
#define GEMM_HALVES (FIELD_WORDS / 2)

typedef struct ALIGNED(16) {
    u32 limb[GEMM_HALVES];
} gemm_half_t;

DEVICE void gemm_copy_half(LOCAL_PTR gemm_half_t *to, GLOBAL const F(t) *from, u64 at, u32 side, bool inside) {
    GLOBAL const gemm_half_t *halves = (GLOBAL const gemm_half_t *)from;
    gemm_half_t zero;
    for (int i = 0; i < GEMM_HALVES; i++) zero.limb[i] = 0;
    if (inside) ASYNC_COPY(*to, halves[2 * at + side]);
    else *to = zero;
}

// Loads GEMM_DEPTH columns of A from `k` on: one half per work-item.
DEVICE void gemm_take_a(LOCAL_PTR gemm_half_t *tile, GLOBAL const F(t) *a, gemm_view_t view, gemm_work_t work, u32 k) {
    u32 side = LOCAL_ID & 1, depth = (LOCAL_ID >> 1) % GEMM_DEPTH, row = (LOCAL_ID >> 1) / GEMM_DEPTH;
    bool inside = work.row + row < work.rows && k + depth < work.inner;
    gemm_copy_half(tile + (2 * depth + side) * GEMM_ROWS + row, a, gemm_at(view, work.row + row, k + depth), side,
                   inside);
}

// Loads GEMM_DEPTH rows of B from `k` on: two halves per work-item.
DEVICE void gemm_take_b(LOCAL_PTR gemm_half_t *tile, GLOBAL const F(t) *b, gemm_view_t view, gemm_work_t work, u32 k) {
    for (u32 i = LOCAL_ID; i < 2 * GEMM_DEPTH * GEMM_COLUMNS; i += GEMM_GROUP) {
        u32 side = i & 1, column = (i >> 1) % GEMM_COLUMNS, depth = (i >> 1) / GEMM_COLUMNS;
        bool inside = work.column + column < work.columns && k + depth < work.inner;
        gemm_copy_half(tile + (2 * depth + side) * GEMM_COLUMNS + column, b,
                       gemm_at(view, k + depth, work.column + column), side, inside);
    }
}

// Returns element `number` of row `depth` of a tile that is `width` elements wide.
DEVICE F(t) gemm_join(LOCAL_PTR const gemm_half_t *tile, u32 depth, u32 width, u32 number) {
    gemm_half_t low = tile[2 * depth * width + number], high = tile[(2 * depth + 1) * width + number];
    F(t) r;
    for (int i = 0; i < GEMM_HALVES; i++) r.limb[i] = low.limb[i], r.limb[GEMM_HALVES + i] = high.limb[i];
    return r;
}

DEVICE void gemm_put(GLOBAL F(t) *c, gemm_view_t view, gemm_work_t work, u32 row, F(t) value) {
    u32 column = work.column + work.my_column;
    if (work.row + row < work.rows && column < work.columns) c[gemm_at(view, work.row + row, column)] = value;
}

// Computes the tile of C that `work` and the views describe, with the given type and functions of sums of products.
#define GEMM_SUM(sum_type, zero, add, value)                                                           \
    LOCAL gemm_half_t a_tile[2][2 * GEMM_DEPTH * GEMM_ROWS], b_tile[2][2 * GEMM_DEPTH * GEMM_COLUMNS]; \
    sum_type sum[2];                                                                                   \
    sum[0] = zero(), sum[1] = zero();                                                                  \
    gemm_take_a(a_tile[0], a, a_view, work, 0), gemm_take_b(b_tile[0], b, b_view, work, 0);            \
    for (u32 k = 0, now = 0; k < inner; k += GEMM_DEPTH, now ^= 1) {                                   \
        ASYNC_WAIT();                                                                                  \
        BARRIER();                                                                                     \
        gemm_take_a(a_tile[now ^ 1], a, a_view, work, k + GEMM_DEPTH);                                 \
        gemm_take_b(b_tile[now ^ 1], b, b_view, work, k + GEMM_DEPTH);                                 \
        _Pragma("unroll 1") for (u32 depth = 0; depth < GEMM_DEPTH; depth++) {                         \
            F(t) factor = gemm_join(b_tile[now], depth, GEMM_COLUMNS, work.my_column);                 \
            _Pragma("unroll") for (u32 i = 0; i < 2; i++)                                              \
                add(&sum[i], gemm_join(a_tile[now], depth, GEMM_ROWS, work.my_row + 8 * i), factor);   \
        }                                                                                              \
    }                                                                                                  \
    gemm_put(c, c_view, work, work.my_row, value(sum[0]));                                             \
    gemm_put(c, c_view, work, work.my_row + 8, value(sum[1]));

// Defines a kernel that multiplies matrices, with such a type and functions. Grid: one group per tile of C, row by row.
#define GEMM_KERNEL(name, sum_type, zero, add, value)                                                           \
    KERNEL(GEMM_GROUP)                                                                                          \
    void name(gemm_sizes_t sizes, GLOBAL const F(t) *a, GRID_CONSTANT gemm_view_t a_view, GLOBAL const F(t) *b, \
              GRID_CONSTANT gemm_view_t b_view, GLOBAL F(t) *c, GRID_CONSTANT gemm_view_t c_view) {             \
        u32 inner = sizes.inner;                                                                                \
        gemm_work_t work = gemm_work(sizes, GEMM_ROWS, GEMM_COLUMNS, GEMM_COLUMNS);                             \
        GEMM_SUM(sum_type, zero, add, value)                                                                    \
    }

GEMM_KERNEL(gemm_lazy, F(lazy_t), F(lazy_zero), F(lazy_add), F(lazy_value))
GEMM_KERNEL(gemm_montgomery, F(t), F(zero), gemm_add_reduced, gemm_itself)

// Multiplies several pairs of matrices of one shape. a_start and b_start are the views of the first pair. `firsts` has
// two offsets per pair, of its first entries from theirs. Products are stored one after the other, row after row, from
// c_start on. Grid: params.groups groups for each pair, from number params.pair on.
KERNEL(GEMM_GROUP)
void gemm_batched(gemm_batch_params_t params, GLOBAL const u64 *firsts, GLOBAL const F(t) *a,
                  GRID_CONSTANT gemm_view_t a_start, GLOBAL const F(t) *b, GRID_CONSTANT gemm_view_t b_start,
                  GLOBAL F(t) *c, GRID_CONSTANT gemm_view_t c_start) {
    gemm_sizes_t sizes = {params.rows, params.inner, params.columns};
    u32 inner = sizes.inner;
    u64 mine = params.pair + GROUP_ID / params.groups;
    gemm_view_t a_view = gemm_moved(a_start, firsts[2 * mine]), b_view = gemm_moved(b_start, firsts[2 * mine + 1]);
    gemm_view_t c_view = gemm_moved(c_start, mine * sizes.rows * sizes.columns);
    gemm_work_t work = gemm_work_of(GROUP_ID % params.groups, sizes, GEMM_ROWS, GEMM_COLUMNS, GEMM_COLUMNS);
    GEMM_SUM(F(lazy_t), F(lazy_zero), F(lazy_add), F(lazy_value))
}

// Multiplies small entries of A, of `bytes` bytes each, by elements. Grid: as gemm_lazy.
KERNEL(GEMM_GROUP)
void gemm_small_lazy(gemm_sizes_t sizes, u32 bytes, GLOBAL const u8 *a, GRID_CONSTANT gemm_view_t a_view,
                     GLOBAL const F(t) *b, GRID_CONSTANT gemm_view_t b_view, GLOBAL F(t) *c,
                     GRID_CONSTANT gemm_view_t c_view) {
    LOCAL u32 a_tile[GEMM_DEPTH * GEMM_ROWS];
    LOCAL gemm_half_t b_tile[2][2 * GEMM_DEPTH * GEMM_COLUMNS];
    u32 rows = sizes.rows, inner = sizes.inner;
    gemm_work_t work = gemm_work(sizes, GEMM_ROWS, GEMM_COLUMNS, GEMM_COLUMNS);
    F(short_t) sum[2], factors = F(short_zero)();
    sum[0] = F(short_zero)(), sum[1] = F(short_zero)();
    gemm_take_b(b_tile[0], b, b_view, work, 0);
    for (u32 k = 0, now = 0; k < inner; k += GEMM_DEPTH, now ^= 1) {
        u32 depth = LOCAL_ID % GEMM_DEPTH, row = LOCAL_ID / GEMM_DEPTH;
        // Past the end any number will do, since the tile of B has zeros there.
        bool mine = row < GEMM_ROWS && work.row + row < rows && k + depth < inner;
        u32 word = mine ? gemm_small(a, gemm_at(a_view, work.row + row, k + depth), bytes) : 0;
        BARRIER();
        if (row < GEMM_ROWS) a_tile[depth * GEMM_ROWS + row] = word;
        ASYNC_WAIT();
        BARRIER();
        gemm_take_b(b_tile[now ^ 1], b, b_view, work, k + GEMM_DEPTH);
        for (depth = 0; depth < GEMM_DEPTH; depth++) {
            F(t) factor = gemm_join(b_tile[now], depth, GEMM_COLUMNS, work.my_column);
            _Pragma("unroll") for (u32 i = 0; i < 2; i++)
                F(short_add)(&sum[i], a_tile[depth * GEMM_ROWS + work.my_row + 8 * i], factor);
            F(short_add_element)(&factors, factor);
        }
    }
    _Pragma("unroll") for (u32 i = 0; i < 2; i++)
        gemm_put(c, c_view, work, work.my_row + 8 * i, gemm_small_value(sum[i], factors));
}

// Multiplies bytes by bytes, to 32 bits: exact for inner < INT8_EXACT. Grid: as gemm_lazy.
KERNEL(GEMM_GROUP)
void gemm_bytes(gemm_sizes_t sizes, GLOBAL const u8 *a, GRID_CONSTANT gemm_view_t a_view, GLOBAL const u8 *b,
                GRID_CONSTANT gemm_view_t b_view, GLOBAL i32 *c, GRID_CONSTANT gemm_view_t c_view) {
    LOCAL i32 a_tile[GEMM_COLUMNS * GEMM_ROWS], b_tile[GEMM_COLUMNS * GEMM_COLUMNS];
    u32 rows = sizes.rows, inner = sizes.inner, columns = sizes.columns;
    gemm_work_t work = gemm_work(sizes, GEMM_ROWS, GEMM_COLUMNS, GEMM_COLUMNS);
    i32 sum[2] = {0, 0};
    for (u32 k = 0; k < inner; k += GEMM_COLUMNS) {
        for (u32 i = LOCAL_ID; i < GEMM_COLUMNS * GEMM_COLUMNS; i += GEMM_GROUP) {
            u32 depth = i / GEMM_COLUMNS, other = i % GEMM_COLUMNS, row = work.row + depth,
                column = work.column + other;
            bool of_a = depth < GEMM_ROWS && row < rows && k + other < inner,
                 of_b = k + depth < inner && column < columns;
            if (depth < GEMM_ROWS)
                a_tile[other * GEMM_ROWS + depth] =
                    of_a ? (i32)((u32)a[gemm_at(a_view, row, k + other)] << 24) >> 24 : 0;
            b_tile[i] = of_b ? (i32)((u32)b[gemm_at(b_view, k + depth, column)] << 24) >> 24 : 0;
        }
        BARRIER();
        for (u32 depth = 0; depth < GEMM_COLUMNS; depth++)
            _Pragma("unroll") for (u32 i = 0; i < 2; i++) sum[i] +=
                a_tile[depth * GEMM_ROWS + work.my_row + 8 * i] * b_tile[depth * GEMM_COLUMNS + work.my_column];
        BARRIER();
    }
    _Pragma("unroll") for (u32 i = 0; i < 2; i++) {
        u32 row = work.row + work.my_row + 8 * i, column = work.column + work.my_column;
        if (row < rows && column < columns) c[gemm_at(c_view, row, column)] = sum[i];
    }
}
