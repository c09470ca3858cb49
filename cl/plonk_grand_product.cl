// Grand products: quotients of numerators by denominators, which groups invert together, and the products of quotients
// over the rows ahead. Columns are stored one after the other, n elements each, of which `usable` are multiplied. A
// chain is one or several columns, each of which begins with the value that the previous one ends with.

// Rows of a column per work-item of a scan.
#define PRODUCT_ROWS (PRODUCT_TILE / PRODUCT_SCAN)

// Returns a denominator, or 1 for one that cannot be inverted; *divides tells which.
DEVICE F(t) product_divisor(GLOBAL const F(t) *denominators, u32 row, u32 usable, bool *divides) {
    F(t) value = row < usable ? denominators[row] : F(zero)();
    *divides = !F(is_zero)(value);
    return *divides ? value : F(one)();
}

// Stores the product of the denominators up to each row of the work-item in `to`, and returns that of all.
DEVICE F(t) product_prefixes(GLOBAL const F(t) *denominators, u32 row, u32 usable, GLOBAL F(t) *to) {
    F(t) product = F(one)();
    bool divides;
    for (u32 k = 0; k < PRODUCT_CHAIN && row < usable; k++, row += INVERSE_GROUP) {
        product = F(mul)(product, product_divisor(denominators, row, usable, &divides));
        to[row] = product;
    }
    return product;
}

// Computes the quotients from the `inverse` of all, in place of the products in `to`. Returns the product of the
// quotients.
DEVICE F(t) product_quotients(GLOBAL const F(t) *numerators, GLOBAL const F(t) *denominators, u32 row, u32 usable,
                              F(t) inverse, GLOBAL F(t) *to) {
    F(t) total = F(one)();
    for (u32 k = PRODUCT_CHAIN; k-- > 0;) {
        u32 at = row + k * INVERSE_GROUP;
        if (at >= usable) continue;
        bool divides;
        F(t) divisor = product_divisor(denominators, at, usable, &divides);
        F(t) quotient = k == 0 ? inverse : F(mul)(inverse, to[at - INVERSE_GROUP]);
        quotient = divides ? F(mul)(quotient, numerators[at]) : F(zero)();
        inverse = F(mul)(inverse, divisor);
        to[at] = quotient;
        total = F(mul)(total, quotient);
    }
    return total;
}

// Returns the product over the group to its first work-item.
DEVICE F(t) product_of_group(LOCAL_PTR F(t) *node, F(t) value) {
    node[LOCAL_ID] = value;
    WARP_BARRIER();
    for (u32 width = INVERSE_GROUP / 2; width > 0; width >>= 1) {
        if (LOCAL_ID < width) node[LOCAL_ID] = F(mul)(node[LOCAL_ID], node[LOCAL_ID + width]);
        WARP_BARRIER();
    }
    return node[0];
}

// Computes quotients, and the product of those of each tile. One group per tile, `tiles` of them per column.
KERNEL_BOUNDED(INVERSE_GROUP, INVERSE_OCCUPANCY)
void plonk_product_ratios(u32 n, u32 usable, u32 tiles, GLOBAL const F(t) *numerators, GLOBAL const F(t) *denominators,
                          GLOBAL F(t) *quotients, GLOBAL F(t) *products) {
    LOCAL inverse_locals_t locals;
    u64 own = (u64)(GROUP_ID / tiles) * n;
    u32 row = (GROUP_ID % tiles) * PRODUCT_TILE + LOCAL_ID;
    F(t) product = product_prefixes(denominators + own, row, usable, quotients + own);
    F(t) inverse = invert_in_group(&locals, product);
    WARP_BARRIER();
    F(t) total = product_quotients(numerators + own, denominators + own, row, usable, inverse, quotients + own);
    total = product_of_group(locals.node, total);
    if (LOCAL_ID == 0) products[GROUP_ID] = total;
}

// Returns the product over the work-items ahead (Hillis and Steele).
DEVICE F(t) product_scan(LOCAL_PTR F(t) *products, F(t) value) {
    products[LOCAL_ID] = value;
    BARRIER();
    for (u32 distance = 1; distance < PRODUCT_SCAN; distance <<= 1) {
        if (LOCAL_ID >= distance) value = F(mul)(products[LOCAL_ID - distance], value);
        BARRIER();
        products[LOCAL_ID] = value;
        BARRIER();
    }
    return LOCAL_ID == 0 ? F(one)() : products[LOCAL_ID - 1];
}

// Replaces the product of each tile by that of all tiles ahead in its chain. chains: the first tile of each chain, and
// the end of the last. One group per chain.
KERNEL(PRODUCT_SCAN)
void plonk_scan_tiles(GLOBAL const u32 *chains, GLOBAL F(t) *products) {
    LOCAL F(t) scratch[PRODUCT_SCAN];
    u32 start = chains[GROUP_ID], end = chains[GROUP_ID + 1];
    u32 share = (end - start + PRODUCT_SCAN - 1) / PRODUCT_SCAN, first = start + LOCAL_ID * share;
    u32 last = first + share < end ? first + share : end;
    F(t) product = F(one)();
    for (u32 i = first; i < last; i++) product = F(mul)(product, products[i]);
    product = product_scan(scratch, product);
    for (u32 i = first; i < last; i++) {
        F(t) value = products[i];
        products[i] = product;
        product = F(mul)(product, value);
    }
}

// Replaces quotients by the products of those ahead. Row `usable` becomes the product of all, and the rows behind zero.
// One group per tile.
KERNEL(PRODUCT_SCAN)
void plonk_scan_rows(u32 n, u32 usable, u32 tiles, GLOBAL const F(t) *products, GLOBAL F(t) *data) {
    LOCAL F(t) scratch[PRODUCT_SCAN];
    GLOBAL F(t) *column = data + (u64)(GROUP_ID / tiles) * n;
    u32 first = (GROUP_ID % tiles) * PRODUCT_TILE + LOCAL_ID * PRODUCT_ROWS;
    F(t) product = F(one)();
    for (u32 k = 0; k < PRODUCT_ROWS; k++)
        if (first + k < usable) product = F(mul)(product, column[first + k]);
    product = F(mul)(product_scan(scratch, product), products[GROUP_ID]);
    for (u32 row = first; row < first + PRODUCT_ROWS && row < n; row++) {
        F(t) value = row < usable ? column[row] : F(one)();
        column[row] = row <= usable ? product : F(zero)();
        product = F(mul)(product, value);
    }
}
