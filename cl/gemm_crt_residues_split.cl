// Computes residues of elements of 255 bits, in halves (cl/gemm_crt.cl).

// Holds the bits of |a| from `split` on, those below, and the sign; 96 < split ≤ 128.
typedef struct {
    u32 low[4], high[4], negative;
} crt_halves_t;

DEVICE crt_halves_t crt_halves(F(t) a, u32 split, u32 canonical) {
    crt_halves_t r;
    a = F(magnitude)(canonical ? F(to_canonical)(a) : a, &r.negative);
    u32 shift = split & 31;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        r.low[i] = a.limb[i];
        if (shift == 0) r.high[i] = a.limb[4 + i];
        else r.high[i] = a.limb[3 + i] >> shift | a.limb[4 + i] << (32 - shift);
    }
    if (shift != 0) r.low[3] &= (1u << shift) - 1;
    // The bits above these four limbs are zero: the number is below 2^(split + 128).
    return r;
}

// Returns the fraction of a half, with the sign of the entry: the weighted sum of its bytes times ±⌈2³²/m⌉.
DEVICE u32 crt_part(const u32 *limbs, GLOBAL const u32 *weights, u32 reciprocal) {
    i32 sum = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) sum = crt_dot(limbs[i], weights[i], sum);
    return (u32)sum * reciprocal;
}

// Computes the residues of elements. One work-item per four columns of a row; a row of residues has `quads` words.
KERNEL(CRT_GROUP)
void crt_residues(residues_params_t params, GLOBAL const F(t) *a, GRID_CONSTANT gemm_view_t a_view,
                  GLOBAL const u32 *table, GLOBAL u32 *out) {
    u32 rows = params.rows, inner = params.inner, padded = params.padded, quads = params.quads, moduli = params.moduli;
    u32 parts = params.parts, split = params.split, canonical = params.canonical;
    u64 number = (u64)GROUP_ID * CRT_GROUP + LOCAL_ID;
    u32 row = (u32)(number / quads), quad = (u32)(number % quads);
    if (row >= padded) return;
    crt_halves_t halves[4];
    _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
        bool inside = row < rows && 4 * quad + i < inner;
        halves[i] =
            crt_halves(inside ? a[gemm_at(a_view, row, 4 * quad + i)] : F(zero)(), parts == 1 ? 128 : split, canonical);
    }
    u64 set = (u64)padded * quads, at = (u64)row * quads + quad;
    for (u32 modulus = 0; modulus < moduli; modulus++) {
        GLOBAL const u32 *entry = table + modulus * CRT_WORDS;
        i32 low[4], high[4], both[4];
        _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
            u32 reciprocal = halves[i].negative ? 0u - entry[CRT_RECIPROCAL] : entry[CRT_RECIPROCAL];
            u32 a = crt_part(halves[i].low, entry, reciprocal);
            u32 b = crt_part(halves[i].high, parts == 1 ? entry + 4 : entry, reciprocal);
            low[i] = crt_balanced(a, entry), high[i] = crt_balanced(b, entry);
            both[i] = crt_balanced(parts == 1 ? a + b : a - b, entry);
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
