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
// The same of unsigned bytes.
DEVICE u32 crt_count(u32 bytes, u32 weights, u32 sum) {
    u32 r;
    asm volatile("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(bytes), "r"(weights), "r"(sum));
    return r;
}
DEVICE u32 crt_bytes(u32 a, u32 b, u32 which) {
    u32 r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(which));
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
DEVICE u32 crt_count(u32 bytes, u32 weights, u32 sum) {
    for (u32 i = 0; i < 32; i += 8) sum += (bytes >> i & 0xff) * (weights >> i & 0xff);
    return sum;
}
// Four of the eight bytes of a and b, the first in the lowest digit.
DEVICE u32 crt_bytes(u32 a, u32 b, u32 which) {
    u32 r = 0;
    for (u32 i = 0; i < 4; i++) {
        u32 byte = which >> 4 * i & 7;
        r |= ((byte < 4 ? a : b) >> 8 * (byte & 3) & 0xff) << 8 * i;
    }
    return r;
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

// Four balanced residues as a word.
DEVICE u32 crt_pack(const i32 *residues) {
    return (residues[0] & 0xff) | (residues[1] & 0xff) << 8 | (residues[2] & 0xff) << 16 | (u32)(residues[3] & 0xff) << 24;
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

// What residues count, byte by byte of an element (src/matrix/dense/crt.rs): for each product and four moduli a word for each of the
// CRT_BYTES bytes, with a byte of the weight of each modulus, and then one for each of four bytes, with those of ⌊2³²/m⌋. At the end a
// word for each byte, with those of the corrections of the products.
#define CRT_BYTES (4 * FIELD_WORDS)
#define CRT_STEP (CRT_BYTES + 4)
// Most products, and four moduli of each: what memory of the group there is for.
#define CRT_COUNTS (3 * 13 * CRT_STEP + CRT_BYTES)

// Sums of a column: a sum for each byte, below 2²³.
typedef struct {
    u32 sum[CRT_BYTES];
} crt_bytes_t;

// Residues of four columns by four moduli, a word a modulus; zeros where there are no more.
DEVICE void crt_load(u32 *words, u32 first, u32 moduli, u64 set, GLOBAL const u32 *residues) {
    _Pragma("unroll") for (u32 j = 0; j < 4; j++) words[j] = first + j < moduli ? residues[(first + j) * set] : 0;
}

// Such words as a word a column.
DEVICE void crt_transpose(u32 *words) {
    u32 a = crt_bytes(words[0], words[1], 0x5140), b = crt_bytes(words[2], words[3], 0x5140);
    u32 c = crt_bytes(words[0], words[1], 0x7362), d = crt_bytes(words[2], words[3], 0x7362);
    words[0] = crt_bytes(a, b, 0x5410), words[1] = crt_bytes(a, b, 0x7632);
    words[2] = crt_bytes(c, d, 0x5410), words[3] = crt_bytes(c, d, 0x7632);
}

// Adds what the residues of a product count in four columns, and returns how often M is in each, a byte a column.
DEVICE u32 crt_add(crt_bytes_t *sums, u32 moduli, u64 set, GLOBAL const u32 *residues, LOCAL_POINTER const u32 *counts) {
    u32 fractions[4][4];
    _Pragma("unroll") for (u32 i = 0; i < 4; i++)
        _Pragma("unroll") for (u32 k = 0; k < 4; k++) fractions[i][k] = 0;
    u32 next[4];
    crt_load(next, 0, moduli, set, residues);
    for (u32 first = 0; first < moduli; first += 4, counts += CRT_STEP) {
        u32 words[4];
        _Pragma("unroll") for (u32 j = 0; j < 4; j++) words[j] = next[j];
        // Those of the next step are on their way while these are counted.
        crt_load(next, first + 4, moduli, set, residues);
        crt_transpose(words);
        _Pragma("unroll") for (u32 k = 0; k < CRT_BYTES; k++)
            _Pragma("unroll") for (u32 i = 0; i < 4; i++) sums[i].sum[k] = crt_count(words[i], counts[k], sums[i].sum[k]);
        _Pragma("unroll") for (u32 k = 0; k < 4; k++)
            _Pragma("unroll") for (u32 i = 0; i < 4; i++)
                fractions[i][k] = crt_count(words[i], counts[CRT_BYTES + k], fractions[i][k]);
    }
    u32 often = 0;
    _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
        u64 sum = 1u << 31;
        _Pragma("unroll") for (u32 k = 0; k < 4; k++) sum += (u64)fractions[i][k] << 8 * k;
        often |= (u32)(sum >> 32) << 8 * i;
    }
    return often;
}

// The sums of bytes as columns of limbs.
DEVICE F(t) crt_element(const crt_bytes_t *sums) {
    crt_sum_t r;
    _Pragma("unroll") for (u32 i = 0; i < FIELD_WORDS; i++) {
        r.column[i] = 0;
        _Pragma("unroll") for (u32 k = 0; k < 4; k++) r.column[i] += (u64)sums->sum[4 * i + k] << 8 * k;
    }
    return crt_value(&r);
}

// Elements from what their residues are: Σ y·W − q·M over the moduli of each of `products` products, with the weights W mod p and
// the corrections −M mod p times the product's factor, and q = Σ y/m rounded. A work-item four columns of a row.
KERNEL(CRT_GROUP)
void crt_join(u32 rows, u32 columns, u32 padded, u32 quads, u32 moduli, u32 products, GLOBAL const u32 *residues,
              GLOBAL const u32 *table, GLOBAL F(t) *c, GEMM_VIEW(c)) {
    LOCAL u32 counts[CRT_COUNTS];
    u32 fours = (moduli + 3) / 4, corrections = products * fours * CRT_STEP;
    for (u32 i = LOCAL_ID; i < corrections + CRT_BYTES; i += CRT_GROUP) counts[i] = table[i];
    BARRIER();
    gemm_view_t view = GEMM_TAKE(c);
    u64 number = (u64)GROUP_ID * CRT_GROUP + LOCAL_ID;
    u32 row = (u32)(number / quads), quad = (u32)(number % quads);
    if (row >= rows) return;
    u64 set = (u64)padded * quads, at = (u64)row * quads + quad;
    crt_bytes_t sums[4];
    _Pragma("unroll") for (u32 i = 0; i < 4; i++)
        _Pragma("unroll") for (u32 k = 0; k < CRT_BYTES; k++) sums[i].sum[k] = 0;
    u32 often[4] = {0, 0, 0, 0};
    for (u32 product = 0; product < products; product++) {
        u32 q = crt_add(sums, moduli, set, residues + product * moduli * set + at, counts + product * fours * CRT_STEP);
        _Pragma("unroll") for (u32 i = 0; i < 4; i++) often[i] |= (q >> 8 * i & 0xff) << 8 * product;
    }
    _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
        _Pragma("unroll") for (u32 k = 0; k < CRT_BYTES; k++)
            sums[i].sum[k] = crt_count(often[i], counts[corrections + k], sums[i].sum[k]);
        if (4 * quad + i < columns) c[gemm_at(view, row, 4 * quad + i)] = crt_element(&sums[i]);
    }
}
