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

// Groups that make digits on a multiprocessor: as many as its threads allow, with 32 registers each.
#define DIGITS_OCCUPANCY 8
// Groups that make digits of GLV halves on a multiprocessor, with 48 registers per thread.
#define HALVES_OCCUPANCY 5

// The counters of a band are in one buffer, which is cleared when the band starts. src/msm/kernels.rs says which are
// where.
#define ROW_COUNTS(band_bins) (BIN_COUNTS + (band_bins))

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
DEVICE void clear_bins(LOCAL_PTR u32 *counts, u32 band_bins) {
    for (u32 b = LOCAL_ID; b < band_bins; b += SORT_GROUP) counts[b] = 0;
    PDL_WAIT();
    BARRIER();
}

DEVICE void add_bins(LOCAL_PTR const u32 *counts, u32 band_bins, GLOBAL u32 *counters) {
    PDL_TRIGGER();
    BARRIER();
    for (u32 b = LOCAL_ID; b < band_bins; b += SORT_GROUP)
        if (counts[b] != 0) ATOMIC_ADD(&counters[b], counts[b]);
}

// Computes the digits of a band, the sets from … to − 1. digits[(copy·(to − from) + set − from)·n + i] is that of
// scalar start + i, and the counter of bin row >> low counts it. Both are behind those of earlier vectors, whose digits
// are the first `first_digit`. Set `from` has none of the first `skip` scalars, set to − 1 none from `until` on: other
// devices do these. too_long[vector] becomes 1 if a scalar has more than `bits` bits, for which windows have room.
// Grid: one group per `tile` scalars.
PDL_KERNEL(msm_digits)
KERNEL_BOUNDED(SORT_GROUP, DIGITS_OCCUPANCY)
void msm_digits(GRID_CONSTANT digits_params_t params, GLOBAL const S(t) *scalars, GLOBAL u32 *digits,
                GLOBAL u32 *counters, GLOBAL u32 *too_long) {
    LOCAL u32 counts[BAND_BINS];
    GLOBAL u32 *own = digits + params.first_digit;
    u32 n = params.n, c = params.c, wide = params.wide, sets = params.sets, from = params.from, to = params.to;
    u32 low = params.low, tile = params.tile;
    u32 band_row = first_row(from, c, wide, sets), first = GROUP_ID * tile;
    u32 band_bins = (first_row(to, c, wide, sets) - band_row) >> low;
    clear_bins(counts, band_bins);
    for (u32 i = first + LOCAL_ID; i < n && i < first + tile; i += SORT_GROUP) {
        S(t) scalar = scalar_at(scalars, params.start + i, params.montgomery);
        if (scalar_is_longer(scalar, params.bits)) too_long[params.vector] = 1;
        digits_t rest = digits_start(scalar);
        window_t window = window_first(sets, wide);
        for (u32 w = 0; w < params.windows; w++, window_next(&window)) {
            u32 digit = digits_next(&rest, window_is_wide(&window) ? c : c - 1), size = digit & ~SIGN_BIT;
            if (window.set < from || window.set >= to) continue;
            if ((window.set == from && i < params.skip) || (window.set == to - 1 && i >= params.until))
                digit = size = 0;
            own[(window.copy * (to - from) + window.set - from) * n + i] = digit;
            u32 row = (window.rows << (c - 2)) - band_row + size - 1;
            if (size != 0) ATOMIC_ADD(&counts[row >> low], 1u);
        }
    }
    add_bins(counts, band_bins, counters + BIN_COUNTS + params.vector * band_bins);
}

// Computes the digits of GLV halves: digits[(half·(to − from) + set − from)·n + i] = 2·(|d| − 1) + half + 1 with the
// sign of d, or 0 if d = 0. msm_scatter_bins thus takes them for digits of one bit more, and halves for copies. Here c
// is that of these digits, one more than the bits of a wide window.
PDL_KERNEL(msm_glv_digits)
KERNEL_BOUNDED(SORT_GROUP, HALVES_OCCUPANCY)
void msm_glv_digits(GRID_CONSTANT digits_params_t params, GLOBAL const S(t) *scalars, GLOBAL u32 *digits,
                    GLOBAL u32 *counters, GLOBAL u32 *too_long) {
    LOCAL u32 counts[BAND_BINS];
    GLOBAL u32 *own = digits + params.first_digit;
    u32 n = params.n, c = params.c, wide = params.wide, sets = params.sets, from = params.from, to = params.to;
    u32 low = params.low, tile = params.tile;
    u32 band_row = first_row(from, c, wide, sets), first = GROUP_ID * tile;
    u32 band_bins = (first_row(to, c, wide, sets) - band_row) >> low;
    clear_bins(counts, band_bins);
    for (u32 i = first + LOCAL_ID; i < n && i < first + tile; i += SORT_GROUP) {
        S(t) scalar = scalar_at(scalars, params.start + i, params.montgomery);
        if (scalar_is_longer(scalar, params.bits)) too_long[params.vector] = 1;
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
    add_bins(counts, band_bins, counters + BIN_COUNTS + params.vector * band_bins);
}
