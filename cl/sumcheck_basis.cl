// Converts elements to another basis: adds up the images of each five bits under the map.
//
// The images of five bits are in four planes, one for each word of an element. A plane has 32 words, one in each bank
// of local memory. Thus 32 work-items look up any images in one access: 104 accesses per element, from 13 KB of local
// memory.

#define PLANE (1 << PLACE_BITS)
#define IMAGES (PLACES * 4 * PLANE)

DEVICE void sumcheck_take_images(LOCAL_PTR u32 *images, GLOBAL const u32 *table) {
    for (u32 i = LOCAL_ID; i < IMAGES; i += SUMCHECK_GROUP) images[i] = table[i];
    BARRIER();
}

// Returns the bits of `place`; the last place has three.
DEVICE u32 sumcheck_place(F(t) a, u32 place) {
    u32 word = PLACE_BITS * place / 32, shift = PLACE_BITS * place % 32, bits = a.limb[word] >> shift;
    if (shift + PLACE_BITS > 32 && word < 3) bits |= a.limb[word + 1] << (32 - shift);
    return bits & (PLANE - 1);
}

DEVICE F(t) sumcheck_image(LOCAL_PTR const u32 *images, F(t) a) {
    F(t) image = F(zero)();
#pragma unroll
    for (u32 place = 0; place < PLACES; place++) {
        u32 bits = sumcheck_place(a, place);
#pragma unroll
        for (u32 i = 0; i < 4; i++) image.limb[i] ^= images[(4 * place + i) * PLANE + bits];
    }
    return image;
}

// Converts `count` elements. Any grid; `from` may be `to`.
KERNEL(SUMCHECK_GROUP)
void sumcheck_convert(u64 count, GLOBAL const u32 *table, GLOBAL const F(t) *from, GLOBAL F(t) *to) {
    LOCAL u32 images[IMAGES];
    sumcheck_take_images(images, table);
    for (u64 i = GLOBAL_ID; i < count; i += GLOBAL_SIZE) to[i] = sumcheck_image(images, from[i]);
}

// The first pass over columns in another basis converts them too, so that no pass reads what was just written.

// Holds a first pass: columns have two or four times `step` rows. `from` may be `to`, since a work-item has all rows
// that it reads.
typedef struct {
    u32 step;
    u64 from_stride, to_stride;
    GLOBAL const F(t) *from;
    GLOBAL F(t) *to, *partials;
} sumcheck_first_t;

// Converts the rows of a work-item, `rows` of each column. Two at a time hide the latency of an access; all of them at
// once would be too much code.
DEVICE void sumcheck_bring(u32 factors, u32 rows, sumcheck_first_t work, u32 row, LOCAL_PTR const u32 *images) {
    u32 step = work.step;
#pragma unroll 1
    for (u32 k = 0; k < factors; k++) {
        GLOBAL const F(t) *from = work.from + k * work.from_stride + row;
        GLOBAL F(t) *to = work.to + k * work.to_stride + row;
#pragma unroll 1
        for (u32 i = 0; i < rows; i += 2) {
            F(t) even = from[i * step], odd = from[(i + 1) * step];
            to[i * step] = sumcheck_image(images, even);
            to[(i + 1) * step] = sumcheck_image(images, odd);
        }
    }
}

// Converts rows and sums products, as sumcheck_product does without folding.
DEVICE void sumcheck_first_product(u32 factors, sumcheck_first_t work, LOCAL_PTR const u32 *images,
                                   LOCAL_PTR F(t) *local_sums) {
    F(sum_t) sums[MAX_PRODUCT_FACTORS];
    F(t) low[MAX_PRODUCT_FACTORS], high[MAX_PRODUCT_FACTORS];
#pragma unroll
    for (u32 point = 0; point < factors; point++) sums[point] = F(sum_zero)();
    for (u32 row = GLOBAL_ID; row < work.step; row += GLOBAL_SIZE) {
        sumcheck_bring(factors, 2, work, row, images);
#pragma unroll
        for (u32 k = 0; k < factors; k++) {
            GLOBAL const F(t) *rows = work.to + k * work.to_stride + row;
            low[k] = rows[0];
            high[k] = rows[work.step];
        }
        sumcheck_add_products(factors, sums, low, high);
    }
    sumcheck_write_products(factors, sums, work.partials, local_sums);
}

// Converts rows and sums products, as sumcheck_pair does without folding.
DEVICE void sumcheck_first_pair(u32 factors, sumcheck_first_t work, LOCAL_PTR const u32 *images,
                                LOCAL_PTR F(t) *local_sums) {
    F(t) sums[PAIR_VALUES(MAX_PRODUCT_FACTORS)], rows[4 * MAX_PRODUCT_FACTORS];
#pragma unroll
    for (u32 number = 0; number < PAIR_VALUES(factors); number++) sums[number] = F(zero)();
    for (u32 row = GLOBAL_ID; row < work.step; row += GLOBAL_SIZE) {
        sumcheck_bring(factors, 4, work, row, images);
#pragma unroll
        for (u32 k = 0; k < factors; k++)
#pragma unroll
            for (u32 i = 0; i < 4; i++) rows[4 * k + i] = work.to[k * work.to_stride + i * work.step + row];
        sumcheck_add_four(factors, sums, rows);
    }
    sumcheck_write_sums(PAIR_VALUES(factors), sums, work.partials + GROUP_ID * PAIR_VALUES(factors), local_sums);
}

#define FIRST_KERNEL(name, groups, factors, values, pass_of)                                                         \
    KERNEL_BOUNDED(SUMCHECK_GROUP, groups)                                                                           \
    void name(GRID_CONSTANT pass_params_t params, GLOBAL const u32 *table, GLOBAL const F(t) *from, GLOBAL F(t) *to, \
              GLOBAL F(t) *partials, GLOBAL F(t) *totals, GLOBAL u32 *ended, GLOBAL u32 *told) {                     \
        LOCAL u32 images[IMAGES];                                                                                    \
        LOCAL F(t) sums[ROOM_FOR_SUMS(values)];                                                                      \
        sumcheck_first_t work = {params.step, params.from_stride, params.to_stride, from, to, partials};             \
        sumcheck_take_images(images, table);                                                                         \
        pass_of(factors, work, images, sums);                                                                        \
        sumcheck_totals_t all = {values, params.pass, partials, totals, ended, told};                                \
        sumcheck_end(GROUPS, all, sums);                                                                             \
    }

// Groups that share a multiprocessor, which bounds the registers: as many as of kernels that do not convert columns.
#ifdef HAS_CLMAD
#define FIRST_OCCUPANCY(factors) (8 - (factors))
#else
#define FIRST_OCCUPANCY(factors) (7 - (factors))
#endif

FIRST_KERNEL(sumcheck_first_product_2, FIRST_OCCUPANCY(2), 2, 2, sumcheck_first_product)
FIRST_KERNEL(sumcheck_first_product_3, FIRST_OCCUPANCY(3), 3, 3, sumcheck_first_product)
FIRST_KERNEL(sumcheck_first_product_4, FIRST_OCCUPANCY(4), 4, 4, sumcheck_first_product)
FIRST_KERNEL(sumcheck_first_pair_2, PAIR_OCCUPANCY(2), 2, PAIR_VALUES(2), sumcheck_first_pair)
FIRST_KERNEL(sumcheck_first_pair_3, PAIR_OCCUPANCY(3), 3, PAIR_VALUES(3), sumcheck_first_pair)
FIRST_KERNEL(sumcheck_first_pair_4, PAIR_OCCUPANCY(4), 4, PAIR_VALUES(4), sumcheck_first_pair)
