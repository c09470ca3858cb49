// The passes of a transform before the last: see ntt_common.cl.

// Returns the tile of a `ticket`: with swapped digits the tiles of a plane, of equal k1 and inner, come in a row.
DEVICE u32 columns_group(column_pass_t columns, u32 ticket) {
    u32 chunks_log = columns.stride_log + columns.radix_log - TILE_LOG;
    u32 k2 = ticket & ((1u << columns.swap_log) - 1), chunk = ticket >> columns.swap_log & ((1u << chunks_log) - 1);
    u32 k1 = ticket >> (columns.swap_log + chunks_log);
    return (k1 << columns.swap_log | k2) << chunks_log | chunk;
}

// Runs one pass, but not the last. Grid: one group per tile, columns of all vectors in a row; n ≥ TILE. `first_log` is
// the number of bits that the first pass settled, 0 in that pass. The first pass clears the state of the passes that
// wait.
PDL_KERNEL(ntt_column_pass)
KERNEL_BOUNDED(NTT_GROUP, NTT_GROUPS)
void ntt_column_pass(GRID_CONSTANT column_params_t params, GLOBAL const F(t) *data, GLOBAL F(t) *out,
                     GLOBAL const F(fixed) *nodes, GLOBAL u32 *state) {
    LOCAL element_part_t tile[TILE];
    F(t) x[STEP];
    u32 stride_log = params.stride_log, radix_log = params.radix_log, swap_log = params.swap_log, flags = params.flags;
    column_pass_t columns = {params.log_n, radix_log, stride_log, swap_log, params.vector_stride};
    u32 group = GROUP_ID;
    GLOBAL u32 *plane = 0;
    PDL_WAIT();
    for (u32 i = GLOBAL_ID; i < params.clear; i += GLOBAL_SIZE) state[i] = 0;
#ifdef HAS_FORWARD_PROGRESS
    if (flags & IN_PLACE) {
        group = grid_ticket(state, (u32 *)tile);
        plane = state + 1 + (group >> swap_log);
    }
#endif
    group = columns_group(columns, group);
    // Elements are equally far apart from register to register.
    u32 column = tile_column(group, LOCAL_ID, radix_log);
    data += column_index(columns, column, tile_row(LOCAL_ID, radix_log), 0);
#pragma unroll
    for (u32 j = 0; j < STEP; j++) x[j] = data[(u64)j << (radix_log - STEP_LOG + stride_log)];
    u32 base = columns_base(columns, group, params.first_log, flags);
    tree_t tree = {nodes, base, 0, multiplies(base, flags)};
    pass_levels(tile, x, tree, radix_log, plane);
    PDL_TRIGGER();
#ifdef HAS_FORWARD_PROGRESS
    if (flags & IN_PLACE) grid_wait(plane, 1u << swap_log);
#endif
    u32 row = last_row(radix_log);
    out += column_index(columns, column, flags & REVERSED ? row : reverse_bits(row, radix_log), swap_log);
#pragma unroll
    for (u32 j = 0; j < STEP; j++) out[(u64)register_bits(j, radix_log, flags) << (stride_log + swap_log)] = x[j];
}
