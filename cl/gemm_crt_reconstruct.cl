// Reconstructs elements from the residues of products: Σ y·W − q·M over the moduli of each of up to four products. The
// weights are W mod p, the corrections are −M mod p times the factor of the product, and q is Σ y/m rounded
// (cl/gemm_crt.cl; src/matrix/dense/crt_params.rs has the table).
//
// Sums over all sets are products of matrices of bytes: entries × sets times sets × bytes of weights, by mma.sync with
// CRT_STEP sets a step. A warp computes 32 entries, 8 words of four columns each. Work-item (g, t) = (lane / 4, lane
// mod 4) reads of word g the sets 4t to 4t + 3 of a step and those CRT_STEP/2 further on. After a transpose these are
// its part of the first factor of the instruction: rows g and g + 8 of tile p are columns 2p and 2p + 1 of word g. The
// work-item gets two of the eight sums of each tile of weights. These are the sums for bytes CRT_SHARE·t to
// CRT_SHARE·(t + 1) of the element, and for the fraction ⌊2³²/m⌋ of product t. At the end work-items exchange sums, so
// that (g, t) has all of column t of word g.
//
// Without that instruction, work-items read the factors of one another in local memory.

#define CRT_BYTES (4 * FIELD_WORDS)
// Bytes of an element whose sums a work-item has, bytes per number in which it gives these away, and count of numbers.
#define CRT_SHARE FIELD_WORDS
#define CRT_CHUNK (CRT_SHARE < 4 ? CRT_SHARE : 4)
#define CRT_CHUNKS (CRT_SHARE / CRT_CHUNK)
// Tiles of eight bytes of weights: CRT_VALUES belong to the element, and two to fractions.
#define CRT_VALUES ((CRT_SHARE + 1) / 2)
#define CRT_TILES (CRT_VALUES + 2)
#define CRT_STEP_WORDS (CRT_TILES * 64)

// Holds a number below 2^(32·FIELD_WORDS + 48): column i counts 2^(32·i).
typedef struct {
    u64 column[FIELD_WORDS];
} crt_sum_t;

DEVICE F(t) crt_value(const crt_sum_t *sum) {
    F(short_t) number;
    u64 carry = 0;
#pragma unroll
    for (int i = 0; i < FIELD_WORDS; i++) {
        // The carry stays below 2⁴⁹.
        carry += sum->column[i];
        number.limb[i] = (u32)carry;
        carry >>= 32;
    }
    number.limb[FIELD_WORDS] = (u32)carry;
    number.limb[FIELD_WORDS + 1] = 0;
    return F(short_value)(number);
}

// Loads residues of four columns for four sets, one word per set, and zeros past the last set.
DEVICE void crt_load(u32 *words, u32 first, u32 sets, u64 set, GLOBAL const u32 *residues) {
    _Pragma("unroll") for (u32 j = 0; j < 4; j++) words[j] = first + j < sets ? residues[(first + j) * set] : 0;
}

// Transposes such words to one word per column.
DEVICE void crt_transpose(u32 *words) {
    u32 a = crt_bytes(words[0], words[1], 0x5140), b = crt_bytes(words[2], words[3], 0x5140);
    u32 c = crt_bytes(words[0], words[1], 0x7362), d = crt_bytes(words[2], words[3], 0x7362);
    words[0] = crt_bytes(a, b, 0x5410), words[1] = crt_bytes(a, b, 0x7632);
    words[2] = crt_bytes(c, d, 0x5410), words[3] = crt_bytes(c, d, 0x7632);
}

// Holds the part of a work-item in 32 entries × 8 bytes.
typedef struct {
    u32 sum[2][4];
} crt_tile_t;

#if defined(HAS_PTX) && __CUDA_ARCH__ >= 800
// Adds the products of a step to all tiles; `near` has the columns of the first four sets, `far` of the others.
DEVICE void crt_step(crt_tile_t *tiles, const u32 *near, const u32 *far, GLOBAL const u32 *weights,
                     LOCAL_PTR u32 *factors) {
    _Pragma("unroll") for (u32 n = 0; n < CRT_TILES; n++) {
        uint2 b = ((const uint2 *)weights)[32 * n + LOCAL_ID % 32];
        _Pragma("unroll") for (u32 p = 0; p < 2; p++) {
            u32 *sum = tiles[n].sum[p];
            asm volatile(
                "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                "{%0, %1, %2, %3};"
                : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                : "r"(near[2 * p]), "r"(near[2 * p + 1]), "r"(far[2 * p]), "r"(far[2 * p + 1]), "r"(b.x), "r"(b.y));
        }
    }
}
#else
DEVICE void crt_step(crt_tile_t *tiles, const u32 *near, const u32 *far, GLOBAL const u32 *weights,
                     LOCAL_PTR u32 *factors) {
    WARP_BARRIER();
    for (u32 i = 0; i < 4; i++) factors[8 * LOCAL_ID + i] = near[i], factors[8 * LOCAL_ID + 4 + i] = far[i];
    WARP_BARRIER();
    for (u32 n = 0; n < CRT_TILES; n++)
        for (u32 i = 0; i < 8; i++) {
            // Sums byte 2t or 2t + 1 of column i / 2.
            u32 byte = 2 * (LOCAL_ID % 4) + i % 2, sum = tiles[n].sum[i / 4][i % 4];
            for (u32 t = 0; t < 4; t++) {
                LOCAL_PTR const u32 *factor = factors + 8 * (LOCAL_ID / 4 * 4 + t) + i / 2;
                GLOBAL const u32 *weight = weights + 64 * n + 2 * (4 * byte + t);
                sum = crt_count(factor[4], weight[1], crt_count(factor[0], weight[0], sum));
            }
            tiles[n].sum[i / 4][i % 4] = sum;
        }
}
#endif

// Stores the numbers that a work-item has of `column`, for the work-item that makes this column.
DEVICE void crt_give(LOCAL_PTR u64 *numbers, const crt_tile_t *tiles, u32 column) {
    _Pragma("unroll") for (u32 chunk = 0; chunk < CRT_CHUNKS; chunk++) {
        u64 number = 0;
        _Pragma("unroll") for (u32 k = 0; k < CRT_CHUNK; k++) {
            u32 byte = CRT_CHUNK * chunk + k;
            number += (u64)tiles[byte / 2].sum[column / 2][column % 2 * 2 + byte % 2] << 8 * k;
        }
        numbers[chunk] = number;
    }
}

// Returns q, how often M is subtracted, for `column` and the product of the work-item.
DEVICE u32 crt_often(const crt_tile_t *tiles, u32 column) {
    u64 sum = 1u << 31;
    _Pragma("unroll") for (u32 k = 0; k < 4; k++) sum +=
        (u64)tiles[CRT_VALUES + k / 2].sum[column / 2][column % 2 * 2 + k % 2] << 8 * k;
    return (u32)(sum >> 32);
}

// Returns the element from the numbers of all four work-items. A word of `corrections` has one byte of each product.
DEVICE F(t) crt_element(LOCAL_PTR const u64 *numbers, LOCAL_PTR const u32 *often, GLOBAL const u32 *corrections) {
    crt_sum_t sum;
    u32 times = often[0] | often[1] << 8 | often[2] << 16 | often[3] << 24;
    _Pragma("unroll") for (u32 i = 0; i < FIELD_WORDS; i++) {
        sum.column[i] = 0;
        _Pragma("unroll") for (u32 k = 0; k < 4; k++) sum.column[i] += (u64)crt_count(times, corrections[4 * i + k], 0)
                                                                       << 8 * k;
        _Pragma("unroll") for (u32 k = 0; k < 4; k += CRT_CHUNK) sum.column[i] += numbers[(4 * i + k) / CRT_CHUNK]
                                                                                  << 8 * k;
    }
    return crt_value(&sum);
}

// Makes four columns of a row by four work-items. The table has the words of the weights by steps and tiles, then the
// corrections.
KERNEL(CRT_GROUP)
void crt_reconstruct(u32 rows, u32 columns, u32 padded, u32 quads, u32 sets, GLOBAL const u32 *residues,
                     GLOBAL const u32 *table, GLOBAL F(t) *c, GRID_CONSTANT gemm_view_t c_view) {
    LOCAL u64 numbers[CRT_GROUP][4 * CRT_CHUNKS + 2];
    LOCAL u32 often[CRT_GROUP][4];
#if defined(HAS_PTX) && __CUDA_ARCH__ >= 800
    LOCAL_PTR u32 *factors = 0;
#else
    LOCAL u32 factors[8 * CRT_GROUP];
#endif
    u64 number = ((u64)GROUP_ID * CRT_GROUP + LOCAL_ID) / 4, set = (u64)padded * quads;
    u32 row = (u32)(number / quads), quad = (u32)(number % quads), t = LOCAL_ID % 4, first = LOCAL_ID / 4 * 4;
    residues += row < rows ? (u64)row * quads + quad : 0;
    crt_tile_t tiles[CRT_TILES];
    _Pragma("unroll") for (u32 n = 0; n < CRT_TILES; n++) _Pragma("unroll") for (u32 i = 0; i < 8; i++) tiles[n]
        .sum[i / 4][i % 4] = 0;
    u32 next[2][4];
    crt_load(next[0], 4 * t, sets, set, residues), crt_load(next[1], CRT_STEP / 2 + 4 * t, sets, set, residues);
    for (u32 step = 0; step < sets; step += CRT_STEP, table += CRT_STEP_WORDS) {
        u32 near[4], far[4];
        _Pragma("unroll") for (u32 j = 0; j < 4; j++) near[j] = next[0][j], far[j] = next[1][j];
        // Prefetches the words of the next step while these are multiplied.
        crt_load(next[0], step + CRT_STEP + 4 * t, sets, set, residues);
        crt_load(next[1], step + 3 * CRT_STEP / 2 + 4 * t, sets, set, residues);
        crt_transpose(near), crt_transpose(far);
        crt_step(tiles, near, far, table, factors);
    }
    _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
        crt_give(&numbers[first + i][CRT_CHUNKS * t], tiles, i);
        often[first + i][t] = crt_often(tiles, i);
    }
    WARP_BARRIER();
    if (row < rows && 4 * quad + t < columns)
        c[gemm_at(c_view, row, 4 * quad + t)] = crt_element(numbers[LOCAL_ID], often[LOCAL_ID], table);
}
