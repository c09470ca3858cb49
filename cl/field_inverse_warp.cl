// The inversion of field_inverse.cl by a group of 32 work-items in lockstep, for low latency. Work-item k of the first
// half has digit k of f and g, of the second half digit k of d and e. It updates both by three products each.
//
// Each work-item finds the steps from the lowest digits, which all of them know. Digits are balanced, slightly beyond
// [−2^29, 2^29] at most, so that no carry has to run. A round divides sums by 2^30: it moves the low bits of the sum of
// a digit to the digit below, and adds the excess of that to the digit above. Half a group has more places than numbers
// have digits. The unused places stay 0, and stand for the missing neighbours of the lowest and the highest digit.
//
// The multiples of p that make sums divisible are balanced too. |d| and |e| grow by p/2 a round, to 40p at most, since
// two rounds take more than 30 of at most 1101 steps (381 bits; section 11 of the paper). So d is divided by p at the
// end.

#ifndef INVERSE_HALF
#define INVERSE_HALF 16u
#define DIGIT_HALF (1 << (DIGIT_BITS - 1))

// Holds the sums that a round leaves of the two digits of a work-item, not divided yet, plus DIGIT_HALF.
typedef struct ALIGNED(16) {
    i64 x, y;
} digit_sums_t;

// Returns the low bits of a sum as a balanced digit; `sum_high` returns the rest, for the digit above.
DEVICE i32 sum_low(i64 sum) {
    return ((i32)sum & DIGIT_MASK) - DIGIT_HALF;
}

DEVICE i32 sum_high(i64 sum) {
    return (i32)(sum >> DIGIT_BITS);
}

// Returns a digit after the division by 2^30, from its sum and those above and below.
DEVICE i32 next_digit(i64 above, i64 sum, i64 below) {
    i32 digit = sum_low(above) + sum_high(sum), under = sum_low(sum) + sum_high(below);
    i32 carry = (under + DIGIT_HALF) >> DIGIT_BITS;
    return ((i32)((u32)digit << (32 - DIGIT_BITS)) >> (32 - DIGIT_BITS)) + carry;
}

// Returns the lowest digit. Only its low bits are right.
DEVICE u32 lowest_digit(i64 above, i64 sum) {
    return (u32)(sum_low(above) + sum_high(sum));
}

// Returns whether the sums make zero; `low` is the lowest digit that they leave.
DEVICE bool sums_are_zero(LOCAL_PTR const digit_sums_t *sums, u32 low) {
    if ((low & DIGIT_MASK) != 0) return false;
    i32 carry = sum_high(sums[0].y), any = 0;
#pragma unroll
    for (u32 i = 1; i < INVERSE_HALF; i++) {
        i64 sum = sums[i].y - DIGIT_HALF + carry;
        any |= (i32)sum & DIGIT_MASK;
        carry = sum_high(sum);
    }
    return any == 0 && carry == 0;
}
#endif

#define DIGITS (32 * LIMBS / DIGIT_BITS + 1)

// Returns the digit at `place`, 0 above the highest.
DEVICE i32 F(digit_at)(F(digits) a, u32 place) {
    i32 digit = 0;
#pragma unroll
    for (u32 i = 0; i < DIGITS; i++) digit |= a.digit[i] & -(i32)(i == place);
    return digit;
}

// Returns `a` with digits in [−2^29, 2^29], except for the highest.
DEVICE F(digits) F(balanced)(F(digits) a) {
#pragma unroll
    for (int i = 0; i < DIGITS - 1; i++) {
        i32 carry = (a.digit[i] + DIGIT_HALF) >> DIGIT_BITS;
        a.digit[i] -= carry << DIGIT_BITS;
        a.digit[i + 1] += carry;
    }
    return a;
}

// Returns the element for d, or for −d if `negate` is −1, with |d| up to 40p. The highest digits alone give the
// quotient by p to within a hundredth, since that of p has at least 14 bits.
DEVICE F(t) F(element_of)(F(digits) d, i32 negate) {
    const u32 p_limbs[LIMBS] = P_LIMBS;
    F(digits) p = F(to_digits)(p_limbs);
    i32 quotient = ((d.digit[DIGITS - 1] ^ negate) - negate) / p.digit[DIGITS - 1];
    i64 sum = 0;
#pragma unroll
    for (int i = 0; i < DIGITS; i++) {
        sum += ((d.digit[i] ^ negate) - negate) - (i64)quotient * p.digit[i];
        d.digit[i] = i < DIGITS - 1 ? (i32)sum & DIGIT_MASK : (i32)sum;
        sum >>= DIGIT_BITS;
    }
    // Now d is in (−p, p), or beyond it by a hundredth of p.
    d = F(add_masked)(d, 0, p, d.digit[DIGITS - 1] >> 31);
    d = F(add_masked)(d, 0, p, d.digit[DIGITS - 1] >> 31);
    return F(reduced)(F(from_digits)(d));
}

// Returns the inverse of `a`, which all work-items of the group pass alike, and zero for zero; `sums` has a place for
// each. (Loops end with their barrier: PoCL 3.1 gives wrong products if they begin with it.)
DEVICE F(t) F(inv_by_group)(LOCAL_PTR digit_sums_t *sums, F(t) a) {
    const u32 p_limbs[LIMBS] = P_LIMBS, r2[LIMBS] = R2_LIMBS;
    u32 id = LOCAL_ID;
    SCHEDULE_FENCE(id);
    const u32 place = id % INVERSE_HALF, above = (id + 1) % INVERSE_GROUP;
    const u32 below = (id + INVERSE_GROUP - 1) % INVERSE_GROUP;
    F(digits) p = F(balanced)(F(to_digits)(p_limbs)), first = F(to_digits)(a.limb), second = F(to_digits)(r2);
    // All ones if multiples of p are added.
    const i32 modular = id < INVERSE_HALF ? 0 : -1;
    const i32 p_digit = F(digit_at)(p, place) & modular;
    i32 x = F(digit_at)(p, place) & ~modular, y = modular ? F(digit_at)(second, place) : F(digit_at)(first, place);
    u32 f = (u32)p.digit[0], g = (u32)first.digit[0], d = 0, e = (u32)second.digit[0];
    i32 eta = -1;
    bool done = F(is_zero)(a);
    while (!done) {
        F(steps) t = F(divide_steps)(&eta, f, g);
        // Computes balanced multiples of p that clear the lowest digits of d and e.
        i32 md = (i32)(((u32)t.u * d + (u32)t.v * e) * INV32 << (32 - DIGIT_BITS)) >> (32 - DIGIT_BITS);
        i32 me = (i32)(((u32)t.q * d + (u32)t.r * e) * INV32 << (32 - DIGIT_BITS)) >> (32 - DIGIT_BITS);
        digit_sums_t sum;
        sum.x = mad_wide(md, p_digit, mad_wide(t.u, x, mad_wide(t.v, y, DIGIT_HALF)));
        sum.y = mad_wide(me, p_digit, mad_wide(t.q, x, mad_wide(t.r, y, DIGIT_HALF)));
        sums[id] = sum;
        WARP_BARRIER();
        x = next_digit(sums[above].x, sum.x, sums[below].x);
        y = next_digit(sums[above].y, sum.y, sums[below].y);
        f = lowest_digit(sums[1].x, sums[0].x);
        g = lowest_digit(sums[1].y, sums[0].y);
        d = lowest_digit(sums[INVERSE_HALF + 1].x, sums[INVERSE_HALF].x);
        e = lowest_digit(sums[INVERSE_HALF + 1].y, sums[INVERSE_HALF].y);
        done = sums_are_zero(sums, g);
        WARP_BARRIER();
    }
    // f is ±1 now; if a is zero, f is p and d is zero.
    sums[id].x = x;
    WARP_BARRIER();
    F(digits) inverse;
#pragma unroll
    for (u32 i = 0; i < DIGITS; i++) inverse.digit[i] = (i32)sums[INVERSE_HALF + i].x;
    i32 negate = (i32)sums[0].x >> 31;
    WARP_BARRIER();
    return F(element_of)(inverse, negate);
}

#undef DIGITS
