// Inversion by division steps (Bernstein and Yang, Fast constant-time gcd computation and modular inversion, 2019), in
// the variable-time form of libsecp256k1, where steps that only halve are taken together. It takes about 27 rounds of
// 30 steps for 381 bits, an eighth of the work of a Fermat power.
//
// Numbers are signed, in limbs of 30 bits: the low ones are in [0, 2^30), the highest has the sign. A round computes
// the matrix of 30 steps from the lowest limbs of f and g alone. It applies the matrix exactly to f and g, and modulo p
// to d and e. These keep f = d·a·k and g = e·a·k (mod p) for a constant k.

#define DIGIT_BITS 30
#define DIGIT_MASK 0x3fffffff
#define DIGITS (32 * LIMBS / DIGIT_BITS + 1)

typedef struct {
    i32 digit[DIGITS];
} F(digits);

// Holds 2^30 times the product of 30 steps: (f, g) becomes (u·f + v·g, q·f + r·g) / 2^30.
typedef struct {
    i32 u, v, q, r;
} F(steps);

DEVICE F(digits) F(to_digits)(const u32 *limbs) {
    F(digits) r;
#pragma unroll
    for (int i = 0; i < DIGITS; i++) {
        const int word = DIGIT_BITS * i / 32, shift = DIGIT_BITS * i % 32;
        u32 low = word < LIMBS ? limbs[word] >> shift : 0;
        u32 high = shift > 2 && word + 1 < LIMBS ? limbs[word + 1] << (32 - shift) : 0;
        r.digit[i] = (i32)((low | high) & DIGIT_MASK);
    }
    return r;
}

DEVICE F(t) F(from_digits)(F(digits) a) {
    F(t) r;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        const int at = 32 * i / DIGIT_BITS, shift = 32 * i % DIGIT_BITS;
        u32 low = (u32)a.digit[at] >> shift;
        u32 high = at + 1 < DIGITS ? (u32)a.digit[at + 1] << (DIGIT_BITS - shift) : 0;
        r.limb[i] = low | high;
        if (shift == DIGIT_BITS - 1 && at + 2 < DIGITS) r.limb[i] |= (u32)a.digit[at + 2] << 31;
    }
    return r;
}

// Takes 30 division steps on the low words of f (odd) and g, for any `eta`, which is −δ of the paper.
DEVICE F(steps) F(divide_steps_from)(i32 *eta, u32 f, u32 g) {
    u32 u = 1, v = 0, q = 0, r = 1;
    i32 left = DIGIT_BITS;
    while (true) {
        // Counts the halvings of g that follow: at most `left`, which it is if g is zero.
        u32 marked = g | (0xffffffffu << left);
        i32 zeros = (i32)POPCOUNT((marked & (0u - marked)) - 1);
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        *eta -= zeros;
        left -= zeros;
        if (left == 0) break;
        if (*eta < 0) {
            u32 t;
            *eta = -*eta;
            t = f, f = g, g = 0u - t;
            t = u, u = q, q = 0u - t;
            t = v, v = r, r = 0u - t;
        }
        // Adds the multiple of f that clears as many low bits of g as there is room for: −g/f modulo 2^6, where f·(2 −
        // f²) inverts f for 6 bits.
        i32 limit = *eta + 1 > left ? left : *eta + 1;
        u32 mask = (0xffffffffu >> (32 - limit)) & 63u;
        u32 w = (f * g * (f * f - 2u)) & mask;
        g += f * w;
        q += u * w;
        r += v * w;
    }
    F(steps) steps;
    steps.u = (i32)u;
    steps.v = (i32)v;
    steps.q = (i32)q;
    steps.r = (i32)r;
    return steps;
}

// Holds the state of steps in cycles: `zeros` halvings have made g odd. The matrix is that before them.
typedef struct {
    u32 minus_f, g, u, v, q, r;
    // f/g modulo 2^6 in its low bits: −1/g is g·(g² − 2) there.
    u32 quotient;
    // Number of the last halvings, and of pairs of steps that there is room for.
    i32 zeros, pairs;
} F(cycles);

DEVICE i32 F(trailing_zeros)(u32 a) {
    return (i32)POPCOUNT(~a & (a - 1));
}

// Takes a cycle: f and g change places, and the next zeros + 2 steps, in which they stay, clear as many bits of g at
// once, by the multiple f/g modulo 2^(zeros + 2). `multiple` may have more bits. Then g is halved again. The values
// that the next cycle starts with are computed here, so that they do not wait for the branch to it.
DEVICE F(cycles) F(take_cycle)(F(cycles) c, u32 multiple) {
    i32 cleared = c.zeros + 2;
    multiple &= (4u << c.zeros) - 1;
    u32 sum = c.g * multiple + c.minus_f, t;
    i32 zeros = F(trailing_zeros)(sum);
    t = c.u << c.zeros, c.u = c.q << cleared, c.q = c.q * multiple - t;
    t = c.v << c.zeros, c.v = c.r << cleared, c.r = c.r * multiple - t;
    c.pairs -= c.zeros + 1;
    c.minus_f = 0u - c.g;
    c.g = sum >> zeros;
    c.zeros = zeros - cleared;
    c.quotient = c.minus_f * c.g * (c.g * c.g - 2);
    return c;
}

// Takes up to 30 division steps on the low words of f (odd) and g. From eta = −1 they come in cycles of 2·zeros + 2
// steps, after which eta is −1 again. It takes as many cycles as there is room for. Of the steps that are left, the
// matrix gets only their factor, which doubles (f, g) and (d, e) alike. If not even one cycle fits, or if `eta` is not
// −1 because of that, divide_steps_from takes the steps as they come.
DEVICE F(steps) F(divide_steps)(i32 *eta, u32 f, u32 g) {
    F(cycles) c = {0u - f, g, 1, 0, 0, 1, 0, F(trailing_zeros)(g), DIGIT_BITS / 2};
    if (*eta != -1 || c.zeros >= c.pairs) return F(divide_steps_from)(eta, f, g);
    c.g >>= c.zeros;
    c.quotient = c.minus_f * c.g * (c.g * c.g - 2);
    while (true) {
        while (c.zeros < (c.pairs < 5 ? c.pairs : 5)) c = F(take_cycle)(c, c.quotient);
        if (c.zeros >= c.pairs) break;
        // 1/g modulo 2^6, 2^12, 2^24.
        u32 inverse = c.g * (2 - c.g * c.g);
        inverse *= 2 - c.g * inverse;
        inverse *= 2 - c.g * inverse;
        c = F(take_cycle)(c, 0u - c.minus_f * inverse);
    }
    F(steps) steps;
    steps.u = (i32)(c.u << 2 * c.pairs);
    steps.v = (i32)(c.v << 2 * c.pairs);
    steps.q = (i32)(c.q << 2 * c.pairs);
    steps.r = (i32)(c.r << 2 * c.pairs);
    return steps;
}

// Sets (f, g) = (u·f + v·g, q·f + r·g) / 2^30, which is exact.
DEVICE void F(apply_steps)(F(digits) *f, F(digits) *g, F(steps) t) {
    i64 cf = (i64)t.u * f->digit[0] + (i64)t.v * g->digit[0];
    i64 cg = (i64)t.q * f->digit[0] + (i64)t.r * g->digit[0];
    cf >>= DIGIT_BITS;
    cg >>= DIGIT_BITS;
#pragma unroll
    for (int i = 1; i < DIGITS; i++) {
        cf += (i64)t.u * f->digit[i] + (i64)t.v * g->digit[i];
        cg += (i64)t.q * f->digit[i] + (i64)t.r * g->digit[i];
        f->digit[i - 1] = (i32)cf & DIGIT_MASK;
        g->digit[i - 1] = (i32)cg & DIGIT_MASK;
        cf >>= DIGIT_BITS;
        cg >>= DIGIT_BITS;
    }
    f->digit[DIGITS - 1] = (i32)cf;
    g->digit[DIGITS - 1] = (i32)cg;
}

// Applies the steps modulo p, for d and e in (−2p, p). Multiples of p make the divisions exact; p is added to a
// negative number, so that the range holds.
DEVICE void F(apply_steps_modulo)(F(digits) *d, F(digits) *e, F(steps) t, F(digits) p) {
    const i32 inverse = (i32)((0u - INV32) & DIGIT_MASK);
    i32 sign_d = d->digit[DIGITS - 1] >> 31, sign_e = e->digit[DIGITS - 1] >> 31;
    i32 md = (t.u & sign_d) + (t.v & sign_e), me = (t.q & sign_d) + (t.r & sign_e);
    i64 cd = (i64)t.u * d->digit[0] + (i64)t.v * e->digit[0];
    i64 ce = (i64)t.q * d->digit[0] + (i64)t.r * e->digit[0];
    md -= (i32)(((u32)inverse * (u32)cd + (u32)md) & DIGIT_MASK);
    me -= (i32)(((u32)inverse * (u32)ce + (u32)me) & DIGIT_MASK);
    cd = (cd + (i64)p.digit[0] * md) >> DIGIT_BITS;
    ce = (ce + (i64)p.digit[0] * me) >> DIGIT_BITS;
#pragma unroll
    for (int i = 1; i < DIGITS; i++) {
        cd += (i64)t.u * d->digit[i] + (i64)t.v * e->digit[i] + (i64)p.digit[i] * md;
        ce += (i64)t.q * d->digit[i] + (i64)t.r * e->digit[i] + (i64)p.digit[i] * me;
        d->digit[i - 1] = (i32)cd & DIGIT_MASK;
        e->digit[i - 1] = (i32)ce & DIGIT_MASK;
        cd >>= DIGIT_BITS;
        ce >>= DIGIT_BITS;
    }
    d->digit[DIGITS - 1] = (i32)cd;
    e->digit[DIGITS - 1] = (i32)ce;
}

// Returns a + (b if `mask` is −1), with carries; `a` is negated first if `negate` is −1.
DEVICE F(digits) F(add_masked)(F(digits) a, i32 negate, F(digits) b, i32 mask) {
    i32 carry = 0;
#pragma unroll
    for (int i = 0; i < DIGITS; i++) {
        i32 sum = ((a.digit[i] ^ negate) - negate) + (b.digit[i] & mask) + carry;
        carry = i < DIGITS - 1 ? sum >> DIGIT_BITS : 0;
        a.digit[i] = i < DIGITS - 1 ? sum & DIGIT_MASK : sum;
    }
    return a;
}

DEVICE bool F(digits_are_zero)(F(digits) a) {
    i32 any = 0;
#pragma unroll
    for (int i = 0; i < DIGITS; i++) any |= a.digit[i];
    return any == 0;
}

// Returns the inverse, and zero for zero. Argument and result are in Montgomery form: e starts as R², since a·R has the
// inverse a⁻¹·R⁻¹. The time depends on `a`.
DEVICE_NOINLINE F(t) F(inv)(F(t) a) {
    const u32 p_limbs[LIMBS] = P_LIMBS, r2[LIMBS] = R2_LIMBS;
    F(digits) p = F(to_digits)(p_limbs), f = p, g = F(to_digits)(a.limb), e = F(to_digits)(r2), d = e;
#pragma unroll
    for (int i = 0; i < DIGITS; i++) d.digit[i] = 0;
    i32 eta = -1;
    while (!F(digits_are_zero)(g)) {
        F(steps) steps = F(divide_steps)(&eta, (u32)f.digit[0], (u32)g.digit[0]);
        F(apply_steps_modulo)(&d, &e, steps, p);
        F(apply_steps)(&f, &g, steps);
    }
    // f is ±1 now; if a is zero, f is p and d is zero. Brings d·f from (−2p, p) to [0, p).
    d = F(add_masked)(d, 0, p, d.digit[DIGITS - 1] >> 31);
    d = F(add_masked)(d, f.digit[DIGITS - 1] >> 31, p, 0);
    d = F(add_masked)(d, 0, p, d.digit[DIGITS - 1] >> 31);
    return F(from_digits)(d);
}

#undef DIGITS
