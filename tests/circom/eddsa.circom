pragma circom 2.0.0;

include "circomlib/circuits/eddsaposeidon.circom";

// A signature on Baby Jubjub, by a public key on a public message.
component main {public [Ax, Ay, M]} = EdDSAPoseidonVerifier();
