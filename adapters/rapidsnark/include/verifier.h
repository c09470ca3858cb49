/* Verification of Groth16 proofs in snarkjs's JSON.
 *
 * Function, signature and codes are those of rapidsnark's verifier.h. Differences:
 * - Keys and proofs of BLS12-381 work too. The key names the curve; a proof may leave it out.
 * - A point that is not on the curve or not in the subgroup, and a public signal that is not below r, are errors.
 * - error_msg always ends with a terminator.
 */
#ifndef PROOFWARP_RAPIDSNARK_VERIFIER_H
#define PROOFWARP_RAPIDSNARK_VERIFIER_H

#ifdef __cplusplus
extern "C" {
#endif

/* The proof is valid. */
#define VERIFIER_VALID_PROOF 0x0
/* The texts are well-formed, and the proof is invalid. */
#define VERIFIER_INVALID_PROOF 0x1
/* A pointer is null, a text is malformed, or the number of public signals is not the key's; error_msg says which. */
#define VERIFIER_ERROR 0x2

/* Verifies a proof. The first three arguments are the texts of proof.json, public.json and verification_key.json, each
 * with a terminator. error_msg may be null. */
int groth16_verify(const char *proof, const char *inputs, const char *verification_key, char *error_msg,
                   unsigned long error_msg_maxsize);

#ifdef __cplusplus
}
#endif

#endif
