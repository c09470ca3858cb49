// Sums, powers and the internal matrix of Poseidon2 over Goldilocks: see poseidon2.cl.
//
// A loose element is any 64-bit number. Elements that kernels write are reduced, in [0, p).

// Holds a sum of fewer than 2^32 loose elements, low + 2^64·high.
typedef struct {
    u64 low;
    u32 high;
} sum_t;

DEVICE sum_t sum_of(F(t) a) {
    sum_t r = {F(number)(a), 0};
    return r;
}

DEVICE sum_t sum_add(sum_t a, sum_t b) {
    a.low += b.low;
    a.high += b.high + (a.low < b.low);
    return a;
}

DEVICE sum_t sum_of_two(F(t) a, F(t) b) {
    return sum_add(sum_of(a), sum_of(b));
}

// Returns a loose element congruent to the sum: 2^64 is 2^32 − 1 modulo p.
DEVICE F(t) sum_value(sum_t a) {
    return F(of_number)(F(fold)(a.low, a.high));
}

DEVICE F(t) reduce_loose(F(t) a) {
    return F(to_canonical)(a);
}

// Returns x⁷, loose, for a loose x.
DEVICE F(t) sbox(F(t) x) {
    F(t) cube = F(mul_loose)(F(mul_loose)(x, x), x);
    return F(mul_loose)(F(mul_loose)(cube, cube), x);
}

// Holds the sum of a state, loose.
typedef F(t) row_sum_t;

DEVICE row_sum_t row_sum(const F(t) *state) {
    sum_t sum = sum_of_two(state[0], state[1]);
#pragma unroll
    for (int i = 2; i < WIDTH; i += 2) sum = sum_add(sum, sum_of_two(state[i], state[i + 1]));
    return sum_value(sum);
}

// Returns n·x for n from 1 to 4.
DEVICE sum_t small_multiple(F(t) x, int n) {
    sum_t twice = sum_of_two(x, x);
    if (n == 1) return sum_of(x);
    return n == 2 ? twice : n == 3 ? sum_add(twice, sum_of(x)) : sum_add(twice, twice);
}

// Returns x/2^k modulo p, loose, for 1 ≤ k ≤ 32. With l = −x mod 2^k it is (x + l·p)/2^k = ⌈x/2^k⌉ + l·(p − 1)/2^k,
// below 2^64, and (p − 1)/2^k = 2^(64−k) − 2^(32−k).
DEVICE F(t) shift_down(F(t) x, u32 k) {
    u64 number = F(number)(x), low = (0 - number) & (((u64)1 << k) - 1);
    return F(of_number)((number >> k) + (low != 0) + (low << (64 - k)) - (low << (32 - k)));
}

// Returns d·x + s, loose, for the entry d of the diagonal, as DIAGONAL encodes it, and the row sum s.
DEVICE F(t) diagonal_add(int code, F(t) x, row_sum_t row) {
    if (code > 0 && code < DIAGONAL_SHIFT) return sum_value(sum_add(small_multiple(x, code), sum_of(row)));
    if (code < 0 && code > -DIAGONAL_SHIFT) return F(sub)(row, sum_value(small_multiple(x, -code)));
    if (code > 0) return sum_value(sum_of_two(shift_down(x, code - DIAGONAL_SHIFT), row));
    return F(sub)(row, shift_down(x, -code - DIAGONAL_SHIFT));
}
