// Batched affine additions: rounds that halve every row of the transposed matrix. An addition takes 5M + 1S, against 8M
// + 2S in XYZZ, and all additions that a group takes at a time share one inversion (batch inversion, Montgomery).
//
// Slot i of level 0 is entry i of the matrix; slot i of level l + 1 is the sum of slots 2i and 2i + 1 of level l. Rows
// start at multiples of 2^levels and are filled from their start, so no pair spans two rows. Each level has an entry
// for every slot, 0 if the slot is empty. At level 0 an entry is the number of a base and its sign. Above, it is the
// number of a sum in one store, which has no padding. The first round puts its sums there in the order of its list, and
// lone bases at the end. Later rounds put sums where their operands were, and do not move lone ones.
//
// A round lists the pairs with two live slots; groups, a warp each, take tiles of the list in turn. A group multiplies
// the denominators of its pairs in the order of each work-item, keeping the prefix products. It inverts the product of
// all, and goes back through the list. Groups are that small so that they drift apart: while one inverts, others on the
// multiprocessor multiply. The prefix products of the first round are in the place of the sums of the tile, and half as
// long. Going back, none is thus overwritten before it has been read. Other rounds have separate memory for them.
// Registers: 128. Coordinates in memory are in [0, p), in Montgomery form; the prefix products and intermediate values
// are loose (field_loose.cl).

// Limits of the pairs of a tile: the most in the first round, the most if the share of a group is moderate, and the
// least while enough are left. With fewer than FEW_PAIRS per group, each group has one tile.
#define MODERATE_TILE 4096u
#define MIN_TILE 512u
#define FEW_PAIRS 4096u

// Holds the entries of two slots side by side. Each is one more than the number of a point, with SIGN_BIT if that is to
// be negated, or 0 for an empty slot. Entries are not decoded when loaded, so that no work-item waits for the load
// before it needs the address of a point.
typedef struct ALIGNED(8) {
    u32 p, q;
} pair_t;

DEVICE GLOBAL const affine_t *entry_ptr(GLOBAL const affine_t *points, u32 entry) {
    return points + ((entry & ~SIGN_BIT) - 1);
}

DEVICE affine_t entry_point(GLOBAL const affine_t *points, u32 entry) {
    affine_t point = *entry_ptr(points, entry);
    if (entry & SIGN_BIT) point.y = F(neg)(point.y);
    return point;
}

// Returns the point of `entry` with a loose y.
DEVICE affine_t entry_point_loose(GLOBAL const affine_t *points, u32 entry) {
    affine_t point = *entry_ptr(points, entry);
    if (entry & SIGN_BIT) point.y = F(loose_negative)(point.y);
    return point;
}

// Cases of an addition: by the chord through two points, by the tangent if they are equal, or none.
enum { CHORD, TANGENT, TAKE_FIRST, TAKE_SECOND, TAKE_NONE };

DEVICE u32 pair_kind(affine_t p, affine_t q) {
    if (affine_is_infinity(p)) return TAKE_SECOND;
    if (affine_is_infinity(q)) return TAKE_FIRST;
    if (!F(eq)(p.x, q.x)) return CHORD;
    return F(is_zero)(F(add)(p.y, q.y)) ? TAKE_NONE : TANGENT;
}

// Returns whether a pair may be something else than a chord: its x alone do not decide that.
DEVICE bool is_exceptional(F(t) px, F(t) qx) {
    return F(eq)(px, qx) || F(is_zero)(px) || F(is_zero)(qx);
}

// Returns the denominator of the slope of a pair that is no plain chord; 1 if there is no slope.
DEVICE F(t) exceptional_denominator(affine_t p, affine_t q, u32 kind) {
    if (kind == CHORD) return F(sub)(q.x, p.x);
    return kind == TANGENT ? F(dbl)(p.y) : F(one)();
}

// Holds what a group finds among LIST_BLOCK pairs: those of two live slots from the start, and at level 0 those of a
// lone one from the end.
typedef struct {
    u32 pair[LIST_BLOCK];
    // Counts of both kinds, and where they go: in the list and, from its end, in the store.
    u32 pairs, lone, place, lone_place;
} pair_list_t;

// Sorts out the pairs from `start` to `end` − 1. If there is nothing to add, the level above gets the entry of the
// first slot, which may be empty; lone bases get theirs later.
DEVICE void find_pairs(LOCAL_PTR pair_list_t *found, u32 level, GLOBAL const pair_t *pairs, GLOBAL u32 *above,
                       u32 start, u32 end) {
    if (LOCAL_ID == 0) found->pairs = found->lone = 0;
    BARRIER();
    for (u32 number = start + LOCAL_ID; number < end; number += LIST_GROUP) {
        pair_t pair = pairs[number];
        if (pair.q == 0) above[number] = pair.p;
        if (pair.q != 0) found->pair[ATOMIC_ADD(&found->pairs, 1u)] = number;
        else if (level == 0 && pair.p != 0) found->pair[LIST_BLOCK - 1 - ATOMIC_ADD(&found->lone, 1u)] = number;
    }
    BARRIER();
}

// Copies the lone bases of the pairs of a group to the end of the store, which has room for `room` points.
DEVICE void copy_unpaired(LOCAL_PTR const pair_list_t *found, GLOBAL const pair_t *pairs, GLOBAL const affine_t *bases,
                          GLOBAL u32 *above, GLOBAL affine_t *store, u32 room) {
    for (u32 i = LOCAL_ID; i < found->lone; i += LIST_GROUP) {
        u32 number = found->pair[LIST_BLOCK - 1 - i], place = room - 1 - (found->lone_place + i);
        store[place] = entry_point(bases, pairs[number].p);
        above[number] = place + 1;
    }
}

// Appends the pairs of two live slots of `level` to the list, and gives the level above the entries of lone ones. Grid:
// one group per LIST_BLOCK pairs; level 0 has offsets[rows] slots.
PDL_KERNEL(msm_collect_pairs)
KERNEL(LIST_GROUP)
void msm_collect_pairs(GRID_CONSTANT collect_params_t params, GLOBAL const u32 *offsets, GLOBAL const pair_t *pairs,
                       GLOBAL u32 *above, GLOBAL const affine_t *bases, GLOBAL affine_t *store, GLOBAL u32 *counters,
                       GLOBAL u32 *list) {
    LOCAL pair_list_t found;
    PDL_WAIT();
    u32 level = params.level, all = offsets[params.rows] >> (level + 1), start = GROUP_ID * LIST_BLOCK;
    if (start >= all) return;
    find_pairs(&found, level, pairs, above, start, start + LIST_BLOCK < all ? start + LIST_BLOCK : all);
    if (LOCAL_ID == 0) {
        found.place = ATOMIC_ADD(&counters[LIST_COUNTS + level], found.pairs);
        if (found.lone != 0) found.lone_place = ATOMIC_ADD(&counters[LONE_COUNT], found.lone);
    }
    BARRIER();
    for (u32 i = LOCAL_ID; i < found.pairs; i += LIST_GROUP) list[found.place + i] = found.pair[i];
    copy_unpaired(&found, pairs, bases, above, store, params.room);
}

// Holds in local memory the operands of the pair of a work-item, and the values that the next pairs need. They are
// copied asynchronously, behind the arithmetic, if the device can do that. An odd number of 16-byte words puts
// neighbours in different banks.
typedef struct ALIGNED(16) {
    affine_t p, q;
    F(t) prefix;
    // The next pair, and the numbers of this one, the next, and two more, each at its step number modulo 4.
    pair_t next;
    u32 numbers[4];
#if FIELD_WORDS == 12
    u32 padding[2];
#else
    u32 padding[6];
#endif
} staged_t;

// Returns `pairs` rounded up to whole steps of a group.
DEVICE u32 whole_steps(u32 pairs) {
    return (pairs + AFFINE_GROUP - 1) / AFFINE_GROUP * AFFINE_GROUP;
}

// Holds the local memory of a group: the staged operands, or the memory of its inversion.
typedef union {
    inverse_locals_t inverse;
    staged_t slot[AFFINE_GROUP];
} affine_locals_t;

// Holds places `start` to `end` − 1 of the list of a round: numbers of `pairs`, which number `points`. It starts at a
// multiple of the size of a group, which is a step.
typedef struct {
    GLOBAL const u32 *list;
    GLOBAL const pair_t *pairs;
    GLOBAL const affine_t *points;
    u32 start, end;
} tile_t;

// A walk goes through a tile in steps, forwards or backwards, three pairs ahead: an address that waits for a load would
// stall the warp. Past the end it stays in range; the values there are not used.
//
// Returns the number of the pair at `place`. Backwards, a step below the start is in another tile, and one below zero
// wraps and is past the end too.
DEVICE u32 walk_number(tile_t tile, u32 place) {
    return tile.list[place < tile.end ? place : tile.end - 1];
}

DEVICE LOCAL_PTR u32 *walk_slot(LOCAL_PTR staged_t *slot, u32 place) {
    return &slot->numbers[place / AFFINE_GROUP % 4];
}

// Starts a walk, and returns the pair at the place `first`.
DEVICE pair_t walk_from(LOCAL_PTR staged_t *slot, tile_t tile, u32 first, u32 step) {
    u32 number = walk_number(tile, first), next = walk_number(tile, first + step);
    *walk_slot(slot, first) = number;
    *walk_slot(slot, first + step) = next;
    *walk_slot(slot, first + 2 * step) = walk_number(tile, first + 2 * step);
    slot->next = tile.pairs[next];
    return tile.pairs[number];
}

// Returns the pair one step after `place`, whose copies must have ended, and starts the next copies.
DEVICE pair_t prefetch_next(LOCAL_PTR staged_t *slot, tile_t tile, u32 place, u32 step) {
    pair_t next = slot->next;
    u32 after = *walk_slot(slot, place + 2 * step), last = place + 3 * step;
    ASYNC_COPY(slot->next, tile.pairs[after]);
    ASYNC_COPY(*walk_slot(slot, last), tile.list[last < tile.end ? last : tile.end - 1]);
    return next;
}

DEVICE void stage_x(LOCAL_PTR staged_t *slot, tile_t tile, pair_t pair) {
    ASYNC_COPY(slot->p.x, entry_ptr(tile.points, pair.p)->x);
    ASYNC_COPY(slot->q.x, entry_ptr(tile.points, pair.q)->x);
}

DEVICE void stage(LOCAL_PTR staged_t *slot, tile_t tile, pair_t pair, GLOBAL const F(t) *prefix) {
    ASYNC_COPY(slot->p, *entry_ptr(tile.points, pair.p));
    ASYNC_COPY(slot->q, *entry_ptr(tile.points, pair.q));
    ASYNC_COPY(slot->prefix, *prefix);
}

// Returns the product of the denominators of the pairs of the work-item, and stores the product before each pair in
// prefixes[place + shift]. These products are in [0, 2p) for any field, because their other factors are loose at most.
DEVICE F(t) multiply_denominators(tile_t tile, GLOBAL F(t) *prefixes, u32 shift, LOCAL_PTR staged_t *slot) {
    F(t) product = F(one)();
    u32 place = tile.start + LOCAL_ID;
    if (place >= tile.end) return product;
    pair_t pair = walk_from(slot, tile, place, AFFINE_GROUP);
    stage_x(slot, tile, pair);
    for (; place < tile.end; place += AFFINE_GROUP) {
        ASYNC_WAIT();
        F(t) px = slot->p.x, qx = slot->q.x, denominator = F(loose_difference)(qx, px);
        if (is_exceptional(px, qx)) {
            affine_t p = entry_point(tile.points, pair.p), q = entry_point(tile.points, pair.q);
            denominator = exceptional_denominator(p, q, pair_kind(p, q));
        }
        pair = prefetch_next(slot, tile, place, AFFINE_GROUP);
        stage_x(slot, tile, pair);
        prefixes[place + shift] = product;
        product = F(mul_lazy)(product, denominator);
    }
    ASYNC_WAIT();
    return product;
}

// Returns p + q by the slope numerator·inverse; `inverse` is that of the denominator. These two, p.y and q.y are loose.
DEVICE affine_t add_by_slope(affine_t p, affine_t q, F(t) numerator, F(t) inverse) {
    F(t) slope = F(mul_loose)(numerator, inverse);
    affine_t sum;
    sum.x = F(tight)(F(sub_loose)(F(sqr_loose)(slope), F(loose_sum)(p.x, q.x)));
    sum.y = F(tight_difference)(F(mul_loose)(slope, F(loose_difference)(p.x, sum.x)), p.y);
    return sum;
}

// Returns the sum of a pair that may be no chord.
DEVICE_NOINLINE affine_t add_exceptional(affine_t p, affine_t q, u32 kind, F(t) inverse) {
    affine_t none;
    none.x = F(zero)();
    none.y = F(zero)();
    if (kind == TAKE_FIRST) return p;
    if (kind == TAKE_SECOND) return q;
    if (kind == TAKE_NONE) return none;
    F(t) square = F(sqr)(p.x);
    return add_by_slope(p, q, kind == CHORD ? F(sub)(q.y, p.y) : F(add)(F(dbl)(square), square), inverse);
}

// Returns the entry of a sum in the level above, which gives its place in the store. In the first round that is the
// place of the pair in the list. In others the 32 sums of a step go where its first 16 pairs had their operands. Sums
// then follow one another for the next round as the operands did: memory is read by lines of about two points.
DEVICE u32 place_sum(LOCAL_PTR u32 *freed, pair_t pair, u32 place, bool in_place) {
    // No operands of this step are in flight any more, and all work-items have their places of the previous step.
    WARP_BARRIER();
    freed[2 * LOCAL_ID] = pair.p;
    freed[2 * LOCAL_ID + 1] = pair.q;
    WARP_BARRIER();
    return in_place ? freed[LOCAL_ID] : place + 1;
}

// Returns the sum of two points, with `inverse` that of the denominator of their slope, and sets *denominator to that,
// loose.
DEVICE affine_t add_pair(affine_t p, affine_t q, F(t) inverse, F(t) *denominator) {
    *denominator = F(loose_difference)(q.x, p.x);
    if (!is_exceptional(p.x, q.x)) return add_by_slope(p, q, F(loose_difference)(q.y, p.y), inverse);
    p.y = F(tight)(p.y);
    q.y = F(tight)(q.y);
    u32 kind = pair_kind(p, q);
    *denominator = exceptional_denominator(p, q, kind);
    return add_exceptional(p, q, kind, inverse);
}

// Adds the pairs of a tile, last first; `inverse` is that of the product of the denominators of the work-item. The last
// step may have no pair for it.
DEVICE void add_tile(tile_t tile, F(t) inverse, GLOBAL const F(t) *prefixes, u32 shift, GLOBAL affine_t *store,
                     GLOBAL u32 *above, bool in_place, LOCAL_PTR staged_t *slot, LOCAL_PTR u32 *freed) {
    u32 place = (tile.end - 1) / AFFINE_GROUP * AFFINE_GROUP + LOCAL_ID;
    pair_t next = walk_from(slot, tile, place, 0u - AFFINE_GROUP);
    stage(slot, tile, next, prefixes + (place + shift));
    while (true) {
        pair_t pair = next;
        bool is_live = place < tile.end, is_last = place == tile.start + LOCAL_ID;
        ASYNC_WAIT();
        u32 entry = place_sum(freed, pair, place, in_place);
        affine_t p = slot->p, q = slot->q;
        if (is_live) above[*walk_slot(slot, place)] = entry;
        F(t) own = F(mul_lazy)(inverse, slot->prefix);
        if (!is_last) {
            next = prefetch_next(slot, tile, place, 0u - AFFINE_GROUP);
            stage(slot, tile, next, prefixes + (place - AFFINE_GROUP + shift));
        }
        if (is_live) {
            if (pair.p & SIGN_BIT) p.y = F(loose_negative)(p.y);
            if (pair.q & SIGN_BIT) q.y = F(loose_negative)(q.y);
            F(t) denominator;
            store[entry - 1] = add_pair(p, q, own, &denominator);
            if (!is_last) inverse = F(mul_loose)(inverse, denominator);
        }
        if (is_last) return;
        place -= AFFINE_GROUP;
    }
}

// Returns the longest tile, at most `most`, of groups that have a share of `share` pairs each. That is a third, up to
// MODERATE_TILE: the first tile of the slowest group must end before the others have taken the rest. For a long share
// it is an eighth, which pays for the inversion.
DEVICE u32 longest_tile(u32 share, u32 most) {
    if (share < FEW_PAIRS) return share < most ? share : most;
    u32 third = share / 3 < MODERATE_TILE ? share / 3 : MODERATE_TILE, longest = share / 8 > third ? share / 8 : third;
    return longest < most ? longest : most;
}

// Takes the next pairs of a list of `all`, and returns their first place. Their number, shared[1], is at most `most`,
// in whole steps. `taken` counts the pairs taken. Multiprocessors differ in speed, so the last tiles are smaller:
// 1/GROUPS of the rest, but enough to pay for an inversion. Few pairs are one tile for each group.
DEVICE u32 claim_tile(GLOBAL u32 *taken, u32 all, u32 most, LOCAL_PTR u32 *shared) {
    if (LOCAL_ID == 0) {
        u32 before = ATOMIC_ADD(taken, 0u), left = before < all ? all - before : 0;
        u32 share = (all + GROUPS - 1) / GROUPS, least = share < FEW_PAIRS ? share : MIN_TILE;
        u32 wanted = left / GROUPS < least ? least : left / GROUPS, longest = longest_tile(share, most);
        shared[1] = whole_steps(wanted < longest ? wanted : longest);
        shared[0] = ATOMIC_ADD(taken, shared[1]);
    }
    BARRIER();
    return shared[0];
}

// Adds the listed pairs of `points`: bases at level 0, sums of the store above. Above level 0, tiles have at most
// `room` pairs, a number of whole steps, and `scratch` has `room` elements for each group. Grid: any number of groups.
// The kernel does not start early: when it did, beside the last groups of msm_collect_pairs, the MSM of 2^20 sometimes
// took a tenth longer.
KERNEL_BOUNDED(AFFINE_GROUP, INVERSE_OCCUPANCY)
void msm_batch_affine_add(u32 level, u32 room, GLOBAL const pair_t *pairs, GLOBAL u32 *above,
                          GLOBAL const affine_t *points, GLOBAL affine_t *store, GLOBAL u32 *counters,
                          GLOBAL const u32 *list, GLOBAL F(t) *scratch) {
    LOCAL affine_locals_t locals;
    LOCAL u32 freed[2 * AFFINE_GROUP];
    u32 all = counters[LIST_COUNTS + level], most = level == 0 ? FIRST_TILE : room;
    GLOBAL F(t) *prefixes = level == 0 ? (GLOBAL F(t) *)store : scratch;
    while (true) {
        u32 first = claim_tile(&counters[TAKEN_COUNTS + level], all, most, freed), length = freed[1];
        BARRIER();
        if (first >= all) return;
        tile_t tile = {list, pairs, points, first, all - first < length ? all : first + length};
        // The prefix product of the pair at a place is `shift` elements further on.
        u32 shift = level == 0 ? first : GROUP_ID * room - first;
        F(t) product = multiply_denominators(tile, prefixes, shift, &locals.slot[LOCAL_ID]);
        BARRIER();
        F(t) inverse = invert_in_group(&locals.inverse, product);
        BARRIER();
        add_tile(tile, inverse, prefixes, shift, store, above, level > 0, &locals.slot[LOCAL_ID], freed);
        BARRIER();
    }
}
