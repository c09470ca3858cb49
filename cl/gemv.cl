// Multiplies dense matrices by vectors; copies, converts and checks their entries (cl/gemm_common.cl has the layouts).

// Holds the row and the first column of a work-item. `lanes` work-items of a group, a power of two, share a row, and so
// do `pieces` groups. Rows are neighbours in a group, so that both orders of a matrix in memory are read in runs.
typedef struct {
    u32 row, column, step, width;
} gemv_work_t;

DEVICE gemv_work_t gemv_work(u32 lanes, u32 pieces) {
    gemv_work_t work;
    work.width = GEMV_GROUP / lanes;
    work.row = GROUP_ID / pieces * work.width + LOCAL_ID % work.width;
    work.column = GROUP_ID % pieces * lanes + LOCAL_ID / work.width;
    work.step = pieces * lanes;
    return work;
}

// Returns the sum over the lanes of a row to the first of them.
DEVICE F(t) gemv_sum(LOCAL_PTR F(t) *sums, F(t) value, u32 width) {
    sums[LOCAL_ID] = value;
    BARRIER();
    for (u32 side = GEMV_GROUP / 2; side >= width; side >>= 1) {
        if (LOCAL_ID < side) sums[LOCAL_ID] = F(add)(sums[LOCAL_ID], sums[LOCAL_ID + side]);
        BARRIER();
    }
    return sums[LOCAL_ID];
}

// Computes y[piece·rows + row], a share of (A·x)[row]. Entry k of x is x[x_first + k·x_step]. Grid: `pieces` groups for
// each GEMV_GROUP / lanes rows.
KERNEL(GEMV_GROUP)
void gemv_lazy(gemv_params_t params, GLOBAL const F(t) *a, GRID_CONSTANT gemm_view_t a_view, GLOBAL const F(t) *x,
               GLOBAL F(t) *y) {
    LOCAL F(t) sums[GEMV_GROUP];
    u32 rows = params.rows, inner = params.inner, pieces = params.pieces;
    gemv_work_t work = gemv_work(params.lanes, pieces);
    F(lazy_t) sum = F(lazy_zero)();
    if (work.row < rows)
        for (u32 k = work.column; k < inner; k += work.step)
            F(lazy_add)(&sum, a[gemm_at(a_view, work.row, k)], x[params.x_first + k * params.x_step]);
    F(t) value = gemv_sum(sums, F(lazy_value)(sum), work.width);
    if (work.row < rows && LOCAL_ID < work.width) y[(u64)(GROUP_ID % pieces) * rows + work.row] = value;
}

// Computes y as gemv_lazy does, for small entries of A, of `bytes` bytes each.
KERNEL(GEMV_GROUP)
void gemv_small(gemv_params_t params, u32 bytes, GLOBAL const u8 *a, GRID_CONSTANT gemm_view_t a_view,
                GLOBAL const F(t) *x, GLOBAL F(t) *y) {
    LOCAL F(t) sums[GEMV_GROUP];
    u32 rows = params.rows, inner = params.inner, pieces = params.pieces;
    gemv_work_t work = gemv_work(params.lanes, pieces);
    F(short_t) sum = F(short_zero)(), factors = F(short_zero)();
    if (work.row < rows)
        for (u32 k = work.column; k < inner; k += work.step) {
            F(t) factor = x[params.x_first + k * params.x_step];
            F(short_add)(&sum, gemm_small(a, gemm_at(a_view, work.row, k), bytes), factor);
            F(short_add_element)(&factors, factor);
        }
    F(t) value = gemv_sum(sums, gemm_small_value(sum, factors), work.width);
    if (work.row < rows && LOCAL_ID < work.width) y[(u64)(GROUP_ID % pieces) * rows + work.row] = value;
}

// Computes y[row] = Σ parts[piece·rows + row]. One work-item per row.
KERNEL(GEMV_GROUP)
void gemv_reduce_partials(u32 rows, u32 pieces, GLOBAL const F(t) *parts, GLOBAL F(t) *y) {
    u32 row = GLOBAL_ID;
    if (row >= rows) return;
    F(t) sum = F(zero)();
    for (u32 piece = 0; piece < pieces; piece++) sum = F(add)(sum, parts[(u64)piece * rows + row]);
    y[row] = sum;
}

// Adds Σ value·x[column] over the changes of a row to y[row]. The changes are laid out as in cl/csr_delta.cl, with
// differences as values. One work-item per row.
KERNEL(GEMV_GROUP)
void gemv_differences(u32 count, GLOBAL const u32 *changes, GLOBAL const F(t) *values, GLOBAL const F(t) *x,
                      GLOBAL F(t) *y) {
    u32 i = GLOBAL_ID;
    if (i >= count) return;
    GLOBAL const u32 *starts = changes + count, *columns = starts + count + 1;
    F(lazy_t) sum = F(lazy_zero)();
    for (u32 k = starts[i]; k < starts[i + 1]; k++) F(lazy_add)(&sum, values[k], x[columns[k] & ~CHANGE_REPLACES]);
    y[changes[i]] = F(add)(y[changes[i]], F(lazy_value)(sum));
}

// Copies entries of `words` words, row by row, from one view to another. One work-item per word.
KERNEL(GEMV_GROUP)
void gemm_copy(u32 rows, u32 columns, u32 words, GLOBAL const u32 *from, GRID_CONSTANT gemm_view_t from_view,
               GLOBAL u32 *to, GRID_CONSTANT gemm_view_t to_view) {
    u64 number = (u64)GROUP_ID * GEMV_GROUP + LOCAL_ID, entry = number / words;
    if (entry >= (u64)rows * columns) return;
    u32 row = (u32)(entry / columns), column = (u32)(entry % columns), word = (u32)(number % words);
    to[gemm_at(to_view, row, column) * words + word] = from[gemm_at(from_view, row, column) * words + word];
}

// Converts small entries, of `bytes` bytes each, to elements, row by row. One work-item per entry.
KERNEL(GEMV_GROUP)
void gemm_to_field(u32 rows, u32 columns, u32 bytes, GLOBAL const u8 *from, GRID_CONSTANT gemm_view_t from_view,
                   GLOBAL F(t) *to) {
    u64 number = (u64)GROUP_ID * GEMV_GROUP + LOCAL_ID;
    if (number >= (u64)rows * columns) return;
    u64 at = gemm_at(from_view, (u32)(number / columns), (u32)(number % columns));
    to[number] = F(from_signed)((i32)(gemm_small(from, at, bytes) ^ 0x80000000u));
}

// Lowers *least to the least number, row by row, below `count` of an entry whose canonical value is not within ±(2^bits
// − 1). Without such an entry *least stays. One work-item per entry, from the entry `start` on.
KERNEL(GEMV_GROUP)
void gemm_find_out_of_range(u32 columns, u32 bits, u64 start, u32 count, GLOBAL const F(t) *from,
                            GRID_CONSTANT gemm_view_t from_view, GLOBAL u32 *least) {
    u32 number = GLOBAL_ID, negative = 0, above = 0;
    if (number >= count) return;
    u64 entry = start + number;
    F(t) value = F(to_canonical)(from[gemm_at(from_view, (u32)(entry / columns), (u32)(entry % columns))]);
    value = F(magnitude)(value, &negative);
#pragma unroll
    for (u32 i = 0; i < FIELD_WORDS; i++) {
        u32 low = 32 * i;
        u32 kept = bits <= low ? 0 : bits - low >= 32 ? 0xffffffffu : (1u << (bits - low)) - 1;
        above |= value.limb[i] & ~kept;
    }
    if (above != 0) ATOMIC_MIN(least, number);
}
