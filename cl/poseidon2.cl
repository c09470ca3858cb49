// Computes the permutation Poseidon2 (L. Grassi, D. Khovratovich, M. Schofnegger, 2023) with the matrices of Plonky3,
// and hashes rows of matrices by its sponge.
//
// The host defines, for each field and width:
//   WIDTH         elements of a state, a multiple of 4
//   SBOX_DEGREE   3 or 7
//   DIAGONAL      the diagonal of the internal matrix, which is that plus a matrix of ones: WIDTH numbers. A number d
//                 from −4 to 4 is itself; DIAGONAL_SHIFT + k is 2^−k, and its negative −2^−k
// src/hash/kernels.rs has these and the constants of the kernels.
//
// A field's file (poseidon2_small_field.cl, poseidon2_goldilocks.cl) defines sums, powers and the internal matrix, and
// loose elements, which are congruent to an element. A state in registers has loose elements; memory has reduced ones.
//
// Layout of the constants: `outer` + 1 rows of WIDTH for the first external rounds, `inner` elements for the internal
// rounds, `outer` + 1 rows for the last external rounds. The last row of both lists of rows is zero: each external
// matrix adds the constants of the next round.

// Groups that share a multiprocessor: 72 registers with states of 16 words, 96 with 24, 128 with 32.
#define POSEIDON2_GROUPS (WIDTH * FIELD_WORDS > 24 ? 4 : WIDTH * FIELD_WORDS > 16 ? 5 : 7)
#define POSEIDON2_PARAMETERS u32 outer, u32 inner, GLOBAL const F(t) *constants

// Multiplies the state by the external matrix and adds the constants `next`. Each block of four is multiplied by the
// circulant matrix of (2, 3, 1, 1), and then the sum of all blocks is added to each.
DEVICE void external_matrix(F(t) *state, GLOBAL const F(t) *next) {
    sum_t sums[WIDTH], column[4];
#pragma unroll
    for (int i = 0; i < WIDTH; i += 4) {
        F(t) *x = state + i;
        sum_t first = sum_of_two(x[0], x[1]), second = sum_of_two(x[2], x[3]), all = sum_add(first, second);
        sum_t with_1 = sum_add(all, sum_of(x[1])), with_3 = sum_add(all, sum_of(x[3]));
        sums[i] = sum_add(with_1, first);
        sums[i + 1] = sum_add(with_1, sum_of_two(x[2], x[2]));
        sums[i + 2] = sum_add(with_3, second);
        sums[i + 3] = sum_add(with_3, sum_of_two(x[0], x[0]));
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        column[k] = sums[k];
#pragma unroll
        for (int i = 4; i < WIDTH; i += 4) column[k] = sum_add(column[k], sums[i + k]);
    }
#pragma unroll
    for (int i = 0; i < WIDTH; i++) state[i] = sum_value(sum_add(sum_add(sums[i], column[i % 4]), sum_of(next[i])));
}

// Runs `rounds` external rounds. The first constants are added already; `next` are those of the second round.
DEVICE void external_rounds(F(t) *state, u32 rounds, GLOBAL const F(t) *next) {
    for (u32 round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < WIDTH; i++) state[i] = sbox(state[i]);
        external_matrix(state, next + round * WIDTH);
    }
}

DEVICE void internal_round(F(t) *state, F(t) addend) {
    const int diagonal[WIDTH] = DIAGONAL;
    state[0] = sbox(sum_value(sum_add(sum_of(state[0]), sum_of(addend))));
    row_sum_t row = row_sum(state);
#pragma unroll
    for (int i = 0; i < WIDTH; i++) state[i] = diagonal_add(diagonal[i], state[i], row);
}

DEVICE void permute(F(t) *state, u32 outer, u32 inner, GLOBAL const F(t) *constants) {
    // Keeps loads of constants from being hoisted above loops of permutations, where they take registers.
    u32 start = 0;
    SCHEDULE_FENCE(start);
    constants += start;
    GLOBAL const F(t) *internal = constants + (outer + 1) * WIDTH, *last = internal + inner;
    external_matrix(state, constants);
    external_rounds(state, outer, constants + WIDTH);
#pragma unroll
    for (int i = 0; i < WIDTH; i++) state[i] = reduce_loose(state[i]);
    for (u32 round = 0; round < inner; round++) internal_round(state, internal[round]);
#pragma unroll
    for (int i = 0; i < WIDTH; i++) state[i] = sum_value(sum_add(sum_of(state[i]), sum_of(last[i])));
    external_rounds(state, outer, last + WIDTH);
}

// Permutes `count` states of WIDTH consecutive elements in place, one per work-item.
KERNEL(POSEIDON2_GROUP)
void poseidon2_permute(POSEIDON2_PARAMETERS, u32 count, GLOBAL F(t) *states) {
    F(t) state[WIDTH];
    if (GLOBAL_ID >= count) return;
    states += (u64)GLOBAL_ID * WIDTH;
#pragma unroll
    for (int i = 0; i < WIDTH; i++) state[i] = states[i];
    permute(state, outer, inner, constants);
#pragma unroll
    for (int i = 0; i < WIDTH; i++) states[i] = reduce_loose(state[i]);
}

// Absorbs the rows of a row-major matrix into one sponge per row, one row per work-item. An element overwrites one of
// the first `rate` of the state; after `rate` elements the state is permuted. `filled` elements of the present block are
// there before the row. Rows start at row `first` of the matrix. Between matrices, states are in `states`: element i of
// row r at i·rows + r. The last matrix leaves the first `length` elements of a state in digest to + r; a part of a block
// is permuted before. It also writes zeros to the digests of r from `rows` to `padded`.
KERNEL(POSEIDON2_GROUP)
void poseidon2_hash_rows(POSEIDON2_PARAMETERS, GRID_CONSTANT sponge_pass_t pass, GLOBAL const F(t) *matrix,
                         GLOBAL F(t) *states, GLOBAL F(t) *digests) {
    F(t) state[WIDTH];
    const u32 row = GLOBAL_ID, rate = pass.rate, length = pass.length, rows = pass.rows;
    const bool first = (pass.flags & FIRST_MATRIX) != 0, last = (pass.flags & LAST_MATRIX) != 0;
    u32 columns = pass.columns, filled = pass.filled;
    digests += ((u64)pass.to + row) * length;
    if (row >= rows) {
        for (u32 i = 0; i < length && row < pass.padded && last; i++) digests[i] = F(zero)();
        return;
    }
    matrix += ((u64)pass.first + row) * columns;
    states += row;
#pragma unroll
    for (int i = 0; i < WIDTH; i++) state[i] = first ? F(zero)() : states[(u64)i * rows];
    while (columns > 0) {
        u32 taken = rate - filled < columns ? rate - filled : columns;
#pragma unroll
        for (u32 i = 0; i < WIDTH; i++)
            if (i >= filled && i < filled + taken) state[i] = matrix[i - filled];
        matrix += taken, columns -= taken, filled += taken;
        if (filled < rate && !last) break;
        permute(state, outer, inner, constants);
        filled = 0;
    }
#pragma unroll
    for (u32 i = 0; i < WIDTH; i++) {
        if (!last) states[(u64)i * rows] = reduce_loose(state[i]);
        else if (i < length) digests[i] = reduce_loose(state[i]);
    }
}
