// Number-theoretic transforms in passes over tiles in registers: the definitions that all passes share.
//
// The transform of n = 2^log_n values evaluates a polynomial at g·ω^k. Level by level the polynomial is reduced modulo
// x^h − c and x^h + c, h = n/2 … 1 (a tree of remainders; the c of its nodes are in ntt_twiddles.cl). Level d works on
// bit log_n − 1 − d of the index, so a pass of 2^radix_log rows settles radix_log bits. Passes but the last are
// ntt_column_pass: they work on columns, in place. The third of four also swaps the second and third digit of the index, so
// that the last finds all but the first in their final order. The last is ntt_row_pass: it multiplies element i of row K by
// (g·ω^K)^i, from one table or from two by the high and low bits of K. It then transforms rows by the nodes of the
// plain tree, whose first products are by 1. Every factor is a fixed one (field_shoup.cl).
//
// A tile is 2^TILE_LOG elements, 4 in the registers of each work-item. The number of an element has the bits of its row
// above those of its column. A step holds a window of 2 bits of that number in the index of the register, and works on
// up to 2 levels. In between, work-items exchange elements through local memory, half an element (or one of a word) at a time, at element
// ^ (element >> 2 & 7), without bank conflicts. Runs in global memory have 2^(TILE_LOG − radix_log) elements: 64 bytes
// for radix 2^8, more for smaller ones. Small tiles, 28 warps of 72 registers on a multiprocessor, gain more than
// longer runs: see benches/notes/ntt.md, section 11.
//
// Values are in Montgomery form, reduced on input and output, in [0, 2p) between.

// Two modules have these passes, the second one for transforms of few tiles: see ntt_single_wave.cl.
#ifdef SMALL_TILES
#define NODE_ADDR_SPACE LOCAL_PTR
#else
#define NODE_ADDR_SPACE GLOBAL
#endif
#define TILE (1u << TILE_LOG)
#define STEP (1 << STEP_LOG)
#define NTT_GROUP (TILE / STEP)
// Parts of an element that are exchanged one after the other, and their limbs.
#define PARTS (FIELD_WORDS > 1 ? 2 : 1)
#define PART_LIMBS (FIELD_WORDS > 1 ? FIELD_WORDS / 2 : 1)

typedef struct ALIGNED(4 * PART_LIMBS) {
    u32 limb[PART_LIMBS];
} element_part_t;

typedef struct {
    NODE_ADDR_SPACE const F(fixed) *nodes;
    // The own node of the block among them, and the number of levels done below it.
    u32 base, done;
    // Whether the first node of a level is not 1.
    bool multiply;
} tree_t;

DEVICE u32 reverse_bits(u32 value, u32 bits) {
    value = (value & 0x55555555u) << 1 | (value >> 1 & 0x55555555u);
    value = (value & 0x33333333u) << 2 | (value >> 2 & 0x33333333u);
    value = (value & 0x0f0f0f0fu) << 4 | (value >> 4 & 0x0f0f0f0fu);
    value = (value & 0x00ff00ffu) << 8 | (value >> 8 & 0x00ff00ffu);
    value = value << 16 | value >> 16;
    return bits == 0 ? 0 : value >> (32 - bits);
}

DEVICE u32 tile_element(u32 window, u32 j) {
    return (LOCAL_ID >> window) << (window + STEP_LOG) | j << window | (LOCAL_ID & ((1u << window) - 1));
}

DEVICE u32 tile_slot(u32 element) {
    return element ^ (element >> STEP_LOG & 7);
}

// Replaces (x, y) by (x + c·y, x − c·y).
DEVICE void butterfly(F(t) *x, F(t) *y, bool multiply, F(fixed) c) {
    F(t) product = *y;
    if (multiply) product = F(mul_fixed)(product, c);
    *y = F(sub_2p)(*x, product);
    *x = F(add_2p)(*x, product);
}

// Defines a level on registers that are `distance` apart. `first` is the number of the first block of the work-item.
#define PASS_LEVEL(distance)                                                                           \
    DEVICE void pass_level_##distance(F(t) *x, tree_t tree, u32 first, u32 done) {                     \
        _Pragma("unroll") for (int g = 0; g < STEP / 2 / distance; g++) {                              \
            u32 block = (first * (STEP / 2 / distance) + g) & ((1u << done) - 1);                      \
            bool multiply = tree.multiply || block != 0;                                               \
            F(fixed) c = tree.nodes[tree.base << done | block];                                        \
            _Pragma("unroll") for (int k = 0; k < distance; k++)                                       \
                butterfly(&x[2 * distance * g + k], &x[2 * distance * g + k + distance], multiply, c); \
        }                                                                                              \
    }
PASS_LEVEL(2)
PASS_LEVEL(1)

// Runs up to two levels on the registers.
DEVICE void pass_step(F(t) *x, tree_t tree, u32 window, u32 levels) {
    u32 first = LOCAL_ID >> window;
    if (levels > 1) pass_level_2(x, tree, first, tree.done + levels - 2);
    pass_level_1(x, tree, first, tree.done + levels - 1);
}

// Exchanges elements from one window to another. It ends without a barrier: the next exchange must not begin before
// one.
DEVICE void exchange(LOCAL_PTR element_part_t *tile, F(t) *x, u32 from, u32 to) {
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        if (part != 0) BARRIER();
#pragma unroll
        for (int j = 0; j < STEP; j++) {
            element_part_t out;
#pragma unroll
            for (int i = 0; i < PART_LIMBS; i++) out.limb[i] = x[j].limb[part * PART_LIMBS + i];
            tile[tile_slot(tile_element(from, j))] = out;
        }
        BARRIER();
#pragma unroll
        for (int j = 0; j < STEP; j++) {
            element_part_t in = tile[tile_slot(tile_element(to, j))];
#pragma unroll
            for (int i = 0; i < PART_LIMBS; i++) x[j].limb[part * PART_LIMBS + i] = in.limb[i];
        }
    }
}

// Returns the bits of the columns of a tile.
DEVICE u32 columns_log(u32 radix_log) {
    return TILE_LOG - radix_log;
}

DEVICE u32 tile_row(u32 element, u32 radix_log) {
    return element >> columns_log(radix_log);
}

// Returns the number of a column among all.
DEVICE u32 tile_column(u32 group, u32 element, u32 radix_log) {
    return group << columns_log(radix_log) | (element & ((1u << columns_log(radix_log)) - 1));
}

// Returns the row that is in the first register after the last step.
DEVICE u32 last_row(u32 radix_log) {
    return tile_row(tile_element(columns_log(radix_log), 0), radix_log);
}

// Returns the two bits of the number of an output row that register `j` gives after the last step.
DEVICE u32 register_bits(u32 j, u32 radix_log, u32 flags) {
    return flags & REVERSED ? j : (j >> 1 | (j & 1) << 1) << (radix_log - STEP_LOG);
}

// Runs all levels of a pass, and returns the window of the last step.
DEVICE u32 pass_levels(LOCAL_PTR element_part_t *tile, F(t) *x, tree_t tree, u32 radix_log, GLOBAL u32 *plane) {
    u32 window = TILE_LOG - STEP_LOG, levels;
    for (tree.done = 0; tree.done < radix_log; tree.done += levels) {
        u32 left = radix_log - tree.done;
        levels = left < STEP_LOG ? left : STEP_LOG;
        if (tree.done != 0) {
            u32 next = columns_log(radix_log) + left - levels;
            exchange(tile, x, window, next);
            window = next;
        }
#ifdef HAS_FORWARD_PROGRESS
        // All work-items have used what they loaded.
        if (plane != 0 && tree.done == STEP_LOG && LOCAL_ID == 0) grid_arrive(plane);
#endif
        pass_step(x, tree, window, levels);
        BARRIER();
    }
    return window;
}

// Holds the columns of a pass: [outer][row][inner] in each vector, inner of stride_log bits. If the pass swaps digits,
// outer is [k1][k2], k2 of swap_log bits, and results go to [k1][row][k2][inner].
typedef struct {
    u32 log_n, radix_log, stride_log, swap_log;
    u64 vector_stride;
} column_pass_t;

DEVICE u64 column_index(column_pass_t columns, u32 column, u32 row, u32 swap_log) {
    u32 in_vector_log = columns.log_n - columns.radix_log, at = column & ((1u << in_vector_log) - 1);
    u32 inner = at & ((1u << columns.stride_log) - 1), outer = at >> columns.stride_log;
    u32 k2 = outer & ((1u << swap_log) - 1), k1 = outer >> swap_log;
    u32 index = ((k1 << columns.radix_log | row) << swap_log | k2) << columns.stride_log | inner;
    return (column >> in_vector_log) * columns.vector_stride + index;
}

// Returns the node of the block of a tile, whose columns are all of one block. `first_log` is the number of bits of k1.
DEVICE u32 columns_base(column_pass_t columns, u32 group, u32 first_log, u32 flags) {
    u32 done_log = columns.log_n - columns.stride_log - columns.radix_log;
    u32 column = group << (TILE_LOG - columns.radix_log);
    u32 block = column >> columns.stride_log & ((1u << done_log) - 1);
    if (!(flags & REVERSED)) {
        u32 later_log = done_log - first_log, k1 = block >> later_log, k2 = block & ((1u << later_log) - 1);
        block = reverse_bits(k2 << first_log | k1, done_log);
    }
    return 1u << done_log | block;
}

// Returns whether the first nodes of the levels of a block are anything but 1.
DEVICE bool multiplies(u32 base, u32 flags) {
    return (flags & SHIFTED) != 0 || (base & (base - 1)) != 0;
}

// Holds the rows of the last pass: see ntt_rows.cl.
typedef struct {
    u32 log_n, radix_log, first_log, flags;
    u64 vector_stride;
} rows_t;

// Returns the number of a row in its vector, and sets *vector to the start of the vector.
DEVICE u32 row_of(rows_t rows, u32 column, u64 *vector) {
    u32 rows_log = rows.log_n - rows.radix_log;
    *vector = (column >> rows_log) * rows.vector_stride;
    return column & ((1u << rows_log) - 1);
}

// Returns the number K of the row, by which it is multiplied.
DEVICE u32 row_number(rows_t rows, u32 column) {
    u64 vector;
    u32 k = row_of(rows, column, &vector);
    return rows.flags & REVERSED ? reverse_bits(k, rows.log_n - rows.radix_log) : k;
}

DEVICE u64 row_load_index(rows_t rows, u32 column, u32 i) {
    u64 vector;
    u32 row = row_of(rows, column, &vector), k1 = row & ((1u << rows.first_log) - 1);
    if (!(rows.flags & REVERSED)) row = k1 << (rows.log_n - rows.radix_log - rows.first_log) | row >> rows.first_log;
    return vector + (row << rows.radix_log | i);
}

DEVICE u64 row_store_index(rows_t rows, u32 column, u32 at) {
    u64 vector;
    u32 row = row_of(rows, column, &vector);
    if (rows.flags & REVERSED) return vector + (row << rows.radix_log | at);
    return vector + (reverse_bits(at, rows.radix_log) << (rows.log_n - rows.radix_log) | row);
}

// Multiplies by the factors of the last digit; `at` is the row of the first register after the last step.
DEVICE void row_scale(rows_t rows, F(t) *x, u32 at, GLOBAL const F(fixed) *last) {
    if (!(rows.flags & FACTOR_LAST)) return;
    last += reverse_bits(at, rows.radix_log);
#pragma unroll
    for (u32 j = 0; j < STEP; j++) x[j] = F(mul_fixed)(x[j], last[register_bits(j, rows.radix_log, 0)]);
}

// Scales and stores the elements of a work-item as the last step has left them.
DEVICE void row_store(rows_t rows, F(t) *x, u32 column, GLOBAL F(t) *out, GLOBAL const F(fixed) *last) {
    u32 at = last_row(rows.radix_log), apart_log = rows.flags & REVERSED ? 0 : rows.log_n - rows.radix_log;
    row_scale(rows, x, at, last);
    out += row_store_index(rows, column, at);
#pragma unroll
    for (u32 j = 0; j < STEP; j++)
        out[(u64)register_bits(j, rows.radix_log, rows.flags) << apart_log] = F(reduce)(x[j]);
}
