// Layers of Merkle trees over digests of Poseidon2: see poseidon2.cl, src/hash/tree_shape.rs.
//
// A digest is `length` consecutive elements. All layers of a tree are in one buffer, from the leaves to the root;
// src/hash/kernels.rs describes merkle_layer_t.

// States the number of children of a node.
#define ARITY 2u

// Computes node `node`: the first `length` elements of the permutation of its children and zeros. If the layer injects,
// that and the digest of row `node`, zero if there is none, are compressed in turn.
DEVICE void merkle_node(POSEIDON2_PARAMETERS, u32 length, merkle_layer_t layer, u32 node, GLOBAL F(t) *digests,
                        GLOBAL const F(t) *injected) {
    F(t) state[WIDTH];
    // Element i of the state is element at + i of `source`, from `start` to `end`, and then zero.
    GLOBAL const F(t) *source = digests;
    u64 at = ((u64)layer.from + (u64)node * ARITY) * length;
    u32 start = 0, end = ARITY * length;
    for (u32 step = 0; step <= layer.injections; step++) {
#pragma unroll
        for (u32 i = 0; i < WIDTH; i++)
            if (i >= start) state[i] = i < end ? source[at + i] : F(zero)();
        permute(state, outer, inner, constants);
        source = injected, at = ((u64)layer.row_from + node) * length - length;
        start = length, end = node < layer.rows ? 2 * length : 0;
    }
    digests += ((u64)layer.to + node) * length;
#pragma unroll
    for (u32 i = 0; i < WIDTH; i++)
        if (i < length) digests[i] = reduce_loose(state[i]);
}

// Computes `count` layers from number `first` on, one node per work-item at a time. More than one layer takes a grid of
// one group. `injected` has the digests of all rows that layers inject.
KERNEL_BOUNDED(POSEIDON2_GROUP, POSEIDON2_GROUPS)
void merkle_layers(POSEIDON2_PARAMETERS, u32 length, u32 first, u32 count, GLOBAL const merkle_layer_t *layers,
                   GLOBAL F(t) *digests, GLOBAL const F(t) *injected) {
    for (u32 number = first; number < first + count; number++) {
        merkle_layer_t layer = layers[number];
        for (u32 node = GLOBAL_ID; node < layer.nodes; node += GLOBAL_SIZE)
            merkle_node(outer, inner, constants, length, layer, node, digests, injected);
        // The zero digest that makes the number even.
        if (layer.padded > layer.nodes && GLOBAL_ID < length)
            digests[((u64)layer.to + layer.nodes) * length + GLOBAL_ID] = F(zero)();
        GLOBAL_BARRIER();
    }
}

// Copies `count` runs of `length` elements, run r from positions[r]·length on, to consecutive memory.
KERNEL(POSEIDON2_GROUP)
void merkle_gather(u32 length, u32 count, GLOBAL const u32 *positions, GLOBAL const F(t) *from, GLOBAL F(t) *to) {
    for (u64 i = GLOBAL_ID; i < (u64)count * length; i += GLOBAL_SIZE)
        to[i] = from[(u64)positions[i / length] * length + i % length];
}
