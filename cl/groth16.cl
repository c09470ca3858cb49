// Kernels of Groth16 between transforms and MSMs. All values are reduced and in Montgomery form, on any grid of groups
// of GROTH16_GROUP.

// Computes out[i] = x[indices[i]]: the scalars of the variables for which a query has bases.
KERNEL(GROTH16_GROUP)
void groth16_gather(u32 n, GLOBAL const u32 *indices, GLOBAL const F(t) *x, GLOBAL F(t) *out) {
    for (u32 i = GLOBAL_ID; i < n; i += GLOBAL_SIZE) out[i] = x[indices[i]];
}

// Computes a = a·b·factor.
KERNEL(GROTH16_GROUP)
void groth16_multiply(u32 n, GLOBAL const F(t) *factor, GLOBAL F(t) *a, GLOBAL const F(t) *b) {
    for (u32 i = GLOBAL_ID; i < n; i += GLOBAL_SIZE) a[i] = F(mul)(F(mul)(a[i], b[i]), *factor);
}

// Computes a = a − c·factor.
KERNEL(GROTH16_GROUP)
void groth16_subtract(u32 n, GLOBAL const F(t) *factor, GLOBAL F(t) *a, GLOBAL const F(t) *c) {
    for (u32 i = GLOBAL_ID; i < n; i += GLOBAL_SIZE) a[i] = F(sub)(a[i], F(mul)(c[i], *factor));
}

// Computes c = a·b: the values C·z of a witness that satisfies the constraints.
KERNEL(GROTH16_GROUP)
void groth16_product(u32 n, GLOBAL F(t) *c, GLOBAL const F(t) *a, GLOBAL const F(t) *b) {
    for (u32 i = GLOBAL_ID; i < n; i += GLOBAL_SIZE) c[i] = F(mul)(a[i], b[i]);
}

// Computes a = a·b − c: the values of the quotient's numerator on a coset.
KERNEL(GROTH16_GROUP)
void groth16_numerator(u32 n, GLOBAL F(t) *a, GLOBAL const F(t) *b, GLOBAL const F(t) *c) {
    for (u32 i = GLOBAL_ID; i < n; i += GLOBAL_SIZE) a[i] = F(sub)(F(mul)(a[i], b[i]), c[i]);
}
