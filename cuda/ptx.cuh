// Emits multi-word additions and products as PTX instructions, for CUDA and for OpenCL on NVIDIA GPUs.
//
// The carry lives in the CC register between statements: `volatile` keeps their order, and a chain must
// stand in one function after inlining. ptxas fuses a mad.lo.cc with the madc.hi.cc of the same factors
// that follows it into one IMAD.WIDE, so products are always written as such pairs. (The prefix keeps the
// names apart from OpenCL built-ins such as mul_hi.)
#ifdef HAS_PTX
#define PTX_BINARY(name, instruction)                                        \
    DEVICE u32 name(u32 a, u32 b) {                                          \
        u32 r;                                                               \
        asm volatile(instruction " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); \
        return r;                                                            \
    }
#define PTX_TERNARY(name, instruction)                                                   \
    DEVICE u32 name(u32 a, u32 b, u32 c) {                                               \
        u32 r;                                                                           \
        asm volatile(instruction " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
        return r;                                                                        \
    }
PTX_BINARY(ptx_add_cc, "add.cc.u32")
PTX_BINARY(ptx_addc_cc, "addc.cc.u32")
PTX_BINARY(ptx_addc, "addc.u32")
PTX_BINARY(ptx_sub_cc, "sub.cc.u32")
PTX_BINARY(ptx_subc_cc, "subc.cc.u32")
PTX_BINARY(ptx_subc, "subc.u32")
PTX_BINARY(ptx_mul_lo, "mul.lo.u32")
PTX_BINARY(ptx_mul_hi, "mul.hi.u32")
PTX_TERNARY(ptx_mad_lo_cc, "mad.lo.cc.u32")
PTX_TERNARY(ptx_madc_lo_cc, "madc.lo.cc.u32")
PTX_TERNARY(ptx_madc_hi_cc, "madc.hi.cc.u32")
PTX_TERNARY(ptx_madc_lo, "madc.lo.u32")
PTX_TERNARY(ptx_madc_hi, "madc.hi.u32")
// Tells whether ptxas predicates an addition of `limbs` limbs behind a branch, which takes half of what masking one
// term does: with 12 limbs that spills.
#define PREDICATES(limbs) ((limbs) <= 8)
// Returns a·b + c.
DEVICE i64 mad_wide(i32 a, i32 b, i64 c) {
    i64 r;
    asm volatile("mad.wide.s32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(c));
    return r;
}
#else
#define PREDICATES(limbs) 0
DEVICE i64 mad_wide(i32 a, i32 b, i64 c) {
    return (i64)a * b + c;
}
#endif

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
// Names a function or type of the field in work: F(mul) is bls12_381_fr_mul if FIELD is bls12_381_fr.
#define F(op) JOIN(FIELD, op)
