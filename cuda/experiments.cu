// Experiments of benches/matrix_seed.rs: what local memory's banks, tiles, packed loads and tensor cores give products of floating
// point numbers, and what Montgomery's product gives one modulo 64 bits. CUDA only; no part of any operation.

#define EXPERIMENT_GROUP 256
#define EXPERIMENT_WORDS 8192

// Each work-item adds up words of local memory that lie so far apart between neighbours; word i holds i. Sums go to `out`.
KERNEL(EXPERIMENT_GROUP)
void experiment_stride(u32 stride, u32 rounds, u32 *out) {
    __shared__ u32 words[EXPERIMENT_WORDS];
    for (u32 i = LOCAL_ID; i < EXPERIMENT_WORDS; i += EXPERIMENT_GROUP) words[i] = i;
    BARRIER();
    u32 sum = 0, at = LOCAL_ID * stride % EXPERIMENT_WORDS;
    for (u32 round = 0; round < rounds; round++) {
        sum += *(volatile u32 *)&words[at];
        // To the same bank.
        at = (at + 32) % EXPERIMENT_WORDS;
    }
    out[GLOBAL_ID] = sum;
}

// C = A·B of n × n numbers of 32 bits, row after row: a work-item an entry.
KERNEL(EXPERIMENT_GROUP)
void experiment_plain(u32 n, const float *a, const float *b, float *c) {
    u32 across = n / 16, row = GROUP_ID / across * 16 + LOCAL_ID / 16, column = GROUP_ID % across * 16 + LOCAL_ID % 16;
    float sum = 0;
    for (u32 k = 0; k < n; k++) sum += a[(u64)row * n + k] * b[(u64)k * n + column];
    c[(u64)row * n + column] = sum;
}

// The same by tiles of 32 × 32 in local memory: a work-item four entries of a column.
KERNEL(EXPERIMENT_GROUP)
void experiment_tiled(u32 n, const float *a, const float *b, float *c) {
    __shared__ float a_tile[32][32], b_tile[32][32];
    u32 across = n / 32, row = GROUP_ID / across * 32, column = GROUP_ID % across * 32, x = LOCAL_ID % 32, y = LOCAL_ID / 32;
    float sum[4] = {0, 0, 0, 0};
    for (u32 k = 0; k < n; k += 32) {
        for (u32 i = 0; i < 32; i += 8) {
            a_tile[y + i][x] = a[(u64)(row + y + i) * n + k + x];
            b_tile[y + i][x] = b[(u64)(k + y + i) * n + column + x];
        }
        BARRIER();
        for (u32 depth = 0; depth < 32; depth++)
            for (u32 i = 0; i < 4; i++) sum[i] += a_tile[y + 8 * i][depth] * b_tile[depth][x];
        BARRIER();
    }
    for (u32 i = 0; i < 4; i++) c[(u64)(row + y + 8 * i) * n + column + x] = sum[i];
}

// The same with four numbers a load: a work-item four columns of a row.
KERNEL(EXPERIMENT_GROUP)
void experiment_packed(u32 n, const float *a, const float *b, float *c) {
    __shared__ float4 a_tile[32][8], b_tile[32][8];
    u32 across = n / 32, row = GROUP_ID / across * 32, column = GROUP_ID % across * 32, x = LOCAL_ID % 8, y = LOCAL_ID / 8;
    float4 sum = {0, 0, 0, 0};
    for (u32 k = 0; k < n; k += 32) {
        a_tile[y][x] = *(const float4 *)&a[(u64)(row + y) * n + k + 4 * x];
        b_tile[y][x] = *(const float4 *)&b[(u64)(k + y) * n + column + 4 * x];
        BARRIER();
        for (u32 depth = 0; depth < 32; depth++) {
            float factor = ((const float *)a_tile[y])[depth];
            float4 entry = b_tile[depth][x];
            sum.x += factor * entry.x, sum.y += factor * entry.y, sum.z += factor * entry.z, sum.w += factor * entry.w;
        }
        BARRIER();
    }
    *(float4 *)&c[(u64)(row + y) * n + column + 4 * x] = sum;
}

#if __CUDA_ARCH__ >= 800
// Sums of 16 × 8 entries of a warp, 16 k: work-item (g, t) has rows g and g + 8, columns 2t and 2t + 1.
DEVICE void experiment_mma(float *sum, const u32 *a, const u32 *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

// C = A·Bᵀ of n × n numbers of 16 bits to 32, on tensor cores, without local memory: a group 64 × 128 entries, a warp 32 × 32.
KERNEL(EXPERIMENT_GROUP)
void experiment_tensor(u32 n, const u32 *a, const u32 *b, float *c) {
#if __CUDA_ARCH__ >= 800
    u32 across = n / 128, warp = LOCAL_ID / 32, g = LOCAL_ID % 32 / 4, t = LOCAL_ID % 4, pitch = n / 2;
    u32 row = GROUP_ID / across * 64 + warp / 4 * 32 + g, column = GROUP_ID % across * 128 + warp % 4 * 32;
    float sum[2][4][4];
    for (u32 i = 0; i < 32; i++) sum[i / 16][i / 4 % 4][i % 4] = 0;
    for (u32 k = 0; k < pitch; k += 8) {
        u32 x[2][4], y[4][2];
#pragma unroll
        for (u32 i = 0; i < 8; i++) x[i / 4][i % 4] = a[(u64)(row + i / 4 * 16 + i % 2 * 8) * pitch + k + t + i % 4 / 2 * 4];
#pragma unroll
        for (u32 i = 0; i < 8; i++) y[i / 2][i % 2] = b[(u64)(column + i / 2 * 8 + g) * pitch + k + t + i % 2 * 4];
#pragma unroll
        for (u32 i = 0; i < 2; i++)
#pragma unroll
            for (u32 j = 0; j < 4; j++) experiment_mma(sum[i][j], x[i], y[j]);
    }
#pragma unroll
    for (u32 i = 0; i < 32; i++) {
        u32 r = row + i / 16 * 16 + i % 4 / 2 * 8, s = column + i / 4 % 4 * 8 + 2 * t + i % 2;
        c[(u64)r * n + s] = sum[i / 16][i / 4 % 4][i % 4];
    }
#endif
}

// x·yʳ modulo m, by the remainder of each product.
KERNEL(EXPERIMENT_GROUP)
void experiment_remainder(u32 rounds, u64 m, const u64 *x, u64 *out) {
    u64 value = x[GLOBAL_ID], factor = value;
    for (u32 round = 0; round < rounds; round++) value = (u64)((unsigned __int128)value * factor % m);
    out[GLOBAL_ID] = value;
}

// The same by Montgomery's product with R = 2⁶⁴: numbers are below m < 2⁶³, and so are results; `inverse` is −m⁻¹ mod R.
KERNEL(EXPERIMENT_GROUP)
void experiment_montgomery(u32 rounds, u64 m, u64 inverse, const u64 *x, u64 *out) {
    u64 value = x[GLOBAL_ID], factor = value;
    for (u32 round = 0; round < rounds; round++) {
        u64 low = value * factor, high = __umul64hi(value, factor), q = low * inverse;
        // The low words add up to zero or to R.
        u64 sum = high + __umul64hi(q, m) + (low != 0);
        value = sum >= m ? sum - m : sum;
    }
    out[GLOBAL_ID] = value;
}
