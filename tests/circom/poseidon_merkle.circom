pragma circom 2.0.0;

include "circomlib/circuits/poseidon.circom";
include "circomlib/circuits/switcher.circom";

// Computes the root of a Merkle tree of `depth` levels from a leaf, its siblings and its path: bit i is 1 if the node of
// level i is a right child.
template PoseidonMerkle(depth) {
    signal input leaf;
    signal input siblings[depth];
    signal input path[depth];
    signal output root;

    component switchers[depth];
    component hashes[depth];
    signal nodes[depth + 1];
    nodes[0] <== leaf;
    for (var i = 0; i < depth; i++) {
        path[i] * (path[i] - 1) === 0;
        switchers[i] = Switcher();
        switchers[i].sel <== path[i];
        switchers[i].L <== nodes[i];
        switchers[i].R <== siblings[i];
        hashes[i] = Poseidon(2);
        hashes[i].inputs[0] <== switchers[i].outL;
        hashes[i].inputs[1] <== switchers[i].outR;
        nodes[i + 1] <== hashes[i].out;
    }
    root <== nodes[depth];
}

component main = PoseidonMerkle(4);
