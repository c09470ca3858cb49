// Products of matrices by residues: what is done before and after the products of residues (cuda/gemm_int8.cu).
//
// An entry is a number x within ±(p − 1)/2, as its limbs stand (Montgomery form; `canonical` is 0) or canonical. Its residues
// modulo m_0, m_1, … are balanced, so that they fit a signed byte. With `parts` = 2 it is taken as x0 + 2^split·x1 with signs
// alike, and has residues of x0, of x1 and of x0 − x1: Karatsuba's three products. What is to be read (src/matrix/dense/crt.rs):
// x has at most 32 bytes, and sums of bytes times balanced powers of 256 are below 2²⁰.
//
// Residues lie [set][row][k], a byte each, four of a word; set = part·moduli + number of the modulus. Rows and k are padded with
// zeros. Of the product, y = residue · (M/m)⁻¹ mod m in [0, m) lies [set][row][column].

// Words of a modulus in the table: 8 of powers of 256, the modulus m, ⌈2³²/m⌉, (M/m)⁻¹ mod m, ⌊2³²/m⌋, a multiple of m from 2²⁰
// on plus ⌊m/2⌋, ⌊m/2⌋, 2³¹ mod m, and one that is free.
#define CRT_WORDS 16
#define CRT_MODULUS 8
#define CRT_RECIPROCAL 9
#define CRT_FRACTION 11
#define CRT_OFFSET 12
#define CRT_HALF 13
#define CRT_BIAS 14
#define CRT_GROUP 128

#ifdef HAS_PTX
// sum + Σ unsigned bytes · signed bytes.
DEVICE i32 crt_dot(u32 bytes, u32 weights, i32 sum) {
    i32 r;
    asm volatile("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(bytes), "r"(weights), "r"(sum));
    return r;
}
DEVICE u32 crt_high(u32 a, u32 b) {
    return ptx_mul_hi(a, b);
}
#else
DEVICE i32 crt_dot(u32 bytes, u32 weights, i32 sum) {
    for (u32 i = 0; i < 32; i += 8) sum += (i32)(bytes >> i & 0xff) * ((i32)(weights >> i << 24) >> 24);
    return sum;
}
DEVICE u32 crt_high(u32 a, u32 b) {
    return (u32)((u64)a * b >> 32);
}
#endif

// The balanced residue of a number within ±2²⁰: at least −⌊m/2⌋, below m − ⌊m/2⌋.
DEVICE i32 crt_balanced(i32 number, GLOBAL const u32 *entry) {
    u32 shifted = (u32)(number + (i32)entry[CRT_OFFSET]);
    u32 quotient = crt_high(shifted, entry[CRT_RECIPROCAL]);
    return (i32)(shifted - quotient * entry[CRT_MODULUS]) - (i32)entry[CRT_HALF];
}

// The bits of a from `split` on, and those below; 96 < split ≤ 128.
typedef struct {
    u32 low[4], high[4];
    i32 sign;
} crt_halves_t;

DEVICE crt_halves_t crt_halves(F(t) a, u32 split, u32 canonical) {
    crt_halves_t r;
    u32 negative;
    a = F(magnitude)(canonical ? F(to_canonical)(a) : a, &negative);
    r.sign = negative ? -1 : 1;
    u32 shift = split & 31;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        r.low[i] = a.limb[i];
        if (shift == 0) r.high[i] = a.limb[4 + i];
        else r.high[i] = a.limb[3 + i] >> shift | a.limb[4 + i] << (32 - shift);
    }
    if (shift != 0) r.low[3] &= (1u << shift) - 1;
    // What is above the four limbs is zero: the number is below 2^(split + 128).
    return r;
}

// Four balanced residues as a word.
DEVICE u32 crt_pack(const i32 *residues) {
    return (residues[0] & 0xff) | (residues[1] & 0xff) << 8 | (residues[2] & 0xff) << 16 | (u32)(residues[3] & 0xff) << 24;
}

DEVICE i32 crt_part(const u32 *limbs, GLOBAL const u32 *weights, i32 sign, GLOBAL const u32 *entry) {
    i32 sum = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) sum = crt_dot(limbs[i], weights[i], sum);
    return crt_balanced(sum * sign, entry);
}

// Residues of elements. A work-item four columns of a row; `quads` words of a row of residues.
KERNEL(CRT_GROUP)
void crt_residues(u32 rows, u32 inner, u32 padded, u32 quads, u32 moduli, u32 parts, u32 split, u32 canonical,
                  GLOBAL const F(t) *a, GEMM_VIEW(a), GLOBAL const u32 *table, GLOBAL u32 *out) {
    gemm_view_t view = GEMM_TAKE(a);
    u64 number = (u64)GROUP_ID * CRT_GROUP + LOCAL_ID;
    u32 row = (u32)(number / quads), quad = (u32)(number % quads);
    if (row >= padded) return;
    crt_halves_t halves[4];
    _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
        bool inside = row < rows && 4 * quad + i < inner;
        halves[i] = crt_halves(inside ? a[gemm_at(view, row, 4 * quad + i)] : F(zero)(), parts == 1 ? 128 : split, canonical);
    }
    u64 set = (u64)padded * quads, at = (u64)row * quads + quad;
    for (u32 modulus = 0; modulus < moduli; modulus++) {
        GLOBAL const u32 *entry = table + modulus * CRT_WORDS;
        i32 low[4], high[4], both[4];
        _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
            low[i] = crt_part(halves[i].low, entry, halves[i].sign, entry);
            high[i] = crt_part(halves[i].high, parts == 1 ? entry + 4 : entry, halves[i].sign, entry);
            both[i] = crt_balanced(parts == 1 ? low[i] + high[i] : low[i] - high[i], entry);
        }
        if (parts == 1) {
            out[modulus * set + at] = crt_pack(both);
        } else {
            out[modulus * set + at] = crt_pack(low);
            out[(moduli + modulus) * set + at] = crt_pack(high);
            out[(2 * moduli + modulus) * set + at] = crt_pack(both);
        }
    }
}

// Residues of small entries of so many bytes, in one part.
KERNEL(CRT_GROUP)
void crt_residues_small(u32 rows, u32 inner, u32 padded, u32 quads, u32 moduli, u32 bytes, GLOBAL const void *a,
                        GEMM_VIEW(a), GLOBAL const u32 *table, GLOBAL u32 *out) {
    gemm_view_t view = GEMM_TAKE(a);
    u64 number = (u64)GROUP_ID * CRT_GROUP + LOCAL_ID;
    u32 row = (u32)(number / quads), quad = (u32)(number % quads);
    if (row >= padded) return;
    u32 words[4];
    _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
        bool inside = row < rows && 4 * quad + i < inner;
        words[i] = inside ? gemm_small(a, gemm_at(view, row, 4 * quad + i), bytes) : 0x80000000u;
    }
    for (u32 modulus = 0; modulus < moduli; modulus++) {
        GLOBAL const u32 *entry = table + modulus * CRT_WORDS;
        i32 residues[4];
        _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
            // The quotient may be one too large, so the rest is within ±m.
            i32 rest = (i32)(words[i] - crt_high(words[i], entry[CRT_RECIPROCAL]) * entry[CRT_MODULUS]);
            residues[i] = crt_balanced(rest - (i32)entry[CRT_BIAS], entry);
        }
        out[modulus * (u64)padded * quads + (u64)row * quads + quad] = crt_pack(residues);
    }
}

// A number below 2^(32·FIELD_WORDS + 47): column i counts 2^(32·i).
typedef struct {
    u64 column[FIELD_WORDS];
} crt_sum_t;

DEVICE void crt_add(crt_sum_t *sum, u32 factor, LOCAL_POINTER const u32 *words) {
#pragma unroll
    for (int i = 0; i < FIELD_WORDS; i++) sum->column[i] += (u64)words[i] * factor;
}

DEVICE F(t) crt_value(const crt_sum_t *sum) {
    F(short_t) number;
    u64 carry = 0;
#pragma unroll
    for (int i = 0; i < FIELD_WORDS; i++) {
        // Below 2⁴⁸ + 2³².
        carry += sum->column[i];
        number.limb[i] = (u32)carry;
        carry >>= 32;
    }
    number.limb[FIELD_WORDS] = (u32)carry;
    number.limb[FIELD_WORDS + 1] = 0;
    return F(short_value)(number);
}

// Moduli whose residues are read at once, so that their loads wait for each other's sums and not for memory.
#define CRT_AHEAD 4
// src/matrix/dense/crt.rs: most moduli, and products of them.
#define CRT_MODULI 49
#define CRT_PRODUCTS 3

// What residues count, in memory of the group; zeros behind what there is.
typedef struct {
    u32 weights[(CRT_PRODUCTS * CRT_MODULI + CRT_AHEAD) * FIELD_WORDS];
    u32 corrections[CRT_PRODUCTS * FIELD_WORDS];
    u32 fractions[CRT_MODULI + CRT_AHEAD];
} crt_counts_t;

DEVICE void crt_take(LOCAL_POINTER crt_counts_t *counts, u32 moduli, u32 products, GLOBAL const u32 *table,
                     GLOBAL const u32 *weights, GLOBAL const u32 *corrections) {
    u32 words = products * moduli * FIELD_WORDS;
    for (u32 i = LOCAL_ID; i < words + CRT_AHEAD * FIELD_WORDS; i += CRT_GROUP)
        counts->weights[i] = i < words ? weights[i] : 0;
    for (u32 i = LOCAL_ID; i < products * FIELD_WORDS; i += CRT_GROUP) counts->corrections[i] = corrections[i];
    for (u32 i = LOCAL_ID; i < moduli + CRT_AHEAD; i += CRT_GROUP)
        counts->fractions[i] = i < moduli ? table[i * CRT_WORDS + CRT_FRACTION] : 0;
    BARRIER();
}

// Adds what the residues of one of the products count in four columns.
DEVICE void crt_count(crt_sum_t *sums, u32 product, u32 moduli, u64 set, GLOBAL const u32 *residues,
                      LOCAL_POINTER const crt_counts_t *counts) {
    u64 fractions[4] = {1u << 31, 1u << 31, 1u << 31, 1u << 31};
    LOCAL_POINTER const u32 *weights = counts->weights + product * moduli * FIELD_WORDS;
    for (u32 modulus = 0; modulus < moduli; modulus += CRT_AHEAD) {
        u32 words[CRT_AHEAD];
        _Pragma("unroll") for (u32 j = 0; j < CRT_AHEAD; j++)
            words[j] = modulus + j < moduli ? residues[(product * moduli + modulus + j) * set] : 0;
        _Pragma("unroll") for (u32 j = 0; j < CRT_AHEAD; j++)
            _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
                u32 y = words[j] >> 8 * i & 0xff;
                fractions[i] += (u64)y * counts->fractions[modulus + j];
                crt_add(&sums[i], y, weights + (modulus + j) * FIELD_WORDS);
            }
    }
    _Pragma("unroll") for (u32 i = 0; i < 4; i++)
        crt_add(&sums[i], (u32)(fractions[i] >> 32), counts->corrections + product * FIELD_WORDS);
}

// Elements from what their residues are: Σ y·W − q·M over the moduli of each of `products` products, with the weights W mod p and
// the corrections −M mod p times the product's factor, and q = Σ y/m rounded. A work-item four columns of a row.
KERNEL(CRT_GROUP)
void crt_join(u32 rows, u32 columns, u32 padded, u32 quads, u32 moduli, u32 products, GLOBAL const u32 *residues,
              GLOBAL const u32 *table, GLOBAL const u32 *weights, GLOBAL const u32 *corrections, GLOBAL F(t) *c,
              GEMM_VIEW(c)) {
    LOCAL crt_counts_t counts;
    crt_take(&counts, moduli, products, table, weights, corrections);
    gemm_view_t view = GEMM_TAKE(c);
    u64 number = (u64)GROUP_ID * CRT_GROUP + LOCAL_ID;
    u32 row = (u32)(number / quads), quad = (u32)(number % quads);
    if (row >= rows) return;
    u64 set = (u64)padded * quads, at = (u64)row * quads + quad;
    crt_sum_t sums[4];
    _Pragma("unroll") for (u32 i = 0; i < 4; i++)
        _Pragma("unroll") for (u32 j = 0; j < FIELD_WORDS; j++) sums[i].column[j] = 0;
    for (u32 product = 0; product < products; product++)
        crt_count(sums, product, moduli, set, residues + at, &counts);
    _Pragma("unroll") for (u32 i = 0; i < 4; i++)
        if (4 * quad + i < columns) c[gemm_at(view, row, 4 * quad + i)] = crt_value(&sums[i]);
}
