// Prepares scalars for their digits: the smaller of s and r − s, or the GLV halves k₀ and k₁ with s = k₀ + λ·k₁
// (src/kernels/glv.rs). Loops over words are unrolled, so that all words are in registers.

#define S(op) JOIN(SCALAR, op)
#define SIGN_BIT 0x80000000u

// Holds the rest of a scalar, to be consumed window by window.
typedef struct {
    S(t) rest;
    u32 carry;
    // SIGN_BIT if the scalar was negated.
    u32 sign;
} digits_t;

// Holds the rest of a GLV half, to be consumed window by window.
typedef struct {
    u32 rest[HALF_WORDS];
    u32 carry, sign;
} half_scalar_t;

// Takes the next `c` bits with the carry, 1 ≤ c < 32. Returns |d| with SIGN_BIT if the digit d is negative or `sign`
// says so, but not both.
DEVICE u32 take_digit(u32 *limb, int limbs, u32 *carry, u32 sign, u32 c) {
    u32 digit = (limb[0] & ((1u << c) - 1)) + *carry;
#pragma unroll
    for (int i = 0; i < limbs - 1; i++) limb[i] = (limb[i] >> c) | (limb[i + 1] << (32 - c));
    limb[limbs - 1] >>= c;
    *carry = digit > (1u << (c - 1));
    return (*carry ? ((1u << c) - digit) | SIGN_BIT : digit) ^ sign;
}

DEVICE u32 digits_next(digits_t *digits, u32 c) {
    return take_digit(digits->rest.limb, SCALAR_LIMBS, &digits->carry, digits->sign, c);
}

DEVICE u32 half_next(half_scalar_t *digits, u32 c) {
    return take_digit(digits->rest, HALF_WORDS, &digits->carry, digits->sign, c);
}

// Returns scalar `i` as a number below r, for any words.
DEVICE S(t) scalar_at(GLOBAL const S(t) *scalars, u32 i, u32 montgomery) {
    S(t) scalar = scalars[i];
    if (montgomery) return S(to_canonical)(scalar);
    // This runs a few times at most, and never for a reduced scalar.
    while (!S(is_reduced)(scalar)) scalar = S(reduced)(scalar);
    return scalar;
}

// Returns whether `scalar` has more than `bits` bits.
DEVICE bool scalar_is_longer(S(t) scalar, u32 bits) {
    u32 above = 0;
#pragma unroll
    for (int i = 0; i < SCALAR_LIMBS; i++) {
        if (bits <= 32u * i) above |= scalar.limb[i];
        else if (bits < 32u * (i + 1)) above |= scalar.limb[i] >> (bits - 32u * i);
    }
    return above != 0;
}

// Returns whether a < b as numbers.
DEVICE bool scalar_less(S(t) a, S(t) b) {
    bool less = false;
#pragma unroll
    for (int i = 0; i < SCALAR_LIMBS; i++) less = a.limb[i] != b.limb[i] ? a.limb[i] < b.limb[i] : less;
    return less;
}

// Returns the smaller of s and r − s, canonical, with its sign: one bit less to cut into windows.
DEVICE digits_t digits_start(S(t) scalar) {
    digits_t digits;
    S(t) negative = S(neg)(scalar);
    bool negate = scalar_less(negative, scalar);
#pragma unroll
    for (int k = 0; k < SCALAR_LIMBS; k++) digits.rest.limb[k] = negate ? negative.limb[k] : scalar.limb[k];
    digits.carry = 0;
    digits.sign = negate ? SIGN_BIT : 0;
    return digits;
}

// Computes |c| of a short vector: the product of `scalar` and the `quotient` of the vector, above its lowest
// 32·QUOTIENT_SHIFT bits, rounded.
DEVICE void vector_multiple(u32 *multiple, S(t) scalar, const u32 *quotient) {
    u32 product[SCALAR_LIMBS + QUOTIENT_WORDS];
#pragma unroll
    for (int i = 0; i < SCALAR_LIMBS + QUOTIENT_WORDS; i++) product[i] = 0;
#pragma unroll
    for (int i = 0; i < SCALAR_LIMBS; i++) {
        u64 word = 0;
#pragma unroll
        for (int j = 0; j < QUOTIENT_WORDS; j++) {
            word = (u64)scalar.limb[i] * quotient[j] + product[i + j] + (word >> 32);
            product[i + j] = (u32)word;
        }
        product[i + QUOTIENT_WORDS] = (u32)(word >> 32);
    }
    u64 word = (u64)(product[QUOTIENT_SHIFT - 1] >> 31) << 32;
#pragma unroll
    for (int i = 0; i < HALF_WORDS; i++) {
        word = (u64)product[QUOTIENT_SHIFT + i] + (word >> 32);
        multiple[i] = (u32)word;
    }
}

// Adds multiple·step to `sum`, modulo 2^(32·HALF_WORDS).
DEVICE void half_add(u32 *sum, const u32 *multiple, const u32 *step) {
#pragma unroll
    for (int i = 0; i < HALF_WORDS; i++) {
        u64 word = 0;
#pragma unroll
        for (int j = 0; j < HALF_WORDS - i; j++) {
            word = (u64)multiple[i] * step[j] + sum[i + j] + (word >> 32);
            sum[i + j] = (u32)word;
        }
    }
}

// Returns the state in which a half, which may be negative, is to be consumed.
DEVICE half_scalar_t half_start(const u32 *words) {
    half_scalar_t start;
    u32 flip = (u32)((i32)words[HALF_WORDS - 1] >> 31);
    u64 word = (u64)(flip & 1) << 32;
#pragma unroll
    for (int i = 0; i < HALF_WORDS; i++) {
        word = (u64)(words[i] ^ flip) + (word >> 32);
        start.rest[i] = (u32)word;
    }
    start.carry = 0;
    start.sign = flip & SIGN_BIT;
    return start;
}

// Splits a canonical scalar into halves: (s, 0) less multiples of the two short vectors.
DEVICE void halves_start(S(t) scalar, half_scalar_t *halves) {
    const u32 quotient_0[QUOTIENT_WORDS] = QUOTIENT_0_LIMBS, quotient_1[QUOTIENT_WORDS] = QUOTIENT_1_LIMBS;
    const u32 step_00[HALF_WORDS] = STEP_00_LIMBS, step_01[HALF_WORDS] = STEP_01_LIMBS;
    const u32 step_10[HALF_WORDS] = STEP_10_LIMBS, step_11[HALF_WORDS] = STEP_11_LIMBS;
    u32 multiple[HALF_WORDS], first[HALF_WORDS], second[HALF_WORDS];
#pragma unroll
    for (int i = 0; i < HALF_WORDS; i++) {
        first[i] = scalar.limb[i];
        second[i] = 0;
    }
    vector_multiple(multiple, scalar, quotient_0);
    half_add(first, multiple, step_00);
    half_add(second, multiple, step_01);
    vector_multiple(multiple, scalar, quotient_1);
    half_add(first, multiple, step_10);
    half_add(second, multiple, step_11);
    halves[0] = half_start(first);
    halves[1] = half_start(second);
}
