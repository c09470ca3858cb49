// The passes of one vector whose tiles all run at once on the device: of 2^18 elements a multiprocessor of 132 has 8
// tiles of 2^8. Each pass is then a single wave, in which nothing hides the latencies of a tile. So everything that
// does not depend on the previous pass comes before that has ended. These are addresses, which are equally far apart
// from register to register, and copies of the nodes of a block to local memory, where they take no registers until
// they are used (the host has waited for tables). Doing so for factors too, or room for two passes side by side, was
// slower: see benches/notes/ntt.md, section 23.
//
// Passes are of 2^3 to 2^6 points, and one table has all factors of the last. In natural order the host gives the last
// two passes different memory to read and to write, so no group waits for another. Parameters are those of
// ntt_column_pass (ntt_columns.cl) and ntt_row_pass (ntt_rows.cl); some are unused.

// Copies the nodes of the tree of a block, one per work-item; node 0 is not used.
DEVICE void stage_nodes(LOCAL_PTR F(fixed) *staged, GLOBAL const F(fixed) *nodes, u32 base, u32 radix_log) {
    u32 node = LOCAL_ID, depth = 0;
    if (node == 0 || node >> radix_log != 0) return;
    while (node >> (depth + 1) != 0) depth++;
    ASYNC_COPY(staged[node], nodes[((base - 1) << depth) + node]);
}

PDL_KERNEL(ntt_column_pass)
KERNEL_BOUNDED(NTT_GROUP, NTT_GROUPS)
void ntt_column_pass(GRID_CONSTANT column_params_t params, GLOBAL const F(t) *data, GLOBAL F(t) *out,
                     GLOBAL const F(fixed) *nodes, GLOBAL u32 *state) {
    LOCAL element_part_t tile[TILE];
    LOCAL F(fixed) staged[NTT_GROUP];
    F(t) x[STEP];
    u32 stride_log = params.stride_log, radix_log = params.radix_log, flags = params.flags;
    column_pass_t columns = {params.log_n, radix_log, stride_log, 0, params.vector_stride};
    u32 base = columns_base(columns, GROUP_ID, params.first_log, flags);
    tree_t tree = {staged, 1, 0, multiplies(base, flags)};
    stage_nodes(staged, nodes, base, radix_log);
    u32 column = tile_column(GROUP_ID, LOCAL_ID, radix_log);
    data += column_index(columns, column, tile_row(LOCAL_ID, radix_log), 0);
    PDL_WAIT();
#pragma unroll
    for (u32 j = 0; j < STEP; j++) x[j] = data[(u64)j << (radix_log - STEP_LOG + stride_log)];
    u32 row = last_row(radix_log);
    out += column_index(columns, column, flags & REVERSED ? row : reverse_bits(row, radix_log), 0);
    ASYNC_WAIT();
    BARRIER();
    pass_levels(tile, x, tree, radix_log, 0);
    PDL_TRIGGER();
#pragma unroll
    for (u32 j = 0; j < STEP; j++) out[(u64)register_bits(j, radix_log, flags) << stride_log] = x[j];
}

PDL_KERNEL(ntt_row_pass)
KERNEL_BOUNDED(NTT_GROUP, NTT_GROUPS)
void ntt_row_pass(GRID_CONSTANT row_params_t params, GLOBAL const F(t) *data, GLOBAL F(t) *out,
                  GLOBAL const F(fixed) *nodes, GLOBAL const F(fixed) *low, GLOBAL const F(fixed) *high,
                  GLOBAL const F(fixed) *last, GLOBAL u32 *state) {
    LOCAL element_part_t tile[TILE];
    LOCAL F(fixed) staged[NTT_GROUP];
    F(t) x[STEP];
    u32 radix_log = params.radix_log;
    rows_t rows = {params.log_n, radix_log, params.first_log, params.flags, params.vector_stride};
    tree_t tree = {staged, 1, 0, false};
    stage_nodes(staged, nodes, 1, radix_log);
    u32 column = tile_column(GROUP_ID, LOCAL_ID, radix_log), i = tile_row(LOCAL_ID, radix_log);
    data += row_load_index(rows, column, i);
    low += row_number(rows, column) << radix_log | i;
    PDL_WAIT();
#pragma unroll
    for (u32 j = 0; j < STEP; j++) x[j] = data[j << (radix_log - STEP_LOG)];
#pragma unroll
    for (u32 j = 0; j < STEP; j++) x[j] = F(mul_fixed)(x[j], low[j << (radix_log - STEP_LOG)]);
    ASYNC_WAIT();
    BARRIER();
    pass_levels(tile, x, tree, radix_log, 0);
    PDL_TRIGGER();
    row_store(rows, x, column, out, last);
}
