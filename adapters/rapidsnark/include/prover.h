/* Groth16 proofs of circom's circuits from .zkey and .wtns, on CUDA, OpenCL or the CPU.
 *
 * Functions, signatures and codes are those of rapidsnark's prover.h. Differences:
 * - Keys of BLS12-381 work too. Proofs name their curve, as snarkjs's do.
 * - The library verifies each proof before it returns it. A witness that does not satisfy the circuit is an error. The
 *   environment variable PROOFWARP_VERIFY=0 turns that off.
 * - A prover owns all that it needs. The zkey's buffer or file may go when the call returns.
 * - A prover is an entry of a table, not an address. A handle that is wrong or destroyed is an error.
 *
 * Threads: all functions may be called by several threads at once, with one prover too. A prover that is destroyed
 * while it proves is freed after that proof.
 *
 * Buffers: a size in bytes goes in, the length of the text without its terminator comes out. The text needs one byte
 * more than its length. Sizes and handles need no alignment.
 *
 * Errors: error_msg gets a text that ends with a terminator, cut to error_msg_maxsize bytes. It may be null. After
 * PROVER_OK it is unchanged. Every pointer but error_msg is checked to be not null; apart from that, it has to point to
 * as many bytes as its size says.
 *
 * Log: warnings and errors go to the standard error, unless the program has a logger of Rust's. RUST_LOG=off turns them
 * off. A fallback from a device to the CPU is such a warning.
 */
#ifndef PROOFWARP_RAPIDSNARK_PROVER_H
#define PROOFWARP_RAPIDSNARK_PROVER_H

#ifdef __cplusplus
extern "C" {
#endif

/* The call did what it should. */
#define PROVER_OK 0x0
/* The call failed; error_msg says why. */
#define PROVER_ERROR 0x1
/* A buffer is too short for its text. Both sizes are set to what any proof of this key needs, with the terminator. */
#define PROVER_ERROR_SHORT_BUFFER 0x2
/* The witness has another number of values than the key has signals. */
#define PROVER_INVALID_WITNESS_LENGTH 0x3

/* Sets public_size to the bytes that the public signals of any witness need, with the terminator. Reads the zkey's
 * header only. */
int groth16_public_size_for_zkey_buf(const void *zkey_buffer, unsigned long long zkey_size,
                                     unsigned long long *public_size, char *error_msg,
                                     unsigned long long error_msg_maxsize);

/* Does so for the file zkey_fname. Skips all of the file but its header. */
int groth16_public_size_for_zkey_file(const char *zkey_fname, unsigned long long *public_size, char *error_msg,
                                      unsigned long long error_msg_maxsize);

/* Sets proof_size to the bytes that a proof of either curve needs at most, with the terminator. A proof of BN254 needs
 * at most 810. Does nothing if proof_size is null. */
void groth16_proof_size(unsigned long long *proof_size);

/* Checks a zkey, uploads it to the devices, and sets prover_object to a handle of the prover. The handle is not null
 * and is valid until groth16_prover_destroy. It points to no memory. */
int groth16_prover_create(void **prover_object, const void *zkey_buffer, unsigned long long zkey_size, char *error_msg,
                          unsigned long long error_msg_maxsize);

/* Does so for the file zkey_file_path. */
int groth16_prover_create_zkey_file(void **prover_object, const char *zkey_file_path, char *error_msg,
                                    unsigned long long error_msg_maxsize);

/* Proves a witness, and writes the JSON texts of the proof and of the public signals. If a size is 0, and the witness
 * is of the right length, the call returns PROVER_ERROR_SHORT_BUFFER without proving. */
int groth16_prover_prove(void *prover_object, const void *wtns_buffer, unsigned long long wtns_size,
                         char *proof_buffer, unsigned long long *proof_size, char *public_buffer,
                         unsigned long long *public_size, char *error_msg, unsigned long long error_msg_maxsize);

/* Frees a prover. Does nothing if the handle is null, wrong or destroyed before. */
void groth16_prover_destroy(void *prover_object);

/* Proves one witness with a zkey. The zkey's key stays on the devices until another zkey is given to one of these two
 * functions, so further proofs of it upload nothing. A zkey is recognised by its lengths, its verification key and its
 * contributions. */
int groth16_prover(const void *zkey_buffer, unsigned long long zkey_size, const void *wtns_buffer,
                   unsigned long long wtns_size, char *proof_buffer, unsigned long long *proof_size,
                   char *public_buffer, unsigned long long *public_size, char *error_msg,
                   unsigned long long error_msg_maxsize);

/* Does so for the file zkey_file_path. */
int groth16_prover_zkey_file(const char *zkey_file_path, const void *wtns_buffer, unsigned long long wtns_size,
                             char *proof_buffer, unsigned long long *proof_size, char *public_buffer,
                             unsigned long long *public_size, char *error_msg, unsigned long long error_msg_maxsize);

#ifdef __cplusplus
}
#endif

#endif
