pragma circom 2.0.0;

include "circomlib/circuits/sha256/sha256.circom";

// The hash of 64 secret bits, its 256 bits public: one block.
component main = Sha256(64);
