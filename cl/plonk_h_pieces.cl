// Computes the pieces h_i, of n coefficients each, of a quotient Σ h_i·X^(n·i), from the inverse transforms of its
// values on q cosets c_j = ζ·Ω^j. Part j, one of these, has Σ_i h_i[r]·c_j^(n·i) times c_j^r·(c_j^n − 1) at r.
//
// The parts are `stride` elements apart, and the pieces take their place. `matrix`, q rows of q, is the inverse of the
// Vandermonde matrix of the c_j^n, column j times 1/(c_j^n − 1). The tables have powers of 1/ζ and of 1/Ω.

// Defines a kernel for up to `most` parts, which are kept in registers.
#define PIECES_KERNEL(name, most)                                                                                  \
    KERNEL(PLONK_GROUP)                                                                                            \
    void name(GRID_CONSTANT pieces_layout_t layout, GLOBAL const F(t) *matrix, GLOBAL F(t) *data,                  \
              GLOBAL const F(fixed) *zeta_low, GLOBAL const F(fixed) *zeta_high, GLOBAL const F(fixed) *omega_low, \
              GLOBAL const F(fixed) *omega_high) {                                                                 \
        u32 row = GLOBAL_ID, q = layout.q;                                                                         \
        if (row >= layout.n) return;                                                                               \
        GLOBAL F(t) *part = data + layout.first + row;                                                             \
        F(t) shift = plonk_power(zeta_low, zeta_high, layout.low_log, row), parts[most];                           \
        F(t) step = plonk_power(omega_low, omega_high, layout.low_log, row);                                       \
        _Pragma("unroll") for (u32 j = 0; j < most; j++) {                                                         \
            if (j < q) parts[j] = F(mul)(part[j * layout.stride], shift);                                          \
            shift = F(mul)(shift, step);                                                                           \
        }                                                                                                          \
        for (u32 i = 0; i < q; i++) {                                                                              \
            F(t) sum = F(zero)();                                                                                  \
            _Pragma("unroll") for (u32 j = 0; j < most; j++) if (j < q) sum =                                      \
                F(add)(sum, F(mul)(parts[j], matrix[i * q + j]));                                                  \
            part[i * layout.stride] = sum;                                                                         \
        }                                                                                                          \
    }

PIECES_KERNEL(plonk_pieces_4, 4)
PIECES_KERNEL(plonk_pieces_8, 8)
PIECES_KERNEL(plonk_pieces_16, 16)
