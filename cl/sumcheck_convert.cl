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

// The same of the tower, where products cost less than tables: an element is w0 + w1·X5 + (w2 + w3·X5)·X6 with words of 32 bits, of
// which the image is that of five bits at a time. x5, x6, x56: images of X5, X6 and X5·X6. Eight work-items, which read local memory
// at once, have a copy of the table each, in banks of its own. Any grid; `from` may be `to`.
#define WORD_BITS 5
#define WORD_IMAGES (6 * 32 + 4)
#define IMAGE_COPIES 8

DEVICE F(t) sumcheck_word_image(LOCAL_POINTER const F(t) *images, u32 word) {
    F(t) image = F(zero)();
#pragma unroll
    for (u32 place = 0; place < 7; place++) {
        u32 number = 32 * place + (word >> WORD_BITS * place & 31);
        image = F(add)(image, images[IMAGE_COPIES * number]);
    }
    return image;
}

KERNEL(SUMCHECK_GROUP)
void sumcheck_convert_words(u64 count, F(t) x5, F(t) x6, F(t) x56, GLOBAL const F(t) *table, GLOBAL const F(t) *from,
                            GLOBAL F(t) *to) {
    LOCAL F(t) copies[IMAGE_COPIES * WORD_IMAGES];
    for (u32 i = LOCAL_ID; i < IMAGE_COPIES * WORD_IMAGES; i += SUMCHECK_GROUP) copies[i] = table[i / IMAGE_COPIES];
    BARRIER();
    LOCAL_POINTER const F(t) *images = copies + LOCAL_ID % IMAGE_COPIES;
    for (u64 i = GLOBAL_ID; i < count; i += GLOBAL_SIZE) {
        F(t) a = from[i];
        F(sum_t) sum = F(sum_zero)();
        F(add_product)(&sum, x5, sumcheck_word_image(images, a.limb[1]));
        F(add_product)(&sum, x6, sumcheck_word_image(images, a.limb[2]));
        F(add_product)(&sum, x56, sumcheck_word_image(images, a.limb[3]));
        to[i] = F(add)(sumcheck_word_image(images, a.limb[0]), F(sum_value)(sum));
    }
}
