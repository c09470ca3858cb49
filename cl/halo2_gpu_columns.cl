// Row-wise kernels for a prover that keeps its columns on the device: sums, products, terms of the PLONK quotient.
//
// A work-item computes one row unless stated otherwise. A launch has work-items for `rows` rows, in groups of
// COLUMNS_GROUP. A column is a contiguous array of elements in Montgomery form, below p in and out. A result may
// overwrite a column that is read, unless that column is read at another row. Rotations are below `rows`: such a column
// is read at (row + rotation) mod rows. Single elements, such as challenges, are passed as a column with one element for
// each name.

DEVICE u32 columns_row(u32 row, u32 rotation, u32 rows) {
    u32 left = rows - rotation;
    return row < left ? row + rotation : row - left;
}

// Defines a kernel whose `body` computes the row `row`.
#define COLUMNS_KERNEL(name, parameters, body) \
    KERNEL(COLUMNS_GROUP)                      \
    void name parameters {                     \
        u32 row = GLOBAL_ID;                   \
        if (row < rows) {                      \
            body                               \
        }                                      \
    }
#define COLUMN GLOBAL const F(t) *
#define TARGET GLOBAL F(t) *
// Reads `column` at the rotated row.
#define ROTATED(column, rotation) column[columns_row(row, rotation, rows)]

COLUMNS_KERNEL(columns_constant, (u32 rows, TARGET to, COLUMN c), { to[row] = c[0]; })

// Copies the first `length` elements of `from`, and fills the rest of `to` with zeros.
COLUMNS_KERNEL(columns_extend, (u32 rows, COLUMN from, TARGET to, u32 length), {
    F(t) value = F(zero)();
    if (row < length) value = from[row];
    to[row] = value;
})

// Multiplies row i by powers[i mod period − 1], except for the multiples of `period`.
COLUMNS_KERNEL(columns_periodic, (u32 rows, TARGET values, COLUMN powers, u32 period), {
    u32 place = row % period;
    if (place != 0) values[row] = F(mul)(values[row], powers[place - 1]);
})

COLUMNS_KERNEL(columns_sum, (u32 rows, TARGET to, COLUMN a, COLUMN b, u32 rotation_a, u32 rotation_b),
               { to[row] = F(add)(ROTATED(a, rotation_a), ROTATED(b, rotation_b)); })

COLUMNS_KERNEL(columns_product, (u32 rows, TARGET to, COLUMN a, COLUMN b, u32 rotation_a, u32 rotation_b),
               { to[row] = F(mul)(ROTATED(a, rotation_a), ROTATED(b, rotation_b)); })

COLUMNS_KERNEL(columns_sum_constant, (u32 rows, TARGET to, COLUMN a, u32 rotation, COLUMN c),
               { to[row] = F(add)(ROTATED(a, rotation), c[0]); })

COLUMNS_KERNEL(columns_product_constant, (u32 rows, TARGET to, COLUMN a, u32 rotation, COLUMN c),
               { to[row] = F(mul)(ROTATED(a, rotation), c[0]); })

// Computes a·c + b.
COLUMNS_KERNEL(columns_scale_add, (u32 rows, TARGET to, COLUMN a, COLUMN b, u32 rotation_a, u32 rotation_b, COLUMN c),
               { to[row] = F(add)(F(mul)(ROTATED(a, rotation_a), c[0]), ROTATED(b, rotation_b)); })

// Computes (a + c)·b.
COLUMNS_KERNEL(columns_shift_mul, (u32 rows, TARGET to, COLUMN a, COLUMN b, u32 rotation_a, u32 rotation_b, COLUMN c),
               { to[row] = F(mul)(F(add)(ROTATED(a, rotation_a), c[0]), ROTATED(b, rotation_b)); })

// The terms of a quotient h are accumulated by the Horner scheme: h becomes h·y + term. Challenges: y, β, γ, δ.

DEVICE F(t) columns_next(F(t) h, GLOBAL const F(t) *challenges, F(t) term) {
    return F(add)(F(mul)(h, challenges[0]), term);
}

// Adds the terms of the first and last rows of permutation products: (1 − first)·l0, then (last² − last)·l_last.
COLUMNS_KERNEL(columns_permutation_ends,
               (u32 rows, TARGET h, COLUMN first, COLUMN last, COLUMN l0, COLUMN l_last, COLUMN l_active,
                COLUMN challenges),
               {
                   (void)l_active;
                   F(t) z = last[row];
                   F(t) value = columns_next(h[row], challenges, F(mul)(F(sub)(F(one)(), first[row]), l0[row]));
                   h[row] = columns_next(value, challenges, F(mul)(F(sub)(F(sqr)(z), z), l_last[row]));
               })

// Adds the term by which a product begins where the previous one ended: (z − before[rotation])·l0.
COLUMNS_KERNEL(columns_link, (u32 rows, TARGET h, COLUMN z, COLUMN before, COLUMN l0, COLUMN challenges, u32 rotation),
               {
                   F(t) term = F(mul)(F(sub)(z[row], ROTATED(before, rotation)), l0[row]);
                   h[row] = columns_next(h[row], challenges, term);
               })

COLUMNS_KERNEL(columns_rotate, (u32 rows, TARGET to, COLUMN from, u32 rotation), { to[row] = ROTATED(from, rotation); })

// Multiplies `left` by β·σ + γ + v and `right` by place + γ + v, the factors of one column on both sides of a
// permutation. Then multiplies `places` by δ.
COLUMNS_KERNEL(columns_permutation_factors,
               (u32 rows, TARGET left, TARGET right, COLUMN values, COLUMN sigma, TARGET places, COLUMN challenges), {
                   F(t) value = F(add)(values[row], challenges[2]);
                   F(t) place = places[row];
                   left[row] = F(mul)(left[row], F(add)(F(mul)(challenges[1], sigma[row]), value));
                   right[row] = F(mul)(right[row], F(add)(place, value));
                   places[row] = F(mul)(place, challenges[3]);
               })

// Adds the term (left − right)·l_active.
COLUMNS_KERNEL(columns_permutation_sides,
               (u32 rows, TARGET h, COLUMN left, COLUMN right, COLUMN l_active, COLUMN challenges), {
                   F(t) term = F(mul)(F(sub)(left[row], right[row]), l_active[row]);
                   h[row] = columns_next(h[row], challenges, term);
               })

// Adds the terms of a lookup by logarithmic derivatives: first·l0, last·l_last, (((first[rotation] − first)·table +
// m)·product − table·sum)·l_active.
COLUMNS_KERNEL(columns_logup,
               (u32 rows, TARGET h, COLUMN table, COLUMN product, COLUMN sum, COLUMN m, COLUMN first, COLUMN last,
                COLUMN l0, COLUMN l_last, COLUMN l_active, COLUMN challenges, u32 rotation),
               {
                   F(t) z = first[row];
                   F(t) t = table[row];
                   F(t) value = columns_next(h[row], challenges, F(mul)(z, l0[row]));
                   value = columns_next(value, challenges, F(mul)(last[row], l_last[row]));
                   F(t) step = F(add)(F(mul)(F(sub)(ROTATED(first, rotation), z), t), m[row]);
                   F(t) term = F(sub)(F(mul)(step, product[row]), F(mul)(t, sum[row]));
                   h[row] = columns_next(value, challenges, F(mul)(term, l_active[row]));
               })

// Adds the term of a further sum of such a lookup: ((z[rotation] − z)·product − sum)·l_active.
COLUMNS_KERNEL(columns_logup_more,
               (u32 rows, TARGET h, COLUMN product, COLUMN sum, COLUMN z, COLUMN l_active, COLUMN challenges,
                u32 rotation),
               {
                   F(t) step = F(sub)(ROTATED(z, rotation), z[row]);
                   F(t) term = F(sub)(F(mul)(step, product[row]), sum[row]);
                   h[row] = columns_next(h[row], challenges, F(mul)(term, l_active[row]));
               })

// Adds the terms of a shuffle: (1 − z)·l0, (z² − z)·l_last, (table·z[rotation] − input·z)·l_active.
COLUMNS_KERNEL(columns_shuffle,
               (u32 rows, TARGET h, COLUMN input, COLUMN table, COLUMN z, COLUMN l0, COLUMN l_last, COLUMN l_active,
                COLUMN challenges, u32 rotation),
               {
                   F(t) at = z[row];
                   F(t) value = columns_next(h[row], challenges, F(mul)(F(sub)(F(one)(), at), l0[row]));
                   value = columns_next(value, challenges, F(mul)(F(sub)(F(sqr)(at), at), l_last[row]));
                   F(t) term = F(sub)(F(mul)(table[row], ROTATED(z, rotation)), F(mul)(input[row], at));
                   h[row] = columns_next(value, challenges, F(mul)(term, l_active[row]));
               })

// Computes factors of a lookup product, one work-item per slot of `slot` rows. `permuted` receives for each row its
// numerator (input + β)·(table + γ) times the denominators of the other rows of its slot. `beside` receives at the
// first row of each slot the product of the denominators (permuted + β)·(beside + γ) of the slot. The other rows of
// `beside` receive their own denominators. Challenges: β, γ.
KERNEL(COLUMNS_GROUP)
void columns_lookup_slots(u32 rows, TARGET permuted, TARGET beside, COLUMN input, COLUMN table, COLUMN challenges,
                          u32 slot) {
    u64 first = (u64)GLOBAL_ID * slot;
    if (first >= rows) return;
    u32 begin = (u32)first, end = rows - begin < slot ? rows : begin + slot;
    F(t) beta = challenges[0], gamma = challenges[1], all = F(one)();
    for (u32 row = begin; row < end; row++) {
        F(t) denominator = F(mul)(F(add)(permuted[row], beta), F(add)(beside[row], gamma));
        permuted[row] = all;
        beside[row] = denominator;
        all = F(mul)(all, denominator);
    }
    F(t) behind = F(one)();
    for (u32 row = end; row-- > begin;) {
        F(t) numerator = F(mul)(F(add)(input[row], beta), F(add)(table[row], gamma));
        permuted[row] = F(mul)(F(mul)(permuted[row], behind), numerator);
        behind = F(mul)(behind, beside[row]);
    }
    beside[begin] = all;
}

COLUMNS_KERNEL(columns_to_montgomery, (u32 rows, TARGET values), { values[row] = F(from_canonical)(values[row]); })

COLUMNS_KERNEL(columns_from_montgomery, (u32 rows, TARGET values), { values[row] = F(to_canonical)(values[row]); })

// Returns whether a > b as numbers: the highest limb that differs decides.
DEVICE bool columns_above(F(t) a, F(t) b) {
    bool above = false;
    for (int i = 0; i < FIELD_WORDS; i++) above = a.limb[i] != b.limb[i] ? a.limb[i] > b.limb[i] : above;
    return above;
}

// Runs a step of a bitonic sort of numbers, one work-item per pair of numbers that are 2^(round − step) apart. Bit
// `round` of the number of the pair gives the direction in which its block of 2^(round + 1) numbers is sorted. Steps 0
// to `round` of all rounds together sort a column.
KERNEL(COLUMNS_GROUP)
void columns_sort_step(u32 rows, TARGET values, u32 round, u32 step) {
    u32 pair = GLOBAL_ID;
    if (pair >= rows / 2) return;
    u32 distance = 1u << (round - step), inside = pair & (distance - 1);
    u32 low = ((pair - inside) << 1) + inside, high = low + distance;
    F(t) a = values[low], b = values[high];
    bool falling = (pair >> round & 1) != 0;
    if (falling ? columns_above(b, a) : columns_above(a, b)) {
        values[low] = b;
        values[high] = a;
    }
}
