// What products of bytes on tensor cores have in common, whatever multiplies (gemm_int8.cu, gemm_int8_wgmma.cu): for each set,
// C = A·Bᵀ with sums of 32 bits (src/matrix/dense/gpu_crt.rs; cl/gemm_crt.cl has what is before and after).
//
// A lies [set][row][k], B lies [set][column][k], signed bytes, rows padded to INT8_ROWS, columns to INT8_COLUMNS, k to INT8_PADDED
// with zeros: nothing here looks for edges. A group makes INT8_ROWS × INT8_COLUMNS sums at a time, a tile. Tiles are numbered down the
// columns of a set, a set after the other, and a group takes every GROUPS-th.
//
// Sums of 2¹⁷ products of bytes within ±127 fit 32 bits; with −128 (modulus 256 only) they wrap, which that modulus does not see.
// Sums are taken to residues every 2¹⁷ steps of k, and at the end.
//
// A tile of sums as either instruction leaves it: of 8 columns and 16 rows, a work-item has columns 2·(lane mod 4) and the next, in
// rows lane/4 and 8 more.

#define INT8_GROUP 256
#define INT8_ROWS 128
#define INT8_COLUMNS 256
#define INT8_PADDED 128
// Steps of k whose sums fit.
#define INT8_EXACT 131072
// Of a modulus in the table: see cl/gemm_crt.cl.
#define CRT_WORDS 20

#if __CUDA_ARCH__ >= 800

DEVICE void int8_copy(u32 to, const u8 *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

DEVICE void int8_commit(void) {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

typedef struct {
    u32 modulus, reciprocal, lift, low, high, shift;
} int8_modulus_t;

DEVICE int8_modulus_t int8_modulus(const u32 *entry) {
    // Twice the modulus less 2³¹ mod m: what makes the rest of a sum plus 2³¹ positive and right. Then of q = ⌈2⁶⁴·(M/m)⁻¹/m⌉ the lower
    // word, and less the upper one; and 2³¹·(M/m)⁻¹/m in units of 2⁻³², less two. The compiler has no registers for additions.
    int8_modulus_t r = {entry[8], entry[9], 2 * entry[8] - entry[14], entry[15], entry[16], entry[17]};
    return r;
}

// A number below 2²⁴, modulo m.
DEVICE u32 int8_mod(u32 number, int8_modulus_t m) {
    return number - __umulhi(number, m.reciprocal) * m.modulus;
}

// A sum modulo m. The first quotient may be one too large, so that the rest is within ±m.
DEVICE u32 int8_residue(i32 sum, int8_modulus_t m) {
    u32 shifted = (u32)sum ^ 0x80000000u;
    return int8_mod(shifted - __umulhi(shifted, m.reciprocal) * m.modulus + m.lift, m);
}

// y = sum · (M/m)⁻¹ mod m: m times the fraction of sum · (M/m)⁻¹/m, which is too large by less than 2⁻²⁹ here.
DEVICE u32 int8_y(i32 sum, int8_modulus_t m) {
    u32 shifted = (u32)sum ^ 0x80000000u;
    return __umulhi(__umulhi(shifted, m.low) - (shifted * m.high + m.shift), m.modulus);
}

// Of two neighbours, a byte each.
DEVICE u32 int8_pair(i32 low, i32 high, int8_modulus_t m) {
    return int8_y(low, m) | int8_y(high, m) << 8;
}

// Stores 64 columns of a row, of which each of four neighbouring lanes has two in eight: a word of `pairs` holds those of two
// neighbouring eights. Lanes change words until each has 16 columns side by side, and stores them at once.
DEVICE void int8_store(u8 *row, const u32 *pairs) {
    u32 lane = LOCAL_ID % 4;
    bool odd = lane & 1, upper = lane & 2;
    // Of the two pairs of words the one that is mine, by me and by the lane two on.
    u32 a0 = upper ? pairs[2] : pairs[0], a1 = upper ? pairs[3] : pairs[1];
    u32 b0 = __shfl_xor_sync(0xffffffff, upper ? pairs[0] : pairs[2], 2);
    u32 b1 = __shfl_xor_sync(0xffffffff, upper ? pairs[1] : pairs[3], 2);
    // Of those the word that is mine, and by the lanes beside.
    u32 a = odd ? a1 : a0, b = odd ? b1 : b0;
    u32 c = __shfl_xor_sync(0xffffffff, odd ? a0 : a1, 1), d = __shfl_xor_sync(0xffffffff, odd ? b0 : b1, 1);
    u32 near0 = odd ? c : a, near1 = odd ? a : c, far0 = odd ? d : b, far1 = odd ? b : d;
    u32 w0 = upper ? far0 : near0, w1 = upper ? far1 : near1, w2 = upper ? near0 : far0, w3 = upper ? near1 : far1;
    uint4 bytes = {__byte_perm(w0, w1, 0x5410), __byte_perm(w2, w3, 0x5410), __byte_perm(w0, w1, 0x7632),
                   __byte_perm(w2, w3, 0x7632)};
    *(uint4 *)(row + 16 * lane) = bytes;
}

// Residues of the sums of a row's 64 columns, two in four of what is at `sums`: the others are of another row.
DEVICE void int8_pairs(u32 *pairs, const i32 *sums, int8_modulus_t m) {
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
        const i32 *low = sums + 8 * j, *high = low + 4;
        pairs[j] = int8_pair(low[0], low[1], m) | int8_pair(high[0], high[1], m) << 16;
    }
}

#endif
