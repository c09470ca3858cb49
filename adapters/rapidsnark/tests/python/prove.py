#!/usr/bin/env python3
"""Proves a witness by ctypes through the functions of prover.h and verifier.h, in two threads, and writes a proof.

usage: prove.py LIBRARY CIRCUIT.zkey WITNESS.wtns VERIFICATION_KEY.json PROOF.json PUBLIC.json"""

import ctypes
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_char_p, c_int, c_ulong, c_ulonglong, c_void_p
from pathlib import Path

OK, ERROR, SHORT_BUFFER = range(3)
VALID, INVALID, MALFORMED = range(3)
ERROR_BYTES = 1024
TEXTS = [c_char_p, c_void_p, c_char_p, c_void_p, c_char_p, c_ulonglong]


def load(path):
    library = ctypes.CDLL(path)
    library.groth16_proof_size.argtypes = [c_void_p]
    library.groth16_proof_size.restype = None
    library.groth16_public_size_for_zkey_buf.argtypes = [c_char_p, c_ulonglong, c_void_p, c_char_p, c_ulonglong]
    library.groth16_public_size_for_zkey_file.argtypes = [c_char_p, c_void_p, c_char_p, c_ulonglong]
    library.groth16_prover_create.argtypes = [c_void_p, c_char_p, c_ulonglong, c_char_p, c_ulonglong]
    library.groth16_prover_create_zkey_file.argtypes = [c_void_p, c_char_p, c_char_p, c_ulonglong]
    library.groth16_prover_prove.argtypes = [c_void_p, c_char_p, c_ulonglong, *TEXTS]
    library.groth16_prover_destroy.argtypes = [c_void_p]
    library.groth16_prover_destroy.restype = None
    library.groth16_prover.argtypes = [c_char_p, c_ulonglong, c_char_p, c_ulonglong, *TEXTS]
    library.groth16_prover_zkey_file.argtypes = [c_char_p, c_char_p, c_ulonglong, *TEXTS]
    library.groth16_verify.argtypes = [c_char_p, c_char_p, c_char_p, c_char_p, c_ulong]
    return library


def call(function, *arguments, expected=OK):
    """Calls a function whose last arguments are the error's buffer and size, and returns the error's text."""
    error = ctypes.create_string_buffer(ERROR_BYTES)
    code = function(*arguments, error, ERROR_BYTES)
    assert code == expected, f"{function.__name__}: expected {expected}, got {code}: {error.value.decode()}"
    return error.value.decode()


def main(library, zkey_path, witness_path, key_path, proof_path, public_path):
    library = load(library)
    zkey, witness, key = (Path(path).read_bytes() for path in (zkey_path, witness_path, key_path))
    path = zkey_path.encode()

    proof_size, public_size, from_file = c_ulonglong(), c_ulonglong(), c_ulonglong()
    library.groth16_proof_size(byref(proof_size))
    call(library.groth16_public_size_for_zkey_buf, zkey, len(zkey), byref(public_size))
    call(library.groth16_public_size_for_zkey_file, path, byref(from_file))
    assert public_size.value == from_file.value

    def prove(function, *arguments, expected=OK, size=proof_size.value):
        proof, public = ctypes.create_string_buffer(size), ctypes.create_string_buffer(public_size.value)
        sizes = c_ulonglong(size), c_ulonglong(public_size.value)
        call(function, *arguments, proof, byref(sizes[0]), public, byref(sizes[1]), expected=expected)
        if expected == OK:
            assert [size.value for size in sizes] == [len(proof.value), len(public.value)]
        return proof.value, public.value, [size.value for size in sizes]

    def verify(proof, public, *_):
        call(library.groth16_verify, proof, public, key, expected=VALID)
        signals = json.loads(public)
        assert json.loads(proof)["protocol"] == "groth16"
        if signals:
            changed = json.dumps([str(int(signals[0]) ^ 1), *signals[1:]]).encode()
            call(library.groth16_verify, proof, changed, key, expected=INVALID)
        error = call(library.groth16_verify, b"{", public, key, expected=MALFORMED)
        assert error.startswith("proof: "), error

    provers = c_void_p(), c_void_p()
    call(library.groth16_prover_create, byref(provers[0]), zkey, len(zkey))
    call(library.groth16_prover_create_zkey_file, byref(provers[1]), path)
    with ThreadPoolExecutor(2) as pool:
        proofs = [pool.submit(prove, library.groth16_prover_prove, provers[index % 2], witness, len(witness)) for index in range(4)]
        for proof in proofs:
            verify(*proof.result())
    *_, needed = prove(library.groth16_prover_prove, provers[0], witness, len(witness), expected=SHORT_BUFFER, size=100)
    assert needed == [proof_size.value, public_size.value]
    prove(library.groth16_prover_prove, provers[0], witness, len(witness) - 1, expected=ERROR)
    for prover in provers:
        library.groth16_prover_destroy(prover)
        library.groth16_prover_destroy(prover)
        prove(library.groth16_prover_prove, prover, witness, len(witness), expected=ERROR)

    verify(*prove(library.groth16_prover, zkey, len(zkey), witness, len(witness)))
    proof, public, _ = prove(library.groth16_prover_zkey_file, path, witness, len(witness))
    verify(proof, public)
    Path(proof_path).write_bytes(proof)
    Path(public_path).write_bytes(public)


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    main(*sys.argv[1:])
