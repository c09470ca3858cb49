// Transposes matrices of digits: sorts entries by row with two counting sorts in local memory.
//
// The first sorts by the high bits of the row into bins of 2^low rows, the second by its low bits within a bin. Groups
// take equal numbers of entries, however many fall into one bin or row.

// Returns the last bin that starts at `entry` or before it.
DEVICE u32 bin_of(LOCAL_PTR const u32 *starts, u32 band_bins, u32 entry) {
    u32 bin = 0, above = band_bins;
    while (above - bin > 1) {
        u32 middle = (bin + above) / 2;
        if (starts[middle] <= entry) bin = middle;
        else above = middle;
    }
    return bin;
}

// Computes, from the counters of the bins of a band:
//   bins[b]          the first entry of bin b
//   bins[band_bins]  the number of entries
//   cursors[b]       bins[b], to be used up
//   tile_bins[i]     the bin of the first entry of tile i, of `tile` entries
// Grid: one group per TILE_SHARE tiles; each sums the counts by itself.
PDL_KERNEL(msm_scan_bins)
KERNEL(SORT_GROUP)
void msm_scan_bins(u32 band_bins, u32 tile, u32 tiles, GLOBAL const u32 *counters, GLOBAL u32 *bins,
                   GLOBAL u32 *cursors, GLOBAL u32 *tile_bins) {
    LOCAL u32 starts[BAND_BINS], scratch[SORT_GROUP];
    u32 share = GROUP_ID * TILE_SHARE, end = share + TILE_SHARE < tiles ? share + TILE_SHARE : tiles, before = 0;
    PDL_WAIT();
    // These few groups leave the device to the next kernel.
    PDL_TRIGGER();
    for (u32 first = 0; first < band_bins; first += BAND_BINS) {
        u32 count = band_bins - first < BAND_BINS ? band_bins - first : BAND_BINS;
        for (u32 b = LOCAL_ID; b < count; b += SORT_GROUP) starts[b] = counters[BIN_COUNTS + first + b];
        BARRIER();
        u32 total = scan_local(starts, count, scratch);
        for (u32 b = LOCAL_ID; GROUP_ID == 0 && b < count; b += SORT_GROUP)
            bins[first + b] = cursors[first + b] = before + starts[b];
        for (u32 i = share + LOCAL_ID; i < end; i += SORT_GROUP)
            if (i * tile >= before) tile_bins[i] = first + bin_of(starts, count, i * tile - before);
        before += total;
        BARRIER();
    }
    if (GLOBAL_ID == 0) bins[band_bins] = before;
}

// Computes exclusive prefix sums of WINDOW_BINS counts, one per work-item, in place.
DEVICE void scan_bins(LOCAL_PTR u32 *starts, LOCAL_PTR u32 *scratch) {
    u32 total, count = starts[LOCAL_ID];
    u32 prefix = scan_group(scratch, count, &total);
    starts[LOCAL_ID] = prefix;
    BARRIER();
}

// Scatters the entries of the digits of a window into the bins of its set: cursors[bin] is where the next entry of the
// bin goes. The base of scalar i has the number copy·stride + base + i, plus 1, with SIGN_BIT for a negative digit.
// Entries go through local memory, so that those of one bin are written side by side. Grid: for each of the `places`
// places copy·(to − from) + set − from of every vector, one group per `tile` scalars, at most SORT_TILE_MAX. The last
// copy may have no window for a place.
PDL_KERNEL(msm_scatter_bins)
KERNEL(SORT_GROUP)
void msm_scatter_bins(GRID_CONSTANT scatter_params_t params, GLOBAL const u32 *digits, GLOBAL u32 *cursors,
                      GLOBAL u32 *entries) {
    LOCAL u32 numbers[SORT_TILE_MAX], rows[SORT_TILE_MAX];
    LOCAL u32 starts[WINDOW_BINS], targets[WINDOW_BINS], next[WINDOW_BINS], scratch[SORT_GROUP];
    u32 n = params.n, c = params.c, wide = params.wide, sets = params.sets, from = params.from, to = params.to;
    u32 low = params.low, tile = params.tile, places = params.places;
    u32 tiles = (n + tile - 1) / tile, place = GROUP_ID / tiles, first = GROUP_ID % tiles * tile;
    u32 vector = place / places, set = from + place % (to - from), copy = place % places / (to - from);
    u32 band_row = first_row(from, c, wide, sets), band_rows = first_row(to, c, wide, sets) - band_row;
    u32 first_bin = (vector * band_rows + first_row(set, c, wide, sets) - band_row) >> low;
    PDL_WAIT();
    if (copy * sets + set >= params.windows) return;
    u32 number = copy * params.stride + params.base + 1;
    u32 end = first + tile < n ? first + tile : n;
    starts[LOCAL_ID] = 0;
    BARRIER();
    for (u32 i = first + LOCAL_ID; i < end; i += SORT_GROUP) {
        u32 size = digits[place * n + i] & ~SIGN_BIT;
        if (size != 0) ATOMIC_ADD(&starts[(size - 1) >> low], 1u);
    }
    BARRIER();
    u32 count = starts[LOCAL_ID];
    targets[LOCAL_ID] = count == 0 ? 0 : ATOMIC_ADD(&cursors[first_bin + LOCAL_ID], count);
    scan_bins(starts, scratch);
    next[LOCAL_ID] = starts[LOCAL_ID];
    if (LOCAL_ID == SORT_GROUP - 1) scratch[0] = starts[LOCAL_ID] + count;
    BARRIER();
    for (u32 i = first + LOCAL_ID; i < end; i += SORT_GROUP) {
        u32 digit = digits[place * n + i], size = digit & ~SIGN_BIT;
        if (size == 0) continue;
        u32 at = ATOMIC_ADD(&next[(size - 1) >> low], 1u);
        numbers[at] = (number + i) | (digit & SIGN_BIT);
        rows[at] = size - 1;
    }
    PDL_TRIGGER();
    BARRIER();
    binned_t out = binned_at(entries, params.room);
    for (u32 i = LOCAL_ID; i < scratch[0]; i += SORT_GROUP) {
        u32 bin = rows[i] >> low, at = targets[bin] + i - starts[bin];
        out.numbers[at] = numbers[i];
        out.rows[at] = (u16)(rows[i] & ((1u << low) - 1));
    }
}

// Returns the bin of `entry`, which is not in a bin before `bin`.
DEVICE u32 bin_from(u32 bin, GLOBAL const u32 *bins, u32 entry) {
    while (bins[bin + 1] <= entry) bin++;
    return bin;
}

// Counts in local memory how often each row of a bin comes in from … to − 1, all in that bin.
DEVICE void count_in_bin(LOCAL_PTR u32 *counts, GLOBAL const u16 *rows, u32 from, u32 to, u32 low) {
    for (u32 r = LOCAL_ID; r < 1u << low; r += SORT_GROUP) counts[r] = 0;
    BARRIER();
    for (u32 i = from + LOCAL_ID; i < to; i += SORT_GROUP) ATOMIC_ADD(&counts[rows[i]], 1u);
    BARRIER();
}

// Counts the entries of every row. Grid: one group per `tile` entries, which may be of several bins.
PDL_KERNEL(msm_histogram_rows)
KERNEL(SORT_GROUP)
void msm_histogram_rows(u32 band_bins, u32 low, u32 tile, GLOBAL const u32 *bins, GLOBAL const u32 *tile_bins,
                        GLOBAL u32 *entries, u32 room, GLOBAL u32 *counters) {
    LOCAL u32 local_counts[BIN_ROWS];
    GLOBAL u32 *counts = counters + ROW_COUNTS(band_bins);
    binned_t binned = binned_at(entries, room);
    PDL_WAIT();
    u32 total = bins[band_bins], from = GROUP_ID * tile, bin = tile_bins[GROUP_ID];
    u32 end = from + tile < total ? from + tile : total;
    while (from < end) {
        bin = bin_from(bin, bins, from);
        u32 to = bins[bin + 1] < end ? bins[bin + 1] : end;
        count_in_bin(local_counts, binned.rows, from, to, low);
        PDL_TRIGGER();
        for (u32 r = LOCAL_ID; r < 1u << low; r += SORT_GROUP)
            if (local_counts[r] != 0) ATOMIC_ADD(&counts[(bin << low) + r], local_counts[r]);
        BARRIER();
        from = to;
    }
}

// Returns the slots that the rounds leave of `row`.
DEVICE u32 row_left(GLOBAL const u32 *counts, u32 row, u32 rows, u32 levels) {
    u32 entries = row < rows ? counts[row] : 0;
    return (entries + (1u << levels) - 1) >> levels;
}

// Returns the size of `row`. With GLV, the pieces of the two rows of a bucket count as those of the first one.
DEVICE row_size_t row_size(GLOBAL const u32 *counts, u32 row, u32 rows, u32 levels, u32 limit, u32 halved) {
    row_size_t size;
    u32 left = row_left(counts, row, rows, levels);
    size.slots = left << levels;
    if (halved) left = row % 2 == 0 ? left + row_left(counts, row + 1, rows, levels) : 0;
    size.pieces = (left + limit - 1) / limit;
    return size;
}

// Returns the sum of the sizes of all work-items, to all of them.
DEVICE row_size_t sum_sizes(LOCAL_PTR u32 *sum, row_size_t own) {
    if (LOCAL_ID == 0) sum[0] = sum[1] = 0;
    BARRIER();
    if (own.slots != 0) ATOMIC_ADD(&sum[0], own.slots);
    if (own.pieces != 0) ATOMIC_ADD(&sum[1], own.pieces);
    BARRIER();
    row_size_t all = {sum[0], sum[1]};
    return all;
}

// Computes sums[b], the size of the b-th ROWS_BLOCK rows. Grid: one group for each.
PDL_KERNEL(msm_scan_row_blocks)
KERNEL(SORT_GROUP)
void msm_scan_row_blocks(u32 band_bins, u32 rows, u32 levels, u32 limit, u32 halved, GLOBAL const u32 *counters,
                         GLOBAL row_size_t *sums) {
    LOCAL u32 scratch[2];
    GLOBAL const u32 *counts = counters + ROW_COUNTS(band_bins);
    row_size_t own = {0, 0};
    PDL_WAIT();
    for (u32 i = LOCAL_ID; i < ROWS_BLOCK; i += SORT_GROUP) {
        u32 row = GROUP_ID * ROWS_BLOCK + i;
        row_size_t size = row_size(counts, row, rows, levels, limit, halved);
        own.slots += size.slots;
        own.pieces += size.pieces;
    }
    PDL_TRIGGER();
    row_size_t sum = sum_sizes(scratch, own);
    if (LOCAL_ID == 0) sums[GROUP_ID] = sum;
}

// Computes where rows start, with offsets[rows] the number of slots, and where the pieces of buckets start. Counts
// become cursors, which start at the rows and are used up. Grid: as msm_scan_row_blocks, for the rows and one more.
PDL_KERNEL(msm_scan_rows)
KERNEL(SORT_GROUP)
void msm_scan_rows(u32 band_bins, u32 rows, u32 levels, u32 limit, u32 halved, GLOBAL const row_size_t *sums,
                   GLOBAL u32 *counters, GLOBAL u32 *offsets, GLOBAL u32 *piece_offsets) {
    LOCAL u32 slots[ROWS_BLOCK], pieces[ROWS_BLOCK], scratch[SORT_GROUP];
    GLOBAL u32 *counts = counters + ROW_COUNTS(band_bins);
    row_size_t before = {0, 0};
    u32 first = GROUP_ID * ROWS_BLOCK;
    PDL_WAIT();
    for (u32 b = LOCAL_ID; b < GROUP_ID; b += SORT_GROUP) {
        before.slots += sums[b].slots;
        before.pieces += sums[b].pieces;
    }
    for (u32 i = LOCAL_ID; i < ROWS_BLOCK; i += SORT_GROUP) {
        row_size_t size = row_size(counts, first + i, rows, levels, limit, halved);
        slots[i] = size.slots;
        pieces[i] = size.pieces;
    }
    PDL_TRIGGER();
    before = sum_sizes(scratch, before);
    // With GLV, the first row of a bucket has read the count of the second one, which becomes a cursor below.
    GLOBAL_BARRIER();
    scan_local(slots, ROWS_BLOCK, scratch);
    scan_local(pieces, ROWS_BLOCK, scratch);
    for (u32 i = LOCAL_ID; i < ROWS_BLOCK && first + i <= rows; i += SORT_GROUP) {
        u32 start = before.slots + slots[i];
        if (first + i < rows) counts[first + i] = start;
        offsets[first + i] = start;
        if (!halved || i % 2 == 0) piece_offsets[halved ? (first + i) / 2 : first + i] = before.pieces + pieces[i];
    }
}

// Computes exclusive prefix sums of the counts of the rows of a bin; all work-items have equally many neighbours.
DEVICE void scan_rows(LOCAL_PTR const u32 *counts, LOCAL_PTR u32 *starts, LOCAL_PTR u32 *scratch, u32 low) {
    u32 share = (1u << low) < SORT_GROUP ? 1 : (1u << low) / SORT_GROUP, first = LOCAL_ID * share, sum = 0, total;
    bool live = first < 1u << low;
    for (u32 r = 0; live && r < share; r++) sum += counts[first + r];
    u32 prefix = scan_group(scratch, sum, &total);
    for (u32 r = 0; live && r < share; r++) {
        starts[first + r] = prefix;
        prefix += counts[first + r];
    }
    BARRIER();
}

// Scatters entries into their rows: the counter of a row is where its next entry goes. Entries go through local memory,
// so that those of one row are written side by side. Grid: as msm_histogram_rows.
PDL_KERNEL(msm_scatter_entries)
KERNEL(SORT_GROUP)
void msm_scatter_entries(u32 band_bins, u32 low, u32 tile, GLOBAL const u32 *bins, GLOBAL const u32 *tile_bins,
                         GLOBAL u32 *entries, u32 room, GLOBAL u32 *counters, GLOBAL u32 *out) {
    // For each row of the bin: where its next entry goes in local memory, from the start of its entries on, and by how
    // much its place in the output exceeds that.
    LOCAL u32 next[BIN_ROWS], offsets[BIN_ROWS], scratch[SORT_GROUP], sorted[SORT_TILE_MAX];
    LOCAL u16 rows[SORT_TILE_MAX];
    GLOBAL u32 *cursors = counters + ROW_COUNTS(band_bins);
    binned_t binned = binned_at(entries, room);
    PDL_WAIT();
    u32 total = bins[band_bins], from = GROUP_ID * tile, bin = tile_bins[GROUP_ID];
    u32 end = from + tile < total ? from + tile : total;
    while (from < end) {
        bin = bin_from(bin, bins, from);
        u32 to = bins[bin + 1] < end ? bins[bin + 1] : end;
        count_in_bin(offsets, binned.rows, from, to, low);
        scan_rows(offsets, next, scratch, low);
        for (u32 r = LOCAL_ID; r < 1u << low; r += SORT_GROUP)
            if (offsets[r] != 0) offsets[r] = ATOMIC_ADD(&cursors[(bin << low) + r], offsets[r]) - next[r];
        BARRIER();
        for (u32 i = from + LOCAL_ID; i < to; i += SORT_GROUP) {
            u16 row = binned.rows[i];
            u32 place = ATOMIC_ADD(&next[row], 1u);
            sorted[place] = binned.numbers[i];
            rows[place] = row;
        }
        PDL_TRIGGER();
        BARRIER();
        for (u32 i = LOCAL_ID; i < to - from; i += SORT_GROUP) out[offsets[rows[i]] + i] = sorted[i];
        BARRIER();
        from = to;
    }
}
