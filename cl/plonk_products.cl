// Grand products: quotients of numerators by denominators, all of these inverted by groups, and their products over the
// rows ahead. Columns lie one after the other, n elements each, of which `usable` are multiplied. A chain is one or
// several columns, each of which begins with what the one ahead ends with.

#define PRODUCT_CHAIN 16
// Rows that a group has of a column.
#define PRODUCT_TILE (INVERSE_GROUP * PRODUCT_CHAIN)
#define PRODUCT_SCAN 128
#define PRODUCT_ROWS (PRODUCT_TILE / PRODUCT_SCAN)

// A denominator, or 1 for none that can be inverted.
DEVICE F(t) product_divisor(GLOBAL const F(t) *denominators, u32 row, u32 usable, bool *divides) {
    F(t) value = row < usable ? denominators[row] : F(zero)();
    *divides = !F(is_zero)(value);
    return *divides ? value : F(one)();
}

// Leaves the product of the denominators up to each of the work-item's rows in `to`, and returns that of all.
DEVICE F(t) product_prefixes(GLOBAL const F(t) *denominators, u32 row, u32 usable, GLOBAL F(t) *to) {
    F(t) product = F(one)();
    bool divides;
    for (u32 k = 0; k < PRODUCT_CHAIN && row < usable; k++, row += INVERSE_GROUP) {
        product = F(mul)(product, product_divisor(denominators, row, usable, &divides));
        to[row] = product;
    }
    return product;
}

// From the inverse of all to the quotients, which take the place of the products; returns the quotients' product.
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

// The product over the group, for its first work-item.
DEVICE F(t) product_of_group(LOCAL_POINTER F(t) *node, F(t) value) {
    node[LOCAL_ID] = value;
    WARP_BARRIER();
    for (u32 width = INVERSE_GROUP / 2; width > 0; width >>= 1) {
        if (LOCAL_ID < width) node[LOCAL_ID] = F(mul)(node[LOCAL_ID], node[LOCAL_ID + width]);
        WARP_BARRIER();
    }
    return node[0];
}

// Quotients, and the product of each tile's. A group a tile, `tiles` of them a column.
KERNEL_BOUNDED(INVERSE_GROUP, AFFINE_OCCUPANCY)
void plonk_quotients(u32 n, u32 usable, u32 tiles, GLOBAL const F(t) *numerators, GLOBAL const F(t) *denominators,
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

// The product of what the work-items ahead have (Hillis and Steele).
DEVICE F(t) product_scan(LOCAL_POINTER F(t) *products, F(t) value) {
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

// Products of tiles become those of all tiles ahead in the chain. chains: the first tile of each, and the end of the
// last. A group a chain.
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

// Quotients become the products of those ahead; row `usable` that of all, and the rows behind zero. A group a tile.
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
