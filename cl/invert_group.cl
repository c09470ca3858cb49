// The inverses of a group's values by one inversion (Montgomery's trick), for work-items that are in step.

// What a group keeps in local memory for that.
typedef struct {
    F(t) node[2 * INVERSE_GROUP];
    digit_sums_t sums[INVERSE_GROUP];
} inverse_locals_t;

// The inverse of each work-item's value, none of them zero. Values are the leaves of a tree of products. While the
// second half of the group multiplies its way up the tree, the first multiplies, for each pair of leaves, all that lies
// beside its way: what the inverse of the root is multiplied by. So what follows the inversion is two products deep.
DEVICE F(t) invert_in_group(LOCAL_POINTER inverse_locals_t *locals, F(t) value) {
    LOCAL_POINTER F(t) *node = locals->node;
    const u32 pairs = INVERSE_GROUP / 2;
    u32 id = LOCAL_ID;
    NOT_BEFORE(id);
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
