// Rounds of sumcheck (src/sumcheck/gpu/mod.rs).
//
// Columns are stored one after the other, `stride` elements from one to the next. Of their 2·pairs rows the first half
// are those with 0 for the first variable. The polynomial of a round is evaluated at points, given by numbers, and its
// values are summed over half the rows: by each group, then by one group. That is the last group to end, if groups can
// tell; it then writes to the memory of the host. Otherwise it is sumcheck_totals, a kernel of its own.
//
// Binding the first variable to r folds: low + r·(high − low). The work-item that folds a row is the only one that
// reads it, so it may be done in place.

#ifndef SUMCHECK_FIXED
typedef F(t) sumcheck_challenge_t;

DEVICE F(t) sumcheck_fold_rows(F(t) low, F(t) high, sumcheck_challenge_t r) {
    return F(add)(low, F(mul)(r, F(sub)(high, low)));
}
#endif

// Returns the sum of the values of each 32 work-items to the first of them. `sums` has room for these 32.
DEVICE F(t) sumcheck_sum_of_lanes(LOCAL_PTR F(t) *sums, F(t) value) {
    u32 lane = LOCAL_ID % 32;
    sums[lane] = value;
    WARP_BARRIER();
    for (u32 width = 16; width > 0; width >>= 1) {
        if (lane < width) sums[lane] = value = F(add)(value, sums[lane + width]);
        WARP_BARRIER();
    }
    return value;
}

// Values that a group adds up at once: each 32 work-items add up one.
#define SUMS_AT_ONCE (SUMCHECK_GROUP / 32)
#define ROOM_FOR_SUMS(count) (SUMCHECK_GROUP * ((count) < SUMS_AT_ONCE ? (count) : SUMS_AT_ONCE))

// Writes the sums over the group of `count` values that each work-item has. `sums` has ROOM_FOR_SUMS elements.
DEVICE void sumcheck_write_sums(u32 count, const F(t) *values, GLOBAL F(t) *to, LOCAL_PTR F(t) *sums) {
    u32 lane = LOCAL_ID % 32, mine = LOCAL_ID / 32;
#pragma unroll
    for (u32 first = 0; first < count; first += SUMS_AT_ONCE) {
        u32 at_once = count - first < SUMS_AT_ONCE ? count - first : SUMS_AT_ONCE;
#pragma unroll
        for (u32 i = 0; i < at_once; i++) sums[i * SUMCHECK_GROUP + LOCAL_ID] = values[first + i];
        BARRIER();
        LOCAL_PTR F(t) *of_mine = sums + (mine < at_once ? mine : 0) * SUMCHECK_GROUP;
        F(t) sum = of_mine[lane];
#pragma unroll
        for (u32 i = 32; i < SUMCHECK_GROUP; i += 32) sum = F(add)(sum, of_mine[lane + i]);
        // All work-items have read what they overwrite.
        BARRIER();
        sum = sumcheck_sum_of_lanes(sums + 32 * mine, sum);
        if (lane == 0 && mine < at_once) to[first + mine] = sum;
        BARRIER();
    }
}

// Holds where sums over all groups go.
typedef struct {
    u32 points, pass;
    GLOBAL const F(t) *partials;
    GLOBAL F(t) *totals;
    // Used only if the last group adds up: the count of groups that have ended, and the word that the host looks at.
    GLOBAL u32 *ended, *told;
} sumcheck_totals_t;

// Computes totals[p] from `groups` groups by one group, of which each 32 work-items take a point of their own.
DEVICE void sumcheck_add_groups(u32 groups, sumcheck_totals_t all, LOCAL_PTR F(t) *sums) {
    u32 lane = LOCAL_ID % 32;
    for (u32 first = 0; first < all.points; first += SUMCHECK_GROUP / 32) {
        u32 point = first + LOCAL_ID / 32;
        F(t) sum = F(zero)();
        if (point < all.points)
#pragma unroll 8
            for (u32 group = lane; group < groups; group += 32)
                sum = F(add)(sum, all.partials[group * all.points + point]);
        sum = sumcheck_sum_of_lanes(sums + LOCAL_ID / 32 * 32, sum);
        if (lane == 0 && point < all.points) all.totals[point] = sum;
    }
}

// Ends a pass, after the first work-items of its groups have written the partial sums of `groups` groups per point. It
// is a call, so that it takes no registers of the pass.
DEVICE_NOINLINE void sumcheck_end(u32 groups, sumcheck_totals_t all, LOCAL_PTR F(t) *sums) {
#ifdef HAS_FORWARD_PROGRESS
    if (!grid_is_last(all.ended, (u32 *)sums)) return;
    sumcheck_add_groups(groups, all, sums);
    BARRIER();
    if (LOCAL_ID == 0) signal_host(all.told, all.pass);
#endif
}

#ifdef HAS_FORWARD_PROGRESS
// Tells the host that the work ahead in the stream has ended, with its writes to the memory of the host. One work-item.
KERNEL(1)
void sumcheck_signal(u32 pass, GLOBAL u32 *told) {
    signal_host(told, pass);
}
#endif

// Binds the first variable of all columns, of 2·pairs rows. Any grid.
KERNEL(SUMCHECK_GROUP)
void sumcheck_fold(u32 pairs, u32 columns, u64 from_stride, u64 to_stride, sumcheck_challenge_t r,
                   GLOBAL const F(t) *from, GLOBAL F(t) *to) {
    for (u32 column = 0; column < columns; column++) {
        GLOBAL const F(t) *rows = from + column * from_stride;
        for (u32 row = GLOBAL_ID; row < pairs; row += GLOBAL_SIZE)
            to[column * to_stride + row] = sumcheck_fold_rows(rows[row], rows[(u64)pairs + row], r);
    }
}

// Holds the row and the point at which terms are evaluated.
typedef struct {
    GLOBAL const F(t) *from;
    u64 stride;
    u32 pairs, row, point;
} sumcheck_row_t;

DEVICE F(t) sumcheck_factor(sumcheck_row_t at, u32 column) {
    GLOBAL const F(t) *rows = at.from + column * at.stride;
    F(t) low = rows[at.row];
    if (at.point == 0) return low;
    F(t) difference = F(sub)(rows[(u64)at.pairs + at.row], low);
    return at.point == POINT_INFINITY ? difference : F(at)(low, difference, at.point);
}

// Returns Σ coefficient·Π factors over the terms. `words` has for each the number of its factors, and their columns.
DEVICE F(t) sumcheck_terms_at(sumcheck_row_t at, u32 terms, u32 degree, GLOBAL const u32 *words,
                              GLOBAL const F(t) *coefficients) {
    F(sum_t) sum = F(sum_zero)();
    for (u32 term = 0; term < terms; term++) {
        u32 factors = *words++;
        if (at.point != POINT_INFINITY || factors == degree) {
            F(t) product = sumcheck_factor(at, words[0]);
            for (u32 k = 1; k < factors; k++) product = F(mul)(product, sumcheck_factor(at, words[k]));
            F(add_product)(&sum, product, coefficients[term]);
        }
        words += factors;
    }
    return F(sum_value)(sum);
}

// Returns the weight of `row`, from two tables.
DEVICE F(t) sumcheck_weight(GLOBAL const F(t) *low, GLOBAL const F(t) *high, u32 low_log, u32 row) {
    return F(mul)(low[row & ((1u << low_log) - 1)], high[row >> low_log]);
}

// Sums values of any terms at points over half of 2·pairs rows: partials[g·points + p] for group g of the point. words:
// the numbers of the points, then the terms. Weights start at low_at and high_at. The number of groups is a multiple of
// the number of points. `params` is not GRID_CONSTANT, because the inner loops would then take more registers.
KERNEL(SUMCHECK_GROUP)
void sumcheck_terms(terms_params_t params, GLOBAL const u32 *words, GLOBAL const F(t) *coefficients,
                    GLOBAL const F(t) *weights, GLOBAL const F(t) *from, GLOBAL F(t) *partials, GLOBAL F(t) *totals,
                    GLOBAL u32 *ended, GLOBAL u32 *told) {
    LOCAL F(t) sums[SUMCHECK_GROUP];
    u32 pairs = params.pairs, points = params.points, low_log = params.low_log;
    sumcheck_totals_t all = {points, params.pass, partials, totals, ended, told};
    sumcheck_row_t at;
    at.from = from;
    at.stride = params.stride;
    at.pairs = pairs;
    at.point = words[GROUP_ID % points];
    F(t) sum = F(zero)();
    u32 step = GROUPS / points * SUMCHECK_GROUP;
    for (u32 row = GROUP_ID / points * SUMCHECK_GROUP + LOCAL_ID; row < pairs; row += step) {
        at.row = row;
        F(t) value = sumcheck_terms_at(at, params.terms, params.degree, words + points, coefficients);
        if (low_log != NO_WEIGHTS)
            value = F(mul)(value, sumcheck_weight(weights + params.low_at, weights + params.high_at, low_log, row));
        sum = F(add)(sum, value);
    }
    sumcheck_write_sums(1, &sum, partials + GROUP_ID, sums);
    sumcheck_end(GROUPS / points, all, sums);
}

// Computes the sums over groups, totals[p]. One group.
KERNEL(SUMCHECK_GROUP)
void sumcheck_totals(u32 groups, u32 points, GLOBAL const F(t) *partials, GLOBAL F(t) *totals) {
    LOCAL F(t) sums[SUMCHECK_GROUP];
    sumcheck_totals_t all = {points, 0, partials, totals, 0, 0};
    sumcheck_add_groups(groups, all, sums);
}

// Adds the product of `factors` columns at the points 0, ∞, 2, … to `sums`.
DEVICE void sumcheck_add_products(u32 factors, F(sum_t) *sums, const F(t) *low, const F(t) *high) {
#pragma unroll
    for (u32 point = 0; point < factors; point++) {
        F(t) product = F(zero)();
#pragma unroll
        for (u32 k = 0; k < factors; k++) {
            F(t) difference = F(sub)(high[k], low[k]);
            F(t) factor = point == 0 ? low[k] : point == 1 ? difference : F(at)(low[k], difference, point);
            if (k == 0) product = factor;
            else if (k < factors - 1) product = F(mul)(product, factor);
            else F(add_product)(&sums[point], product, factor);
        }
    }
}

// Writes the values over the rows of the group.
DEVICE void sumcheck_write_products(u32 factors, const F(sum_t) *sums, GLOBAL F(t) *partials,
                                    LOCAL_PTR F(t) *local_sums) {
    F(t) values[MAX_PRODUCT_FACTORS];
#pragma unroll
    for (u32 point = 0; point < factors; point++) values[point] = F(sum_value)(sums[point]);
    sumcheck_write_sums(factors, values, partials + GROUP_ID * factors, local_sums);
}

// Holds the columns to sum, and those to fold before.
typedef struct {
    u32 pairs, folds;
    u64 from_stride, to_stride;
    sumcheck_challenge_t r;
    GLOBAL const F(t) *from;
    GLOBAL F(t) *to, *partials;
} sumcheck_product_t;

// Sums values of the product of all columns at points over half of 2·pairs rows: partials[g·factors + p] for group g.
// If `folds` is set, `from` has twice as many rows, which are folded to those of `to`.
DEVICE void sumcheck_product(u32 factors, sumcheck_product_t work, LOCAL_PTR F(t) *local_sums) {
    F(sum_t) sums[MAX_PRODUCT_FACTORS];
    F(t) low[MAX_PRODUCT_FACTORS], high[MAX_PRODUCT_FACTORS];
    u64 pairs = work.pairs;
#pragma unroll
    for (u32 point = 0; point < factors; point++) sums[point] = F(sum_zero)();
    for (u32 row = GLOBAL_ID; row < work.pairs; row += GLOBAL_SIZE) {
#pragma unroll
        for (u32 k = 0; k < factors; k++) {
            GLOBAL const F(t) *rows = work.from + k * work.from_stride + row;
            low[k] = rows[0];
            high[k] = rows[pairs];
            if (work.folds) {
                low[k] = sumcheck_fold_rows(low[k], rows[2 * pairs], work.r);
                high[k] = sumcheck_fold_rows(high[k], rows[3 * pairs], work.r);
                work.to[k * work.to_stride + row] = low[k];
                work.to[k * work.to_stride + pairs + row] = high[k];
            }
        }
        sumcheck_add_products(factors, sums, low, high);
    }
    sumcheck_write_products(factors, sums, work.partials, local_sums);
}

#define PRODUCT_KERNEL(name, factors)                                                                               \
    KERNEL(SUMCHECK_GROUP)                                                                                          \
    void name(GRID_CONSTANT pass_params_t params, sumcheck_challenge_t r, GLOBAL const F(t) *from, GLOBAL F(t) *to, \
              GLOBAL F(t) *partials, GLOBAL F(t) *totals, GLOBAL u32 *ended, GLOBAL u32 *told) {                    \
        LOCAL F(t) sums[ROOM_FOR_SUMS(factors)];                                                                    \
        sumcheck_product_t work;                                                                                    \
        work.pairs = params.step;                                                                                   \
        work.folds = params.folds;                                                                                  \
        work.from_stride = params.from_stride;                                                                      \
        work.to_stride = params.to_stride;                                                                          \
        work.r = r;                                                                                                 \
        work.from = from;                                                                                           \
        work.to = to;                                                                                               \
        work.partials = partials;                                                                                   \
        sumcheck_product(factors, work, sums);                                                                      \
        sumcheck_totals_t all = {factors, params.pass, partials, totals, ended, told};                              \
        sumcheck_end(GROUPS, all, sums);                                                                            \
    }

PRODUCT_KERNEL(sumcheck_product_2, 2)
PRODUCT_KERNEL(sumcheck_product_3, 3)
PRODUCT_KERNEL(sumcheck_product_4, 4)
