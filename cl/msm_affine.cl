// Batched affine additions: rounds that halve every row of the transposed matrix, 5M + 1S an addition and one
// inversion for as many as a group takes at a time (Montgomery's trick), against 8M + 2S in XYZZ.
//
// Slot i of level 0 is entry i of the matrix; slot i of level l + 1 is the sum of slots 2i and 2i + 1 of level
// l. Rows start at multiples of 2^levels and are filled from their start, so no pair spans two rows, and slot i
// of level l is live if and only if entry i·2^l is: 0 marks an entry that there is none of.
//
// A group takes a tile of pairs: it lists those with two live slots (a lone one is copied), multiplies their
// denominators in each work-item's order, keeping the prefix products, inverts the product of all, and goes
// back through the list. Registers: 128, so that other groups compute while one inverts. Coordinates are in
// [0, p), in Montgomery form.

#define AFFINE_GROUP 128u
// Most pairs of a tile for each work-item; a tile's pairs are numbered with 16 bits.
#define AFFINE_ITEMS 32u
#define AFFINE_TILE (AFFINE_GROUP * AFFINE_ITEMS)

// Where the operands of a round are.
typedef struct {
    u32 level;
    GLOBAL const u32 *entries;
    // The bases at level 0, the sums of the round before above.
    GLOBAL const affine_t *points;
} operands_t;

DEVICE bool slot_is_live(operands_t from, u32 slot) {
    return from.entries[slot << from.level] != 0;
}

// The number of a slot's point, with SIGN_BIT where it is to be negated.
DEVICE u32 slot_entry(operands_t from, u32 slot) {
    return from.level == 0 ? from.entries[slot] - 1 : slot;
}

DEVICE affine_t entry_point(operands_t from, u32 entry) {
    affine_t point = from.points[entry & ~SIGN_BIT];
    if (entry & SIGN_BIT) point.y = F(neg)(point.y);
    return point;
}

// How two points are added: by the chord through them, the tangent where they are equal, or not at all.
enum { CHORD, TANGENT, TAKE_FIRST, TAKE_SECOND, TAKE_NONE };

DEVICE u32 pair_kind(affine_t p, affine_t q) {
    if (affine_is_infinity(p)) return TAKE_SECOND;
    if (affine_is_infinity(q)) return TAKE_FIRST;
    if (!F(eq)(p.x, q.x)) return CHORD;
    return F(is_zero)(F(add)(p.y, q.y)) ? TAKE_NONE : TANGENT;
}

// Whether a pair may be something else than a chord: one that is not decided by its x alone.
DEVICE bool pair_is_doubtful(F(t) px, F(t) qx, F(t) difference) {
    return F(is_zero)(difference) || F(is_zero)(px) || F(is_zero)(qx);
}

// What the slope of a pair that is no plain chord is divided by; 1 where there is no slope.
DEVICE F(t) doubtful_denominator(affine_t p, affine_t q, u32 kind) {
    if (kind == CHORD) return F(sub)(q.x, p.x);
    return kind == TANGENT ? F(dbl)(p.y) : F(one)();
}

// Lists the tile's pairs of two live slots and copies lone ones; returns how many are listed.
DEVICE void list_pairs(operands_t from, u32 start, u32 end, GLOBAL affine_t *out, LOCAL_POINTER u16 *list,
                       LOCAL_POINTER u32 *count) {
    for (u32 pair = start + LOCAL_ID; pair < end; pair += AFFINE_GROUP) {
        if (!slot_is_live(from, 2 * pair)) continue;
        if (slot_is_live(from, 2 * pair + 1)) list[ATOMIC_ADD(count, 1u)] = (u16)(pair - start);
        else out[pair] = entry_point(from, slot_entry(from, 2 * pair));
    }
}

// Product of the denominators of the work-item's pairs; prefix[k·AFFINE_GROUP] is that of its first k.
DEVICE F(t) multiply_denominators(operands_t from, u32 start, LOCAL_POINTER const u16 *list, u32 count,
                                  GLOBAL F(t) *prefix) {
    F(t) product = F(one)();
    for (u32 k = LOCAL_ID; k < count; k += AFFINE_GROUP, prefix += AFFINE_GROUP) {
        u32 slot = 2 * (start + list[k]);
        u32 p = slot_entry(from, slot), q = slot_entry(from, slot + 1);
        F(t) px = from.points[p & ~SIGN_BIT].x, qx = from.points[q & ~SIGN_BIT].x;
        F(t) denominator = F(sub)(qx, px);
        if (pair_is_doubtful(px, qx, denominator)) {
            affine_t pp = entry_point(from, p), qq = entry_point(from, q);
            denominator = doubtful_denominator(pp, qq, pair_kind(pp, qq));
        }
        *prefix = product;
        product = F(mul)(product, denominator);
    }
    return product;
}

// The inverse of each work-item's value, none of them zero, by a tree of products over the group.
DEVICE F(t) invert_in_group(LOCAL_POINTER F(t) *node, F(t) value) {
    node[AFFINE_GROUP + LOCAL_ID] = value;
    for (u32 width = AFFINE_GROUP / 2; width > 0; width >>= 1) {
        BARRIER();
        u32 i = width + LOCAL_ID;
        if (LOCAL_ID < width) node[i] = F(mul)(node[2 * i], node[2 * i + 1]);
    }
    BARRIER();
    if (LOCAL_ID == 0) node[1] = F(inv)(node[1]);
    for (u32 width = 2; width <= AFFINE_GROUP; width <<= 1) {
        BARRIER();
        u32 i = width + LOCAL_ID;
        F(t) inverse;
        if (LOCAL_ID < width) inverse = F(mul)(node[i >> 1], node[i ^ 1]);
        BARRIER();
        if (LOCAL_ID < width) node[i] = inverse;
    }
    return node[AFFINE_GROUP + LOCAL_ID];
}

// p + q by the slope, which is divided by what `inverse` inverts.
DEVICE affine_t add_by_slope(affine_t p, affine_t q, F(t) numerator, F(t) inverse) {
    F(t) slope = F(mul)(numerator, inverse);
    affine_t sum;
    sum.x = F(sub)(F(sub)(F(sqr)(slope), p.x), q.x);
    sum.y = F(sub)(F(mul)(slope, F(sub)(p.x, sum.x)), p.y);
    return sum;
}

// The sum of a pair that may be no chord.
DEVICE_CALL affine_t doubtful_sum(affine_t p, affine_t q, u32 kind, F(t) inverse) {
    affine_t none;
    none.x = F(zero)();
    none.y = F(zero)();
    if (kind == TAKE_FIRST) return p;
    if (kind == TAKE_SECOND) return q;
    if (kind == TAKE_NONE) return none;
    F(t) square = F(sqr)(p.x);
    return add_by_slope(p, q, kind == CHORD ? F(sub)(q.y, p.y) : F(add)(F(dbl)(square), square), inverse);
}

// Adds the work-item's pairs, last first; `inverse` is that of the product of their denominators.
DEVICE void add_listed(operands_t from, u32 start, LOCAL_POINTER const u16 *list, u32 count, F(t) inverse,
                       GLOBAL const F(t) *prefix, GLOBAL affine_t *out) {
    if (LOCAL_ID >= count) return;
    u32 last = (count - 1 - LOCAL_ID) / AFFINE_GROUP;
    for (u32 k = last + 1; k-- > 0;) {
        u32 pair = start + list[k * AFFINE_GROUP + LOCAL_ID];
        affine_t p = entry_point(from, slot_entry(from, 2 * pair)), q = entry_point(from, slot_entry(from, 2 * pair + 1));
        F(t) denominator = F(sub)(q.x, p.x), own = F(mul)(inverse, prefix[k * AFFINE_GROUP]);
        affine_t sum;
        if (pair_is_doubtful(p.x, q.x, denominator)) {
            u32 kind = pair_kind(p, q);
            denominator = doubtful_denominator(p, q, kind);
            sum = doubtful_sum(p, q, kind, own);
        } else {
            sum = add_by_slope(p, q, F(sub)(q.y, p.y), own);
        }
        inverse = F(mul)(inverse, denominator);
        out[pair] = sum;
    }
}

// One round: out[i] = in[2i] + in[2i + 1] for all slots of level `level` + 1. `scratch` has AFFINE_TILE elements
// for each group. Grid: any number of groups, which share the pairs evenly; offsets[rows] slots are at level 0.
KERNEL_BOUNDED(AFFINE_GROUP, AFFINE_OCCUPANCY)
void msm_halve_rows(u32 rows, u32 level, GLOBAL const u32 *offsets, GLOBAL const u32 *entries,
                    GLOBAL const affine_t *in, GLOBAL affine_t *out, GLOBAL F(t) *scratch) {
    LOCAL F(t) nodes[2 * AFFINE_GROUP];
    LOCAL u16 list[AFFINE_TILE];
    LOCAL u32 count;
    operands_t from;
    from.level = level;
    from.entries = entries;
    from.points = in;
    u32 pairs = offsets[rows] >> (level + 1);
    u32 turns = (pairs + GROUPS * AFFINE_TILE - 1) / (GROUPS * AFFINE_TILE);
    u32 tile = turns == 0 ? 0 : (pairs + GROUPS * turns - 1) / (GROUPS * turns);
    GLOBAL F(t) *prefix = scratch + GROUP_ID * AFFINE_TILE + LOCAL_ID;
    for (u32 turn = 0; turn < turns; turn++) {
        u32 start = (turn * GROUPS + GROUP_ID) * tile, end = start + tile < pairs ? start + tile : pairs;
        if (LOCAL_ID == 0) count = 0;
        BARRIER();
        list_pairs(from, start, end, out, list, &count);
        BARRIER();
        F(t) product = multiply_denominators(from, start, list, count, prefix);
        F(t) inverse = invert_in_group(nodes, product);
        add_listed(from, start, list, count, inverse, prefix, out);
        BARRIER();
    }
}
