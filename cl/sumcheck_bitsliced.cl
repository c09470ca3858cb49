// Rounds of sumcheck over bit-sliced columns of the tower (src/sumcheck/gpu/bitsliced.rs).
//
// Columns are tiles of 1024 rows, [tile][bit][lane] (src/field/bitslice.rs). A product in T7 is three in T6, of the
// halves of its factors and of their sums (Karatsuba), and each of them is three in T5. A group has three times 32
// work-items, each 32 for one of the products in T6. It works through the products of a tile one after another. One
// piece of code does all products in T5, so that it stays in the instruction cache.

#ifdef __OPENCL_VERSION__
#define ATOMIC_XOR(pointer, value) atomic_xor(pointer, value)
#else
#define ATOMIC_XOR(pointer, value) atomicXor(pointer, value)
#endif
// Products in T5 that a product in T6 is made of.
#define A_BRANCH (SLICED_PARTS / SLICED_BRANCHES)
#define TILE_WORDS (4 * SLICED_BITS * SLICED_LANES)
// Number of words that hold a product in T6 of 1024 elements.
#define BRANCH_WORDS (2 * SLICED_BITS * SLICED_LANES)
// Words of sums that a point has: one for each bit of each part.
#define SUMS_A_POINT (SLICED_PARTS * SLICED_BITS)
// Points are numbers of elements of the tower, except this one: it stands for the coefficient of the highest degree.
#define POINT_INFINITY 1u
// Words that are loaded at a time, so that registers are left for others.
#define LOADED 16

// Quarters of a factor that make up a part as their sum: branches low, high, both; in each the high half, the low one,
// both.
CONSTANT u32 sliced_quarters[SLICED_PARTS] = {2, 1, 3, 8, 4, 12, 10, 5, 15};

typedef struct ALIGNED(16) {
    u32 limb[4];
} sliced_element_t;

// Holds a factor of 1024 products: the tiles of a column where the variable is 0 and 1, and its value.
typedef struct {
    GLOBAL const u32 *low, *high;
    u32 point;
} sliced_factor_t;

// Loads words of a part of `factor`, from bit `first` on.
DEVICE void sliced_load(u32 *words, sliced_factor_t factor, u32 quarters, u32 first) {
    u32 low[LOADED], difference[LOADED];
    u32 lane = LOCAL_ID % SLICED_LANES;
#pragma unroll
    for (int t = 0; t < LOADED; t++) low[t] = difference[t] = 0;
    for (u32 quarter = 0; quarter < 4; quarter++) {
        if (!(quarters >> quarter & 1)) continue;
        u32 at = (quarter * SLICED_BITS + first) * SLICED_LANES + lane;
#pragma unroll
        for (int t = 0; t < LOADED; t++) low[t] ^= factor.low[at + t * SLICED_LANES];
        if (factor.point == 0) continue;
#pragma unroll
        for (int t = 0; t < LOADED; t++) difference[t] ^= factor.high[at + t * SLICED_LANES];
    }
#pragma unroll
    for (int t = 0; t < LOADED; t++) words[t] = low[t];
    if (factor.point == 0) return;
#pragma unroll
    for (int t = 0; t < LOADED; t++) difference[t] ^= low[t];
    // Masks by the bits of the number: 1, and X_0, by which (c, d) is (d, c + d).
    u32 with_one = factor.point & 1 ? 0xffffffffu : 0, with_low = factor.point == POINT_INFINITY ? 0 : 0xffffffffu;
    u32 with_x = factor.point & 2 ? 0xffffffffu : 0;
#pragma unroll
    for (int t = 0; t < LOADED; t += 2) {
        words[t] = (low[t] & with_low) ^ (difference[t] & with_one) ^ (difference[t + 1] & with_x);
        words[t + 1] =
            (low[t + 1] & with_low) ^ (difference[t + 1] & with_one) ^ ((difference[t] ^ difference[t + 1]) & with_x);
    }
}

// Sets `words` to a part of `element`, for all lanes alike.
DEVICE void sliced_repeat(u32 *words, sliced_element_t element, u32 quarters) {
    u32 bits = 0;
#pragma unroll
    for (int quarter = 0; quarter < 4; quarter++)
        if (quarters >> quarter & 1) bits ^= element.limb[quarter];
#pragma unroll
    for (int t = 0; t < SLICED_BITS; t++) words[t] = 0 - (bits >> t & 1);
}

// Adds a part to the product of its branch: that of the high halves comes first, that of the sums of both halves last.
DEVICE void sliced_branch(LOCAL_PTR u32 *product, u32 number, const u32 *part) {
    LOCAL_PTR u32 *low = product + LOCAL_ID % SLICED_LANES, *high = low + SLICED_BITS * SLICED_LANES;
    if (number == 0) {
        u32 multiple[SLICED_BITS];
        sliced_times_generator_32(multiple, part);
#pragma unroll
        for (int t = 0; t < SLICED_BITS; t++) {
            low[t * SLICED_LANES] = part[t];
            high[t * SLICED_LANES] = part[t] ^ multiple[t];
        }
        return;
    }
#pragma unroll
    for (int t = 0; t < SLICED_BITS; t++) {
        if (number == 1) low[t * SLICED_LANES] ^= part[t];
        high[t * SLICED_LANES] ^= part[t];
    }
}

// Joins the products in T6 to whole products, plus `more` if `adds` is set.
DEVICE void sliced_join(LOCAL_PTR const u32 *branches, u32 adds, GLOBAL const u32 *more, GLOBAL u32 *to) {
    u32 lane = LOCAL_ID % SLICED_LANES, branch = LOCAL_ID / SLICED_LANES;
    LOCAL_PTR const u32 *low = branches + lane, *high = low + BRANCH_WORDS, *both = high + BRANCH_WORDS;
    u32 words[SLICED_BITS], multiple[SLICED_BITS];
    const u32 quarter_words = SLICED_BITS * SLICED_LANES;
    // Halves of 64 bits: low + high, and both + low + high + X_5·high. Each half of the latter belongs to one branch.
    for (u32 quarter = branch == 0 ? 0 : branch + 1; quarter <= branch + 1; quarter++) {
        u32 side = quarter % 2 * quarter_words;
#pragma unroll
        for (int t = 0; t < SLICED_BITS; t++) words[t] = low[side + t * SLICED_LANES] ^ high[side + t * SLICED_LANES];
        if (quarter >= 2) {
#pragma unroll
            for (int t = 0; t < SLICED_BITS; t++)
                words[t] ^= both[side + t * SLICED_LANES] ^ high[quarter_words - side + t * SLICED_LANES];
        }
        if (quarter == 3) {
            u32 upper[SLICED_BITS];
#pragma unroll
            for (int t = 0; t < SLICED_BITS; t++) upper[t] = high[quarter_words + t * SLICED_LANES];
            sliced_times_generator_32(multiple, upper);
#pragma unroll
            for (int t = 0; t < SLICED_BITS; t++) words[t] ^= multiple[t];
        }
        u32 at = quarter * quarter_words + lane;
#pragma unroll
        for (int t = 0; t < SLICED_BITS; t++) {
            if (adds) words[t] ^= more[at + t * SLICED_LANES];
            to[at + t * SLICED_LANES] = words[t];
        }
    }
}

// Gives a part to the other work-items of the branch.
DEVICE void sliced_give(LOCAL_PTR u32 *own, const u32 *part) {
#pragma unroll
    for (int t = 0; t < SLICED_BITS; t++) own[t * SLICED_LANES + LOCAL_ID % SLICED_LANES] = part[t];
}

// Adds a part, which was given, to sums over lanes; each work-item adds a bit. The bits of their words are still to be
// added up.
DEVICE void sliced_add(LOCAL_PTR const u32 *own, LOCAL_PTR u32 *sums) {
    u32 lane = LOCAL_ID % SLICED_LANES, sum = 0;
    // Each work-item goes in another order, so that they read different banks.
#pragma unroll
    for (int i = 0; i < SLICED_LANES; i++) sum ^= own[lane * SLICED_LANES + (i + lane) % SLICED_LANES];
    sums[lane] ^= sum;
}

// Adds the sums of the group to those of all: totals[9·point + part].
DEVICE void sliced_total(u32 points, LOCAL_PTR const u32 *sums, GLOBAL u32 *totals) {
    for (u32 i = LOCAL_ID; i < points * SLICED_PARTS; i += SLICED_GROUP) {
        u32 total = 0;
        for (u32 t = 0; t < SLICED_BITS; t++) total |= (POPCOUNT(sums[i * SLICED_BITS + t]) & 1) << t;
        ATOMIC_XOR(totals + i, total);
    }
}

// Holds the work of a group for each tile: folds, then products at points.
typedef struct {
    u32 tiles, factors, folds;
    u64 from_stride, to_stride;
    GLOBAL const u32 *from;
    GLOBAL u32 *to, *product;
} sliced_work_t;

typedef struct {
    sliced_factor_t a, b;
    // Whether the second factor is the challenge.
    u32 folds;
    // Where the product goes: to the sum of a point, or to memory, with `more` added if `folds` says so.
    u32 sums, point;
    GLOBAL const u32 *more;
    GLOBAL u32 *to;
} sliced_task_t;

DEVICE GLOBAL const u32 *sliced_column(GLOBAL const u32 *columns, u64 stride, u32 column, u64 tile) {
    return columns + column * stride * 4 + tile * TILE_WORDS;
}

DEVICE sliced_task_t sliced_fold(sliced_work_t work, u32 tile, u32 number) {
    sliced_task_t task;
    u32 column = number / work.folds;
    u64 at = (u64)(number % work.folds) * work.tiles + tile;
    task.a.low = sliced_column(work.from, work.from_stride, column, at);
    task.a.high = sliced_column(work.from, work.from_stride, column, at + (u64)work.folds * work.tiles);
    task.a.point = POINT_INFINITY;
    task.b = task.a;
    task.folds = 1;
    task.sums = task.point = 0;
    task.more = task.a.low;
    task.to = work.to + column * work.to_stride * 4 + at * TILE_WORDS;
    return task;
}

DEVICE sliced_task_t sliced_product(sliced_work_t work, u32 tile, u32 number) {
    sliced_task_t task;
    GLOBAL const u32 *columns = work.folds ? work.to : work.from;
    u64 stride = work.folds ? work.to_stride : work.from_stride;
    u32 step = number % (work.factors - 1) + 1;
    task.point = number / (work.factors - 1);
    task.a.low = step == 1 ? sliced_column(columns, stride, 0, tile) : work.product;
    task.a.high = sliced_column(columns, stride, 0, (u64)work.tiles + tile);
    task.a.point = step == 1 ? task.point : 0;
    task.b.low = sliced_column(columns, stride, step, tile);
    task.b.high = sliced_column(columns, stride, step, (u64)work.tiles + tile);
    task.b.point = task.point;
    task.folds = 0;
    task.sums = step == work.factors - 1;
    task.more = task.a.low;
    task.to = work.product;
    return task;
}

// Computes the product of a part of the factors of a task.
DEVICE void sliced_multiply(sliced_task_t task, u32 number, sliced_element_t r, LOCAL_PTR u32 *own) {
    u32 a[SLICED_BITS], b[SLICED_BITS], c[SLICED_BITS];
    u32 quarters = sliced_quarters[LOCAL_ID / SLICED_LANES * A_BRANCH + number];
    sliced_load(a, task.a, quarters, 0);
    sliced_load(a + LOADED, task.a, quarters, LOADED);
    if (task.folds) {
        sliced_repeat(b, r, quarters);
    } else {
        sliced_load(b, task.b, quarters, 0);
        sliced_load(b + LOADED, task.b, quarters, LOADED);
    }
#pragma unroll
    for (int t = 0; t < SLICED_BITS; t++) c[t] = 0;
    sliced_mul_32(c, a, b);
    if (task.sums) sliced_give(own, c);
    else sliced_branch(own, number, c);
}

// Folds columns of 2·folds·tiles tiles by r to `folds`·tiles tiles each. Unless `folds` is 1, it also evaluates the
// product of all columns at points over half of their 2·tiles tiles. These values are added to totals[9·(round·factors
// + point) + part], as parts of the product in T7. `products` has one tile for each group.
KERNEL_BOUNDED(SLICED_GROUP, SLICED_OCCUPANCY)
void sumcheck_sliced(GRID_CONSTANT sliced_params_t params, sliced_element_t r, GLOBAL const u32 *from, GLOBAL u32 *to,
                     GLOBAL u32 *products, GLOBAL u32 *totals) {
    LOCAL u32 branches[SLICED_BRANCHES * BRANCH_WORDS];
    LOCAL u32 sums[MAX_PRODUCT_FACTORS * SUMS_A_POINT];
    u32 tiles = params.tiles, factors = params.factors, folds = params.folds;
    sliced_work_t work;
    work.tiles = tiles;
    work.factors = factors;
    work.folds = folds;
    work.from_stride = params.from_stride;
    work.to_stride = params.to_stride;
    work.from = from;
    work.to = to;
    work.product = products + GROUP_ID * TILE_WORDS;
    u32 fold_tasks = folds * factors, tasks = fold_tasks + (folds == 1 ? 0 : factors * (factors - 1));
    for (u32 i = LOCAL_ID; i < factors * SUMS_A_POINT; i += SLICED_GROUP) sums[i] = 0;
    for (u32 tile = GROUP_ID; tile < tiles; tile += GROUPS) {
        // Loops over steps, not over tasks with steps in them: their values are then computed again, and take no
        // registers in between.
#pragma unroll 1
        for (u32 step = 0; step < A_BRANCH * tasks; step++) {
            u32 number = step / A_BRANCH, branch = LOCAL_ID / SLICED_LANES, last = step % A_BRANCH == A_BRANCH - 1;
            LOCAL_PTR u32 *own = branches + branch * BRANCH_WORDS;
            u32 part = branch * A_BRANCH + step % A_BRANCH;
            sliced_task_t task =
                number < fold_tasks ? sliced_fold(work, tile, number) : sliced_product(work, tile, number - fold_tasks);
            // A step reads what the previous one wrote, and overwrites what that read. Barriers under conditions would
            // have some compilers copy all code that follows.
            GLOBAL_BARRIER();
            sliced_multiply(task, step % A_BRANCH, r, own);
            BARRIER();
            if (task.sums) sliced_add(own, sums + task.point * SUMS_A_POINT + part * SLICED_BITS);
            else if (last) sliced_join(branches, task.folds, task.more, task.to);
        }
    }
    BARRIER();
    if (folds != 1) sliced_total(factors, sums, totals + params.round * factors * SLICED_PARTS);
}

// Transposes 32 words of 32 bits: swaps ever smaller blocks beside the diagonal (H. Warren, Hacker’s Delight).
DEVICE void sliced_transpose(u32 *words) {
#pragma unroll
    for (int step = 0; step < 5; step++) {
        const int width = 16 >> step;
        const u32 mask = 0xffffffffu / ((1u << width) + 1);
#pragma unroll
        for (int i = 0; i < 16; i++) {
            const int low = i / width * 2 * width + i % width;
            u32 swapped = (words[low] >> width ^ words[low + width]) & mask;
            words[low] ^= swapped << width;
            words[low + width] ^= swapped;
        }
    }
}

// Converts packed elements to tiles, which may overwrite these. Any number of groups.
KERNEL(SLICE_GROUP)
void sumcheck_slice(u64 tiles, GLOBAL const u32 *from, GLOBAL u32 *to) {
    u32 words[SLICED_BITS], limb = LOCAL_ID % 4, lane = LOCAL_ID / 4;
    for (u64 tile = GROUP_ID; tile < tiles; tile += GROUPS) {
        GLOBAL const u32 *elements = from + tile * TILE_WORDS + lane * SLICED_BITS * 4 + limb;
        GLOBAL u32 *sliced = to + tile * TILE_WORDS + limb * SLICED_BITS * SLICED_LANES + lane;
#pragma unroll
        for (int i = 0; i < SLICED_BITS; i++) words[i] = elements[4 * i];
        GLOBAL_BARRIER();
        sliced_transpose(words);
#pragma unroll
        for (int i = 0; i < SLICED_BITS; i++) sliced[i * SLICED_LANES] = words[i];
    }
}

// Converts tiles to packed elements. Any number of groups; columns are side by side in `to`.
KERNEL(SLICE_GROUP)
void sumcheck_unslice(u32 tiles, u32 columns, u64 from_stride, GLOBAL const u32 *from, GLOBAL u32 *to) {
    u32 words[SLICED_BITS], limb = LOCAL_ID % 4, lane = LOCAL_ID / 4;
    for (u64 number = GROUP_ID; number < (u64)tiles * columns; number += GROUPS) {
        GLOBAL const u32 *sliced = sliced_column(from, from_stride, (u32)(number / tiles), number % tiles);
        GLOBAL u32 *elements = to + number * TILE_WORDS + lane * SLICED_BITS * 4 + limb;
        sliced += limb * SLICED_BITS * SLICED_LANES + lane;
#pragma unroll
        for (int i = 0; i < SLICED_BITS; i++) words[i] = sliced[i * SLICED_LANES];
        sliced_transpose(words);
#pragma unroll
        for (int i = 0; i < SLICED_BITS; i++) elements[4 * i] = words[i];
    }
}

// Computes products in T5, [group][bit][lane], one group for each 1024. Tests call it, and operations are counted in
// it.
KERNEL(SLICED_LANES)
void sliced_products(GLOBAL const u32 *a, GLOBAL const u32 *b, GLOBAL u32 *to) {
    u32 x[SLICED_BITS], y[SLICED_BITS], z[SLICED_BITS], at = GROUP_ID * SLICED_BITS * SLICED_LANES + LOCAL_ID;
#pragma unroll
    for (int t = 0; t < SLICED_BITS; t++) {
        x[t] = a[at + t * SLICED_LANES];
        y[t] = b[at + t * SLICED_LANES];
        z[t] = 0;
    }
    sliced_mul_32(z, x, y);
#pragma unroll
    for (int t = 0; t < SLICED_BITS; t++) to[at + t * SLICED_LANES] = z[t];
}
