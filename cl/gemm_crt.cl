// Products of matrices by residues: the steps before and after the products of residues (cuda/gemm_int8.cu).
//
// An entry is a number x within ±(p − 1)/2: its limbs as stored (Montgomery form) if `canonical` is 0, else the
// canonical number. Its residues modulo m_0, m_1, … are balanced, so that they fit a signed byte. With `parts` = 2 it
// is split into x0 + 2^split·x1 with equal signs. Residues of x0, of x1 and of x0 − x1 then serve the three products of
// Karatsuba. Required (src/matrix/dense/crt_params.rs): x has at most 32 bytes, and sums of bytes times balanced powers of 256
// are within ±2²⁰.
//
// Layout of residues: [set][row][k], one byte each, four in a word, with set = part·moduli + number of the modulus.
// Rows and k are padded with zeros. Layout of the product: [set][row][column], with y = residue · (M/m)⁻¹ mod m in [0,
// m).

// The table holds these words of a modulus m:
//   0 to 7          balanced powers of 256, four in a word
//   CRT_MODULUS     m
//   CRT_RECIPROCAL  ⌈2³²/m⌉
//   CRT_INVERSE     (M/m)⁻¹ mod m
//   CRT_FRACTION    ⌊2³²/m⌋
//   CRT_OFFSET      ⌊m/2⌋/m in units of 2⁻³², plus 2²¹
//   CRT_HALF        ⌊m/2⌋
//   CRT_BIAS        2³¹ mod m
//   CRT_SLOPE_LOW, CRT_SLOPE_HIGH, CRT_SHIFT  described in cuda/gemm_int8_common.cuh

#ifdef HAS_PTX
// Returns sum + Σ unsigned bytes · signed bytes.
DEVICE i32 crt_dot(u32 bytes, u32 weights, i32 sum) {
    i32 r;
    asm volatile("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(bytes), "r"(weights), "r"(sum));
    return r;
}
// Returns sum + Σ unsigned bytes · unsigned bytes.
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
// Returns four of the eight bytes of a and b; the lowest digit of `which` selects the first of them.
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

// Returns the balanced residue, at least −⌊m/2⌋ and below m − ⌊m/2⌋, of a number s within ±2²¹, from `fraction`,
// s·⌈2³²/m⌉ modulo 2³². That is the fraction of s/m in units of 2⁻³², to within ±2²¹. With the offset it is too large
// by less than 2²³, and so by less than 1/m.
DEVICE i32 crt_balanced(u32 fraction, GLOBAL const u32 *entry) {
    return (i32)crt_high(fraction + entry[CRT_OFFSET], entry[CRT_MODULUS]) - (i32)entry[CRT_HALF];
}

// Packs four balanced residues into a word.
DEVICE u32 crt_pack(const i32 *residues) {
    u32 low = crt_bytes((u32)residues[0], (u32)residues[1], 0x0040),
        high = crt_bytes((u32)residues[2], (u32)residues[3], 0x0040);
    return crt_bytes(low, high, 0x5410);
}

// Computes the residues of small entries, of `bytes` bytes each, in one part.
KERNEL(CRT_GROUP)
void crt_residues_small(residues_params_t params, u32 bytes, GLOBAL const u8 *a, GRID_CONSTANT gemm_view_t a_view,
                        GLOBAL const u32 *table, GLOBAL u32 *out) {
    u32 rows = params.rows, inner = params.inner, padded = params.padded, quads = params.quads, moduli = params.moduli;
    u64 number = (u64)GROUP_ID * CRT_GROUP + LOCAL_ID;
    u32 row = (u32)(number / quads), quad = (u32)(number % quads);
    if (row >= padded) return;
    u32 words[4];
    _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
        bool inside = row < rows && 4 * quad + i < inner;
        words[i] = inside ? gemm_small(a, gemm_at(a_view, row, 4 * quad + i), bytes) : 0x80000000u;
    }
    for (u32 modulus = 0; modulus < moduli; modulus++) {
        GLOBAL const u32 *entry = table + modulus * CRT_WORDS;
        i32 residues[4];
        _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
            // The quotient may be one too large, so the rest is within ±m.
            i32 rest = (i32)(words[i] - crt_high(words[i], entry[CRT_RECIPROCAL]) * entry[CRT_MODULUS]);
            residues[i] = crt_balanced((u32)(rest - (i32)entry[CRT_BIAS]) * entry[CRT_RECIPROCAL], entry);
        }
        out[modulus * (u64)padded * quads + (u64)row * quads + quad] = crt_pack(residues);
    }
}

// Transposes bytes stored column by column, each its own residue, to rows. A group moves
// TRANSPOSE_ROWS rows of TRANSPOSE_WORDS words. k is padded to whole groups. A row of local memory has one more word,
// so that 32 work-items write to different banks.
KERNEL(CRT_GROUP)
void crt_transpose_bytes(u32 rows, u32 inner, u32 quads, GLOBAL const u8 *a, GRID_CONSTANT gemm_view_t a_view,
                         GLOBAL u32 *out) {
    LOCAL u32 words[TRANSPOSE_ROWS * (TRANSPOSE_WORDS + 1)];
    LOCAL_PTR u8 *bytes = (LOCAL_PTR u8 *)words;
    u32 across = quads / TRANSPOSE_WORDS, lane = LOCAL_ID % 32, first = LOCAL_ID / 32;
    u32 row = GROUP_ID / across * TRANSPOSE_ROWS, quad = GROUP_ID % across * TRANSPOSE_WORDS;
    _Pragma("unroll 8") for (u32 i = first; i < 4 * TRANSPOSE_WORDS; i += CRT_GROUP / 32) {
        bool inside = row + lane < rows && 4 * quad + i < inner;
        bytes[4 * (TRANSPOSE_WORDS + 1) * lane + i] = inside ? a[gemm_at(a_view, row + lane, 4 * quad + i)] : 0;
    }
    BARRIER();
    for (u32 i = first; i < TRANSPOSE_ROWS; i += CRT_GROUP / 32)
        out[(u64)(row + i) * quads + quad + lane] = words[(TRANSPOSE_WORDS + 1) * i + lane];
}
