// Batched affine additions: rounds that halve every row of the transposed matrix, 5M + 1S an addition and one
// inversion for as many as a group takes at a time (Montgomery's trick), against 8M + 2S in XYZZ.
//
// Slot i of level 0 is entry i of the matrix; slot i of level l + 1 is the sum of slots 2i and 2i + 1 of level
// l. Rows start at multiples of 2^levels and are filled from their start, so no pair spans two rows, and slot i
// of level l is live if and only if entry i·2^l is: 0 marks an entry that there is none of.
//
// A round lists the pairs with two live slots (a lone one is copied), and then gives every group, a warp, an even
// share of the list. A group multiplies its pairs' denominators in each work-item's order, keeping the prefix
// products, inverts the product of all, and goes back through the list. Groups are that small so that they
// drift apart: while one inverts, others on the multiprocessor multiply. Registers: 128. Coordinates in memory are
// in [0, p), in Montgomery form; the prefix products and what is computed in between are loose (field_loose.cl).

#define AFFINE_GROUP INVERSE_GROUP
// Most pairs of a work-item for one inversion.
#define AFFINE_ITEMS 128u
#define AFFINE_TILE (AFFINE_GROUP * AFFINE_ITEMS)
// Work-items of a group that lists pairs, and pairs that it looks at.
#define LIST_GROUP 256u
#define LIST_BLOCK 2048u

// Where the operands of a round are.
typedef struct {
    u32 level;
    GLOBAL const u32 *entries;
    // The bases at level 0, the sums of the round before above.
    GLOBAL const affine_t *points;
} operands_t;

// One more than the number of a slot's point, with SIGN_BIT where it is to be negated. Nothing is computed with it
// here, so that nobody waits for the load before the point's address is needed.
DEVICE u32 slot_entry(operands_t from, u32 slot) {
    return from.level == 0 ? from.entries[slot] : slot + 1;
}

DEVICE GLOBAL const affine_t *entry_place(operands_t from, u32 entry) {
    return from.points + ((entry & ~SIGN_BIT) - 1);
}

DEVICE affine_t entry_point(operands_t from, u32 entry) {
    affine_t point = *entry_place(from, entry);
    if (entry & SIGN_BIT) point.y = F(neg)(point.y);
    return point;
}

// The same with a y that is loose.
DEVICE affine_t entry_point_loose(operands_t from, u32 entry) {
    affine_t point = *entry_place(from, entry);
    if (entry & SIGN_BIT) point.y = F(loose_negative)(point.y);
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
DEVICE bool pair_is_doubtful(F(t) px, F(t) qx) {
    return F(eq)(px, qx) || F(is_zero)(px) || F(is_zero)(qx);
}

// What the slope of a pair that is no plain chord is divided by; 1 where there is no slope.
DEVICE F(t) doubtful_denominator(affine_t p, affine_t q, u32 kind) {
    if (kind == CHORD) return F(sub)(q.x, p.x);
    return kind == TANGENT ? F(dbl)(p.y) : F(one)();
}

// Appends the pairs of two live slots among those of `level` to the list, and copies lone ones to their place
// in the level above. Grid: one group for each LIST_BLOCK pairs; offsets[rows] slots are at level 0. What slots are live
// is told from level to level by a byte each: odd levels' are the first `room` of `live`, those of even ones behind; at
// level 0 entries tell.
STARTS_EARLY(msm_list_pairs)
KERNEL(LIST_GROUP)
void msm_list_pairs(u32 rows, u32 level, GLOBAL const u32 *offsets, GLOBAL const u32 *entries,
                    GLOBAL const affine_t *in, GLOBAL affine_t *out, GLOBAL u32 *counters, GLOBAL u32 *list,
                    GLOBAL u8 *live, u32 room) {
    LOCAL u32 found[LIST_BLOCK], count, place;
    operands_t from;
    from.level = level;
    from.entries = entries;
    from.points = in;
    AWAIT_STREAM();
    u32 pairs = offsets[rows] >> (level + 1), start = GROUP_ID * LIST_BLOCK;
    if (start >= pairs) return;
    u32 end = start + LIST_BLOCK < pairs ? start + LIST_BLOCK : pairs;
    GLOBAL const u8 *live_here = live + (level & 1 ? 0 : room);
    GLOBAL u8 *live_above = live + (level & 1 ? room : 0);
    if (LOCAL_ID == 0) count = 0;
    BARRIER();
    for (u32 pair = start + LOCAL_ID; pair < end; pair += LIST_GROUP) {
        bool first = level == 0 ? entries[2 * pair] != 0 : live_here[2 * pair] != 0;
        bool second = level == 0 ? entries[2 * pair + 1] != 0 : live_here[2 * pair + 1] != 0;
        live_above[pair] = first;
        if (!first) continue;
        if (second) found[ATOMIC_ADD(&count, 1u)] = pair;
        else out[pair] = entry_point(from, slot_entry(from, 2 * pair));
    }
    BARRIER();
    if (LOCAL_ID == 0) place = ATOMIC_ADD(&counters[LIST_COUNTS + level], count);
    BARRIER();
    for (u32 i = LOCAL_ID; i < count; i += LIST_GROUP) list[place + i] = found[i];
}

// Two live slots of which the sum is wanted, by the entries of their points.
typedef struct {
    u32 number, p, q;
} pair_t;

DEVICE pair_t pair_of(operands_t from, u32 number) {
    pair_t pair;
    pair.number = number;
    pair.p = slot_entry(from, 2 * number);
    pair.q = slot_entry(from, 2 * number + 1);
    return pair;
}

// Operands of a work-item's pair, and what the next pairs need, on their way to local memory: copied behind the
// arithmetic where the device can do that. An odd number of 16-byte words, so that neighbours' are in different
// banks.
typedef struct ALIGNED(16) {
    affine_t p, q;
    F(t) prefix;
    // Of the next pair, and the number of the one after.
    u32 number, p_entry, q_entry, after;
#if FIELD_WORDS == 12
    u32 padding[4];
#endif
} staged_t;

// What a group keeps in local memory: what its inversion needs, or the staged operands.
typedef union {
    inverse_locals_t inverse;
    staged_t slot[AFFINE_GROUP];
} affine_locals_t;

// A walk through the list in steps of a group, forwards or backwards, three pairs ahead: an address that waits for
// a load would stall the warp. Past the end it stays in range: the values there are not used.
//
// Backwards, a step below zero wraps and is past the end too.
DEVICE u32 walk_clamp(u32 place, u32 count) {
    return place < count ? place : count - 1;
}

// The pair at place `first` of the list of `count` pairs, at least one; *place is where the walk goes on.
DEVICE pair_t walk_from(LOCAL_POINTER staged_t *slot, operands_t from, GLOBAL const u32 *list, u32 count, u32 first,
                        u32 step, u32 *place) {
    u32 second = walk_clamp(first + step, count), third = walk_clamp(second + step, count);
    pair_t next = pair_of(from, list[second]);
    slot->number = next.number;
    slot->p_entry = next.p;
    slot->q_entry = next.q;
    slot->after = list[third];
    *place = walk_clamp(third + step, count);
    return pair_of(from, list[first]);
}

// The next pair; what was copied for it has been waited for.
DEVICE pair_t walk_on(LOCAL_POINTER staged_t *slot, operands_t from, GLOBAL const u32 *list, u32 count, u32 step,
                      u32 *place) {
    pair_t next;
    next.number = slot->number;
    next.p = from.level == 0 ? slot->p_entry : 2 * next.number + 1;
    next.q = from.level == 0 ? slot->q_entry : 2 * next.number + 2;
    u32 after = slot->after;
    slot->number = after;
    if (from.level == 0) {
        ASYNC_COPY(slot->p_entry, from.entries[2 * after]);
        ASYNC_COPY(slot->q_entry, from.entries[2 * after + 1]);
    }
    ASYNC_COPY(slot->after, list[*place]);
    *place = walk_clamp(*place + step, count);
    return next;
}

DEVICE void stage_x(LOCAL_POINTER staged_t *slot, operands_t from, pair_t pair) {
    ASYNC_COPY(slot->p.x, entry_place(from, pair.p)->x);
    ASYNC_COPY(slot->q.x, entry_place(from, pair.q)->x);
}

DEVICE void stage(LOCAL_POINTER staged_t *slot, operands_t from, pair_t pair, GLOBAL const F(t) *prefix) {
    ASYNC_COPY(slot->p, *entry_place(from, pair.p));
    ASYNC_COPY(slot->q, *entry_place(from, pair.q));
    ASYNC_COPY(slot->prefix, *prefix);
}

// Product of the denominators of the work-item's pairs; prefix[k·AFFINE_GROUP] is that of its first k. These
// products are in [0, 2p) for any field: whatever they are multiplied by is loose at most.
DEVICE F(t) multiply_denominators(operands_t from, GLOBAL const u32 *list, u32 count, GLOBAL F(t) *prefix,
                                  LOCAL_POINTER staged_t *slot) {
    F(t) product = F(one)();
    if (LOCAL_ID >= count) return product;
    u32 place;
    pair_t pair = walk_from(slot, from, list, count, LOCAL_ID, AFFINE_GROUP, &place);
    stage_x(slot, from, pair);
    for (u32 k = LOCAL_ID; k < count; k += AFFINE_GROUP, prefix += AFFINE_GROUP) {
        ASYNC_WAIT();
        F(t) px = slot->p.x, qx = slot->q.x, denominator = F(loose_difference)(qx, px);
        if (pair_is_doubtful(px, qx)) {
            affine_t p = entry_point(from, pair.p), q = entry_point(from, pair.q);
            denominator = doubtful_denominator(p, q, pair_kind(p, q));
        }
        pair = walk_on(slot, from, list, count, AFFINE_GROUP, &place);
        stage_x(slot, from, pair);
        *prefix = product;
        product = F(mul_lazy)(product, denominator);
    }
    ASYNC_WAIT();
    return product;
}

// p + q by the slope, which is divided by what `inverse` inverts; loose are these two, p.y and q.y.
DEVICE affine_t add_by_slope(affine_t p, affine_t q, F(t) numerator, F(t) inverse) {
    F(t) slope = F(mul_loose)(numerator, inverse);
    affine_t sum;
    sum.x = F(tight)(F(sub_loose)(F(sqr_loose)(slope), F(loose_sum)(p.x, q.x)));
    sum.y = F(tight_difference)(F(mul_loose)(slope, F(loose_difference)(p.x, sum.x)), p.y);
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
DEVICE void add_listed(operands_t from, GLOBAL const u32 *list, u32 count, F(t) inverse, GLOBAL const F(t) *prefix,
                       GLOBAL affine_t *out, LOCAL_POINTER staged_t *slot) {
    if (LOCAL_ID >= count) return;
    u32 left = (count - 1 - LOCAL_ID) / AFFINE_GROUP * AFFINE_GROUP, place;
    pair_t next = walk_from(slot, from, list, count, left + LOCAL_ID, 0u - AFFINE_GROUP, &place);
    stage(slot, from, next, prefix + left);
    while (true) {
        pair_t pair = next;
        ASYNC_WAIT();
        affine_t p = slot->p, q = slot->q;
        F(t) own = F(mul_lazy)(inverse, slot->prefix);
        if (left > 0) {
            next = walk_on(slot, from, list, count, 0u - AFFINE_GROUP, &place);
            stage(slot, from, next, prefix + left - AFFINE_GROUP);
        }
        if (pair.p & SIGN_BIT) p.y = F(loose_negative)(p.y);
        if (pair.q & SIGN_BIT) q.y = F(loose_negative)(q.y);
        F(t) denominator = F(loose_difference)(q.x, p.x);
        affine_t sum;
        if (pair_is_doubtful(p.x, q.x)) {
            p.y = F(tight)(p.y);
            q.y = F(tight)(q.y);
            u32 kind = pair_kind(p, q);
            denominator = doubtful_denominator(p, q, kind);
            sum = doubtful_sum(p, q, kind, own);
        } else {
            sum = add_by_slope(p, q, F(loose_difference)(q.y, p.y), own);
        }
        out[pair.number] = sum;
        if (left == 0) return;
        left -= AFFINE_GROUP;
        inverse = F(mul_loose)(inverse, denominator);
    }
}

// Adds the listed pairs: out[i] = in[2i] + in[2i + 1]. `scratch` has as many elements for each group as the
// largest tile has pairs, in whole steps. Grid: any number of groups. It does not start early: where it did, beside the last
// groups of msm_list_pairs, the sum of 2^20 took a tenth longer now and then.
KERNEL_BOUNDED(AFFINE_GROUP, AFFINE_OCCUPANCY)
void msm_add_pairs(u32 level, GLOBAL const u32 *entries, GLOBAL const affine_t *in, GLOBAL affine_t *out,
                   GLOBAL const u32 *counters, GLOBAL const u32 *list, GLOBAL F(t) *scratch) {
    LOCAL affine_locals_t locals;
    operands_t from;
    from.level = level;
    from.entries = entries;
    from.points = in;
    u32 pairs = counters[LIST_COUNTS + level], share = (pairs + GROUPS - 1) / GROUPS;
    u32 start = GROUP_ID * share, last = start + share < pairs ? start + share : pairs;
    u32 turns = (share + AFFINE_TILE - 1) / AFFINE_TILE, tile = turns == 0 ? 1 : (share + turns - 1) / turns;
    u32 steps = (tile + AFFINE_GROUP - 1) / AFFINE_GROUP;
    GLOBAL F(t) *prefix = scratch + GROUP_ID * steps * AFFINE_GROUP + LOCAL_ID;
    for (; start < last; start += tile) {
        u32 count = start + tile < last ? tile : last - start;
        F(t) product = multiply_denominators(from, list + start, count, prefix, &locals.slot[LOCAL_ID]);
        BARRIER();
        F(t) inverse = invert_in_group(&locals.inverse, product);
        BARRIER();
        add_listed(from, list + start, count, inverse, prefix, out, &locals.slot[LOCAL_ID]);
        BARRIER();
    }
}
