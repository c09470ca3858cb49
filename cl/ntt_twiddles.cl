// Computes the fixed factors of transforms on the device.
//
// A tower holds base^(2^k) at k, for k < 32, in Montgomery form, so a power takes one product for each bit that is set.
// params: the towers of ω, of the shift g of the input and of the shift s of the output, then the scale.

#define TOWER_OMEGA 0
#define TOWER_IN POWER_TABLE
#define TOWER_OUT (2 * POWER_TABLE)
#define SCALE_AT (3 * POWER_TABLE)

DEVICE F(t) tower_power(F(t) value, GLOBAL const F(t) *tower, u32 exponent) {
    for (u32 k = 0; exponent != 0; k++, exponent >>= 1)
        if (exponent & 1) value = F(mul)(value, tower[k]);
    return value;
}

// Computes the nodes of the tree of remainders, in a heap. Node 2^d + b stands for block b of 2^d, a polynomial modulo
// x^2h − c² with h = 2^(log_n − d − 1), and holds c = g^h · ω^(h · reversed b). Node 0 is not used.
KERNEL(NTT_POINTWISE_GROUP)
void ntt_twiddle_tree(GLOBAL const F(t) *params, u32 log_n, u32 count, GLOBAL F(fixed) *nodes) {
    u32 node = GLOBAL_ID;
    if (node >= count) return;
    u32 depth = 0;
    while (node >> (depth + 1) != 0) depth++;
    u32 half_log = log_n - depth - 1, block = node - (1u << depth);
    F(t) c = node == 0 ? F(one)() : params[TOWER_IN + half_log];
    nodes[node] = F(fix)(tower_power(c, params + TOWER_OMEGA, node == 0 ? 0 : reverse_bits(block, depth) << half_log));
}

// Computes factors[k·2^width_log + i] = ω^(k·i·2^shift) [· g^i] [· s^(k·2^shift)] [· scale].
KERNEL(NTT_POINTWISE_GROUP)
void ntt_twiddles(GLOBAL const F(t) *params, u32 width_log, u32 shift, u32 which, u32 count, GLOBAL F(fixed) *factors) {
    u32 at = GLOBAL_ID;
    if (at >= count) return;
    u32 i = at & ((1u << width_log) - 1), k = (at >> width_log) << shift;
    F(t) value = which & FACTOR_SCALE ? params[SCALE_AT] : F(one)();
    value = tower_power(value, params + TOWER_OMEGA, k * i);
    if (which & FACTOR_IN) value = tower_power(value, params + TOWER_IN, i);
    if (which & FACTOR_OUT) value = tower_power(value, params + TOWER_OUT, k);
    factors[at] = F(fix)(value);
}
