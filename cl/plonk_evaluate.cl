// Evaluates polynomials, given by n coefficients, at points.
//
// For the sum of a tile, each work-item runs one Horner scheme in steps of a group, and weights it with its power of
// the point. The sums of tiles are the coefficients of a polynomial again, at a power of the point. params has
// POINT_POWERS powers of each of these two points: 0 to EVALUATE_GROUP.

// Returns Σ values[i]·x^i over i < count, to all of the group.
DEVICE F(t) evaluate_group(LOCAL_PTR F(t) *sums, GLOBAL const F(t) *values, u32 count, GLOBAL const F(t) *powers) {
    F(t) sum = F(zero)(), step = powers[EVALUATE_GROUP];
    for (u32 k = (count + EVALUATE_GROUP - 1) / EVALUATE_GROUP; k-- > 0;) {
        u32 i = k * EVALUATE_GROUP + LOCAL_ID;
        sum = F(mul)(sum, step);
        if (i < count) sum = F(add)(sum, values[i]);
    }
    sums[LOCAL_ID] = F(mul)(sum, powers[LOCAL_ID]);
    BARRIER();
    for (u32 width = EVALUATE_GROUP / 2; width > 0; width >>= 1) {
        if (LOCAL_ID < width) sums[LOCAL_ID] = F(add)(sums[LOCAL_ID], sums[LOCAL_ID + width]);
        BARRIER();
    }
    return sums[0];
}

// Computes the sums of tiles: partials[o·tiles + t] for tile t of output o. One group per tile. The word `more` of an
// output is where the powers of its point start.
KERNEL(EVALUATE_GROUP)
void plonk_evaluate_tiles(GRID_CONSTANT tile_launch_t launch, GLOBAL const F(t) *params, GLOBAL F(t) *partials,
                          BANK_PARAMETERS) {
    LOCAL F(t) sums[EVALUATE_GROUP];
    banks_t banks = BANKS;
    output_t output = plonk_output(params, launch.words_at, GROUP_ID / launch.tiles);
    u32 tile = GROUP_ID % launch.tiles, first = tile * EVALUATE_TILE;
    u32 count = launch.n - first < EVALUATE_TILE ? launch.n - first : EVALUATE_TILE;
    GLOBAL const u64 *columns = plonk_columns(params, launch.words_at, launch.outputs);
    GLOBAL const F(t) *column = bank_column(banks, columns[output.begin]);
    F(t) sum = evaluate_group(sums, column + first, count, params + output.more);
    if (LOCAL_ID == 0) partials[(u64)output.number * launch.tiles + tile] = sum;
}

// Computes the value of each output. One group per output.
KERNEL(EVALUATE_GROUP)
void plonk_evaluate_sums(u32 tiles, GLOBAL const F(t) *params, u32 words_at, GLOBAL const F(t) *partials,
                         GLOBAL F(t) *values) {
    LOCAL F(t) sums[EVALUATE_GROUP];
    output_t output = plonk_output(params, words_at, GROUP_ID);
    F(t) sum = evaluate_group(sums, partials + (u64)output.number * tiles, tiles, params + output.more + POINT_POWERS);
    if (LOCAL_ID == 0) values[output.number] = sum;
}
