// Complements the arithmetic of a prime field for rounds of sumcheck.

// Returns low + number·difference, for a `number` from 0 to 7.
DEVICE F(t) F(at)(F(t) low, F(t) difference, u32 number) {
    if (number == 0) return low;
    F(t) multiple = difference;
    for (u32 bit = number >= 4 ? 2 : number >= 2 ? 1 : 0; bit != 0; bit >>= 1) {
        multiple = F(dbl)(multiple);
        if (number & bit) multiple = F(add)(multiple, difference);
    }
    return F(add)(low, multiple);
}
