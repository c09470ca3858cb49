// Inverts the values of a group by one inversion (batch inversion, Montgomery), for work-items in lockstep.

// Holds the local memory that a group needs for that.
typedef struct {
    F(t) node[2 * INVERSE_GROUP];
    digit_sums_t sums[INVERSE_GROUP];
} inverse_locals_t;

// Returns the inverse of the value of each work-item, none of which may be zero. Values are the leaves of a tree of
// products. While the second half of the group multiplies its way up the tree, the first half multiplies, for each pair
// of leaves, all nodes beside its way. The inverse of the root is then multiplied by that product. So only two products
// follow the inversion.
DEVICE F(t) invert_in_group(LOCAL_PTR inverse_locals_t *locals, F(t) value) {
    LOCAL_PTR F(t) *node = locals->node;
    const u32 pairs = INVERSE_GROUP / 2;
    u32 id = LOCAL_ID;
    SCHEDULE_FENCE(id);
    node[INVERSE_GROUP + id] = F(reduced)(value);
    WARP_BARRIER();
    F(t) beside = F(one)();
    for (u32 width = pairs; width > 0; width >>= 1) {
        bool climbs = id >= pairs && id - pairs < width;
        if (climbs || (id < pairs && width < pairs)) {
            u32 i = width + id - pairs, sibling = (pairs + id) * 2 * width / pairs ^ 1;
            F(t) product = F(mul)(climbs ? node[2 * i] : beside, node[climbs ? 2 * i + 1 : sibling]);
            if (climbs) node[i] = product;
            else beside = product;
        }
        WARP_BARRIER();
    }
    F(t) inverse = F(inv_by_group)(locals->sums, node[1]);
    if (id < pairs) node[pairs + id] = F(mul)(inverse, beside);
    WARP_BARRIER();
    return F(mul)(node[pairs + id / 2], node[INVERSE_GROUP + (id ^ 1)]);
}
