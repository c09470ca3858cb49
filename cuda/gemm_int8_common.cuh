// Shared definitions of products of bytes on tensor cores, by either instruction (gemm_int8.cu, gemm_int8_wgmma.cu).
// For each set, C = A·Bᵀ with 32-bit sums (src/matrix/dense/gpu_crt.rs; cl/gemm_crt.cl has the steps before and after).
//
// A is [set][row][k], B is [set][column][k], both of signed bytes. Rows are padded to INT8_ROWS, columns to
// INT8_COLUMNS, k to INT8_PADDED with zeros: nothing here looks for edges. A group makes INT8_ROWS × INT8_COLUMNS sums
// at a time, a tile. Tiles are numbered down the columns of a set, one set after the other, and a group takes every
// GROUPS-th.
//
// Sums of INT8_EXACT products of bytes within ±127 fit 32 bits. With −128 (modulus 256 only) they wrap, which makes no
// difference for that modulus. Sums are reduced to residues every INT8_EXACT steps of k, and at the end.
//
// Either instruction leaves a tile of sums like this: of 8 columns and 16 rows, a work-item has columns 2·(lane mod 4)
// and the next, in rows lane/4 and lane/4 + 8.

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
    // The last three words are precomputed, since the compiler has no registers for additions:
    //   CRT_SLOPE_LOW   lower word of q = ⌈2⁶⁴·(M/m)⁻¹/m⌉
    //   CRT_SLOPE_HIGH  upper word of q, negated
    //   CRT_SHIFT       2³¹·(M/m)⁻¹/m in units of 2⁻³², less two
    // `lift` is 2m − (2³¹ mod m), which makes the remainder of a sum plus 2³¹ positive and right.
    int8_modulus_t r = {
        entry[CRT_MODULUS],   entry[CRT_RECIPROCAL], 2 * entry[CRT_MODULUS] - entry[CRT_BIAS],
        entry[CRT_SLOPE_LOW], entry[CRT_SLOPE_HIGH], entry[CRT_SHIFT],
    };
    return r;
}

// Returns a number below 2²⁴, modulo m.
DEVICE u32 int8_mod(u32 number, int8_modulus_t m) {
    return number - __umulhi(number, m.reciprocal) * m.modulus;
}

// Returns a sum modulo m. The first quotient may be one too large, so that the remainder is within ±m.
DEVICE u32 int8_residue(i32 sum, int8_modulus_t m) {
    u32 shifted = (u32)sum ^ 0x80000000u;
    return int8_mod(shifted - __umulhi(shifted, m.reciprocal) * m.modulus + m.lift, m);
}

// Returns y = sum · (M/m)⁻¹ mod m: m times the fraction of sum · (M/m)⁻¹/m, which is too large by less than 2⁻²⁹ here.
DEVICE u32 int8_y(i32 sum, int8_modulus_t m) {
    u32 shifted = (u32)sum ^ 0x80000000u;
    return __umulhi(__umulhi(shifted, m.low) - (shifted * m.high + m.shift), m.modulus);
}

// Returns y of two neighbours, one byte each.
DEVICE u32 int8_pair(i32 low, i32 high, int8_modulus_t m) {
    return int8_y(low, m) | int8_y(high, m) << 8;
}

// Stores 64 columns of a row, of which each of four neighbouring lanes has two in eight. A word of `pairs` holds those
// of two neighbouring eights. Lanes exchange words until each has 16 columns side by side, and store them at once.
DEVICE void int8_store(u8 *row, const u32 *pairs) {
    u32 lane = LOCAL_ID % 4;
    bool odd = lane & 1, upper = lane & 2;
    // Of the two pairs of words, the lane takes its own one, from itself and from the lane two on.
    u32 a0 = upper ? pairs[2] : pairs[0], a1 = upper ? pairs[3] : pairs[1];
    u32 b0 = __shfl_xor_sync(0xffffffff, upper ? pairs[0] : pairs[2], 2);
    u32 b1 = __shfl_xor_sync(0xffffffff, upper ? pairs[1] : pairs[3], 2);
    // Of those words, the lane takes its own one, from itself and from the neighbouring lanes.
    u32 a = odd ? a1 : a0, b = odd ? b1 : b0;
    u32 c = __shfl_xor_sync(0xffffffff, odd ? a0 : a1, 1), d = __shfl_xor_sync(0xffffffff, odd ? b0 : b1, 1);
    u32 near0 = odd ? c : a, near1 = odd ? a : c, far0 = odd ? d : b, far1 = odd ? b : d;
    u32 w0 = upper ? far0 : near0, w1 = upper ? far1 : near1, w2 = upper ? near0 : far0, w3 = upper ? near1 : far1;
    uint4 bytes = {__byte_perm(w0, w1, 0x5410), __byte_perm(w2, w3, 0x5410), __byte_perm(w0, w1, 0x7632),
                   __byte_perm(w2, w3, 0x7632)};
    *(uint4 *)(row + 16 * lane) = bytes;
}

// Computes the residues of the sums of 64 columns of a row, two in four of those at `sums`: the others are of another
// row.
DEVICE void int8_pairs(u32 *pairs, const i32 *sums, int8_modulus_t m) {
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
        const i32 *low = sums + 8 * j, *high = low + 4;
        pairs[j] = int8_pair(low[0], low[1], m) | int8_pair(high[0], high[1], m) << 16;
    }
}

#endif
