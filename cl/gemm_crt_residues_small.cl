// Computes residues of elements of one or two words, in one part (cl/gemm_crt.cl). Longer elements use `parts` and
// `split`.

// Computes the residues of elements. One work-item per four columns of a row; a row of residues has `quads` words.
KERNEL(CRT_GROUP)
void crt_residues(residues_params_t params, GLOBAL const F(t) *a, GRID_CONSTANT gemm_view_t a_view,
                  GLOBAL const u32 *table, GLOBAL u32 *out) {
    u32 rows = params.rows, inner = params.inner, padded = params.padded, quads = params.quads, moduli = params.moduli;
    u32 canonical = params.canonical;
    u64 number = (u64)GROUP_ID * CRT_GROUP + LOCAL_ID;
    u32 row = (u32)(number / quads), quad = (u32)(number % quads);
    if (row >= padded) return;
    F(t) entries[4];
    u32 negative[4];
    _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
        bool inside = row < rows && 4 * quad + i < inner;
        F(t) entry = inside ? a[gemm_at(a_view, row, 4 * quad + i)] : F(zero)();
        entries[i] = F(magnitude)(canonical ? F(to_canonical)(entry) : entry, &negative[i]);
    }
    for (u32 modulus = 0; modulus < moduli; modulus++) {
        GLOBAL const u32 *entry = table + modulus * CRT_WORDS;
        i32 residues[4];
        _Pragma("unroll") for (u32 i = 0; i < 4; i++) {
            i32 sum = 0;
            _Pragma("unroll") for (u32 j = 0; j < FIELD_WORDS; j++) sum = crt_dot(entries[i].limb[j], entry[j], sum);
            residues[i] = crt_balanced((u32)(negative[i] ? -sum : sum) * entry[CRT_RECIPROCAL], entry);
        }
        out[modulus * (u64)padded * quads + (u64)row * quads + quad] = crt_pack(residues);
    }
}
