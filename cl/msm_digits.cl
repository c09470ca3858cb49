// Splits scalars into sparse matrices of signed window digits, and transposes these (cuZK, section 4).
//
// A scalar or its negative is Σ d_w·2^(first bit of w) with −2^(b−1) < d_w ≤ 2^(b−1). The bits b of window w are c in
// `wide` of the windows and c − 1 in the others: spare bits would need buckets. Window w is a sparse matrix with a row
// per scalar and at most one entry in it, ±1 in column |d_w| − 1; digit 0 has none. Transposed, the windows of a band
// stacked, it is a CSR matrix with a row per (window, bucket): row = first_row(w) − first_row(band) + |d_w| − 1.
//
// With GLV, windows are those of the halves: row = first_row(w) − first_row(band) + 2·(|d_w| − 1) + half. A bucket thus
// has two adjacent rows, of bases and of bases to be multiplied by λ.
//
// Several vectors of scalars over the same bases are one matrix too. Bins, rows and entries of a vector follow those of
// the previous one, and every window has a place for its digits in each vector.
//
// Transposing sorts entries by row with two counting sorts in local memory: by the high bits of the row into bins of
// 2^low rows, then by its low bits within a bin. Groups take equal numbers of entries, however many fall into one bin
// or row.

// Returns the wide sets before `set`: they are spread evenly, so that groups of sets cost the same. The first is wide.
DEVICE u32 wide_before(u32 set, u32 wide, u32 sets) {
    return (set * wide + sets - 1) / sets;
}

// Holds the window that a launch looks at, and where its bases are.
//
// With precomputed multiples of the bases, window w = copy·sets + set has the buckets of window `set` and the bases
// number `copy`, 2^(c·sets·copy) times the plain ones, and wide = sets. Without, sets = windows and copy = 0. A band is
// the sets from `band` on whose rows the matrix has.
typedef struct {
    u32 set, copy, sets, wide;
    // wide·set modulo sets, with `sets` in place of 0: it wraps at a wide set.
    u32 phase;
    // Rows of the sets before this one, counted in those of a narrow set.
    u32 rows;
} window_t;

DEVICE void window_restart(window_t *window) {
    window->set = window->rows = 0;
    window->phase = window->sets;
}

DEVICE window_t window_first(u32 sets, u32 wide) {
    window_t window;
    window.copy = 0;
    window.sets = sets;
    window.wide = wide;
    window_restart(&window);
    return window;
}

DEVICE bool window_is_wide(const window_t *window) {
    return window->phase + window->wide > window->sets;
}

DEVICE void window_next(window_t *window) {
    bool is_wide = window_is_wide(window);
    window->rows += is_wide ? 2 : 1;
    window->phase += window->wide - (is_wide ? window->sets : 0);
    if (++window->set < window->sets) return;
    window_restart(window);
    window->copy++;
}

// Returns the rows of the sets before `set`: 2^(c−1) of each wide one, half of that of the others.
DEVICE u32 first_row(u32 set, u32 c, u32 wide, u32 sets) {
    return (set + wide_before(set, wide, sets)) << (c - 2);
}

#define SORT_GROUP 256u
// Limits the bins of a band, the bins of a window, and the rows of a bin.
#define BAND_BINS 4096u
#define WINDOW_BINS 256u
#define BIN_ROWS 2048u
// Groups that make digits on a multiprocessor: as many as its threads allow, with 32 registers each.
#define DIGITS_OCCUPANCY 8
// Groups that make digits of GLV halves on a multiprocessor, with 48 registers per thread.
#define HALVES_OCCUPANCY 5
// Lengths of pieces that are counted apart: see msm_rows.cl.
#define BINS 512u

// Counters of a band, in one buffer that is cleared when the band starts:
//   LIST_COUNTS    pairs in the list of each round
//   TAKEN_COUNTS   pairs of each list that have been taken
//   LONE_COUNT     lone bases in the first round
//   MERGE_COUNTS   units and long rows to be merged
//   PIECE_COUNTS   pieces of each length
//   PIECE_CURSORS  pieces of each length that have their place
//   BIN_COUNTS     entries of each bin
//   ROW_COUNTS     entries of each row
#define LIST_COUNTS 0u
#define TAKEN_COUNTS 16u
#define LONE_COUNT 31u
#define MERGE_COUNTS 32u
#define PIECE_COUNTS 64u
#define PIECE_CURSORS (PIECE_COUNTS + BINS)
#define BIN_COUNTS (PIECE_CURSORS + BINS)
#define ROW_COUNTS(band_bins) (BIN_COUNTS + (band_bins))
// Tiles whose first bins a group finds, and rows that a group examines.
#define TILE_SHARE 4096u
#define ROWS_BLOCK 2048u

// Holds entries in their bins: their numbers and, `room` words behind, their rows in the bin with 16 bits each.
typedef struct {
    GLOBAL u32 *numbers;
    GLOBAL u16 *rows;
} binned_t;

DEVICE binned_t binned_at(GLOBAL u32 *entries, u32 room) {
    binned_t binned;
    binned.numbers = entries;
    binned.rows = (GLOBAL u16 *)(entries + room);
    return binned;
}

// Clears the counts of a group for the bins of a band; `add_bins` adds them to those of all groups once digits are
// made.
DEVICE void clear_bins(LOCAL_POINTER u32 *counts, u32 band_bins) {
    for (u32 b = LOCAL_ID; b < band_bins; b += SORT_GROUP) counts[b] = 0;
    AWAIT_STREAM();
    BARRIER();
}

DEVICE void add_bins(LOCAL_POINTER const u32 *counts, u32 band_bins, GLOBAL u32 *counters) {
    LET_NEXT_START();
    BARRIER();
    for (u32 b = LOCAL_ID; b < band_bins; b += SORT_GROUP)
        if (counts[b] != 0) ATOMIC_ADD(&counters[b], counts[b]);
}

// Computes the digits of a band, the sets from … to − 1. digits[(copy·(to − from) + set − from)·n + i] is that of
// scalar start + i, and the counter of bin row >> low counts it. Both are behind those of earlier vectors, whose digits
// are the first `first_digit`. Set `from` has none of the first `skip` scalars, set to − 1 none from `until` on: other
// devices do these. too_long[vector] becomes 1 if a scalar has more than `bits` bits, for which windows have room.
// Grid: one group per `tile` scalars.
STARTS_EARLY(msm_digits)
KERNEL_BOUNDED(SORT_GROUP, DIGITS_OCCUPANCY)
void msm_digits(u32 n, u32 c, u32 wide, u32 sets, u32 from, u32 to, u32 low, u32 tile, u32 montgomery, u32 bits, u32 start,
                u32 vector, u32 first_digit, u32 windows, u32 skip, u32 until, GLOBAL const S(t) *scalars, GLOBAL u32 *digits,
                GLOBAL u32 *counters, GLOBAL u32 *too_long) {
    LOCAL u32 counts[BAND_BINS];
    GLOBAL u32 *own = digits + first_digit;
    u32 band_row = first_row(from, c, wide, sets), first = GROUP_ID * tile;
    u32 band_bins = (first_row(to, c, wide, sets) - band_row) >> low;
    clear_bins(counts, band_bins);
    for (u32 i = first + LOCAL_ID; i < n && i < first + tile; i += SORT_GROUP) {
        S(t) scalar = scalar_at(scalars, start + i, montgomery);
        if (scalar_is_longer(scalar, bits)) too_long[vector] = 1;
        digits_t rest = digits_start(scalar);
        window_t window = window_first(sets, wide);
        for (u32 w = 0; w < windows; w++, window_next(&window)) {
            u32 digit = digits_next(&rest, window_is_wide(&window) ? c : c - 1), size = digit & ~SIGN_BIT;
            if (window.set < from || window.set >= to) continue;
            if ((window.set == from && i < skip) || (window.set == to - 1 && i >= until)) digit = size = 0;
            own[(window.copy * (to - from) + window.set - from) * n + i] = digit;
            u32 row = (window.rows << (c - 2)) - band_row + size - 1;
            if (size != 0) ATOMIC_ADD(&counts[row >> low], 1u);
        }
    }
    add_bins(counts, band_bins, counters + BIN_COUNTS + vector * band_bins);
}

// Computes the digits of GLV halves: digits[(half·(to − from) + set − from)·n + i] = 2·(|d| − 1) + half + 1 with the
// sign of d, or 0 if d = 0. msm_partition thus takes them for digits of one bit more, and halves for copies. Here c is
// that of these digits, one more than the bits of a wide window.
STARTS_EARLY(msm_digits_of_halves)
KERNEL_BOUNDED(SORT_GROUP, HALVES_OCCUPANCY)
void msm_digits_of_halves(u32 n, u32 c, u32 wide, u32 sets, u32 from, u32 to, u32 low, u32 tile, u32 montgomery, u32 bits,
                          u32 start, u32 vector, u32 first_digit, GLOBAL const S(t) *scalars, GLOBAL u32 *digits, GLOBAL u32 *counters,
                          GLOBAL u32 *too_long) {
    LOCAL u32 counts[BAND_BINS];
    GLOBAL u32 *own = digits + first_digit;
    u32 band_row = first_row(from, c, wide, sets), first = GROUP_ID * tile;
    u32 band_bins = (first_row(to, c, wide, sets) - band_row) >> low;
    clear_bins(counts, band_bins);
    for (u32 i = first + LOCAL_ID; i < n && i < first + tile; i += SORT_GROUP) {
        S(t) scalar = scalar_at(scalars, start + i, montgomery);
        if (scalar_is_longer(scalar, bits)) too_long[vector] = 1;
        half_scalar_t rest[2];
        halves_start(scalar, rest);
        window_t window = window_first(sets, wide);
        for (; window.copy == 0; window_next(&window)) {
            u32 bits = window_is_wide(&window) ? c - 1 : c - 2, band_set = window.set - from;
#pragma unroll
            for (int h = 0; h < 2; h++) {
                u32 digit = half_next(&rest[h], bits), size = digit & ~SIGN_BIT;
                // `band_set` wraps for sets before the band.
                if (band_set >= to - from) continue;
                own[(h * (to - from) + band_set) * n + i] = size == 0 ? 0 : digit + size - 1 + h;
                u32 row = (window.rows << (c - 2)) - band_row + 2 * (size - 1) + h;
                if (size != 0) ATOMIC_ADD(&counts[row >> low], 1u);
            }
        }
    }
    add_bins(counts, band_bins, counters + BIN_COUNTS + vector * band_bins);
}

// Returns the last bin that starts at `entry` or before it.
DEVICE u32 bin_of(LOCAL_POINTER const u32 *starts, u32 band_bins, u32 entry) {
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
STARTS_EARLY(msm_scan_bins)
KERNEL(SORT_GROUP)
void msm_scan_bins(u32 band_bins, u32 tile, u32 tiles, GLOBAL const u32 *counters, GLOBAL u32 *bins,
                   GLOBAL u32 *cursors, GLOBAL u32 *tile_bins) {
    LOCAL u32 starts[BAND_BINS], scratch[SORT_GROUP];
    u32 share = GROUP_ID * TILE_SHARE, end = share + TILE_SHARE < tiles ? share + TILE_SHARE : tiles, before = 0;
    AWAIT_STREAM();
    // These few groups leave the device to the next kernel.
    LET_NEXT_START();
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
DEVICE void scan_bins(LOCAL_POINTER u32 *starts, LOCAL_POINTER u32 *scratch) {
    u32 total, count = starts[LOCAL_ID];
    u32 prefix = scan_group(scratch, count, &total);
    starts[LOCAL_ID] = prefix;
    BARRIER();
}

// Scatters the entries of the digits of a window into the bins of its set: cursors[bin] is where the next entry of the
// bin goes. The base of scalar i has the number copy·stride + base + i, plus 1, with SIGN_BIT for a negative digit.
// Entries go through local memory, so that those of one bin are written side by side. Grid: for each of the `places`
// places copy·(to − from) + set − from of every vector, one group per `tile` scalars, at most SORT_ROOM. The last copy
// may have no window for a place.
STARTS_EARLY(msm_partition)
KERNEL(SORT_GROUP)
void msm_partition(u32 n, u32 c, u32 wide, u32 windows, u32 sets, u32 from, u32 to, u32 low, u32 tile, u32 stride,
                   u32 base, u32 places, GLOBAL const u32 *digits, GLOBAL u32 *cursors, GLOBAL u32 *entries, u32 room) {
    LOCAL u32 numbers[SORT_ROOM], rows[SORT_ROOM];
    LOCAL u32 starts[WINDOW_BINS], targets[WINDOW_BINS], next[WINDOW_BINS], scratch[SORT_GROUP];
    u32 tiles = (n + tile - 1) / tile, place = GROUP_ID / tiles, first = GROUP_ID % tiles * tile;
    u32 vector = place / places, set = from + place % (to - from), copy = place % places / (to - from);
    u32 band_row = first_row(from, c, wide, sets), band_rows = first_row(to, c, wide, sets) - band_row;
    u32 first_bin = (vector * band_rows + first_row(set, c, wide, sets) - band_row) >> low;
    AWAIT_STREAM();
    if (copy * sets + set >= windows) return;
    u32 number = copy * stride + base + 1;
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
    LET_NEXT_START();
    BARRIER();
    binned_t out = binned_at(entries, room);
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
DEVICE void count_in_bin(LOCAL_POINTER u32 *counts, GLOBAL const u16 *rows, u32 from, u32 to, u32 low) {
    for (u32 r = LOCAL_ID; r < 1u << low; r += SORT_GROUP) counts[r] = 0;
    BARRIER();
    for (u32 i = from + LOCAL_ID; i < to; i += SORT_GROUP) ATOMIC_ADD(&counts[rows[i]], 1u);
    BARRIER();
}

// Counts the entries of every row. Grid: one group per `tile` entries, which may be of several bins.
STARTS_EARLY(msm_count_rows)
KERNEL(SORT_GROUP)
void msm_count_rows(u32 band_bins, u32 low, u32 tile, GLOBAL const u32 *bins, GLOBAL const u32 *tile_bins,
                    GLOBAL u32 *entries, u32 room, GLOBAL u32 *counters) {
    LOCAL u32 local_counts[BIN_ROWS];
    GLOBAL u32 *counts = counters + ROW_COUNTS(band_bins);
    binned_t binned = binned_at(entries, room);
    AWAIT_STREAM();
    u32 total = bins[band_bins], from = GROUP_ID * tile, bin = tile_bins[GROUP_ID];
    u32 end = from + tile < total ? from + tile : total;
    while (from < end) {
        bin = bin_from(bin, bins, from);
        u32 to = bins[bin + 1] < end ? bins[bin + 1] : end;
        count_in_bin(local_counts, binned.rows, from, to, low);
        LET_NEXT_START();
        for (u32 r = LOCAL_ID; r < 1u << low; r += SORT_GROUP)
            if (local_counts[r] != 0) ATOMIC_ADD(&counts[(bin << low) + r], local_counts[r]);
        BARRIER();
        from = to;
    }
}

// Holds the size of one or several rows: slots for the entries, a multiple of 2^levels per row, and pieces. Pieces have
// at most `limit` of the slots that the rounds leave.
typedef struct {
    u32 slots, pieces;
} row_size_t;

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
DEVICE row_size_t sum_sizes(LOCAL_POINTER u32 *sum, row_size_t own) {
    if (LOCAL_ID == 0) sum[0] = sum[1] = 0;
    BARRIER();
    if (own.slots != 0) ATOMIC_ADD(&sum[0], own.slots);
    if (own.pieces != 0) ATOMIC_ADD(&sum[1], own.pieces);
    BARRIER();
    row_size_t all = {sum[0], sum[1]};
    return all;
}

// Computes sums[b], the size of the b-th ROWS_BLOCK rows. Grid: one group for each.
STARTS_EARLY(msm_sum_rows)
KERNEL(SORT_GROUP)
void msm_sum_rows(u32 band_bins, u32 rows, u32 levels, u32 limit, u32 halved, GLOBAL const u32 *counters,
                  GLOBAL row_size_t *sums) {
    LOCAL u32 scratch[2];
    GLOBAL const u32 *counts = counters + ROW_COUNTS(band_bins);
    row_size_t own = {0, 0};
    AWAIT_STREAM();
    for (u32 i = LOCAL_ID; i < ROWS_BLOCK; i += SORT_GROUP) {
        u32 row = GROUP_ID * ROWS_BLOCK + i;
        row_size_t size = row_size(counts, row, rows, levels, limit, halved);
        own.slots += size.slots;
        own.pieces += size.pieces;
    }
    LET_NEXT_START();
    row_size_t sum = sum_sizes(scratch, own);
    if (LOCAL_ID == 0) sums[GROUP_ID] = sum;
}

// Computes where rows start, with offsets[rows] the number of slots, and where the pieces of buckets start. Counts
// become cursors, which start at the rows and are used up. Grid: as msm_sum_rows, for the rows and one more.
STARTS_EARLY(msm_row_offsets)
KERNEL(SORT_GROUP)
void msm_row_offsets(u32 band_bins, u32 rows, u32 levels, u32 limit, u32 halved, GLOBAL const row_size_t *sums,
                     GLOBAL u32 *counters, GLOBAL u32 *offsets, GLOBAL u32 *piece_offsets) {
    LOCAL u32 slots[ROWS_BLOCK], pieces[ROWS_BLOCK], scratch[SORT_GROUP];
    GLOBAL u32 *counts = counters + ROW_COUNTS(band_bins);
    row_size_t before = {0, 0};
    u32 first = GROUP_ID * ROWS_BLOCK;
    AWAIT_STREAM();
    for (u32 b = LOCAL_ID; b < GROUP_ID; b += SORT_GROUP) {
        before.slots += sums[b].slots;
        before.pieces += sums[b].pieces;
    }
    for (u32 i = LOCAL_ID; i < ROWS_BLOCK; i += SORT_GROUP) {
        row_size_t size = row_size(counts, first + i, rows, levels, limit, halved);
        slots[i] = size.slots;
        pieces[i] = size.pieces;
    }
    LET_NEXT_START();
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
DEVICE void scan_rows(LOCAL_POINTER const u32 *counts, LOCAL_POINTER u32 *starts, LOCAL_POINTER u32 *scratch, u32 low) {
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
// so that those of one row are written side by side. Grid: as msm_count_rows.
STARTS_EARLY(msm_place)
KERNEL(SORT_GROUP)
void msm_place(u32 band_bins, u32 low, u32 tile, GLOBAL const u32 *bins, GLOBAL const u32 *tile_bins,
               GLOBAL u32 *entries, u32 room, GLOBAL u32 *counters, GLOBAL u32 *out) {
    // For each row of the bin: where its next entry goes in local memory, from the start of its entries on, and by how
    // much its place in the output exceeds that.
    LOCAL u32 next[BIN_ROWS], offsets[BIN_ROWS], scratch[SORT_GROUP], sorted[SORT_ROOM];
    LOCAL u16 rows[SORT_ROOM];
    GLOBAL u32 *cursors = counters + ROW_COUNTS(band_bins);
    binned_t binned = binned_at(entries, room);
    AWAIT_STREAM();
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
        LET_NEXT_START();
        BARRIER();
        for (u32 i = LOCAL_ID; i < to - from; i += SORT_GROUP) out[offsets[rows[i]] + i] = sorted[i];
        BARRIER();
        from = to;
    }
}
