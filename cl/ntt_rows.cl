// The last pass of a transform: see ntt_common.cl.
//
// Before it a vector is [k1][k2][i]: k1 of first_log bits from the first pass, k2 of all passes between, i of radix_log
// bits. Row K = k1 + k2·2^first_log is transformed. In natural order it goes to [k3][k2][k1] (the planes of equal k2
// are transposed), in bit-reversed order it stays where it is.
//
// In place, the groups of a plane overwrite the rows of one another. Groups take their tiles by ticket, so all tiles
// before a given one have started. Each group signals when it has used what it read, and waits for its plane before it
// writes. That takes as many groups at once as a plane has, and no second such kernel at the same time. The host
// ensures both.

// Multiplies the elements of a work-item by (g·ω^K)^i; their i are equally far apart from `first` on.
DEVICE void row_twist(rows_t rows, F(t) *x, u32 column, u32 first, u32 low_log, GLOBAL const F(fixed) *low,
                      GLOBAL const F(fixed) *high) {
    u32 k = row_number(rows, column), apart_log = rows.radix_log - STEP_LOG;
    if (rows.flags & FACTOR_LOW) {
        low += (k & ((1u << low_log) - 1)) << rows.radix_log | first;
#pragma unroll
        for (u32 j = 0; j < STEP; j++) x[j] = F(mul_fixed)(x[j], low[j << apart_log]);
    }
    if (rows.flags & FACTOR_HIGH) {
        high += k >> low_log << rows.radix_log | first;
#pragma unroll
        for (u32 j = 0; j < STEP; j++) x[j] = F(mul_fixed)(x[j], high[j << apart_log]);
    }
}

// Runs the last pass. Grid: one group per tile of whole rows, of all vectors one after the other; `params.columns` is
// their number. In place, `out` is `data`. `state` has from state_offset on the ticket counter, then one counter per
// plane of 2^plane_log tiles.
PDL_KERNEL(ntt_row_pass)
KERNEL_BOUNDED(NTT_GROUP, NTT_GROUPS)
void ntt_row_pass(GRID_CONSTANT row_params_t params, GLOBAL const F(t) *data, GLOBAL F(t) *out,
                  GLOBAL const F(fixed) *nodes, GLOBAL const F(fixed) *low, GLOBAL const F(fixed) *high,
                  GLOBAL const F(fixed) *last, GLOBAL u32 *state) {
    LOCAL element_part_t tile[TILE];
    F(t) x[STEP];
    u32 radix_log = params.radix_log, flags = params.flags;
    rows_t rows = {params.log_n, radix_log, params.first_log, flags, params.vector_stride};
    u32 group = GROUP_ID;
    GLOBAL u32 *plane = 0;
    PDL_WAIT();
#ifdef HAS_FORWARD_PROGRESS
    if (flags & IN_PLACE) {
        state += params.state_offset;
        group = grid_ticket(state, (u32 *)tile);
        plane = state + 1 + (group >> params.plane_log);
    }
#endif
    u32 column = tile_column(group, LOCAL_ID, radix_log), i = tile_row(LOCAL_ID, radix_log);
    bool exists = column < params.columns;
    data += row_load_index(rows, column, i);
#pragma unroll
    for (u32 j = 0; j < STEP; j++) x[j] = exists ? data[j << (radix_log - STEP_LOG)] : F(zero)();
    if (exists) row_twist(rows, x, column, i, params.low_log, low, high);
    tree_t tree = {nodes, 1, 0, false};
    pass_levels(tile, x, tree, radix_log, plane);
    PDL_TRIGGER();
#ifdef HAS_FORWARD_PROGRESS
    if (flags & IN_PLACE) grid_wait(plane, 1u << params.plane_log);
#endif
    if (!exists) return;
    row_store(rows, x, column, out, last);
}

// Transforms vectors of 1 or 2 elements, one work-item each, with the factors of a single row. Natural and bit-reversed
// order are alike.
KERNEL(NTT_GROUP)
void ntt_short(GLOBAL const F(t) *data, GLOBAL F(t) *out, u64 vector_stride, u32 vectors, u32 log_n,
               GLOBAL const F(fixed) *low, GLOBAL const F(fixed) *last, u32 flags) {
    u32 vector = GLOBAL_ID, n = 1u << log_n;
    F(t) x[2] = {F(zero)(), F(zero)()};
    if (vector >= vectors) return;
    for (u32 i = 0; i < n; i++) x[i] = data[vector * vector_stride + i];
    if (flags & FACTOR_LOW)
        for (u32 i = 0; i < n; i++) x[i] = F(mul_fixed)(x[i], low[i]);
    if (n > 1) butterfly(&x[0], &x[1], false, low[0]);
    if (flags & FACTOR_LAST)
        for (u32 i = 0; i < n; i++) x[i] = F(mul_fixed)(x[i], last[i]);
    for (u32 i = 0; i < n; i++) out[vector * vector_stride + i] = F(reduce)(x[i]);
}
