// Shared definitions of dense matrices: C = A·B, y = A·x, and the kernels around them (src/matrix/dense/gpu.rs).
//
// Entry (r, c) of a matrix is `first + r·row_step + c·column_step` entries after the start of its buffer, where its
// gemm_view_t has these three numbers. Strides are arbitrary, so a transposed matrix is the same memory. Field elements
// are stored as their types are. Small entries are signed numbers of one or of four bytes. Kernels take views as
// GRID_CONSTANT, which keeps them out of registers.
//
// C has sizes.rows × sizes.columns entries, sums of sizes.inner products each.

DEVICE u64 gemm_at(gemm_view_t view, u32 row, u32 column) {
    return view.first + row * view.row_step + column * view.column_step;
}

// Holds the sizes of the product and the work of a work-item.
typedef struct {
    u32 rows, inner, columns;
    // First entry of the group, and the position of the work-item in it.
    u32 row, column, my_row, my_column;
} gemm_work_t;

// Returns the work of `group`, which makes `tall` × `wide` entries. Tiles go row by row, and `beside` work-items share
// a row.
DEVICE gemm_work_t gemm_work_of(u32 group, gemm_sizes_t sizes, u32 tall, u32 wide, u32 beside) {
    gemm_work_t work;
    u32 across = (sizes.columns + wide - 1) / wide;
    work.rows = sizes.rows, work.inner = sizes.inner, work.columns = sizes.columns;
    work.row = group / across * tall, work.column = group % across * wide;
    work.my_row = LOCAL_ID / beside, work.my_column = LOCAL_ID % beside;
    return work;
}

DEVICE gemm_work_t gemm_work(gemm_sizes_t sizes, u32 tall, u32 wide, u32 beside) {
    return gemm_work_of(GROUP_ID, sizes, tall, wide, beside);
}

// Returns `view` moved by `entries`, for another pair of factors. On CUDA that factor may be before the first, modulo
// 2⁶⁴.
DEVICE gemm_view_t gemm_moved(gemm_view_t view, u64 entries) {
    view.first += entries;
    return view;
}

// Returns a small entry plus 2³¹.
DEVICE u32 gemm_small(GLOBAL const u8 *entries, u64 at, u32 bytes) {
    u32 word = bytes == 1 ? (u32)((i32)((u32)entries[at] << 24) >> 24) : ((GLOBAL const u32 *)entries)[at];
    return word ^ 0x80000000u;
}

// Returns the element for a signed number.
DEVICE F(t) F(from_signed)(i32 number) {
    F(t) magnitude = F(from_word)(number < 0 ? 0u - (u32)number : (u32)number);
    return number < 0 ? F(neg)(magnitude) : magnitude;
}

// Returns Σ (a + 2³¹)·b − 2³¹·Σ b.
DEVICE F(t) gemm_small_value(F(short_t) sum, F(short_t) factors) {
    F(t) excess = F(mul)(F(short_value)(factors), F(from_word)(0x80000000u));
    return F(sub)(F(short_value)(sum), excess);
}

DEVICE void gemm_add_reduced(F(t) *sum, F(t) a, F(t) b) {
    *sum = F(add)(*sum, F(mul)(a, b));
}

DEVICE F(t) gemm_itself(F(t) sum) {
    return sum;
}
