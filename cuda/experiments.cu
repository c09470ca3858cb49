// Experiments of benches/matrix_seed. They measure the gain from banks of local memory, tiles, packed loads and
// tensor cores for products of floating point numbers, and from the Montgomery product for one modulo 64 bits. CUDA
// only; no operation uses them.

#define EXPERIMENT_GROUP 256
#define EXPERIMENT_WORDS 8192

// Adds up words of local memory that are `stride` apart between neighbours; word i holds i. Sums go to `out`.
KERNEL(EXPERIMENT_GROUP)
void experiment_stride(u32 stride, u32 rounds, u32 *out) {
    __shared__ u32 words[EXPERIMENT_WORDS];
    for (u32 i = LOCAL_ID; i < EXPERIMENT_WORDS; i += EXPERIMENT_GROUP) words[i] = i;
    BARRIER();
    u32 sum = 0, at = LOCAL_ID * stride % EXPERIMENT_WORDS;
    for (u32 round = 0; round < rounds; round++) {
        sum += *(volatile u32 *)&words[at];
        // Goes to the same bank.
        at = (at + 32) % EXPERIMENT_WORDS;
    }
    out[GLOBAL_ID] = sum;
}

// Computes C = A·B of n × n 32-bit numbers, row after row: one work-item per entry.
KERNEL(EXPERIMENT_GROUP)
void experiment_plain(u32 n, const float *a, const float *b, float *c) {
    u32 across = n / 16, row = GROUP_ID / across * 16 + LOCAL_ID / 16, column = GROUP_ID % across * 16 + LOCAL_ID % 16;
    float sum = 0;
    for (u32 k = 0; k < n; k++) sum += a[(u64)row * n + k] * b[(u64)k * n + column];
    c[(u64)row * n + column] = sum;
}

// Converts a 16-bit number to 32 bits: experiment_plain_half multiplies such numbers, with 32-bit sums.
DEVICE float experiment_number(const u16 *half) {
    float number;
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(*half));
    return number;
}

KERNEL(EXPERIMENT_GROUP)
void experiment_plain_half(u32 n, const u16 *a, const u16 *b, float *c) {
    u32 across = n / 16, row = GROUP_ID / across * 16 + LOCAL_ID / 16, column = GROUP_ID % across * 16 + LOCAL_ID % 16;
    float sum = 0;
    for (u32 k = 0; k < n; k++)
        sum += experiment_number(&a[(u64)row * n + k]) * experiment_number(&b[(u64)k * n + column]);
    c[(u64)row * n + column] = sum;
}

// Computes C = A·B by tiles of 32 × 32 in local memory: one work-item per four entries of a column.
KERNEL(EXPERIMENT_GROUP)
void experiment_tiled(u32 n, const float *a, const float *b, float *c) {
    __shared__ float a_tile[32][32], b_tile[32][32];
    u32 across = n / 32, row = GROUP_ID / across * 32, column = GROUP_ID % across * 32, x = LOCAL_ID % 32,
        y = LOCAL_ID / 32;
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

// Computes C = A·B by such tiles with four numbers per load: one work-item per four columns of a row.
KERNEL(EXPERIMENT_GROUP)
void experiment_packed(u32 n, const float *a, const float *b, float *c) {
    __shared__ float4 a_tile[32][8], b_tile[32][8];
    u32 across = n / 32, row = GROUP_ID / across * 32, column = GROUP_ID % across * 32, x = LOCAL_ID % 8,
        y = LOCAL_ID / 8;
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
// Adds products over 16 k to the sums of 16 × 8 entries of a warp: work-item (g, t) has rows g and g + 8, columns 2t
// and 2t + 1.
DEVICE void experiment_mma(float *sum, const u32 *a, const u32 *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
                 "%1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

// Computes C = A·Bᵀ of n × n 16-bit numbers to 32 bits on tensor cores, without local memory: a group computes 64 × 128
// entries, a warp 32 × 32.
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
        for (u32 i = 0; i < 8; i++)
            x[i / 4][i % 4] = a[(u64)(row + i / 4 * 16 + i % 2 * 8) * pitch + k + t + i % 4 / 2 * 4];
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

// Computes the same product by 32 k at a time in local memory, four words per load. Rows there are 20 words apart, so
// there are no bank conflicts.
KERNEL(EXPERIMENT_GROUP)
void experiment_packed_tensor(u32 n, const u32 *a, const u32 *b, float *c) {
#if __CUDA_ARCH__ >= 800
    __shared__ __align__(16) u32 a_tile[64][20], b_tile[128][20];
    u32 across = n / 128, warp = LOCAL_ID / 32, g = LOCAL_ID % 32 / 4, t = LOCAL_ID % 4, pitch = n / 2;
    u32 row = GROUP_ID / across * 64, column = GROUP_ID % across * 128, down = warp / 4 * 32 + g,
        beside = warp % 4 * 32 + g;
    u32 line = LOCAL_ID / 4, four = LOCAL_ID % 4 * 4;
    float sum[2][4][4];
    for (u32 i = 0; i < 32; i++) sum[i / 16][i / 4 % 4][i % 4] = 0;
    for (u32 k = 0; k < pitch; k += 16) {
        *(uint4 *)&a_tile[line][four] = *(const uint4 *)&a[(u64)(row + line) * pitch + k + four];
        for (u32 i = 0; i < 128; i += 64)
            *(uint4 *)&b_tile[line + i][four] = *(const uint4 *)&b[(u64)(column + line + i) * pitch + k + four];
        BARRIER();
#pragma unroll
        for (u32 depth = 0; depth < 16; depth += 8) {
            u32 x[2][4], y[4][2];
#pragma unroll
            for (u32 i = 0; i < 8; i++)
                x[i / 4][i % 4] = a_tile[down + i / 4 * 16 + i % 2 * 8][depth + t + i % 4 / 2 * 4];
#pragma unroll
            for (u32 i = 0; i < 8; i++) y[i / 2][i % 2] = b_tile[beside + i / 2 * 8][depth + t + i % 2 * 4];
#pragma unroll
            for (u32 i = 0; i < 8; i++) experiment_mma(sum[i / 4][i % 4], x[i / 4], y[i % 4]);
        }
        BARRIER();
    }
#pragma unroll
    for (u32 i = 0; i < 32; i++) {
        u32 r = row + down + i / 16 * 16 + i % 4 / 2 * 8, s = column + warp % 4 * 32 + i / 4 % 4 * 8 + 2 * t + i % 2;
        c[(u64)r * n + s] = sum[i / 16][i / 4 % 4][i % 4];
    }
#endif
}

// Computes x·yʳ modulo m by the remainder of each product.
KERNEL(EXPERIMENT_GROUP)
void experiment_remainder(u32 rounds, u64 m, const u64 *x, u64 *out) {
    u64 value = x[GLOBAL_ID], factor = value;
    for (u32 round = 0; round < rounds; round++) value = (u64)((unsigned __int128)value * factor % m);
    out[GLOBAL_ID] = value;
}

// Computes x·yʳ by the Montgomery product with R = 2⁶⁴. Numbers and results are below m < 2⁶³; `inverse` is −m⁻¹ mod R.
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

// Holds a number of eight words, for the same two computations.
typedef struct {
    u32 limb[8];
} experiment_long_t;

// Reduces a number below 2m, with its ninth word `above`: subtracts m if the result is not negative.
DEVICE void experiment_reduce(experiment_long_t *number, u32 above, experiment_long_t m) {
    experiment_long_t less;
    i64 borrow = 0;
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
        borrow += (i64)number->limb[i] - m.limb[i];
        less.limb[i] = (u32)borrow;
        borrow >>= 32;
    }
    if (borrow + above >= 0) *number = less;
}

// Computes x·yʳ by long division of each product (Knuth, volume 2, 4.3.1, algorithm D). `scaled` is m times 2^shift,
// with the highest bit set, and the product is scaled alike.
KERNEL(EXPERIMENT_GROUP)
void experiment_remainder_long(u32 rounds, u32 shift, const experiment_long_t *scaled, const experiment_long_t *x,
                               experiment_long_t *out) {
    experiment_long_t m = *scaled, value = x[GLOBAL_ID], factor = value;
#pragma unroll 1
    for (u32 round = 0; round < rounds; round++) {
        u32 product[16];
#pragma unroll
        for (u32 i = 0; i < 16; i++) product[i] = 0;
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            u64 carry = 0;
#pragma unroll
            for (u32 j = 0; j < 8; j++) {
                carry += (u64)value.limb[i] * factor.limb[j] + product[i + j];
                product[i + j] = (u32)carry;
                carry >>= 32;
            }
            product[i + 8] = (u32)carry;
        }
        if (shift > 0) {
#pragma unroll
            for (u32 i = 15; i > 0; i--) product[i] = product[i] << shift | product[i - 1] >> (32 - shift);
            product[0] <<= shift;
        }
        // The upper half is below m: eight digits of the quotient are left.
#pragma unroll
        for (u32 at = 8; at-- > 0;) {
            u64 top = (u64)product[at + 8] << 32 | product[at + 7], digit = top / m.limb[7], rest = top % m.limb[7];
            if (digit > 0xffffffff) rest += (digit - 0xffffffff) * m.limb[7], digit = 0xffffffff;
#pragma unroll
            for (u32 i = 0; i < 2; i++)
                if (rest >> 32 == 0 && digit * m.limb[6] > (rest << 32 | product[at + 6])) digit--, rest += m.limb[7];
            i64 borrow = 0;
            u64 carry = 0;
#pragma unroll
            for (u32 i = 0; i < 8; i++) {
                carry += digit * m.limb[i];
                borrow += (i64)product[at + i] - (u32)carry;
                product[at + i] = (u32)borrow;
                carry >>= 32, borrow >>= 32;
            }
            if (borrow + product[at + 8] - (i64)carry >= 0) continue;
            carry = 0;
#pragma unroll
            for (u32 i = 0; i < 8; i++) {
                carry += (u64)product[at + i] + m.limb[i];
                product[at + i] = (u32)carry;
                carry >>= 32;
            }
        }
#pragma unroll
        for (u32 i = 0; i < 8; i++)
            value.limb[i] =
                shift == 0 ? product[i] : product[i] >> shift | (i < 7 ? product[i + 1] << (32 - shift) : 0);
    }
    out[GLOBAL_ID] = value;
}

// Computes x·yʳ by the Montgomery product with R = 2²⁵⁶. Numbers and results are below m < 2²⁵⁵; `inverse` is −m⁻¹ mod
// 2³².
KERNEL(EXPERIMENT_GROUP)
void experiment_montgomery_long(u32 rounds, u32 inverse, const experiment_long_t *modulus, const experiment_long_t *x,
                                experiment_long_t *out) {
    experiment_long_t m = *modulus, value = x[GLOBAL_ID], factor = value;
#pragma unroll 1
    for (u32 round = 0; round < rounds; round++) {
        u32 sum[9];
#pragma unroll
        for (u32 i = 0; i < 9; i++) sum[i] = 0;
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            u64 carry = 0;
#pragma unroll
            for (u32 j = 0; j < 8; j++) {
                carry += (u64)value.limb[i] * factor.limb[j] + sum[j];
                sum[j] = (u32)carry;
                carry >>= 32;
            }
            u64 above = carry + sum[8];
            u32 q = sum[0] * inverse;
            carry = ((u64)q * m.limb[0] + sum[0]) >> 32;
#pragma unroll
            for (u32 j = 1; j < 8; j++) {
                carry += (u64)q * m.limb[j] + sum[j];
                sum[j - 1] = (u32)carry;
                carry >>= 32;
            }
            above += carry;
            sum[7] = (u32)above, sum[8] = (u32)(above >> 32);
        }
#pragma unroll
        for (u32 i = 0; i < 8; i++) value.limb[i] = sum[i];
        experiment_reduce(&value, sum[8], m);
    }
    out[GLOBAL_ID] = value;
}
