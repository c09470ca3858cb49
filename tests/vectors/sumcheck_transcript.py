#!/usr/bin/env python3
"""Proofs and challenges of sumcheck by what docs/sumcheck.md says, without a line of the library: tests/sumcheck/vectors.rs compares.

Prints the vectors as JSON. usage: tests/vectors/sumcheck_transcript.py > tests/vectors/sumcheck_transcript.json"""

import hashlib
import json
from functools import reduce


class Field:
    """Elements are tuples of coefficients over a prime field; a binary field's are one number of 128 bits."""

    def __init__(self, name, modulus, size, degree=1, residue=0):
        self.name, self.modulus, self.size, self.degree, self.residue = name, modulus, size, degree, residue

    def number(self, number):
        return (number % self.modulus,) + (0,) * (self.degree - 1)

    def add(self, a, b):
        return tuple((x + y) % self.modulus for x, y in zip(a, b))

    def subtract(self, a, b):
        return tuple((x - y) % self.modulus for x, y in zip(a, b))

    def multiply(self, a, b):
        """X^degree is the residue."""
        product = [0] * self.degree
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                wraps, place = divmod(i + j, self.degree)
                product[place] += x * y * self.residue**wraps
        return tuple(x % self.modulus for x in product)

    def encode(self, a):
        return b"".join(x.to_bytes(self.size, "little") for x in a)

    def uniform(self, data):
        """All of 64 bytes as a number; of an extension's parts, the first 16 bytes each."""
        if self.degree == 1:
            return (int.from_bytes(data, "little") % self.modulus,)
        part = 64 // self.degree
        return tuple(int.from_bytes(data[i * part :][:16], "little") % self.modulus for i in range(self.degree))


class Binary:
    size = 16

    def __init__(self, name, multiply):
        self.name, self.multiply = name, multiply

    def number(self, number):
        return number

    def add(self, a, b):
        return a ^ b

    subtract = add

    def encode(self, a):
        return a.to_bytes(16, "little")

    def uniform(self, data):
        return reduce(self.add, (int.from_bytes(data[i : i + 16], "little") for i in range(0, 64, 16)))


def ghash(a, b):
    """Modulo x^128 + x^7 + x^2 + x + 1."""
    product = 0
    for bit in range(128):
        if b >> bit & 1:
            product ^= a << bit
    for bit in reversed(range(128, 256)):
        if product >> bit & 1:
            product ^= 1 << bit ^ 0b10000111 << bit - 128
    return product


def tower(a, b, level=7):
    """X_k² = X_k·X_(k−1) + 1, where X_−1 is 1: an element of a level is low + high·X_(level−1)."""
    if level == 0:
        return a & b
    half = 1 << level - 1
    mask = (1 << half) - 1
    (a0, a1), (b0, b1) = (a & mask, a >> half), (b & mask, b >> half)
    low, high = tower(a0, b0, level - 1), tower(a1, b1, level - 1)
    cross = tower(a0, b1, level - 1) ^ tower(a1, b0, level - 1)
    before = 1 if level == 1 else 1 << (half >> 1)
    return low ^ high | (cross ^ tower(high, before, level - 1)) << half


FIELDS = [
    Binary("tower", tower),
    Binary("ghash", ghash),
    Field("bls12_377_fr", 0x12AB655E9A2CA55660B44D1E5C37B00159AA76FED00000010A11800000000001, 32),
    Field("bls12_381_fr", 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001, 32),
    Field("bn254_fr", 0x30644E72E131A029B85045B68181585D2833E84879B9709143E1F593F0000001, 32),
    Field("pasta_fp", 0x40000000000000000000000000000000224698FC094CF91B992D30ED00000001, 32),
    Field("pasta_fq", 0x40000000000000000000000000000000224698FC0994A8DD8C46EB2100000001, 32),
    Field("goldilocks2", 2**64 - 2**32 + 1, 8, 2, 7),
    Field("baby_bear4", 15 * 2**27 + 1, 4, 4, 11),
    Field("koala_bear4", 127 * 2**24 + 1, 4, 4, 3),
]


class Transcript:
    def __init__(self, field, protocol):
        self.field, self.state, self.challenges = field, bytes(32), []
        self.state = self.hash(0, "protocol", protocol)

    def hash(self, kind, label, data):
        sized = lambda part: len(part).to_bytes(8, "little") + part
        return hashlib.sha256(self.state + bytes([kind]) + sized(label.encode()) + sized(data)).digest()

    def observe(self, label, elements):
        self.state = self.hash(0, label, b"".join(map(self.field.encode, elements)))

    def challenge(self, label):
        self.state = self.hash(1, label, b"")
        self.challenges.append(self.field.uniform(self.state + self.hash(2, label, b"")))
        return self.challenges[-1]

    def frame(self, tag, label, elements):
        self.observe(label, [self.field.number(tag), self.field.number(len(elements)), *elements])

    def commitment(self, data):
        parts = [int.from_bytes(data[i : i + 3], "little") for i in range(0, len(data), 3)]
        self.frame(1, "commitment", [self.field.number(number) for number in [len(data), *parts]])

    def claim(self, claim):
        number, degree = self.field.number, claim.degree()
        shape = [claim.variables, degree, len(claim.terms), len(claim.columns), int(claim.eq is not None)]
        self.frame(4, "claim", [number(n) for n in shape])
        for coefficient, columns in claim.terms:
            self.frame(5, "term", [coefficient, *map(number, columns)])
        self.frame(6, "eq", claim.eq or [])
        self.frame(7, "sum", [claim.sum])


def times(field, a, b):
    product = [field.number(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            product[i + j] = field.add(product[i + j], field.multiply(x, y))
    return product


def plus(field, a, b):
    zero = [field.number(0)] * max(len(a), len(b))
    pad = lambda p: p + zero[len(p) :]
    return [field.add(x, y) for x, y in zip(pad(a), pad(b))]


def at(field, polynomial, x):
    return reduce(lambda sum, coefficient: field.add(field.multiply(sum, x), coefficient), reversed(polynomial))


class Claim:
    """Terms are coefficients with column numbers. All columns are folded where they are; eq's is one more."""

    def __init__(self, field, variables, terms, columns, eq=None):
        self.field, self.variables, self.terms, self.columns, self.eq = field, variables, terms, columns, eq
        one, weights = field.number(1), [field.number(1)]
        for w in eq or []:
            weights = [field.multiply(v, f) for v in weights for f in (field.subtract(one, w), w)]
        self.weights = weights if eq is not None else [one] * 2**variables
        self.sum = reduce(field.add, (self.value([[x[row]] for x in columns], [self.weights[row]])[0] for row in range(2**variables)))

    def degree(self):
        return max(len(columns) for _, columns in self.terms) + (self.eq is not None)

    def value(self, columns, weight):
        """The terms of polynomials in place of columns."""
        products = [reduce(lambda a, b: times(self.field, a, b), (columns[c] for c in numbers), [k]) for k, numbers in self.terms]
        return times(self.field, weight, reduce(lambda a, b: plus(self.field, a, b), products))

    def round(self):
        """All coefficients of the next round's polynomial."""
        half = len(self.weights) // 2
        lines = lambda column, row: [column[row], self.field.subtract(column[row + half], column[row])]
        of_row = lambda row: self.value([lines(c, row) for c in self.columns], lines(self.weights, row))
        polynomial = reduce(lambda a, b: plus(self.field, a, b), map(of_row, range(half)))
        # Where there is no eq, the weights are constant.
        return polynomial[: self.degree() + 1]

    def fold(self, r):
        half = len(self.weights) // 2
        line = lambda column, row: [column[row], self.field.subtract(column[row + half], column[row])]
        fold = lambda column: [at(self.field, line(column, row), r) for row in range(half)]
        self.columns, self.weights = [fold(c) for c in self.columns], fold(self.weights)


def message(polynomial, degree, field):
    polynomial = polynomial + [field.number(0)] * (degree + 1 - len(polynomial))
    return polynomial[:1] + polynomial[2:]


def prove(claim, transcript):
    transcript.claim(claim)
    proof = []
    for _ in range(claim.variables):
        proof.append(message(claim.round(), claim.degree(), claim.field))
        transcript.frame(8, "message", proof[-1])
        claim.fold(transcript.challenge("point"))
    finals = [column[0] for column in claim.columns]
    transcript.frame(9, "finals", finals)
    return [element for elements in [*proof, finals] for element in elements]


def prove_batch(claims, transcript):
    field = claims[0].field
    transcript.frame(3, "batch", [field.number(len(claims))])
    for claim in claims:
        transcript.claim(claim)
    power, factors = transcript.challenge("batch"), [field.number(1)]
    for _ in claims[1:]:
        factors.append(field.multiply(factors[-1], power))
    rounds, degree = max(c.variables for c in claims), max(c.degree() for c in claims)
    proof = []
    for number in range(rounds):
        total = []
        for claim, factor in zip(claims, factors):
            waits = number < rounds - claim.variables
            polynomial = [claim.sum, field.subtract(field.number(0), claim.sum)] if waits else claim.round()
            total = plus(field, total, times(field, [factor], polynomial))
        proof.append(message(total, degree, field))
        transcript.frame(8, "message", proof[-1])
        r = transcript.challenge("point")
        for index, claim in enumerate(claims):
            if number < rounds - claim.variables:
                factors[index] = field.multiply(factors[index], field.subtract(field.number(1), r))
            else:
                claim.fold(r)
    finals = [[column[0] for column in claim.columns] for claim in claims]
    for of_claim in finals:
        transcript.frame(9, "finals", of_claim)
    return [element for elements in [*proof, *finals] for element in elements]


def vectors(field):
    """Elements of columns, coefficients and points are challenges of a transcript that has seen nothing."""
    source = Transcript(field, b"vector")
    elements = lambda count: [source.challenge("element") for _ in range(count)]
    terms = [(elements(1)[0], [0, 1, 1]), (field.number(1), [2])]
    columns = [elements(8) for _ in range(4)]
    point = elements(3)
    small = [elements(4) for _ in range(2)]
    plain = lambda: Claim(field, 3, terms, columns)
    with_eq = lambda: Claim(field, 3, terms, columns, point)
    product = lambda: Claim(field, 2, [(field.number(1), [0, 1])], small)
    for name, run in [
        ("plain", lambda t: prove(plain(), t)),
        ("eq", lambda t: prove(with_eq(), t)),
        ("batch", lambda t: prove_batch([plain(), product(), with_eq()], t)),
    ]:
        transcript = Transcript(field, b"test")
        transcript.commitment(b"root")
        proof = b"".join(map(field.encode, run(transcript)))
        transcript.challenge("after")
        challenges = [field.encode(c).hex() for c in transcript.challenges]
        yield {"field": field.name, "case": name, "challenges": challenges, "proof": proof.hex()}


if __name__ == "__main__":
    print(json.dumps([vector for field in FIELDS for vector in vectors(field)], indent=1))
