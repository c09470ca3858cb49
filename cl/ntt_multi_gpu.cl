// Passes of one transform over the memory of several devices, each of which does a range of the tiles.
//
// The element of index [high][owner][low] is in the part of its owner, at [high][low]; parts are 2^part_log elements
// apart. A pass may read with the owner bits at one place of the index, and write with them at another. It reads from
// the parts of other devices, and writes to its own device only, since stores of half a sector would cost the link as
// much as whole ones. No device reads where another writes, so no group waits for another. src/ntt/multi_gpu/plan.rs
// assigns the work.

// Returns where the element `index` is; low_log is where the bits of the owner are in the index.
DEVICE u32 peer_place(u32 index, u32 low_log, u32 owners_log, u32 part_log) {
    u32 low = index & ((1u << low_log) - 1), owner = index >> low_log & ((1u << owners_log) - 1);
    u32 high = index >> low_log >> owners_log;
    return owner << part_log | high << low_log | low;
}

// Runs ntt_column_pass for the tiles from `first_tile` on.
KERNEL_BOUNDED(NTT_GROUP, NTT_GROUPS)
void ntt_peer_columns(GRID_CONSTANT peer_params_t params, GLOBAL const F(t) *data, GLOBAL F(t) *out,
                      GLOBAL const F(fixed) *nodes) {
    LOCAL element_part_t tile[TILE];
    F(t) x[STEP];
    u32 radix_log = params.radix_log, swap_log = params.swap_log, flags = params.flags;
    column_pass_t columns = {params.log_n, radix_log, params.stride_log, swap_log, 0};
    u32 group = columns_group(columns, params.first_tile + GROUP_ID);
    u32 column = tile_column(group, LOCAL_ID, radix_log), row = tile_row(LOCAL_ID, radix_log);
#pragma unroll
    for (u32 j = 0; j < STEP; j++) {
        u32 index = (u32)column_index(columns, column, row + (j << (radix_log - STEP_LOG)), 0);
        x[j] = data[peer_place(index, params.from_log, params.owners_log, params.part_log)];
    }
    u32 base = columns_base(columns, group, params.first_log, flags);
    tree_t tree = {nodes, base, 0, multiplies(base, flags)};
    pass_levels(tile, x, tree, radix_log, 0);
    row = last_row(radix_log);
#pragma unroll
    for (u32 j = 0; j < STEP; j++) {
        u32 index = (u32)column_index(columns, column, reverse_bits(row + j, radix_log), swap_log);
        out[peer_place(index, params.to_log, params.owners_log, params.part_log)] = x[j];
    }
}

// Runs ntt_row_pass in natural order for the tiles from `first_tile` on. All of them are full.
KERNEL_BOUNDED(NTT_GROUP, NTT_GROUPS)
void ntt_peer_rows(GRID_CONSTANT peer_params_t params, GLOBAL const F(t) *data, GLOBAL F(t) *out,
                   GLOBAL const F(fixed) *nodes, GLOBAL const F(fixed) *low, GLOBAL const F(fixed) *high,
                   GLOBAL const F(fixed) *last) {
    LOCAL element_part_t tile[TILE];
    F(t) x[STEP];
    u32 radix_log = params.radix_log;
    rows_t rows = {params.log_n, radix_log, params.first_log, params.flags, 0};
    u32 group = params.first_tile + GROUP_ID;
    u32 column = tile_column(group, LOCAL_ID, radix_log), i = tile_row(LOCAL_ID, radix_log);
#pragma unroll
    for (u32 j = 0; j < STEP; j++) {
        u32 index = (u32)row_load_index(rows, column, i + (j << (radix_log - STEP_LOG)));
        x[j] = data[peer_place(index, params.from_log, params.owners_log, params.part_log)];
    }
    row_twist(rows, x, column, i, params.low_log, low, high);
    tree_t tree = {nodes, 1, 0, false};
    pass_levels(tile, x, tree, radix_log, 0);
    u32 at = last_row(radix_log);
    row_scale(rows, x, at, last);
#pragma unroll
    for (u32 j = 0; j < STEP; j++) {
        u32 index = (u32)row_store_index(rows, column, at + j);
        out[peer_place(index, params.to_log, params.owners_log, params.part_log)] = F(reduce)(x[j]);
    }
}
