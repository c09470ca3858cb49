// Permutes lookups without a sort. Of n rows, `usable` count. A′ has the values of A so that equal ones are adjacent:
// runs in the order of the first row that has their value in S, then the values that S lacks, in the order of A. S′ has
// the value of a run at its start. The rest of S fills the other rows in its order.
//
// A value is known by the first row of S that has it. `slots` is a hash table of such rows plus one, 0 being empty,
// with a power of two of places for each lookup. `counts` says of each such row how often A has its value. Lookups are
// stored in A and in S as columns are in cl/plonk_buffers.cl, `stride` elements apart. The scratch memory of a lookup is
// `usable` long.

// Returns the next key of a hash function (splitmix64; Steele, Lea and Flood, 2014).
DEVICE u64 permute_key(u64 *state) {
    u64 z = *state += 0x9e3779b97f4a7c15ul;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    return z ^ z >> 31;
}

// Returns where the search for `value` starts: a multilinear hash, so that values cannot be made to collide without
// knowing the seed (Dietzfelbinger 1996; Lemire and Kaser 2014).
DEVICE u32 permute_hash(F(t) value, u64 seed) {
    u64 sum = permute_key(&seed);
    for (int i = 0; i < FIELD_WORDS; i++) sum += permute_key(&seed) * value.limb[i];
    return (u32)(sum >> 32);
}

// Reads a slot that other work-items may write meanwhile.
DEVICE u32 permute_peek(GLOBAL u32 *slot) {
    return *(GLOBAL volatile u32 *)slot;
}

// Inserts rows of S into the hash table. A group has PERMUTE_GROUP rows of one lookup.
KERNEL(PERMUTE_GROUP)
void plonk_permute_insert(GRID_CONSTANT lookup_layout_t layout, GLOBAL const F(t) *tables, GLOBAL u32 *slots) {
    u32 lookup = GROUP_ID / layout.blocks, row = (GROUP_ID % layout.blocks) * PERMUTE_GROUP + LOCAL_ID;
    if (row >= layout.usable) return;
    GLOBAL const F(t) *table = tables + layout.tables_first + lookup * layout.tables_stride;
    GLOBAL u32 *mine = slots + ((u64)lookup << layout.slots_log);
    u32 mask = (1u << layout.slots_log) - 1;
    F(t) value = table[row];
    for (u32 at = permute_hash(value, layout.seed) & mask;; at = (at + 1) & mask) {
        u32 there = permute_peek(mine + at);
        if (there == 0) there = ATOMIC_CAS(mine + at, 0u, row + 1);
        if (there == 0) return;
        if (!F(eq)(table[there - 1], value)) continue;
        // Rows in slots only sink, so a row that was read may be too high, but never too low.
        if (there > row + 1) ATOMIC_MIN(mine + at, row + 1);
        return;
    }
}

// Returns the first row of S that has `value` plus one, or 0.
DEVICE u32 permute_find(GLOBAL const F(t) *table, GLOBAL const u32 *slots, u32 mask, u64 seed, F(t) value) {
    for (u32 at = permute_hash(value, seed) & mask;; at = (at + 1) & mask) {
        u32 there = slots[at];
        if (there == 0 || F(eq)(table[there - 1], value)) return there;
    }
}

// Counts a row in local memory or, if another row has its place there, in global memory: most rows of a column may have
// the same value.
DEVICE void permute_count(LOCAL_PTR u32 *rows, LOCAL_PTR u32 *times, GLOBAL u32 *counts, u32 found) {
    u32 place = found * 0x9e3779b1u >> 22;
    u32 there = ATOMIC_CAS(rows + place, 0u, found);
    if (there == 0 || there == found) ATOMIC_ADD(times + place, 1u);
    else ATOMIC_ADD(counts + found - 1, 1u);
}

// Counts the values of A; lost[row] is 1 if S lacks the value. A group has PROBE_TILE rows of one lookup.
KERNEL(PERMUTE_GROUP)
void plonk_permute_probe(GRID_CONSTANT lookup_layout_t layout, GLOBAL const F(t) *inputs, GLOBAL const F(t) *tables,
                         GLOBAL const u32 *slots, GLOBAL u32 *counts, GLOBAL u32 *lost) {
    LOCAL u32 rows[PROBE_TILE], times[PROBE_TILE];
    u32 lookup = GROUP_ID / layout.blocks, start = (GROUP_ID % layout.blocks) * PROBE_TILE;
    GLOBAL const u32 *mine = slots + ((u64)lookup << layout.slots_log);
    GLOBAL const F(t) *table = tables + layout.tables_first + lookup * layout.tables_stride;
    u64 own = (u64)lookup * layout.usable;
    for (u32 i = LOCAL_ID; i < PROBE_TILE; i += PERMUTE_GROUP) rows[i] = times[i] = 0;
    BARRIER();
    for (u32 i = LOCAL_ID; i < PROBE_TILE && start + i < layout.usable; i += PERMUTE_GROUP) {
        F(t) value = inputs[layout.inputs_first + lookup * layout.inputs_stride + start + i];
        u32 found = permute_find(table, mine, (1u << layout.slots_log) - 1, layout.seed, value);
        lost[own + start + i] = found == 0;
        if (found != 0) permute_count(rows, times, counts + own, found);
    }
    BARRIER();
    for (u32 i = LOCAL_ID; i < PROBE_TILE; i += PERMUTE_GROUP)
        if (times[i] != 0) ATOMIC_ADD(counts + own + rows[i] - 1, times[i]);
}

DEVICE permute_sums_t permute_scan(LOCAL_PTR u32 *scratch, permute_sums_t value, permute_sums_t *total) {
    permute_sums_t before;
    before.found = scan_group(scratch, value.found, &total->found);
    before.runs = scan_group(scratch, value.runs, &total->runs);
    before.lost = scan_group(scratch, value.lost, &total->lost);
    return before;
}

DEVICE permute_sums_t permute_add(permute_sums_t a, permute_sums_t b) {
    permute_sums_t sum = {a.found + b.found, a.runs + b.runs, a.lost + b.lost};
    return sum;
}

// Returns the counts of one row, and zeros from `usable` on.
DEVICE permute_sums_t permute_row(GLOBAL const u32 *counts, GLOBAL const u32 *lost, u32 row, u32 usable) {
    permute_sums_t sums = {0, 0, 0};
    if (row >= usable) return sums;
    sums.found = counts[row], sums.runs = counts[row] != 0, sums.lost = lost[row];
    return sums;
}

DEVICE permute_sums_t permute_rows(GLOBAL const u32 *counts, GLOBAL const u32 *lost, u32 row, u32 usable) {
    permute_sums_t sums = {0, 0, 0};
    for (u32 k = 0; k < PERMUTE_CHAIN; k++) sums = permute_add(sums, permute_row(counts, lost, row + k, usable));
    return sums;
}

// Computes the sums of each of the `tiles` tiles of rows of a lookup. One group per tile.
KERNEL(PERMUTE_GROUP)
void plonk_permute_sum(u32 usable, u32 tiles, GLOBAL const u32 *counts, GLOBAL const u32 *lost,
                       GLOBAL permute_sums_t *sums) {
    LOCAL u32 scratch[SCAN_GROUP];
    u64 own = (u64)(GROUP_ID / tiles) * usable;
    u32 row = (GROUP_ID % tiles) * PERMUTE_TILE + LOCAL_ID * PERMUTE_CHAIN;
    permute_sums_t total;
    (void)permute_scan(scratch, permute_rows(counts + own, lost + own, row, usable), &total);
    if (LOCAL_ID == 0) sums[GROUP_ID] = total;
}

// Replaces the sums of each tile by those of all tiles ahead, and writes the totals. One group per lookup.
KERNEL(PERMUTE_GROUP)
void plonk_permute_scan(u32 tiles, GLOBAL permute_sums_t *sums, GLOBAL u32 *totals) {
    LOCAL u32 scratch[SCAN_GROUP];
    GLOBAL permute_sums_t *mine = sums + (u64)GROUP_ID * tiles;
    permute_sums_t before = {0, 0, 0}, total;
    for (u32 start = 0; start < tiles; start += SCAN_GROUP) {
        u32 tile = start + LOCAL_ID;
        permute_sums_t zero = {0, 0, 0}, value = tile < tiles ? mine[tile] : zero;
        permute_sums_t ahead = permute_scan(scratch, value, &total);
        if (tile < tiles) mine[tile] = permute_add(before, ahead);
        before = permute_add(before, total);
    }
    if (LOCAL_ID != 0) return;
    GLOBAL u32 *to = totals + TOTALS * GROUP_ID;
    to[0] = before.found, to[1] = before.runs, to[2] = before.lost, to[3] = 0xffffffffu;
}

// Lists by the scan: of each run, where it starts in A′ and its row of S; the rows of S that are left; the rows of A
// that are lost. One group per tile.
KERNEL(PERMUTE_GROUP)
void plonk_permute_list(GRID_CONSTANT lookup_layout_t layout, GLOBAL const u32 *counts, GLOBAL const u32 *lost,
                        GLOBAL const permute_sums_t *sums, GLOBAL u32 *starts, GLOBAL u32 *rows, GLOBAL u32 *left,
                        GLOBAL u32 *missing, GLOBAL u32 *totals) {
    LOCAL u32 scratch[SCAN_GROUP];
    u32 usable = layout.usable, tiles = layout.blocks;
    u32 lookup = GROUP_ID / tiles, row = (GROUP_ID % tiles) * PERMUTE_TILE + LOCAL_ID * PERMUTE_CHAIN;
    u64 own = (u64)lookup * usable;
    permute_sums_t total, mine = permute_rows(counts + own, lost + own, row, usable);
    permute_sums_t before = permute_add(sums[GROUP_ID], permute_scan(scratch, mine, &total));
    for (u32 k = 0; k < PERMUTE_CHAIN && row < usable; k++, row++) {
        permute_sums_t one = permute_row(counts + own, lost + own, row, usable);
        if (one.runs) starts[own + before.runs] = before.found, rows[own + before.runs] = row;
        else left[own + row - before.runs] = row;
        if (one.lost) missing[own + before.lost] = row;
        if (one.lost && before.lost == 0) totals[TOTALS * lookup + 3] = row;
        before = permute_add(before, one);
    }
}

// Returns the last of the numbers from `low` on, below `high`, whose start is not behind `row`.
DEVICE u32 permute_run(GLOBAL const u32 *starts, u32 low, u32 high, u32 row) {
    while (high - low > 1) {
        u32 middle = low + (high - low) / 2;
        if (starts[middle] <= row) low = middle;
        else high = middle;
    }
    return low;
}

// Holds the sources of a row of A′ and S′: a row of S or of A for A′, and a row of S for S′.
typedef struct {
    bool from_input;
    u32 row, beside;
} permute_source_t;

DEVICE permute_source_t permute_source(GLOBAL const u32 *starts, GLOBAL const u32 *rows, GLOBAL const u32 *left,
                                       GLOBAL const u32 *missing, GLOBAL const u32 *totals, u32 row, u32 low,
                                       u32 high) {
    permute_source_t source;
    source.from_input = row >= totals[0];
    if (source.from_input) {
        source.row = missing[row - totals[0]], source.beside = left[row - totals[1]];
        return source;
    }
    u32 run = permute_run(starts, low, high, row);
    source.row = rows[run];
    source.beside = starts[run] == row ? rows[run] : left[row - run - 1];
    return source;
}

// Writes A′ and S′ of all lookups, one after the other, each n long; rows from `usable` on become zero. A group has
// PERMUTE_GROUP rows of one lookup, whose runs its first work-items find ahead.
KERNEL(PERMUTE_GROUP)
void plonk_permute_scatter(GRID_CONSTANT lookup_layout_t layout, GLOBAL const F(t) *inputs, GLOBAL const F(t) *tables,
                           GLOBAL const u32 *starts, GLOBAL const u32 *rows, GLOBAL const u32 *left,
                           GLOBAL const u32 *missing, GLOBAL const u32 *totals, GLOBAL F(t) *out) {
    LOCAL u32 ends[2];
    u32 lookup = GROUP_ID / layout.blocks, start = (GROUP_ID % layout.blocks) * PERMUTE_GROUP, row = start + LOCAL_ID;
    u64 n = layout.n, own = (u64)lookup * layout.usable;
    GLOBAL const u32 *mine = totals + TOTALS * lookup;
    if (LOCAL_ID < 2 && mine[1] != 0)
        ends[LOCAL_ID] = permute_run(starts + own, 0, mine[1], start + LOCAL_ID * (PERMUTE_GROUP - 1));
    BARRIER();
    if (row >= n) return;
    GLOBAL F(t) *to = out + 2 * lookup * n + row;
    F(t) value = F(zero)(), beside = value;
    if (row < layout.usable) {
        permute_source_t source =
            permute_source(starts + own, rows + own, left + own, missing + own, mine, row, ends[0], ends[1] + 1);
        GLOBAL const F(t) *input = inputs + layout.inputs_first + lookup * layout.inputs_stride;
        GLOBAL const F(t) *table = tables + layout.tables_first + lookup * layout.tables_stride;
        value = (source.from_input ? input : table)[source.row];
        beside = table[source.beside];
    }
    to[0] = value, to[n] = beside;
}
