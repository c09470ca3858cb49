// Operations of provers on vectors between transforms, and changes of order. They run on grids of any size.

#define EACH(i, count) for (u64 i = GLOBAL_ID; i < (count); i += GLOBAL_SIZE)

// Computes data[i] = operation(data[i], other[i & mask]). The other vector repeats; it may be a single element.
#define NTT_POINTWISE(name, operation)                                            \
    KERNEL(NTT_POINTWISE_GROUP)                                                   \
    void name(GLOBAL F(t) *data, GLOBAL const F(t) *other, u64 count, u32 mask) { \
        EACH(i, count) data[i] = operation(data[i], other[(u32)i & mask]);        \
    }

NTT_POINTWISE(ntt_multiply, F(mul))
NTT_POINTWISE(ntt_add, F(add))
NTT_POINTWISE(ntt_subtract, F(sub))

// Multiplies element i of vector v by base^(i·(first + v·step)), from tables of the powers by the low and the high bits
// of the exponent. `count` is the number of elements of all vectors, which have 2^length_log each.
KERNEL(NTT_POINTWISE_GROUP)
void ntt_powers(GLOBAL F(t) *data, u64 vector_stride, u64 count, u32 length_log, u32 first, u32 step, u32 low_log,
                GLOBAL const F(fixed) *low, GLOBAL const F(fixed) *high) {
    EACH(at, count) {
        u64 vector = at >> length_log;
        u32 i = (u32)(at - (vector << length_log)), exponent = i * (first + (u32)vector * step);
        u64 index = vector * vector_stride + i;
        F(t) x = F(mul_fixed)(data[index], low[exponent & ((1u << low_log) - 1)]);
        data[index] = F(reduce)(F(mul_fixed)(x, high[exponent >> low_log]));
    }
}

// Permutes vectors of 2^log_n elements between natural and bit-reversed order.
KERNEL(NTT_POINTWISE_GROUP)
void ntt_permute(GLOBAL F(t) *data, u64 vector_stride, u64 count, u32 log_n) {
    EACH(at, count) {
        u64 vector = at >> log_n;
        u32 i = (u32)(at - (vector << log_n)), j = reverse_bits(i, log_n);
        if (i < j) {
            GLOBAL F(t) *x = data + vector * vector_stride;
            F(t) y = x[i];
            x[i] = x[j];
            x[j] = y;
        }
    }
}

// Transposes columns to rows: every read and write is of whole sectors, since an element is one.
KERNEL(NTT_POINTWISE_GROUP)
void ntt_transpose(GLOBAL const F(t) *from, GLOBAL F(t) *to, u32 rows_log, u32 columns_log) {
    EACH(at, (u64)1 << (rows_log + columns_log)) {
        u64 column = at >> rows_log, row = at - (column << rows_log);
        to[at] = from[row << columns_log | column];
    }
}

// Scatters elements to every 2^step_log-th place from `first` on.
KERNEL(NTT_POINTWISE_GROUP)
void ntt_interleave(GLOBAL const F(t) *from, GLOBAL F(t) *to, u64 count, u32 step_log, u32 first) {
    EACH(i, count) to[i << step_log | first] = from[i];
}
