// Multiplies bytes by wgmma, on devices of compute capability 9.0 alone; gemm_int8_common.cuh describes the products.
//
// A group is two warpgroups of 128 work-items. Each has 64 rows and all columns of the sums, in 128 registers of a
// work-item. A stage is 128 k of the rows and columns of the group (48 KiB); four are in local memory. A row of a stage
// is 128 bytes. Its 16-byte pieces are permuted by the number of the row, as the 128-byte swizzle of the instruction
// has it. Eight rows are a block of 1 KiB.
//
// Products run asynchronously. While those of a stage run, the group waits for the next stage and copies the one after
// that. The copy goes to the place of the previous stage, whose products have ended. Stages go on from a tile to the
// next one of the group, so that its first stages are copied while the sums of a tile are stored.

#define INT8_DEPTH INT8_WGMMA_DEPTH
#define INT8_STAGE ((INT8_ROWS + INT8_COLUMNS) * INT8_DEPTH)

#if __CUDA_ARCH_FEAT_SM90_ALL

#define INT8_FOUR(i) "+r"(sums[i]), "+r"(sums[i + 1]), "+r"(sums[i + 2]), "+r"(sums[i + 3])

// Copies a stage of k: eight work-items copy a row, 32 rows at a time.
DEVICE void int8_take(u32 stage, const u8 *a, const u8 *b, u32 depth) {
    u32 row = LOCAL_ID >> 3, piece = LOCAL_ID & 7, to = stage + row * INT8_DEPTH + ((piece ^ (row & 7)) << 4);
    u64 from = (u64)row * depth + 16 * piece;
#pragma unroll
    for (u32 i = 0; i < INT8_ROWS / 32; i++) int8_copy(to + 32 * i * INT8_DEPTH, a + from + (u64)32 * i * depth);
#pragma unroll
    for (u32 i = 0; i < INT8_COLUMNS / 32; i++)
        int8_copy(to + (INT8_ROWS + 32 * i) * INT8_DEPTH, b + from + (u64)32 * i * depth);
    int8_commit();
}

// Returns the descriptor of rows of 128 bytes from `address` on: blocks of 1 KiB, swizzled by 128 bytes.
DEVICE u64 int8_rows(u32 address) {
    return (address & 0x3ffff) >> 4 | (u64)1 << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}

// Adds the product of 64 rows and 256 columns over 32 k to the sums.
DEVICE void int8_multiply(i32 *sums, u64 a, u64 b) {
    asm volatile("{.reg .pred adds;\nsetp.ne.b32 adds, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
                 "%128, %129, adds;}"
                 : INT8_FOUR(0), INT8_FOUR(4), INT8_FOUR(8), INT8_FOUR(12), INT8_FOUR(16), INT8_FOUR(20), INT8_FOUR(24),
                   INT8_FOUR(28), INT8_FOUR(32), INT8_FOUR(36), INT8_FOUR(40), INT8_FOUR(44), INT8_FOUR(48),
                   INT8_FOUR(52), INT8_FOUR(56), INT8_FOUR(60), INT8_FOUR(64), INT8_FOUR(68), INT8_FOUR(72),
                   INT8_FOUR(76), INT8_FOUR(80), INT8_FOUR(84), INT8_FOUR(88), INT8_FOUR(92), INT8_FOUR(96),
                   INT8_FOUR(100), INT8_FOUR(104), INT8_FOUR(108), INT8_FOUR(112), INT8_FOUR(116), INT8_FOUR(120),
                   INT8_FOUR(124)
                 : "l"(a), "l"(b), "r"(1));
}

DEVICE void int8_fence(void) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Waits until all products but those of the last `stages` stages have ended; the sums are theirs until then.
template <int stages> DEVICE void int8_wait(i32 *sums) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(stages) : "memory");
    if (stages == 0)
#pragma unroll
        for (u32 i = 0; i < 128; i++) asm volatile("" : "+r"(sums[i])::"memory");
}

// Queues the products of a stage of k for the sums of a warpgroup.
DEVICE void int8_step(i32 *sums, u32 stage) {
    u64 a = int8_rows(stage + LOCAL_ID / 128 * 64 * INT8_DEPTH), b = int8_rows(stage + INT8_ROWS * INT8_DEPTH);
    int8_fence();
#pragma unroll
    for (u32 k = 0; k < INT8_DEPTH / 32; k++) int8_multiply(sums, a + 2 * k, b + 2 * k);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Holds the factors: `tiles` tiles in sets of `tall` × `wide`, each over `depth` k.
typedef struct {
    const u8 *a, *b;
    u32 tall, wide, tiles, depth;
} int8_factors_t;

// Holds the place of a group: the stage and tile to be copied next, and the number of stages that were multiplied.
typedef struct {
    const u8 *a, *b;
    u32 tile, step, done, base;
} int8_place_t;

DEVICE void int8_find(int8_place_t *place, int8_factors_t factors, u32 tile) {
    u32 set = tile / (factors.tall * factors.wide), rest = tile % (factors.tall * factors.wide);
    u64 row = ((u64)set * factors.tall + rest % factors.tall) * INT8_ROWS;
    u64 column = ((u64)set * factors.wide + rest / factors.tall) * INT8_COLUMNS;
    place->tile = tile, place->step = 0;
    place->a = factors.a + row * factors.depth, place->b = factors.b + column * factors.depth;
}

// Copies the next stage of k, if there is one, to the place of stage `number` modulo INT8_STAGES.
DEVICE void int8_go_on(int8_place_t *place, int8_factors_t factors, u32 number) {
    if (place->tile >= factors.tiles) return int8_commit();
    u32 from = place->step * INT8_DEPTH;
    int8_take(place->base + number % INT8_STAGES * INT8_STAGE, place->a + from, place->b + from, factors.depth);
    if (++place->step == factors.depth / INT8_DEPTH) int8_find(place, factors, place->tile + GROUPS);
}

DEVICE int8_place_t int8_start(int8_factors_t factors) {
    extern __shared__ __align__(1024) u8 stages[];
    int8_place_t place;
    int8_find(&place, factors, GROUP_ID);
    place.done = 0, place.base = (u32)__cvta_generic_to_shared(stages);
    for (u32 number = 0; number < INT8_STAGES - 2; number++) int8_go_on(&place, factors, number);
    return place;
}

// Computes the sums of the next tile of the group over all of k; `entry` is that of the modulus in the table, if there
// is one.
template <bool flushes>
DEVICE void int8_product(i32 *sums, int8_place_t *place, int8_factors_t factors, const u32 *entry) {
#pragma unroll
    for (u32 i = 0; i < 128; i++) sums[i] = 0;
#pragma unroll 1
    for (u32 step = 0; step < factors.depth / INT8_DEPTH; step++, place->done++) {
        // The part of this stage that the work-item copied is there, and is made visible to the products.
        asm volatile("cp.async.wait_group %0;\nfence.proxy.async.shared::cta;" ::"n"(INT8_STAGES - 3) : "memory");
        // All parts are there, and no products read the stage before the last any more.
        BARRIER();
        int8_go_on(place, factors, place->done + INT8_STAGES - 2);
        int8_step(sums, place->base + place->done % INT8_STAGES * INT8_STAGE);
        if (flushes && step % (INT8_EXACT / INT8_DEPTH) == INT8_EXACT / INT8_DEPTH - 1) {
            int8_wait<0>(sums);
            int8_modulus_t m = int8_modulus(entry);
#pragma unroll
            for (u32 i = 0; i < 128; i++) sums[i] = int8_residue(sums[i], m);
        } else {
            int8_wait<1>(sums);
        }
    }
    int8_wait<0>(sums);
}

// Returns the row of the first sum of a work-item; further ones are 8 rows, 8 columns and 1 column on.
DEVICE u32 int8_row(void) {
    return LOCAL_ID / 32 * 16 + LOCAL_ID % 32 / 4;
}

#endif

// Computes for each set y = sum · (M/m)⁻¹ mod m as bytes [set][row][column], for the modulus of the set.
KERNEL_BOUNDED(INT8_GROUP, 1)
void gemm_int8_residues(int8_residues_params_t params, const u32 *table, const u8 *a, const u8 *b, u8 *out,
                        void *local) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    u32 tall = params.tall, wide = params.wide, tiles = params.tiles, depth = params.depth;
    int8_factors_t factors = {a, b, tall, wide, tiles, depth};
    int8_place_t place = int8_start(factors);
    u64 columns = (u64)wide * INT8_COLUMNS;
#pragma unroll 1
    for (u32 number = GROUP_ID; number < tiles; number += GROUPS) {
        u32 set = number / (tall * wide), tile = number % (tall * wide);
        const u32 *entry = table + set % params.moduli * CRT_WORDS;
        i32 sums[128];
        int8_product<true>(sums, &place, factors, entry);
        int8_modulus_t m = int8_modulus(entry);
        u64 row = ((u64)set * tall + tile % tall) * INT8_ROWS + int8_row();
        u8 *to = out + row * columns + tile / tall * INT8_COLUMNS;
        u32 pairs[4][2][4];
#pragma unroll
        for (u32 j = 0; j < 4; j++)
#pragma unroll
            for (u32 k = 0; k < 2; k++) int8_pairs(pairs[j][k], sums + 32 * j + 2 * k, m);
#pragma unroll
        for (u32 j = 0; j < 4; j++)
#pragma unroll
            for (u32 k = 0; k < 2; k++) int8_store(to + 8 * k * columns + 64 * j, pairs[j][k]);
    }
#endif
}

// Computes the sums themselves, of one set, for k below INT8_EXACT, of params.rows × params.columns entries.
KERNEL_BOUNDED(INT8_GROUP, 1)
void gemm_int8_words(int8_words_params_t params, const u8 *a, const u8 *b, i32 *c, GRID_CONSTANT gemm_view_t c_view,
                     void *local) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    u32 tall = params.tall, tiles = params.tiles, depth = params.depth;
    int8_factors_t factors = {a, b, tall, tiles / tall, tiles, depth};
    int8_place_t place = int8_start(factors);
#pragma unroll 1
    for (u32 number = GROUP_ID; number < tiles; number += GROUPS) {
        i32 sums[128];
        int8_product<false>(sums, &place, factors, 0);
        u32 row = number % tall * INT8_ROWS + int8_row(), column = number / tall * INT8_COLUMNS + LOCAL_ID % 4 * 2;
#pragma unroll
        for (u32 j = 0; j < 32; j++)
#pragma unroll
            for (u32 k = 0; k < 4; k++) {
                u32 r = row + k / 2 * 8, s = column + 8 * j + k % 2;
                if (r < params.rows && s < params.columns)
                    c[c_view.first + r * c_view.row_step + s * c_view.column_step] = sums[4 * j + k];
            }
    }
#endif
}
