// Number-theoretic transforms in passes over tiles that live in registers.
//
// The transform of n = 2^log_n values evaluates a polynomial at g·ω^k. Level by level the polynomial is reduced
// modulo x^h − c and x^h + c, h = n/2 … 1 (a tree of remainders; its nodes' c are in ntt_tables.cl). Level d works on
// bit log_n − 1 − d of the index, so a pass of 2^radix_log rows settles radix_log bits. Passes but the last are
// ntt_columns: they work on columns, in place. The last is ntt_rows: it multiplies element i of row K by (g·ω^K)^i,
// from two tables by the high and low bits of K, and transforms rows by the nodes of the plain tree, whose first
// products are by 1. Every factor is a fixed one (shoup.cl).
//
// A tile is 2^TILE_LOG elements, 8 in the registers of each work-item. Element number: row and column bits as
// [column high bits][row][column low bits]; the high column bits exist below 8 rows only. A step holds a window of 3
// bits of that number in the index of the register and works on up to 3 levels; in between elements change hands
// through local memory, half an element at a time, at element ^ (element >> 3 & 7): no bank conflicts.
// Runs in global memory: 2^(TILE_LOG − radix_log) elements, 128 bytes for radix 2^9, more for smaller ones.
//
// Values are in Montgomery form, reduced on input and output, in [0, 2p) between.

#define TILE_LOG 11
#define TILE (1u << TILE_LOG)
#define NTT_GROUP 256
#define NTT_GROUPS 2
#define HALF_LIMBS (FIELD_WORDS / 2)

// Flags.
#define SHIFTED 1u      // The nodes are not those of the plain tree.
#define REVERSED 2u     // Output in bit-reversed order.
#define FACTOR_LOW 4u   // Rows are multiplied by the factors of the low bits of their number,
#define FACTOR_HIGH 8u  // of the high bits,
#define FACTOR_LAST 16u // outputs by those of their last digit.
#define IN_PLACE 32u    // Groups wait until all that they write over has been read.

typedef struct ALIGNED(16) {
    u32 limb[HALF_LIMBS];
} part_t;

typedef struct {
    GLOBAL const F(fixed) *nodes;
    // The node of the pass's block, and the levels done below it.
    u32 base, done;
    bool shifted;
} tree_t;

DEVICE u32 tile_element(u32 window, u32 j) {
    return (LOCAL_ID >> window) << (window + 3) | j << window | (LOCAL_ID & ((1u << window) - 1));
}

DEVICE u32 tile_slot(u32 element) {
    return element ^ (element >> 3 & 7);
}

// (x, y) becomes (x + c·y, x − c·y).
DEVICE void butterfly(F(t) *x, F(t) *y, bool multiply, F(fixed) c) {
    F(t) product = *y;
    if (multiply) product = F(mul_fixed)(product, c);
    *y = F(sub_2p)(*x, product);
    *x = F(add_2p)(*x, product);
}

// A level: registers `distance` apart. `first` is the number of the work-item's first block.
#define PASS_LEVEL(distance)                                                                   \
    DEVICE void pass_level_##distance(F(t) *x, tree_t tree, u32 first, u32 done) {             \
        _Pragma("unroll") for (int g = 0; g < 4 / distance; g++) {                             \
            u32 node = tree.base << done | ((first * (4 / distance) + g) & ((1u << done) - 1)); \
            bool multiply = tree.shifted || (node & (node - 1)) != 0;                          \
            F(fixed) c = tree.nodes[node];                                                     \
            _Pragma("unroll") for (int k = 0; k < distance; k++)                               \
                butterfly(&x[2 * distance * g + k], &x[2 * distance * g + k + distance], multiply, c); \
        }                                                                                      \
    }
PASS_LEVEL(4)
PASS_LEVEL(2)
PASS_LEVEL(1)

// Up to three levels on the registers.
DEVICE void pass_step(F(t) *x, tree_t tree, u32 window, u32 levels) {
    u32 first = LOCAL_ID >> window;
    if (levels > 2) pass_level_4(x, tree, first, tree.done);
    if (levels > 1) pass_level_2(x, tree, first, tree.done + levels - 2);
    pass_level_1(x, tree, first, tree.done + levels - 1);
}

// From one window to another. Ends without a barrier: the next exchange must not begin before one.
DEVICE void exchange(LOCAL_POINTER part_t *tile, F(t) *x, u32 from, u32 to) {
#pragma unroll
    for (int part = 0; part < 2; part++) {
        if (part != 0) BARRIER();
#pragma unroll
        for (int j = 0; j < 8; j++) {
            part_t out;
#pragma unroll
            for (int i = 0; i < HALF_LIMBS; i++) out.limb[i] = x[j].limb[part * HALF_LIMBS + i];
            tile[tile_slot(tile_element(from, j))] = out;
        }
        BARRIER();
#pragma unroll
        for (int j = 0; j < 8; j++) {
            part_t in = tile[tile_slot(tile_element(to, j))];
#pragma unroll
            for (int i = 0; i < HALF_LIMBS; i++) x[j].limb[part * HALF_LIMBS + i] = in.limb[i];
        }
    }
}

// Bits of a tile's columns below the row's bits.
DEVICE u32 low_columns_log(u32 radix_log) {
    return TILE_LOG - (radix_log < 3 ? 3 : radix_log);
}

DEVICE u32 tile_row(u32 element, u32 radix_log) {
    return element >> low_columns_log(radix_log) & ((1u << radix_log) - 1);
}

// The column's number among all.
DEVICE u32 tile_column(u32 group, u32 element, u32 radix_log) {
    u32 low_log = low_columns_log(radix_log);
    u32 column = element >> (low_log + radix_log) << low_log | (element & ((1u << low_log) - 1));
    return (group << (TILE_LOG - radix_log)) + column;
}

// All levels of a pass; returns the last step's window.
DEVICE u32 pass_levels(LOCAL_POINTER part_t *tile, F(t) *x, tree_t tree, u32 radix_log, GLOBAL u32 *plane) {
    u32 window = TILE_LOG - 3, levels;
    for (tree.done = 0; tree.done < radix_log; tree.done += levels) {
        u32 left = radix_log - tree.done;
        levels = left < 3 ? left : 3;
        if (tree.done != 0) {
            u32 next = low_columns_log(radix_log) + left - levels;
            exchange(tile, x, window, next);
            window = next;
        }
#ifdef GRID_ORDER
        // Everybody has used what it loaded.
        if (plane != 0 && tree.done == 3 && LOCAL_ID == 0) grid_arrive(plane);
#endif
        pass_step(x, tree, window, levels);
        BARRIER();
    }
    return window;
}

// Where row `row` of a column is, for columns of stride 2^stride_log in a vector.
DEVICE u64 column_index(u32 column, u32 row, u32 log_n, u32 radix_log, u32 stride_log, u64 vector_stride) {
    u32 vector = column >> (log_n - radix_log), at = column & ((1u << (log_n - radix_log)) - 1);
    u32 outer = at >> stride_log, inner = at & ((1u << stride_log) - 1);
    return vector * vector_stride + ((outer << (stride_log + radix_log)) | row << stride_log | inner);
}

// One pass but the last. Grid: a group a tile, columns of all vectors in a row; n ≥ TILE. `state` is cleared for
// ntt_rows, where it is given.
KERNEL_BOUNDED(NTT_GROUP, NTT_GROUPS)
void ntt_columns(GLOBAL F(t) *data, u64 vector_stride, u32 log_n, u32 log_done, u32 radix_log,
                 GLOBAL const F(fixed) *nodes, u32 flags, GLOBAL u32 *state, u32 state_length) {
    LOCAL part_t tile[TILE];
    F(t) x[8];
    u32 stride_log = log_n - log_done - radix_log, window = TILE_LOG - 3;
    for (u32 i = GLOBAL_ID; i < state_length; i += GLOBAL_SIZE) state[i] = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        u32 element = tile_element(window, j);
        u32 column = tile_column(GROUP_ID, element, radix_log);
        x[j] = data[column_index(column, tile_row(element, radix_log), log_n, radix_log, stride_log, vector_stride)];
    }
    // A tile's columns are of one block, since a block has 2^stride_log of them.
    u32 columns = 1u << (log_n - radix_log);
    u32 block = ((GROUP_ID << (TILE_LOG - radix_log)) & (columns - 1)) >> stride_log;
    if (!(flags & REVERSED)) block = reverse_bits(block, log_done);
    tree_t tree = {nodes, 1u << log_done | block, 0, (flags & SHIFTED) != 0};
    window = pass_levels(tile, x, tree, radix_log, 0);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        u32 element = tile_element(window, j), row = tile_row(element, radix_log);
        u32 column = tile_column(GROUP_ID, element, radix_log);
        if (!(flags & REVERSED)) row = reverse_bits(row, radix_log);
        data[column_index(column, row, log_n, radix_log, stride_log, vector_stride)] = x[j];
    }
}
