// Products by numbers known beforehand, for prime fields of one limb: field_shoup.cl has the method and the invariant.
//
// Values are in [0, 2p), 2p < R = 2³².

typedef struct ALIGNED(8) {
    F(t) value;
    F(t) quotient;
} F(fixed);

// Returns the fixed factor for an element: b·R = quotient·p + (b·R mod p).
DEVICE F(fixed) F(fix)(F(t) a) {
    F(fixed) r;
    r.quotient = F(of_word)(a.limb[0] * INV32);
    r.value = F(to_canonical)(a);
    return r;
}

DEVICE F(t) F(reduce)(F(t) a) {
    return F(reduce_word)(a.limb[0]);
}

// Returns a + b, in [0, 2p). The sum may exceed a word, so that b's distance to 2p is compared.
DEVICE F(t) F(add_2p)(F(t) a, F(t) b) {
    const u32 p2[1] = P2_LIMBS;
    u32 distance = p2[0] - b.limb[0];
    return F(of_word)(a.limb[0] >= distance ? a.limb[0] - distance : a.limb[0] + b.limb[0]);
}

// Returns a − b, in [0, 2p).
DEVICE F(t) F(sub_2p)(F(t) a, F(t) b) {
    const u32 p2[1] = P2_LIMBS;
    u32 difference = a.limb[0] - b.limb[0];
    return F(of_word)(a.limb[0] < b.limb[0] ? difference + p2[0] : difference);
}

// Returns a·b modulo p, in [0, 2p), for any word a.
DEVICE F(t) F(mul_fixed)(F(t) a, F(fixed) b) {
    const u32 p[1] = P_LIMBS;
    u32 quotient = (u32)((u64)a.limb[0] * b.quotient.limb[0] >> 32);
    return F(of_word)(a.limb[0] * b.value.limb[0] - quotient * p[0]);
}
