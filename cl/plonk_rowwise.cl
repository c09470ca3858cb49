// Row-wise kernels: sums of columns, factors of the grand products, blinding.
//
// A launch has `blocks` groups for each of its outputs, and one work-item per row.

#define PLONK_OUTPUT plonk_output(params, launch.words_at, GROUP_ID / launch.blocks)
#define PLONK_ROW ((GROUP_ID % launch.blocks) * PLONK_GROUP + LOCAL_ID)

// Computes out[o] = Σ factor_i·column_i over the items of an output, less a polynomial of few coefficients. params: the
// factors of all items, then those coefficients. The word `more` of an output is the start of its coefficients and, in
// the upper half, their number.
KERNEL(PLONK_GROUP)
void plonk_combine(GRID_CONSTANT row_launch_t launch, GLOBAL const F(t) *params, GLOBAL F(t) *out, BANK_PARAMETERS) {
    banks_t banks = BANKS;
    u32 row = PLONK_ROW;
    if (row >= launch.n) return;
    output_t output = PLONK_OUTPUT;
    GLOBAL const u64 *columns = plonk_columns(params, launch.words_at, launch.outputs);
    GLOBAL F(t) *to = out + (u64)output.number * launch.n + row;
    F(t) sum = output.begun ? *to : F(zero)();
    if (!output.begun && row < (u32)(output.more >> 32)) sum = F(neg)(params[(u32)output.more + row]);
    for (u32 i = output.begin; i < output.end; i++)
        sum = F(add)(sum, F(mul)(params[i], bank_column(banks, columns[i])[row]));
    *to = sum;
}

// Computes numerators and denominators of permutation sets: Π (v + β·δ^j·ω^row + γ) and Π (v + β·σ + γ) over the
// columns of a set. An item has v and σ. params: β, γ, then β·δ^j of each item. Rows from `usable` on become zero.
KERNEL(PLONK_GROUP)
void plonk_permutation_factors(GRID_CONSTANT row_launch_t launch, GLOBAL const F(t) *params, GLOBAL const F(fixed) *low,
                               GLOBAL const F(fixed) *high, u32 low_log, GLOBAL F(t) *numerators,
                               GLOBAL F(t) *denominators, BANK_PARAMETERS) {
    banks_t banks = BANKS;
    u32 row = PLONK_ROW;
    if (row >= launch.n) return;
    output_t output = PLONK_OUTPUT;
    GLOBAL const u64 *columns = plonk_columns(params, launch.words_at, launch.outputs);
    u64 at = (u64)output.number * launch.n + row;
    if (row >= launch.usable) {
        numerators[at] = denominators[at] = F(zero)();
        return;
    }
    F(t) beta = params[0], gamma = params[1], place = plonk_power(low, high, low_log, row);
    F(t) numerator = output.begun ? numerators[at] : F(one)();
    F(t) denominator = output.begun ? denominators[at] : F(one)();
    for (u32 i = output.begin; i < output.end; i++) {
        F(t) value = F(add)(bank_column(banks, columns[2 * i])[row], gamma);
        F(t) sigma = bank_column(banks, columns[2 * i + 1])[row];
        numerator = F(mul)(numerator, F(add)(value, F(mul)(params[2 + i], place)));
        denominator = F(mul)(denominator, F(add)(value, F(mul)(beta, sigma)));
    }
    numerators[at] = numerator;
    denominators[at] = denominator;
}

// Computes numerators and denominators of lookups: (A + β)(S + γ) and (A′ + β)(S′ + γ). An item has A, S, A′ and S′.
// params: β, γ. Rows from `usable` on become zero.
KERNEL(PLONK_GROUP)
void plonk_lookup_factors(GRID_CONSTANT row_launch_t launch, GLOBAL const F(t) *params, GLOBAL F(t) *numerators,
                          GLOBAL F(t) *denominators, BANK_PARAMETERS) {
    banks_t banks = BANKS;
    u32 row = PLONK_ROW;
    if (row >= launch.n) return;
    output_t output = PLONK_OUTPUT;
    GLOBAL const u64 *columns = plonk_columns(params, launch.words_at, launch.outputs) + 4 * output.begin;
    u64 at = (u64)output.number * launch.n + row;
    if (row >= launch.usable) {
        numerators[at] = denominators[at] = F(zero)();
        return;
    }
    F(t) beta = params[0], gamma = params[1];
    F(t) input = bank_column(banks, columns[0])[row], table = bank_column(banks, columns[1])[row];
    F(t) permuted = bank_column(banks, columns[2])[row], beside = bank_column(banks, columns[3])[row];
    numerators[at] = F(mul)(F(add)(input, beta), F(add)(table, gamma));
    denominators[at] = F(mul)(F(add)(permuted, beta), F(add)(beside, gamma));
}

// Writes `rows` rows from `row` on of `count` columns; `values` has those of the first column, then those of the next.
KERNEL(PLONK_GROUP)
void plonk_write_blinding(u64 count, u32 row, u32 rows, GLOBAL const F(t) *values, GLOBAL F(t) *data, u64 first,
                          u64 stride) {
    for (u64 i = GLOBAL_ID; i < count * rows; i += GLOBAL_SIZE)
        data[first + i / rows * stride + row + i % rows] = values[i];
}

// Returns an element below p for any 256 bits: p is above R/8 in all fields that have this family.
DEVICE F(t) plonk_below_p(F(t) a) {
    for (int k = 0; k < 7; k++) a = F(reduce)(a);
    return a;
}

// Reduces numbers of twice as many little-endian words as an element has modulo p: low + R·high, in Montgomery form.
KERNEL(PLONK_GROUP)
void plonk_from_uniform(u32 n, GLOBAL const F(t) *wide, GLOBAL F(t) *out) {
    for (u32 i = GLOBAL_ID; i < n; i += GLOBAL_SIZE) {
        F(t) low = plonk_below_p(wide[2 * (u64)i]), high = plonk_below_p(wide[2 * (u64)i + 1]);
        out[i] = F(from_canonical)(F(add)(low, F(from_canonical)(high)));
    }
}
