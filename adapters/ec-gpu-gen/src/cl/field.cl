// A prime field, p < 2^(bits − 1), in Montgomery form: limbs in little-endian order, values in [0, p).

#if PASTE(FIELD, LIMB_BITS) == 64
#define MAC mac_with_carry_64
#else
#define MAC mac_with_carry_32
#endif

DEVICE bool F(eq)(FIELD a, FIELD b) {
    F(limb) different = 0;
    for (int i = 0; i < F(LIMBS); i++) different |= a.val[i] ^ b.val[i];
    return different == 0;
}

DEVICE bool F(gte)(FIELD a, FIELD b) {
    for (int i = F(LIMBS) - 1; i >= 0; i--) {
        if (a.val[i] != b.val[i]) return a.val[i] > b.val[i];
    }
    return true;
}

// add_ and sub_ compute a + b and a − b as numbers, modulo 2^bits.
DEVICE FIELD F(add_)(FIELD a, FIELD b) {
    F(limb) carry = 0;
    for (int i = 0; i < F(LIMBS); i++) {
        F(limb) sum = a.val[i] + carry;
        carry = sum < carry;
        a.val[i] = sum + b.val[i];
        carry += a.val[i] < sum;
    }
    return a;
}

DEVICE FIELD F(sub_)(FIELD a, FIELD b) {
    F(limb) borrow = 0;
    for (int i = 0; i < F(LIMBS); i++) {
        F(limb) difference = a.val[i] - b.val[i];
        F(limb) under = a.val[i] < b.val[i];
        a.val[i] = difference - borrow;
        borrow = under | (difference < borrow);
    }
    return a;
}

DEVICE FIELD F(add)(FIELD a, FIELD b) {
    const FIELD p = F(P);
    a = F(add_)(a, b);
    return F(gte)(a, p) ? F(sub_)(a, p) : a;
}

DEVICE FIELD F(sub)(FIELD a, FIELD b) {
    const FIELD p = F(P);
    FIELD difference = F(sub_)(a, b);
    return F(gte)(a, b) ? difference : F(add_)(difference, p);
}

DEVICE FIELD F(double)(FIELD a) {
    return F(add)(a, a);
}

// Computes the Montgomery product, a row of products and a row of reduction in turn (CIOS; Koç, Acar and Kaliski 1996).
DEVICE_CALL FIELD F(mul)(FIELD a, FIELD b) {
    const FIELD p = F(P);
    FIELD r = F(ZERO);
    for (int i = 0; i < F(LIMBS); i++) {
        F(limb) high = 0, over = 0;
        F(limb) low = MAC(a.val[0], b.val[i], r.val[0], &high);
        F(limb) m = low * F(INV);
        MAC(m, p.val[0], low, &over);
        for (int j = 1; j < F(LIMBS); j++) {
            low = MAC(a.val[j], b.val[i], r.val[j], &high);
            r.val[j - 1] = MAC(m, p.val[j], low, &over);
        }
        r.val[F(LIMBS) - 1] = high + over;
    }
    return F(gte)(r, p) ? F(sub_)(r, p) : r;
}

DEVICE FIELD F(sqr)(FIELD a) {
    return F(mul)(a, a);
}

DEVICE FIELD F(pow)(FIELD base, uint exponent) {
    FIELD power = F(ONE);
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1) power = F(mul)(power, base);
        base = F(sqr)(base);
    }
    return power;
}

// Computes base^exponent like pow, with base^(2^i) in bases[i].
DEVICE FIELD F(pow_lookup)(GLOBAL FIELD *bases, uint exponent) {
    FIELD power = F(ONE);
    for (uint i = 0; exponent > 0; exponent >>= 1, i++) {
        if (exponent & 1) power = F(mul)(power, bases[i]);
    }
    return power;
}

DEVICE FIELD F(mont)(FIELD a) {
    const FIELD r2 = F(R2);
    return F(mul)(a, r2);
}

DEVICE FIELD F(unmont)(FIELD a) {
    FIELD one = F(ZERO);
    one.val[0] = 1;
    return F(mul)(a, one);
}

// Returns bit `i`, counted from the most significant.
DEVICE bool F(get_bit)(FIELD a, uint i) {
    uint bit = F(LIMBS) * F(LIMB_BITS) - 1 - i;
    return (a.val[bit / F(LIMB_BITS)] >> (bit % F(LIMB_BITS))) & 1;
}

// Returns `window` bits from bit `skip` on, counted from the most significant.
DEVICE uint F(get_bits)(FIELD a, uint skip, uint window) {
    uint bits = 0;
    for (uint i = 0; i < window; i++) bits = (bits << 1) | (uint)F(get_bit)(a, skip + i);
    return bits;
}

#undef MAC
