// Divides polynomials f by X − z, in place. Coefficient j of the quotient is H_(j+1), with H_j = Σ f_i·z^(i−j) over i ≥
// j. That is the Horner scheme from the highest coefficient on, cut into tiles, and these into work-items.
//
// params has DIVIDE_POWERS elements for each polynomial, for k < DIVIDE_LOG:
//   0                       z
//   1 + k                   z^CHAIN to the power 2^k
//   DIVIDE_AT_TILE          z^TILE
//   DIVIDE_AT_TILE + 1 + k  z^(TILE·share) to the power 2^k
// `share` is the number of tiles of a work-item of plonk_divide_carries. The words say where each polynomial starts in
// `data`.

#define DIVIDE_POWERS (2 + 2 * DIVIDE_LOG)
#define DIVIDE_AT_TILE (1 + DIVIDE_LOG)

// Returns Σ value_t·x^(t − own) over the work-items t from the own one on, and leaves it in `sums`; tower[k] = x^(2^k).
DEVICE F(t) divide_scan(LOCAL_PTR F(t) *sums, F(t) value, GLOBAL const F(t) *tower) {
    sums[LOCAL_ID] = value;
    BARRIER();
    for (u32 k = 0; k < DIVIDE_LOG; k++) {
        u32 other = LOCAL_ID + (1u << k);
        if (other < DIVIDE_GROUP) value = F(add)(value, F(mul)(sums[other], tower[k]));
        BARRIER();
        sums[LOCAL_ID] = value;
        BARRIER();
    }
    return value;
}

// Runs the Horner scheme over the coefficients of the work-item, from the last one on.
DEVICE F(t) divide_chain(GLOBAL const F(t) *f, u32 first, u32 n, F(t) z) {
    F(t) sum = F(zero)();
    for (u32 k = DIVIDE_CHAIN; k-- > 0;)
        if (first + k < n) sum = F(add)(f[first + k], F(mul)(sum, z));
    return sum;
}

DEVICE GLOBAL const u64 *divide_words(GLOBAL const F(t) *params, u32 words_at) {
    return (GLOBAL const u64 *)(params + words_at);
}

// Computes the sum of each tile. One group per tile, `tiles` of them per polynomial.
KERNEL(DIVIDE_GROUP)
void plonk_divide_tiles(u32 n, u32 tiles, GLOBAL const F(t) *params, u32 words_at, GLOBAL const F(t) *data,
                        GLOBAL F(t) *carries) {
    LOCAL F(t) sums[DIVIDE_GROUP];
    u32 number = GROUP_ID / tiles, first = (GROUP_ID % tiles) * DIVIDE_TILE + LOCAL_ID * DIVIDE_CHAIN;
    GLOBAL const F(t) *powers = params + DIVIDE_POWERS * number;
    F(t) sum = divide_chain(data + divide_words(params, words_at)[number], first, n, powers[0]);
    sum = divide_scan(sums, sum, powers + 1);
    if (LOCAL_ID == 0) carries[GROUP_ID] = sum;
}

// Replaces the sum of each tile by that of all tiles behind. One group per polynomial.
KERNEL(DIVIDE_GROUP)
void plonk_divide_carries(u32 tiles, u32 share, GLOBAL const F(t) *params, GLOBAL F(t) *carries) {
    LOCAL F(t) sums[DIVIDE_GROUP];
    GLOBAL const F(t) *powers = params + DIVIDE_POWERS * GROUP_ID;
    GLOBAL F(t) *mine = carries + (u64)GROUP_ID * tiles;
    F(t) step = powers[DIVIDE_AT_TILE], sum = F(zero)();
    u32 first = LOCAL_ID * share < tiles ? LOCAL_ID * share : tiles;
    u32 last = first + share < tiles ? first + share : tiles;
    for (u32 i = last; i-- > first;) sum = F(add)(mine[i], F(mul)(sum, step));
    (void)divide_scan(sums, sum, powers + DIVIDE_AT_TILE + 1);
    sum = LOCAL_ID + 1 < DIVIDE_GROUP ? sums[LOCAL_ID + 1] : F(zero)();
    for (u32 i = last; i-- > first;) {
        F(t) value = mine[i];
        mine[i] = sum;
        sum = F(add)(value, F(mul)(sum, step));
    }
}

// Replaces coefficients by those of the quotient. One group per tile.
KERNEL(DIVIDE_GROUP)
void plonk_divide(u32 n, u32 tiles, GLOBAL const F(t) *params, u32 words_at, GLOBAL F(t) *data,
                  GLOBAL const F(t) *carries) {
    LOCAL F(t) sums[DIVIDE_GROUP];
    u32 number = GROUP_ID / tiles, first = (GROUP_ID % tiles) * DIVIDE_TILE + LOCAL_ID * DIVIDE_CHAIN;
    GLOBAL const F(t) *powers = params + DIVIDE_POWERS * number;
    GLOBAL F(t) *f = data + divide_words(params, words_at)[number];
    F(t) z = powers[0], carry = carries[GROUP_ID], sum = divide_chain(f, first, n, z);
    if (LOCAL_ID == DIVIDE_GROUP - 1) sum = F(add)(sum, F(mul)(carry, powers[1]));
    (void)divide_scan(sums, sum, powers + 1);
    sum = LOCAL_ID + 1 < DIVIDE_GROUP ? sums[LOCAL_ID + 1] : carry;
    for (u32 k = DIVIDE_CHAIN; k-- > 0;) {
        if (first + k >= n) continue;
        F(t) value = f[first + k];
        f[first + k] = sum;
        sum = F(add)(value, F(mul)(sum, z));
    }
}
