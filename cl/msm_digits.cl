// Scalars as sparse matrices of signed window digits, and their transposition (cuZK, section 4).
//
// A scalar or its negative is Σ d_w·2^(c·w) with −2^(c−1) < d_w ≤ 2^(c−1). Window w is a sparse matrix with a row per
// scalar and at most one entry in it, ±1 in column |d_w| − 1; digit 0 has none. Transposed, all windows
// stacked, it is a CSR matrix with a row per (window, bucket): row = w·2^(c−1) + |d_w| − 1.
// Counting gives each entry its rank within its row; the prefix sums of the counts are the row offsets.

#define S(op) JOIN(SCALAR, op)
#define SIGN_BIT 0x80000000u

// What is left of a scalar, to be consumed window by window.
typedef struct {
    S(t) rest;
    u32 carry;
    // SIGN_BIT where the scalar was negated.
    u32 sign;
} digits_t;

// a < b as numbers.
DEVICE bool scalar_less(S(t) a, S(t) b) {
    bool less = false;
#pragma unroll
    for (int i = 0; i < SCALAR_LIMBS; i++) less = a.limb[i] != b.limb[i] ? a.limb[i] < b.limb[i] : less;
    return less;
}

// The smaller of s and r − s, canonical, with its sign: a bit less to cut into windows. (A scalar that is not
// reduced stays what it is: its negative wraps to a large number.)
DEVICE digits_t digits_start(GLOBAL const S(t) *scalars, u32 i, u32 montgomery) {
    digits_t digits;
    digits.rest = scalars[i];
    if (montgomery) digits.rest = S(to_canonical)(digits.rest);
    S(t) negative = S(neg)(digits.rest);
    bool negate = scalar_less(negative, digits.rest);
#pragma unroll
    for (int k = 0; k < SCALAR_LIMBS; k++) digits.rest.limb[k] = negate ? negative.limb[k] : digits.rest.limb[k];
    digits.carry = 0;
    digits.sign = negate ? SIGN_BIT : 0;
    return digits;
}

// The next window's digit as |d|, with SIGN_BIT where it is negative. 1 ≤ c < 32.
DEVICE u32 digits_next(digits_t *digits, u32 c) {
    u32 digit = (digits->rest.limb[0] & ((1u << c) - 1)) + digits->carry;
#pragma unroll
    for (int i = 0; i < SCALAR_LIMBS - 1; i++)
        digits->rest.limb[i] = (digits->rest.limb[i] >> c) | (digits->rest.limb[i + 1] << (32 - c));
    digits->rest.limb[SCALAR_LIMBS - 1] >>= c;
    digits->carry = digit > (1u << (c - 1));
    return (digits->carry ? ((1u << c) - digit) | SIGN_BIT : digit) ^ digits->sign;
}

// counters[key] += 1; returns what it was before.
DEVICE u32 count_one(GLOBAL u32 *counters, u32 key) {
#ifdef HAS_PTX
    // One atomic for all lanes with the same key: a bucket that holds everything costs no more than others.
    u32 peers = ptx_peers(key), lane = ptx_lane(), base = 0;
    u32 leader = ptx_popc((peers & (0u - peers)) - 1);
    if (lane == leader) base = ATOMIC_ADD(&counters[key], ptx_popc(peers));
    return ptx_from_lane(base, leader, peers) + ptx_popc(peers & ((1u << lane) - 1));
#else
    return ATOMIC_ADD(&counters[key], 1u);
#endif
}

// Which windows a launch looks at, and where their bases are.
//
// With precomputed multiples of the bases, window w = copy·sets + set has the buckets of window `set` and the
// bases number `copy`, 2^(c·sets·copy) times the plain ones; without, sets = windows and copy = 0. A band is
// the sets from `band` on whose rows the matrix has.
typedef struct {
    u32 set, copy, sets;
} window_t;

DEVICE window_t window_first(u32 sets) {
    window_t window;
    window.set = window.copy = 0;
    window.sets = sets;
    return window;
}

DEVICE void window_next(window_t *window) {
    if (++window->set < window->sets) return;
    window->set = 0;
    window->copy++;
}

// counts[row] += 1 for every entry in the sets from … to − 1, which are the band; ranks[(copy·(to − from) + set
// − from)·n + i] = how many came before it. Grid: one item a scalar.
// The scalars are those from `start` on; *too_long becomes 1 if one has more bits than the windows.
KERNEL(256)
void msm_count(u32 n, u32 c, u32 windows, u32 sets, u32 from, u32 to, u32 montgomery, u32 start,
               GLOBAL const S(t) *scalars, GLOBAL u32 *counts, GLOBAL u32 *ranks, GLOBAL u32 *too_long) {
    u32 i = GLOBAL_ID;
    if (i >= n) return;
    digits_t digits = digits_start(scalars, start + i, montgomery);
    window_t window = window_first(sets);
    for (u32 w = 0; w < windows; w++, window_next(&window)) {
        u32 digit = digits_next(&digits, c) & ~SIGN_BIT;
        if (digit == 0 || window.set < from || window.set >= to) continue;
        u32 place = window.copy * (to - from) + window.set - from;
        ranks[place * n + i] = count_one(counts, ((window.set - from) << (c - 1)) + digit - 1);
    }
    if (digits.carry != 0 || !S(is_zero)(digits.rest)) *too_long = 1;
}

// Rounds every row's length up, so that rows start at multiples of 2^levels.
KERNEL(256)
void msm_pad_rows(u32 rows, u32 levels, GLOBAL u32 *counts) {
    u32 row = GLOBAL_ID, mask = (1u << levels) - 1;
    if (row < rows) counts[row] = (counts[row] + mask) & ~mask;
}

// entries[offsets[row] + rank] = 1 + number of the scalar's base, with SIGN_BIT for a negative digit, in the sets
// first … last − 1 of the band from … to − 1: as many as keep what is written inside the cache. The base of
// scalar i is copy·stride + base + i. Grid: one item a scalar.
KERNEL(256)
void msm_transpose(u32 n, u32 c, u32 windows, u32 sets, u32 from, u32 to, u32 first, u32 last, u32 montgomery,
                   u32 start, u32 stride, u32 base, GLOBAL const S(t) *scalars, GLOBAL const u32 *offsets,
                   GLOBAL const u32 *ranks, GLOBAL u32 *entries) {
    u32 i = GLOBAL_ID;
    if (i >= n) return;
    digits_t digits = digits_start(scalars, start + i, montgomery);
    window_t window = window_first(sets);
    for (u32 w = 0; w < windows; w++, window_next(&window)) {
        u32 signed_digit = digits_next(&digits, c);
        u32 digit = signed_digit & ~SIGN_BIT;
        if (digit == 0 || window.set < first || window.set >= last) continue;
        u32 row = ((window.set - from) << (c - 1)) + digit - 1, place = window.copy * (to - from) + window.set - from;
        u32 number = window.copy * stride + base + i + 1;
        entries[offsets[row] + ranks[place * n + i]] = number | (signed_digit & SIGN_BIT);
    }
}
