// Columns over the subfield: the first round is in that field, and its challenge leads into this one
// (src/sumcheck/gpu/mod.rs).

// Binds the first variable of all columns, of 2·pairs rows. Any grid.
KERNEL(SUMCHECK_GROUP)
void sumcheck_base_fold(u32 pairs, u32 columns, u64 from_stride, u64 to_stride, F(t) r, GLOBAL const SUB(t) *from,
                        GLOBAL F(t) *to) {
    for (u32 column = 0; column < columns; column++) {
        GLOBAL const SUB(t) *rows = from + column * from_stride;
        for (u32 row = GLOBAL_ID; row < pairs; row += GLOBAL_SIZE) {
            SUB(t) low = rows[row], difference = SUB(sub)(rows[(u64)pairs + row], low);
            to[column * to_stride + row] = F(add)(F(lift)(low), F(times_sub)(r, difference));
        }
    }
}

// Lifts elements of the subfield to this field. Any grid.
KERNEL(SUMCHECK_GROUP)
void sumcheck_lift(u64 count, GLOBAL const SUB(t) *from, GLOBAL F(t) *to) {
    for (u64 i = GLOBAL_ID; i < count; i += GLOBAL_SIZE) to[i] = F(lift)(from[i]);
}
