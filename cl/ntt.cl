// Number-theoretic transform by passes over tiles in local memory (Stockham's autosort form of the
// P×Q split, decimation in frequency).
//
// Before a pass, 2^log_done outputs' low digits are settled. A pass takes the vector as rows of
// 2^(log_n − radix_log) columns, transforms each column (2^radix_log points), multiplies by
// ω_M^(n2·k1) (M = 2^(log_n − log_done), n2 the column's high part) and stores so that after the last
// pass outputs stand in natural order. A tile is 2^TILE_LOG elements: 2^radix_log rows of as many
// columns as fit, so global accesses are runs of at least 4 elements = 128 bytes.
//
// Local memory: limb-major, tile[limb][element], so that neighbours use different banks.
// All values are reduced and in Montgomery form.

#define TILE_LOG 10
#define TILE (1u << TILE_LOG)
#define NTT_GROUP 256

// Flags of ntt_pass.
#define SHIFT_IN 1u
#define SCALE_OUT 2u
#define SHIFT_OUT 4u
#define BIT_REVERSED 8u

// ω^exponent from two tables: low[i] = ω^i for i < 2^split, high[i] = ω^(i·2^split).
typedef struct {
    GLOBAL const F(t) *low;
    GLOBAL const F(t) *high;
    u32 split;
} powers_t;

DEVICE F(t) powers_multiply(powers_t powers, F(t) value, u32 exponent) {
    u32 low = exponent & ((1u << powers.split) - 1), high = exponent >> powers.split;
    F(t) factor = powers.low[low];
    if (high != 0) factor = F(mul)(factor, powers.high[high]);
    return F(mul)(value, factor);
}

DEVICE void tile_put(LOCAL_POINTER u32 *tile, u32 at, F(t) value) {
#pragma unroll
    for (int i = 0; i < FIELD_WORDS; i++) tile[i * TILE + at] = value.limb[i];
}

DEVICE F(t) tile_get(LOCAL_POINTER const u32 *tile, u32 at) {
    F(t) value;
#pragma unroll
    for (int i = 0; i < FIELD_WORDS; i++) value.limb[i] = tile[i * TILE + at];
    return value;
}

DEVICE u32 reverse_bits(u32 value, u32 bits) {
    u32 r = 0;
    for (u32 i = 0; i < bits; i++) r |= ((value >> i) & 1u) << (bits - 1 - i);
    return r;
}

// Step 1: rows of the tile from global memory; the first pass multiplies input i by shift_in^i.
DEVICE void pass_load(LOCAL_POINTER u32 *tile, GLOBAL const F(t) *in, u32 log_n, u32 radix_log, u32 first, bool shift,
                      powers_t shift_in) {
    u32 columns_log = TILE_LOG - radix_log, stride_log = log_n - radix_log;
    for (u32 e = LOCAL_ID; e < TILE; e += NTT_GROUP) {
        u32 column = first + (e & ((1u << columns_log) - 1)), row = e >> columns_log;
        if (column >> stride_log) continue;
        u32 index = (row << stride_log) + column;
        F(t) value = in[index];
        if (shift) value = powers_multiply(shift_in, value, index);
        tile_put(tile, e, value);
    }
    BARRIER();
}

// Step 2: the columns' transforms, natural order to bit-reversed. roots[t] = ω_(2^roots_log)^t.
DEVICE void pass_butterflies(LOCAL_POINTER u32 *tile, u32 radix_log, GLOBAL const F(t) *roots, u32 roots_log) {
    u32 columns_log = TILE_LOG - radix_log;
    for (u32 stage = radix_log; stage-- > 0;) {
        for (u32 b = LOCAL_ID; b < TILE / 2; b += NTT_GROUP) {
            u32 column = b & ((1u << columns_log) - 1), j = b >> columns_log;
            u32 offset = j & ((1u << stage) - 1);
            u32 row = ((j >> stage) << (stage + 1)) | offset;
            u32 e0 = (row << columns_log) | column, e1 = e0 + (1u << (stage + columns_log));
            F(t) u = tile_get(tile, e0), v = tile_get(tile, e1);
            tile_put(tile, e0, F(add)(u, v));
            v = F(sub)(u, v);
            if (stage != 0) v = F(mul)(v, roots[offset << (roots_log - stage - 1)]);
            tile_put(tile, e1, v);
        }
        BARRIER();
    }
}

// Where element e of the tile is stored from: the fast index follows the runs in global memory.
DEVICE void pass_locate(u32 e, u32 radix_log, u32 log_done, u32 *k1, u32 *column) {
    u32 columns_log = TILE_LOG - radix_log;
    if (log_done < columns_log) {
        *k1 = e & ((1u << radix_log) - 1);
        *column = e >> radix_log;
    } else {
        *column = e & ((1u << columns_log) - 1);
        *k1 = e >> columns_log;
    }
}

// Grid: one group of NTT_GROUP per tile, max(1, n / TILE) groups. Not in place: in and out differ.
KERNEL(NTT_GROUP)
void ntt_pass(GLOBAL const F(t) *in, GLOBAL F(t) *out, u32 log_n, u32 log_done, u32 radix_log,
              GLOBAL const F(t) *roots, u32 roots_log, GLOBAL const F(t) *twiddle_low,
              GLOBAL const F(t) *twiddle_high, u32 split, u32 flags, GLOBAL const F(t) *in_low,
              GLOBAL const F(t) *in_high, GLOBAL const F(t) *out_low, GLOBAL const F(t) *out_high) {
    LOCAL u32 tile[FIELD_WORDS * TILE];
    u32 columns_log = TILE_LOG - radix_log, first = GROUP_ID << columns_log;
    bool last = log_done + radix_log == log_n;
    powers_t shift_in = {in_low, in_high, split}, twiddles = {twiddle_low, twiddle_high, split};
    powers_t shift_out = {out_low, out_high, split};
    pass_load(tile, in, log_n, radix_log, first, log_done == 0 && (flags & SHIFT_IN), shift_in);
    pass_butterflies(tile, radix_log, roots, roots_log);
    // Step 3: twiddles between the dimensions and the transposing store.
    for (u32 e = LOCAL_ID; e < TILE; e += NTT_GROUP) {
        u32 k1, column;
        pass_locate(e, radix_log, log_done, &k1, &column);
        F(t) value = tile_get(tile, (reverse_bits(k1, radix_log) << columns_log) | column);
        column += first;
        if (column >> (log_n - radix_log)) continue;
        u32 low = column & ((1u << log_done) - 1), n2 = column >> log_done;
        u32 index = (((n2 << radix_log) + k1) << log_done) + low;
        if (!last) value = powers_multiply(twiddles, value, (n2 * k1) << log_done);
        if (last && (flags & SHIFT_OUT)) value = powers_multiply(shift_out, value, index);
        else if (last && (flags & SCALE_OUT)) value = F(mul)(value, out_low[0]);
        out[last && (flags & BIT_REVERSED) ? reverse_bits(index, log_n) : index] = value;
    }
}

// out[i] = params[start] · params[base]^(i·step) for i < count; i·step < 2³².
KERNEL(128)
void ntt_powers(GLOBAL const F(t) *params, u32 base, u32 start, u32 step, u32 count, GLOBAL F(t) *out) {
    u32 i = GLOBAL_ID;
    if (i >= count) return;
    out[i] = F(mul)(params[start], F(pow)(params[base], i * step));
}
