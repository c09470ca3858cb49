// Element-wise point operations on n pairs of affine points, with Jacobian results, which tests call.

#define POINT_KERNEL(name, expression)                                                             \
    KERNEL(64)                                                                                     \
    void name(u32 n, GLOBAL const affine_t *a, GLOBAL const affine_t *b, GLOBAL jacobian_t *out) { \
        for (u32 i = GLOBAL_ID; i < n; i += GLOBAL_SIZE) {                                         \
            affine_t p = a[i], q = b[i];                                                           \
            (void)q;                                                                               \
            out[i] = point_to_jacobian(expression);                                                \
        }                                                                                          \
    }

// p + q
POINT_KERNEL(points_add_affine, point_add_affine(point_from_affine(p), q))
// 2p + q: the first operand has a ZZ other than one.
POINT_KERNEL(points_double_add_affine, point_add_affine(point_double(point_from_affine(p)), q))
// 2p + 2q
POINT_KERNEL(points_add, point_add(point_double(point_from_affine(p)), point_double(point_from_affine(q))))
// 4p
POINT_KERNEL(points_double, point_double(point_double(point_from_affine(p))))
