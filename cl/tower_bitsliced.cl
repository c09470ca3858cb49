// The tower of Fan and Paar (src/field/tower.rs), bit-sliced: word t of an element has bit t of 32 elements, so that
// arithmetic is boolean, by operations of up to three inputs. All loops have fixed bounds and are unrolled; words are
// registers.

// AND_XOR returns a·b + c, XOR3 returns a + b + c. Each is one instruction (PTX ISA, lop3), which the compiler does not
// find by itself in long sums. Its last operand is the value for a = 0xf0, b = 0xcc and c = 0xaa.
#ifdef HAS_PTX
DEVICE u32 AND_XOR(u32 a, u32 b, u32 c) {
    u32 r;
    asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
DEVICE u32 XOR3(u32 a, u32 b, u32 c) {
    u32 r;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
#else
#define AND_XOR(a, b, c) (((a) & (b)) ^ (c))
#define XOR3(a, b, c) ((a) ^ (b) ^ (c))
#endif

// Defines a·X_(k−1) in T(k), of 2^k words: (low, high) becomes (high, low + high·X_(k−2)).
#define SLICED_TIMES_GENERATOR(words, half)                                         \
    DEVICE void sliced_times_generator_##words(u32 *product, const u32 *a) {        \
        _Pragma("unroll") for (int i = 0; i < half; i++) product[i] = a[half + i];  \
        sliced_times_generator_##half(product + half, a + half);                    \
        _Pragma("unroll") for (int i = 0; i < half; i++) product[half + i] ^= a[i]; \
    }

DEVICE void sliced_times_generator_1(u32 *product, const u32 *a) {
    product[0] = a[0];
}
SLICED_TIMES_GENERATOR(2, 1)
SLICED_TIMES_GENERATOR(4, 2)
SLICED_TIMES_GENERATOR(8, 4)
SLICED_TIMES_GENERATOR(16, 8)
SLICED_TIMES_GENERATOR(32, 16)

// Adds a·b to c in T2, by the matrix of products of a with 1, X_0, X_1 and X_0·X_1. Sums go from one product to the
// next, which saves operations: one of three inputs takes a sum and a conjunction, and adds them.
DEVICE void sliced_mul_4(u32 *c, const u32 *a, const u32 *b) {
    u32 a01 = a[0] ^ a[1], a23 = a[2] ^ a[3], a03 = a[0] ^ a[3], a123 = a[1] ^ a23, a012 = a01 ^ a[2];
    c[0] = AND_XOR(a[3], b[3], AND_XOR(a[2], b[2], AND_XOR(a[1], b[1], AND_XOR(a[0], b[0], c[0]))));
    c[1] = AND_XOR(a23, b[3], AND_XOR(a[3], b[2], AND_XOR(a01, b[1], AND_XOR(a[1], b[0], c[1]))));
    c[2] = AND_XOR(a123, b[3], AND_XOR(a03, b[2], AND_XOR(a[3], b[1], AND_XOR(a[2], b[0], c[2]))));
    c[3] = AND_XOR(a012, b[3], AND_XOR(a123, b[2], AND_XOR(a23, b[1], AND_XOR(a[3], b[0], c[3]))));
}

// Defines c += a·b by three products in the field below (Karatsuba).
#define SLICED_MUL(words, half)                                              \
    DEVICE void sliced_mul_##words(u32 *c, const u32 *a, const u32 *b) {     \
        u32 high[half], low[half], multiple[half], a_sum[half], b_sum[half]; \
        _Pragma("unroll") for (int i = 0; i < half; i++) high[i] = 0;        \
        sliced_mul_##half(high, a + half, b + half);                         \
        _Pragma("unroll") for (int i = 0; i < half; i++) low[i] = high[i];   \
        sliced_mul_##half(low, a, b);                                        \
        sliced_times_generator_##half(multiple, high);                       \
        _Pragma("unroll") for (int i = 0; i < half; i++) {                   \
            c[i] ^= low[i];                                                  \
            c[half + i] = XOR3(c[half + i], low[i], multiple[i]);            \
            a_sum[i] = a[i] ^ a[half + i];                                   \
            b_sum[i] = b[i] ^ b[half + i];                                   \
        }                                                                    \
        sliced_mul_##half(c + half, a_sum, b_sum);                           \
    }

SLICED_MUL(8, 4)
SLICED_MUL(16, 8)
SLICED_MUL(32, 16)
