// Sums, powers and the internal matrix of Poseidon2 over a prime field of one word: see poseidon2.cl.
//
// p = c·2^24 + 1, 2^30 < p < 2^31: BabyBear and KoalaBear. A loose element is a word below p + 2^23 + 2^22 < 2^31 that
// stands for its residue. Elements in memory are reduced, in [0, p).

// Holds a sum of loose elements, below 64p < 2^37.
typedef u64 sum_t;

DEVICE sum_t sum_of(F(t) a) {
    return a.limb[0];
}

// Returns a + b, which fits in a word.
DEVICE sum_t sum_of_two(F(t) a, F(t) b) {
    return (u32)(a.limb[0] + b.limb[0]);
}

DEVICE sum_t sum_add(sum_t a, sum_t b) {
    return a + b;
}

// Returns a loose element congruent to the sum. Its quotient by p, taken from bits 23 and up, is at most one too small
// and then only if the remainder is below 2^23 + 2^22: those bits miss less than 2^23, and the factor, truncated, less
// than 2^22.
DEVICE F(t) sum_value(sum_t a) {
    const u32 factor = (u32)(((u64)1 << 47) / F(modulus)());
    u32 quotient = ((u32)(a >> 23) * factor) >> 24;
    return F(of_word)((u32)a - quotient * F(modulus)());
}

DEVICE F(t) reduce_loose(F(t) a) {
    return F(reduce)(a);
}

// Returns x^SBOX_DEGREE, reduced, for a loose x. x² < 1.02p², so its reduction is below 1.52p, and a product of that and
// x below R·p. With degree 7, x³ is reduced so that x⁶ fits too.
DEVICE F(t) sbox(F(t) x) {
    u32 power = F(redc_word)((u64)x.limb[0] * x.limb[0]);
#if SBOX_DEGREE == 7
    F(t) cube = F(redc)((u64)power * x.limb[0]);
    power = F(redc_word)((u64)cube.limb[0] * cube.limb[0]);
#endif
    return F(redc)((u64)power * x.limb[0]);
}

// Holds the sum of a state, reduced, in the forms that the internal matrix adds.
typedef struct {
    // The sum s, s − p modulo 2^32, and s + 5p, above all multiples that are subtracted.
    u32 value, less;
    u64 more;
} row_sum_t;

DEVICE row_sum_t row_sum(const F(t) *state) {
    sum_t sum = 0;
    row_sum_t row;
#pragma unroll
    for (int i = 0; i < WIDTH; i += 2) sum += sum_of_two(state[i], state[i + 1]);
    row.value = reduce_loose(sum_value(sum)).limb[0];
    row.less = row.value - F(modulus)();
    row.more = row.value + 5 * (u64)F(modulus)();
    return row;
}

// Returns `a`, or a + p for a negative a from −p on, modulo 2^32: the sum wraps to the smaller number. a < 2^32 − p.
DEVICE F(t) add_modulus(u32 a) {
    u32 more = a + F(modulus)();
    return F(of_word)(more < a ? more : a);
}

// Returns x/2^k, reduced, for a reduced x and 1 ≤ k where 2^k divides p − 1. With l = −x mod 2^k it is (x + l·p)/2^k =
// ⌈x/2^k⌉ + l·(p − 1)/2^k. ⌈x/2^k⌉ is ⌊(x − 1)/2^k⌋ + 1, and −x mod 2^k has the low bits of ~(x − 1).
DEVICE u32 shift_down(u32 x, u32 k) {
    u32 before = x - 1, low = ~before & ((1u << k) - 1);
    return (u32)((i32)before >> k) + 1 + low * ((F(modulus)() - 1) >> k);
}

// Returns d·x + s for the entry d of the diagonal, as DIAGONAL encodes it, and the row sum s. A small multiple takes a
// loose x and gives a loose element; a quotient takes a reduced one and gives a reduced one.
DEVICE F(t) diagonal_add(int code, F(t) x, row_sum_t row) {
    u32 word = x.limb[0];
    if (code == 1) return add_modulus(word + row.less);
    if (code > 0 && code < DIAGONAL_SHIFT) return sum_value((u64)word * (u32)code + row.value);
    if (code < 0 && code > -DIAGONAL_SHIFT) return sum_value(row.more + (i64)(i32)word * code);
    if (code > 0) return add_modulus(shift_down(word, code - DIAGONAL_SHIFT) + row.less);
    return add_modulus(row.value - shift_down(word, -code - DIAGONAL_SHIFT));
}
