// Two rounds per pass over the columns of a product, in a binary field. A pass binds the two variables of the pass
// before it, and evaluates the polynomial in the next two; the host makes two messages of that. Columns are read half
// as often as with one round per pass.
//
// Both variables take the points 0, ∞, 2, …, degree - 1, 1, and values are at (degree + 1)·first + second. The last
// one, where both are 1, is left out: it follows from the others.

#define PAIR_VALUES(factors) (((factors) + 1) * ((factors) + 1) - 1)

// Holds the challenges of two rounds, and their product.
typedef struct {
    F(t) first, second, both;
} sumcheck_challenges_t;

// Holds the columns to sum, and those to fold before.
typedef struct {
    u32 quads, folds;
    u64 from_stride, to_stride;
    sumcheck_challenges_t r;
    GLOBAL const F(t) *from;
    GLOBAL F(t) *to, *partials;
} sumcheck_pair_t;

// Returns a row folded from four, with both variables bound; three products share a reduction.
DEVICE F(t) sumcheck_fold_four(GLOBAL const F(t) *rows, u32 step, sumcheck_challenges_t r) {
    F(t) low = rows[0], high = rows[2 * step], second = F(sub)(rows[step], low);
    F(t) both = F(sub)(F(sub)(rows[3 * step], high), second);
    F(sum_t) sum = F(sum_zero)();
    F(add_product)(&sum, r.first, F(sub)(high, low));
    F(add_product)(&sum, r.second, second);
    F(add_product)(&sum, r.both, both);
    return F(add)(low, F(sum_value)(sum));
}

// Returns the value of a column at the point of number `point`.
DEVICE F(t) sumcheck_at(F(t) low, F(t) high, u32 point, u32 degree) {
    if (point == 0) return low;
    if (point == degree) return high;
    F(t) difference = F(sub)(high, low);
    return point == 1 ? difference : F(at)(low, difference, point);
}

// Returns `sum` plus the product of the factors at `point`.
DEVICE F(t) sumcheck_add_factors(u32 factors, F(t) sum, const F(t) *low, const F(t) *high, u32 point) {
    F(t) product = sumcheck_at(low[0], high[0], point, factors);
#pragma unroll
    for (u32 k = 1; k < factors; k++) product = F(mul)(product, sumcheck_at(low[k], high[k], point, factors));
    return F(add)(sum, product);
}

// Adds the products of four rows of all columns to `sums`.
DEVICE void sumcheck_add_four(u32 factors, F(t) *sums, const F(t) *rows) {
#pragma unroll
    for (u32 first = 0; first <= factors; first++) {
        F(t) low[MAX_PRODUCT_FACTORS], high[MAX_PRODUCT_FACTORS];
#pragma unroll
        for (u32 k = 0; k < factors; k++) {
            low[k] = sumcheck_at(rows[4 * k], rows[4 * k + 2], first, factors);
            high[k] = sumcheck_at(rows[4 * k + 1], rows[4 * k + 3], first, factors);
        }
#pragma unroll
        for (u32 second = 0; second <= factors; second++) {
            u32 number = (factors + 1) * first + second;
            if (number < PAIR_VALUES(factors))
                sums[number] = sumcheck_add_factors(factors, sums[number], low, high, second);
        }
    }
}

// Sums values of the product of all columns over a quarter of 4·quads rows: partials[g·values + v] for group g. If
// `folds` is set, `from` has four times as many rows, which are folded to those of `to`. That may be `from`, since a
// work-item has all rows that it writes.
DEVICE void sumcheck_pair(u32 factors, sumcheck_pair_t work, LOCAL_PTR F(t) *local_sums) {
    F(t) sums[PAIR_VALUES(MAX_PRODUCT_FACTORS)], rows[4 * MAX_PRODUCT_FACTORS];
#pragma unroll
    for (u32 number = 0; number < PAIR_VALUES(factors); number++) sums[number] = F(zero)();
    for (u32 row = GLOBAL_ID; row < work.quads; row += GLOBAL_SIZE) {
#pragma unroll
        for (u32 k = 0; k < factors; k++) {
            GLOBAL const F(t) *from = work.from + k * work.from_stride + row;
#pragma unroll
            for (u32 i = 0; i < 4; i++)
                rows[4 * k + i] = work.folds ? sumcheck_fold_four(from + i * work.quads, 4 * work.quads, work.r)
                                             : from[i * work.quads];
            if (work.folds)
#pragma unroll
                for (u32 i = 0; i < 4; i++) work.to[k * work.to_stride + i * work.quads + row] = rows[4 * k + i];
        }
        sumcheck_add_four(factors, sums, rows);
    }
    sumcheck_write_sums(PAIR_VALUES(factors), sums, work.partials + GROUP_ID * PAIR_VALUES(factors), local_sums);
}

// Groups that share a multiprocessor, which bounds the registers: with carry-less multiply-add 128 for two factors, 168
// for three, 255 for four; else 255. Row offsets have 32 bits: there are less than 2^32, and no registers for more.
#ifdef HAS_CLMAD
#define PAIR_OCCUPANCY(factors) (PAIR_GROUPS_AND_FACTORS - (factors))
#else
#define PAIR_OCCUPANCY(factors) 2
#endif

#define PAIR_KERNEL(name, factors)                                                                                \
    KERNEL_BOUNDED(SUMCHECK_GROUP, PAIR_OCCUPANCY(factors))                                                       \
    void name(GRID_CONSTANT pass_params_t params, F(t) first, F(t) second, F(t) both, GLOBAL const F(t) *from,    \
              GLOBAL F(t) *to, GLOBAL F(t) *partials, GLOBAL F(t) *totals, GLOBAL u32 *ended, GLOBAL u32 *told) { \
        LOCAL F(t) sums[ROOM_FOR_SUMS(PAIR_VALUES(factors))];                                                     \
        sumcheck_challenges_t r = {first, second, both};                                                          \
        sumcheck_pair_t work = {                                                                                  \
            params.step, params.folds, params.from_stride, params.to_stride, r, from, to, partials};              \
        sumcheck_pair(factors, work, sums);                                                                       \
        sumcheck_totals_t all = {PAIR_VALUES(factors), params.pass, partials, totals, ended, told};               \
        sumcheck_end(GROUPS, all, sums);                                                                          \
    }

PAIR_KERNEL(sumcheck_pair_2, 2)
PAIR_KERNEL(sumcheck_pair_3, 3)
PAIR_KERNEL(sumcheck_pair_4, 4)
