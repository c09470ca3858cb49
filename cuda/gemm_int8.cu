// Multiplies bytes by mma.sync, on devices of compute capability 8.0 and later; gemm_int8_common.cuh describes the
// products.
//
// A group of 8 warps makes its sums 64 × 64 per warp, in 128 registers of each work-item. Four steps of 32 k are in
// local memory or in flight (48 KiB). A row of a step is 32 bytes. Its halves are swapped in every other four rows, so
// that the eight rows that ldmatrix reads at once have no bank conflicts.

#define INT8_DEPTH INT8_MMA_DEPTH
#define INT8_STAGE ((INT8_ROWS + INT8_COLUMNS) * INT8_DEPTH)

#if __CUDA_ARCH__ >= 800

typedef struct {
    i32 sum[4][8][4];
} int8_sums_t;

// Returns where the `half`, 16 bytes, of a row of a step is.
DEVICE u32 int8_place(u32 row, u32 half) {
    return row * INT8_DEPTH + ((half ^ (row >> 2 & 1)) << 4);
}

// Copies a step of k: a work-item copies half a row of A, and INT8_COLUMNS / INT8_ROWS halves of B. Rows INT8_ROWS
// apart are laid out alike.
DEVICE void int8_take(u32 stage, const u8 *a, const u8 *b, u32 depth) {
    u32 row = LOCAL_ID >> 1, half = LOCAL_ID & 1, to = stage + int8_place(row, half);
    u64 from = (u64)row * depth + 16 * half;
    int8_copy(to, a + from);
#pragma unroll
    for (u32 i = 0; i < INT8_COLUMNS / INT8_ROWS; i++)
        int8_copy(to + (i + 1) * INT8_ROWS * INT8_DEPTH, b + from + (u64)i * INT8_ROWS * depth);
    int8_commit();
}

DEVICE void int8_load(u32 *r, u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
}

DEVICE void int8_multiply(i32 *sum, const u32 *a, u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
                 "%1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Adds one step of k to the 64 × 64 sums of a warp, from its first row and column in the stage.
DEVICE void int8_step(int8_sums_t *sums, u32 stage, u32 row, u32 column) {
    u32 lane = LOCAL_ID % 32, a[4][4], b[4][4];
    // Loads of A rows 0–7 and 8–15 of the lower half, then of the upper one.
#pragma unroll
    for (u32 i = 0; i < 4; i++) int8_load(a[i], stage + int8_place(row + 16 * i + lane % 16, lane / 16));
    // Loads of B both halves of columns 0–7, then of columns 8–15.
#pragma unroll
    for (u32 j = 0; j < 4; j++)
        int8_load(b[j], stage + int8_place(INT8_ROWS + column + 16 * j + lane / 16 * 8 + lane % 8, lane / 8 % 2));
#pragma unroll
    for (u32 i = 0; i < 4; i++)
#pragma unroll
        for (u32 j = 0; j < 8; j++) int8_multiply(sums->sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
}

DEVICE void int8_flush(int8_sums_t *sums, int8_modulus_t m) {
    for (u32 i = 0; i < 4; i++)
        for (u32 j = 0; j < 8; j++)
            for (u32 k = 0; k < 4; k++) sums->sum[i][j][k] = int8_residue(sums->sum[i][j][k], m);
}

// Computes the sums of the group over all of k; `a` and `b` are its first row and column, `entry` is that of the
// modulus in the table.
template <bool flushes>
DEVICE void int8_product(int8_sums_t *sums, const u8 *a, const u8 *b, u32 depth, const u32 *entry) {
    extern __shared__ __align__(128) u8 stages[];
    u32 base = (u32)__cvta_generic_to_shared(stages), steps = depth / INT8_DEPTH, warp = LOCAL_ID / 32;
#pragma unroll
    for (u32 i = 0; i < 4; i++)
#pragma unroll
        for (u32 j = 0; j < 8; j++)
#pragma unroll
            for (u32 k = 0; k < 4; k++) sums->sum[i][j][k] = 0;
    for (u32 step = 0; step < INT8_STAGES - 1; step++) {
        if (step < steps) int8_take(base + step * INT8_STAGE, a + step * INT8_DEPTH, b + step * INT8_DEPTH, depth);
        else int8_commit();
    }
#pragma unroll 1
    for (u32 step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(INT8_STAGES - 2) : "memory");
        BARRIER();
        u32 next = step + INT8_STAGES - 1;
        if (next < steps)
            int8_take(base + next % INT8_STAGES * INT8_STAGE, a + next * INT8_DEPTH, b + next * INT8_DEPTH, depth);
        else int8_commit();
        int8_step(sums, base + step % INT8_STAGES * INT8_STAGE, warp / 4 * 64, warp % 4 * 64);
        if (flushes && step % (INT8_EXACT / INT8_DEPTH) == INT8_EXACT / INT8_DEPTH - 1)
            int8_flush(sums, int8_modulus(entry));
    }
}

// Returns the row of the first of the sums of a warp that a work-item has; int8_column returns its column. Further sums
// are 16 rows, 8 rows, 8 columns and 1 column on.
DEVICE u32 int8_row(void) {
    return LOCAL_ID / 128 * 64 + LOCAL_ID % 32 / 4;
}

DEVICE u32 int8_column(void) {
    return LOCAL_ID / 32 % 4 * 64;
}

#endif

// Computes for each set y = sum · (M/m)⁻¹ mod m as bytes [set][row][column], for the modulus of the set.
KERNEL_BOUNDED(INT8_GROUP, 1)
void gemm_int8_residues(int8_residues_params_t params, const u32 *table, const u8 *a, const u8 *b, u8 *out,
                        void *local) {
#if __CUDA_ARCH__ >= 800
    u32 tall = params.tall, wide = params.wide, tiles = params.tiles, depth = params.depth;
    u64 rows = (u64)tall * INT8_ROWS, columns = (u64)wide * INT8_COLUMNS;
    for (u32 number = GROUP_ID; number < tiles; number += GROUPS) {
        u32 set = number / (tall * wide), tile = number % (tall * wide), row = tile % tall * INT8_ROWS,
            column = tile / tall * INT8_COLUMNS;
        const u32 *entry = table + set % params.moduli * CRT_WORDS;
        int8_sums_t sums;
        BARRIER();
        int8_product<true>(&sums, a + (set * rows + row) * depth, b + (set * columns + column) * depth, depth, entry);
        int8_modulus_t m = int8_modulus(entry);
        u8 *to = out + (set * rows + row + int8_row()) * columns + column + int8_column();
        u32 pairs[4][2][4];
#pragma unroll
        for (u32 i = 0; i < 4; i++)
#pragma unroll
            for (u32 k = 0; k < 2; k++) int8_pairs(pairs[i][k], &sums.sum[i][0][2 * k], m);
#pragma unroll
        for (u32 i = 0; i < 4; i++)
#pragma unroll
            for (u32 k = 0; k < 2; k++) int8_store(to + (16 * i + 8 * k) * columns, pairs[i][k]);
    }
#endif
}

// Computes the sums themselves, of one set, for k below INT8_EXACT, of params.rows × params.columns entries.
KERNEL_BOUNDED(INT8_GROUP, 1)
void gemm_int8_words(int8_words_params_t params, const u8 *a, const u8 *b, i32 *c, GRID_CONSTANT gemm_view_t c_view,
                     void *local) {
#if __CUDA_ARCH__ >= 800
    u32 tall = params.tall, tiles = params.tiles, depth = params.depth;
    for (u32 number = GROUP_ID; number < tiles; number += GROUPS) {
        u32 row = number % tall * INT8_ROWS, column = number / tall * INT8_COLUMNS;
        int8_sums_t sums;
        BARRIER();
        int8_product<false>(&sums, a + (u64)row * depth, b + (u64)column * depth, depth, 0);
        row += int8_row(), column += int8_column() + LOCAL_ID % 4 * 2;
#pragma unroll
        for (u32 i = 0; i < 4; i++)
#pragma unroll
            for (u32 j = 0; j < 8; j++)
#pragma unroll
                for (u32 k = 0; k < 4; k++) {
                    u32 r = row + 16 * i + k / 2 * 8, s = column + 8 * j + k % 2;
                    if (r < params.rows && s < params.columns)
                        c[c_view.first + r * c_view.row_step + s * c_view.column_step] = sums.sum[i][j][k];
                }
    }
#endif
}
