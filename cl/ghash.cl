// GF(2)[x]/(x^128 + x^7 + x^2 + x + 1): bit i of an element is the coefficient of x^i, words are little-endian.
//
// Sums of products are reduced only when they are complete. They are kept as the six words of the three 64-bit products
// of Karatsuba, which add up by exclusive or like everything else.

typedef struct ALIGNED(16) {
    u32 limb[4];
} F(t);

// Holds a sum of products: words of the products of low halves, of high halves, and of the sums of both halves.
typedef struct {
    u64 low[2], high[2], middle[2];
} F(sum_t);

DEVICE F(t) F(zero)(void) {
    F(t) r;
#pragma unroll
    for (int i = 0; i < 4; i++) r.limb[i] = 0;
    return r;
}

DEVICE F(t) F(add)(F(t) a, F(t) b) {
#pragma unroll
    for (int i = 0; i < 4; i++) a.limb[i] ^= b.limb[i];
    return a;
}

DEVICE F(t) F(sub)(F(t) a, F(t) b) {
    return F(add)(a, b);
}

DEVICE u64 F(half)(F(t) a, int which) {
    return (u64)a.limb[2 * which + 1] << 32 | a.limb[2 * which];
}

DEVICE F(t) F(of_halves)(u64 low, u64 high) {
    F(t) r;
    r.limb[0] = (u32)low;
    r.limb[1] = (u32)(low >> 32);
    r.limb[2] = (u32)high;
    r.limb[3] = (u32)(high >> 32);
    return r;
}

// Returns a·x.
DEVICE F(t) F(times_x)(F(t) a) {
    u64 low = F(half)(a, 0), high = F(half)(a, 1);
    return F(of_halves)(low << 1 ^ (high >> 63) * 0x87, high << 1 | low >> 63);
}

DEVICE F(sum_t) F(sum_zero)(void) {
    F(sum_t) sum;
#pragma unroll
    for (int i = 0; i < 2; i++) sum.low[i] = sum.high[i] = sum.middle[i] = 0;
    return sum;
}

#ifdef HAS_CLMAD

// Adds a·b to `words`, without carries (PTX ISA 9.3, clmad).
DEVICE void F(add_carryless)(u64 *words, u64 a, u64 b) {
    asm("clmad.lo.u64 %0, %1, %2, %0;" : "+l"(words[0]) : "l"(a), "l"(b));
    asm("clmad.hi.u64 %0, %1, %2, %0;" : "+l"(words[1]) : "l"(a), "l"(b));
}

#else

// Returns the product without carries, from integer products of numbers with all but every fourth bit zero. Eight bits
// are left, so a column of such a product is at most eight and fits its hole (T. Pornin, ghash_ctmul32 of BearSSL).
DEVICE u64 F(carryless)(u32 a, u32 b) {
    const u64 holes = 0x1111111111111111u;
    u64 product = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        u64 column = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) column ^= (u64)(a & 0x11111111u << i) * (b & 0x11111111u << (4 + k - i) % 4);
        product |= column & holes << k;
    }
    return product;
}

// Adds a·b to `words`, without carries.
DEVICE void F(add_carryless)(u64 *words, u64 a, u64 b) {
    u32 a0 = (u32)a, a1 = (u32)(a >> 32), b0 = (u32)b, b1 = (u32)(b >> 32);
    u64 low = F(carryless)(a0, b0), high = F(carryless)(a1, b1);
    u64 middle = F(carryless)(a0 ^ a1, b0 ^ b1) ^ low ^ high;
    words[0] ^= low ^ middle << 32;
    words[1] ^= high ^ middle >> 32;
}

#endif

DEVICE void F(add_parts)(F(sum_t) *sum, F(t) a, F(t) b) {
    u64 a0 = F(half)(a, 0), a1 = F(half)(a, 1), b0 = F(half)(b, 0), b1 = F(half)(b, 1);
    F(add_carryless)(sum->low, a0, b0);
    F(add_carryless)(sum->high, a1, b1);
    F(add_carryless)(sum->middle, a0 ^ a1, b0 ^ b1);
}

#ifdef HAS_CLMAD

DEVICE void F(add_product)(F(sum_t) *sum, F(t) a, F(t) b) {
    F(add_parts)(sum, a, b);
}

#else

// Returns the words of a·b. It is a call: with about 500 instructions, many copies would not fit the instruction cache.
DEVICE_NOINLINE F(sum_t) F(parts)(F(t) a, F(t) b) {
    F(sum_t) sum = F(sum_zero)();
    F(add_parts)(&sum, a, b);
    return sum;
}

DEVICE void F(add_product)(F(sum_t) *sum, F(t) a, F(t) b) {
    F(sum_t) more = F(parts)(a, b);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        sum->low[i] ^= more.low[i];
        sum->high[i] ^= more.high[i];
        sum->middle[i] ^= more.middle[i];
    }
}

#endif

// Returns the element for a sum: x^128 is x^7 + x^2 + x + 1.
DEVICE F(t) F(sum_value)(F(sum_t) sum) {
    u64 word0 = sum.low[0], word3 = sum.high[1], both = sum.low[1] ^ sum.high[0];
    u64 word1 = both ^ sum.low[0] ^ sum.middle[0], word2 = both ^ sum.high[1] ^ sum.middle[1];
#ifdef HAS_CLMAD
    u64 top[2] = {word1, word2}, rest[2];
    F(add_carryless)(top, word3, 0x87);
    rest[0] = word0;
    rest[1] = top[0];
    F(add_carryless)(rest, top[1], 0x87);
    return F(of_halves)(rest[0], rest[1]);
#else
    word2 ^= word3 >> 63 ^ word3 >> 62 ^ word3 >> 57;
    word0 ^= word2 ^ word2 << 1 ^ word2 << 2 ^ word2 << 7;
    word1 ^= word3 ^ word3 << 1 ^ word3 << 2 ^ word3 << 7 ^ word2 >> 63 ^ word2 >> 62 ^ word2 >> 57;
    return F(of_halves)(word0, word1);
#endif
}

DEVICE F(t) F(mul)(F(t) a, F(t) b) {
    F(sum_t) sum = F(sum_zero)();
    F(add_product)(&sum, a, b);
    return F(sum_value)(sum);
}

// Returns low + number·difference, for the element with the bits of a `number` below 8.
DEVICE F(t) F(at)(F(t) low, F(t) difference, u32 number) {
    F(t) once = F(times_x)(difference), twice = F(times_x)(once);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (number & 1) low.limb[i] ^= difference.limb[i];
        if (number & 2) low.limb[i] ^= once.limb[i];
        if (number & 4) low.limb[i] ^= twice.limb[i];
    }
    return low;
}
