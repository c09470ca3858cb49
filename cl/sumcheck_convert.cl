// Elements in another basis: the map's image of each four bits, 16 elements for each of the 32 places.

#define CONVERT_TABLE (32 * 16)

// Any grid; `from` may be `to`.
KERNEL(SUMCHECK_GROUP)
void sumcheck_convert(u64 count, GLOBAL const F(t) *table, GLOBAL const F(t) *from, GLOBAL F(t) *to) {
    LOCAL F(t) images[CONVERT_TABLE];
    for (u32 i = LOCAL_ID; i < CONVERT_TABLE; i += SUMCHECK_GROUP) images[i] = table[i];
    BARRIER();
    for (u64 i = GLOBAL_ID; i < count; i += GLOBAL_SIZE) {
        F(t) a = from[i], image = F(zero)();
#pragma unroll
        for (u32 place = 0; place < 32; place++) {
            u32 bits = a.limb[place / 8] >> (4 * (place % 8)) & 15;
            image = F(add)(image, images[16 * place + bits]);
        }
        to[i] = image;
    }
}
