// The last pass of a transform: see ntt_tile.cl.
//
// Before it a vector is [k1][k2][i]: k1 of first_log bits from the first pass, k2 of all passes between, i of radix_log
// bits. Row K = k1 + k2·2^first_log is transformed, and goes to [k3][k2][k1] in natural order (the planes of equal k2
// are transposed), or stays where it is in bit-reversed order.
//
// In place, the groups of a plane write over each other's rows. Groups take their tiles by ticket, so all tiles before
// one are under way; each says when it has used what it read, and waits for its plane before it writes. That takes
// as many groups at once as a plane has, and no second such kernel at the same time: the host sees to both.

// x·(g·ω^K)^i.
DEVICE F(t) row_twist(rows_t rows, F(t) x, u32 column, u32 i, u32 low_log, GLOBAL const F(fixed) *low,
                      GLOBAL const F(fixed) *high) {
    u32 k = row_number(rows, column);
    if (rows.flags & FACTOR_LOW) x = F(mul_fixed)(x, low[(k & ((1u << low_log) - 1)) << rows.radix_log | i]);
    if (rows.flags & FACTOR_HIGH) x = F(mul_fixed)(x, high[k >> low_log << rows.radix_log | i]);
    return x;
}

// Grid: a group a tile of whole rows, of all vectors one after the other; `columns` is their number.
// `out` is `data` in place. From state_offset on: the ticket counter, then one counter a plane of 2^plane_log tiles.
STARTS_EARLY(ntt_rows)
KERNEL_BOUNDED(NTT_GROUP, NTT_GROUPS)
void ntt_rows(GLOBAL const F(t) *data, GLOBAL F(t) *out, u64 vector_stride, u32 columns, u32 log_n, u32 radix_log,
              u32 first_log, GLOBAL const F(fixed) *nodes, u32 low_log, GLOBAL const F(fixed) *low,
              GLOBAL const F(fixed) *high, GLOBAL const F(fixed) *last, u32 flags, GLOBAL u32 *state, u32 state_offset,
              u32 plane_log) {
    LOCAL part_t tile[TILE];
    F(t) x[STEP];
    rows_t rows = {log_n, radix_log, first_log, flags, vector_stride};
    u32 group = GROUP_ID, window = TILE_LOG - STEP_LOG;
    GLOBAL u32 *plane = 0;
    AWAIT_STREAM();
#ifdef GRID_ORDER
    if (flags & IN_PLACE) {
        state += state_offset;
        group = grid_ticket(state, (u32 *)tile);
        plane = state + 1 + (group >> plane_log);
    }
#endif
#pragma unroll
    for (int j = 0; j < STEP; j++) {
        u32 element = tile_element(window, j), column = tile_column(group, element, radix_log);
        x[j] = column < columns ? data[row_load_index(rows, column, tile_row(element, radix_log))] : F(zero)();
    }
#pragma unroll
    for (int j = 0; j < STEP; j++) {
        u32 element = tile_element(window, j), column = tile_column(group, element, radix_log);
        if (column < columns) x[j] = row_twist(rows, x[j], column, tile_row(element, radix_log), low_log, low, high);
    }
    tree_t tree = {nodes, 1, 0, false};
    window = pass_levels(tile, x, tree, radix_log, plane);
    LET_NEXT_START();
#ifdef GRID_ORDER
    if (flags & IN_PLACE) grid_wait(plane, 1u << plane_log);
#endif
#pragma unroll
    for (int j = 0; j < STEP; j++) {
        u32 element = tile_element(window, j), column = tile_column(group, element, radix_log);
        u32 at = tile_row(element, radix_log);
        if (flags & FACTOR_LAST) x[j] = F(mul_fixed)(x[j], last[reverse_bits(at, radix_log)]);
        if (column < columns) out[row_store_index(rows, column, at)] = F(reduce)(x[j]);
    }
}
