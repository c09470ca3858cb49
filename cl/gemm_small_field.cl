// Products of dense matrices over fields of one or two words (cl/gemm_common.cl has the shared definitions).
//
// A group computes GEMM_TILE × GEMM_TILE entries. A work-item computes GEMM_SIDE × GEMM_SIDE of them, GEMM_STEP rows
// and columns apart, so that 16 neighbours read 16 elements of B side by side and one of A. The group loads GEMM_DEPTH
// columns of A and rows of B at a time into local memory, and prefetches the next ones while it multiplies these. It
// reads them in runs: along k if neighbours in k are neighbours in memory, else across k. Rows of a tile have one more
// element, so that writes along k have no bank conflicts.

#define GEMM_SIDE 4
#define GEMM_STEP (GEMM_TILE / GEMM_SIDE)
#define GEMM_DEPTH (16 / FIELD_WORDS)
#define GEMM_PITCH (GEMM_TILE + 1)
#define GEMM_ROOM (GEMM_DEPTH * GEMM_PITCH)

// Holds the i-th place of a tile that a work-item loads: its step of k, and its row or column.
typedef struct {
    u32 depth, other;
} gemm_place_t;

DEVICE gemm_place_t gemm_place(u32 i, bool along) {
    gemm_place_t place;
    place.depth = along ? i % GEMM_DEPTH : i / GEMM_TILE;
    place.other = along ? i / GEMM_DEPTH : i % GEMM_TILE;
    return place;
}

DEVICE void gemm_copy_element(LOCAL_PTR F(t) *to, GLOBAL const F(t) *from, u64 at, bool inside) {
    if (inside) ASYNC_COPY(*to, from[at]);
    else *to = F(zero)();
}

// Loads GEMM_DEPTH columns of A from `k` on.
DEVICE void gemm_take_a(LOCAL_PTR F(t) *tile, GLOBAL const F(t) *a, gemm_view_t view, gemm_work_t work, u32 k) {
    for (u32 i = LOCAL_ID; i < GEMM_DEPTH * GEMM_TILE; i += GEMM_GROUP) {
        gemm_place_t place = gemm_place(i, view.column_step == 1);
        u32 row = work.row + place.other, column = k + place.depth;
        gemm_copy_element(tile + place.depth * GEMM_PITCH + place.other, a, gemm_at(view, row, column),
                          row < work.rows && column < work.inner);
    }
}

// Loads GEMM_DEPTH rows of B from `k` on.
DEVICE void gemm_take_b(LOCAL_PTR F(t) *tile, GLOBAL const F(t) *b, gemm_view_t view, gemm_work_t work, u32 k) {
    for (u32 i = LOCAL_ID; i < GEMM_DEPTH * GEMM_TILE; i += GEMM_GROUP) {
        gemm_place_t place = gemm_place(i, view.row_step == 1);
        u32 row = k + place.depth, column = work.column + place.other;
        gemm_copy_element(tile + place.depth * GEMM_PITCH + place.other, b, gemm_at(view, row, column),
                          row < work.inner && column < work.columns);
    }
}

// Stores entry (i, j) of the work-item.
DEVICE void gemm_put(GLOBAL F(t) *c, gemm_view_t view, gemm_work_t work, u32 i, u32 j, F(t) value) {
    u32 row = work.row + work.my_row + i * GEMM_STEP, column = work.column + work.my_column + j * GEMM_STEP;
    if (row < work.rows && column < work.columns) c[gemm_at(view, row, column)] = value;
}

// Computes the tile of C that `work` and the views describe, with the given type and functions of sums of products.
#define GEMM_SUM(sum_type, zero, add, value)                                                                    \
    LOCAL F(t) a_tile[2][GEMM_ROOM], b_tile[2][GEMM_ROOM];                                                      \
    sum_type sum[GEMM_SIDE][GEMM_SIDE];                                                                         \
    _Pragma("unroll") for (u32 i = 0; i < GEMM_SIDE; i++) _Pragma("unroll") for (u32 j = 0; j < GEMM_SIDE; j++) \
        sum[i][j] = zero();                                                                                     \
    gemm_take_a(a_tile[0], a, a_view, work, 0), gemm_take_b(b_tile[0], b, b_view, work, 0);                     \
    for (u32 k = 0, now = 0; k < inner; k += GEMM_DEPTH, now ^= 1) {                                            \
        ASYNC_WAIT();                                                                                           \
        BARRIER();                                                                                              \
        gemm_take_a(a_tile[now ^ 1], a, a_view, work, k + GEMM_DEPTH);                                          \
        gemm_take_b(b_tile[now ^ 1], b, b_view, work, k + GEMM_DEPTH);                                          \
        _Pragma("unroll 1") for (u32 depth = 0; depth < GEMM_DEPTH; depth++) {                                  \
            F(t) x[GEMM_SIDE], y[GEMM_SIDE];                                                                    \
            _Pragma("unroll") for (u32 i = 0; i < GEMM_SIDE; i++) {                                             \
                x[i] = a_tile[now][depth * GEMM_PITCH + work.my_row + i * GEMM_STEP];                           \
                y[i] = b_tile[now][depth * GEMM_PITCH + work.my_column + i * GEMM_STEP];                        \
            }                                                                                                   \
            _Pragma("unroll") for (u32 i = 0; i < GEMM_SIDE; i++)                                               \
                _Pragma("unroll") for (u32 j = 0; j < GEMM_SIDE; j++) add(&sum[i][j], x[i], y[j]);              \
        }                                                                                                       \
    }                                                                                                           \
    _Pragma("unroll") for (u32 i = 0; i < GEMM_SIDE; i++) _Pragma("unroll") for (u32 j = 0; j < GEMM_SIDE; j++) \
        gemm_put(c, c_view, work, i, j, value(sum[i][j]));

// Defines a kernel that multiplies matrices, with such a type and functions. Grid: one group per tile of C, row by row.
#define GEMM_KERNEL(name, sum_type, zero, add, value)                                                           \
    KERNEL(GEMM_GROUP)                                                                                          \
    void name(gemm_sizes_t sizes, GLOBAL const F(t) *a, GRID_CONSTANT gemm_view_t a_view, GLOBAL const F(t) *b, \
              GRID_CONSTANT gemm_view_t b_view, GLOBAL F(t) *c, GRID_CONSTANT gemm_view_t c_view) {             \
        u32 inner = sizes.inner;                                                                                \
        gemm_work_t work = gemm_work(sizes, GEMM_TILE, GEMM_TILE, GEMM_STEP);                                   \
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
    gemm_work_t work = gemm_work_of(GROUP_ID % params.groups, sizes, GEMM_TILE, GEMM_TILE, GEMM_STEP);
    GEMM_SUM(F(lazy_t), F(lazy_zero), F(lazy_add), F(lazy_value))
}

// Multiplies small entries of A, of `bytes` bytes each, by elements. Grid: as gemm_lazy. Past the end any number will
// do, since the tile of B has zeros there.
KERNEL(GEMM_GROUP)
void gemm_small_lazy(gemm_sizes_t sizes, u32 bytes, GLOBAL const u8 *a, GRID_CONSTANT gemm_view_t a_view,
                     GLOBAL const F(t) *b, GRID_CONSTANT gemm_view_t b_view, GLOBAL F(t) *c,
                     GRID_CONSTANT gemm_view_t c_view) {
    LOCAL u32 a_tile[GEMM_ROOM];
    LOCAL F(t) b_tile[GEMM_ROOM];
    u32 rows = sizes.rows, inner = sizes.inner;
    gemm_work_t work = gemm_work(sizes, GEMM_TILE, GEMM_TILE, GEMM_STEP);
    F(short_t) sum[GEMM_SIDE][GEMM_SIDE], factors[GEMM_SIDE];
    _Pragma("unroll") for (u32 i = 0; i < GEMM_SIDE; i++) {
        factors[i] = F(short_zero)();
        _Pragma("unroll") for (u32 j = 0; j < GEMM_SIDE; j++) sum[i][j] = F(short_zero)();
    }
    for (u32 k = 0; k < inner; k += GEMM_DEPTH) {
        for (u32 i = LOCAL_ID; i < GEMM_DEPTH * GEMM_TILE; i += GEMM_GROUP) {
            gemm_place_t place = gemm_place(i, a_view.column_step == 1);
            u32 row = work.row + place.other, column = k + place.depth;
            bool inside = row < rows && column < inner;
            a_tile[place.depth * GEMM_PITCH + place.other] =
                inside ? gemm_small(a, gemm_at(a_view, row, column), bytes) : 0;
        }
        gemm_take_b(b_tile, b, b_view, work, k);
        ASYNC_WAIT();
        BARRIER();
        _Pragma("unroll 1") for (u32 depth = 0; depth < GEMM_DEPTH; depth++) {
            u32 x[GEMM_SIDE];
            _Pragma("unroll") for (u32 i = 0; i < GEMM_SIDE; i++) x[i] =
                a_tile[depth * GEMM_PITCH + work.my_row + i * GEMM_STEP];
            _Pragma("unroll") for (u32 j = 0; j < GEMM_SIDE; j++) {
                F(t) y = b_tile[depth * GEMM_PITCH + work.my_column + j * GEMM_STEP];
                F(short_add_element)(&factors[j], y);
                _Pragma("unroll") for (u32 i = 0; i < GEMM_SIDE; i++) F(short_add)(&sum[i][j], x[i], y);
            }
        }
        BARRIER();
    }
    _Pragma("unroll") for (u32 i = 0; i < GEMM_SIDE; i++) _Pragma("unroll") for (u32 j = 0; j < GEMM_SIDE; j++)
        gemm_put(c, c_view, work, i, j, gemm_small_value(sum[i][j], factors[j]));
}
