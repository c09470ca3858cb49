/* Proves a witness through every function of prover.h and verifier.h, and writes the last proof.
 *
 * usage: prove CIRCUIT.zkey WITNESS.wtns VERIFICATION_KEY.json PROOF.json PUBLIC.json */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prover.h"
#include "verifier.h"

enum { ERROR_BYTES = 1024 };

typedef struct {
    char *bytes;
    unsigned long long size;
} buffer;

static char error[ERROR_BYTES];

static void expect(int actual, int expected, const char *call)
{
    if (actual != expected) {
        fprintf(stderr, "%s: expected code %d, got %d: %s\n", call, expected, actual, error);
        exit(1);
    }
    memset(error, 0, sizeof error);
}

static buffer allocate(unsigned long long size)
{
    buffer memory = {calloc(size, 1), size};
    if (memory.bytes == NULL) {
        perror("calloc");
        exit(1);
    }
    return memory;
}

/* Reads a file, with a terminator behind it. */
static buffer read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0) {
        perror(path);
        exit(1);
    }
    rewind(file);
    buffer contents = allocate((unsigned long long)size + 1);
    contents.size = fread(contents.bytes, 1, (size_t)size, file);
    fclose(file);
    return contents;
}

static void write_file(const char *path, buffer text)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(text.bytes, 1, text.size, file) != text.size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void verify(buffer proof, buffer public, buffer key)
{
    expect(groth16_verify(proof.bytes, public.bytes, key.bytes, error, sizeof error), VERIFIER_VALID_PROOF, "verify");
    expect(groth16_verify(proof.bytes, public.bytes, NULL, error, sizeof error), VERIFIER_ERROR, "verify without key");
    char *end = strchr(public.bytes + 2, '"');
    if (end != NULL) {
        char digit = end[-1];
        end[-1] = digit == '0' ? '1' : '0';
        expect(groth16_verify(proof.bytes, public.bytes, key.bytes, error, sizeof error), VERIFIER_INVALID_PROOF,
               "verify with another signal");
        end[-1] = digit;
    }
}

/* Texts of a proof, in buffers of the sizes that the library tells. */
typedef struct {
    buffer proof;
    buffer public;
} texts;

static texts allocate_texts(buffer zkey, const char *path)
{
    unsigned long long proof_size = 0, public_size = 0, same_size = 0;
    groth16_proof_size(&proof_size);
    expect(groth16_public_size_for_zkey_buf(zkey.bytes, zkey.size, &public_size, error, sizeof error), PROVER_OK,
           "size of public signals");
    expect(groth16_public_size_for_zkey_file(path, &same_size, error, sizeof error), PROVER_OK,
           "size of public signals by file");
    expect(public_size == same_size, 1, "equal sizes");
    return (texts){allocate(proof_size), allocate(public_size)};
}

static int prove(void *prover, buffer wtns, texts *into)
{
    return groth16_prover_prove(prover, wtns.bytes, wtns.size, into->proof.bytes, &into->proof.size,
                                into->public.bytes, &into->public.size, error, sizeof error);
}

static void free_texts(texts memory)
{
    free(memory.proof.bytes);
    free(memory.public.bytes);
}

/* Proves with a prover that outlives the zkey's buffer. */
static texts prove_by_handle(const char *path, buffer wtns, buffer key)
{
    buffer zkey = read_file(path);
    texts result = allocate_texts(zkey, path);
    void *prover = NULL, *from_file = NULL;
    expect(groth16_prover_create(&prover, zkey.bytes, zkey.size, error, sizeof error), PROVER_OK, "create");
    memset(zkey.bytes, 0xff, zkey.size);
    free(zkey.bytes);
    expect(groth16_prover_create_zkey_file(&from_file, path, error, sizeof error), PROVER_OK, "create by file");
    texts short_public = {allocate(result.proof.size), allocate(result.public.size)};
    short_public.public.size = 1;
    expect(prove(prover, wtns, &short_public), PROVER_ERROR_SHORT_BUFFER, "prove into a short buffer");
    expect(short_public.public.size == result.public.size, 1, "the size needed");
    expect(prove(from_file, wtns, &short_public), PROVER_OK, "prove into a buffer of that size");
    verify(short_public.proof, short_public.public, key);
    free_texts(short_public);
    expect(prove(prover, wtns, &result), PROVER_OK, "prove");
    groth16_prover_destroy(prover);
    groth16_prover_destroy(from_file);
    groth16_prover_destroy(prover);
    expect(prove(prover, wtns, &result), PROVER_ERROR, "prove with a destroyed prover");
    return result;
}

static void prove_once(const char *path, buffer wtns, buffer key)
{
    buffer zkey = read_file(path);
    texts once = allocate_texts(zkey, path);
    expect(groth16_prover(zkey.bytes, zkey.size, wtns.bytes, wtns.size, once.proof.bytes, &once.proof.size,
                          once.public.bytes, &once.public.size, error, sizeof error),
           PROVER_OK, "prove once");
    verify(once.proof, once.public, key);
    free_texts(once);
    once = allocate_texts(zkey, path);
    expect(groth16_prover_zkey_file(path, wtns.bytes, wtns.size, once.proof.bytes, &once.proof.size,
                                    once.public.bytes, &once.public.size, error, sizeof error),
           PROVER_OK, "prove once by file");
    verify(once.proof, once.public, key);
    free_texts(once);
    free(zkey.bytes);
}

int main(int count, char **arguments)
{
    if (count != 6) {
        fprintf(stderr, "usage: prove CIRCUIT.zkey WITNESS.wtns VERIFICATION_KEY.json PROOF.json PUBLIC.json\n");
        return 2;
    }
    buffer wtns = read_file(arguments[2]), key = read_file(arguments[3]);
    prove_once(arguments[1], wtns, key);
    texts result = prove_by_handle(arguments[1], wtns, key);
    verify(result.proof, result.public, key);
    write_file(arguments[4], result.proof);
    write_file(arguments[5], result.public);
    free_texts(result);
    free(wtns.bytes);
    free(key.bytes);
    return 0;
}
