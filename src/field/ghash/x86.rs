//! Multiplies by carry-less multiplication of 64 bits, with one, two or four elements in a register.
//!
//! A product takes three carry-less ones (Karatsuba) and two by 0x87, the tail of the modulus; a sum of products is
//! reduced once.

/// Defines a module of functions on slices, with registers of `$lanes` elements. The intrinsics are, in this order:
/// - load, store, exclusive or, carry-less product;
/// - shift of each element by bytes to the left, and to the right;
/// - choice of 32-bit words of each element.
macro_rules! with_registers {
    ($module:ident, $features:literal, $lanes:literal, $register:ident, $load:ident, $store:ident, $xor:ident,
     $carryless:ident, $left:ident, $right:ident, $choose:ident) => {
        pub(crate) mod $module {
            use std::arch::x86_64::*;

            /// Holds unreduced products in three registers: products of low halves, of high halves, and of the sums of
            /// both halves.
            #[derive(Clone, Copy)]
            struct UnreducedProducts([$register; 3]);

            #[inline]
            #[target_feature(enable = $features)]
            fn load(elements: &[u128; $lanes]) -> $register {
                // SAFETY: the array is as long as the register, and the load needs no alignment.
                unsafe { $load(elements.as_ptr().cast()) }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn store(elements: &mut [u128; $lanes], value: $register) {
                // SAFETY: as in `load`; every bit pattern is an element.
                unsafe { $store(elements.as_mut_ptr().cast(), value) };
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn add(a: $register, b: $register) -> $register {
                $xor(a, b)
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn wide(a: $register, b: $register) -> UnreducedProducts {
                let halves = |a: $register| $xor(a, $choose::<0x4e>(a));
                let middle = $carryless::<0>(halves(a), halves(b));
                UnreducedProducts([$carryless::<0>(a, b), $carryless::<0x11>(a, b), middle])
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn reduced(UnreducedProducts([low, high, middle]): UnreducedProducts) -> $register {
                let tail = load(&[0x87; $lanes]);
                let middle = add(middle, add(low, high));
                let (low, high) = (add(low, $left::<8>(middle)), add(high, $right::<8>(middle)));
                // The product of the high half of `high` reaches the low half of `high` again.
                let top = $carryless::<0x01>(high, tail);
                let (low, high) = (add(low, $left::<8>(top)), add(high, $right::<8>(top)));
                add(low, $carryless::<0>(high, tail))
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn product(a: $register, b: $register) -> $register {
                reduced(wide(a, b))
            }

            /// Returns `elements`, which are too few to fill a register, padded with zeros.
            fn padded(elements: &[u128]) -> [u128; $lanes] {
                let mut all = [0; $lanes];
                all[..elements.len()].copy_from_slice(elements);
                all
            }

            /// Computes `a[i] = how(a[i], b[i])`, one register at a time, up to the shorter length.
            #[inline]
            #[target_feature(enable = $features)]
            fn replace(a: &mut [u128], b: &[u128], how: impl Fn($register, $register) -> $register) {
                let length = a.len().min(b.len());
                let ((a, a_rest), (b, b_rest)) = (a[..length].as_chunks_mut(), b[..length].as_chunks());
                for (a, b) in a.iter_mut().zip(b) {
                    store(a, how(load(a), load(b)));
                }
                let mut last = padded(a_rest);
                let value = how(load(&last), load(&padded(b_rest)));
                store(&mut last, value);
                a_rest.copy_from_slice(&last[..a_rest.len()]);
            }

            #[target_feature(enable = $features)]
            pub(crate) fn multiply(a: &mut [u128], b: &[u128]) {
                replace(a, b, |a, b| product(a, b));
            }

            #[target_feature(enable = $features)]
            pub(crate) fn fold(low: &mut [u128], high: &[u128], factor: u128) {
                let factor = load(&[factor; $lanes]);
                replace(low, high, |low, high| add(low, product(add(low, high), factor)));
            }

            #[target_feature(enable = $features)]
            pub(crate) fn sum_of_products(a: &[u128], b: &[u128]) -> u128 {
                let length = a.len().min(b.len());
                let ((a, a_rest), (b, b_rest)) = (a[..length].as_chunks(), b[..length].as_chunks());
                let mut sum = wide(load(&padded(a_rest)), load(&padded(b_rest)));
                for (a, b) in a.iter().zip(b) {
                    let more = wide(load(a), load(b));
                    for (sum, more) in sum.0.iter_mut().zip(more.0) {
                        *sum = add(*sum, more);
                    }
                }
                let mut sums = [0; $lanes];
                store(&mut sums, reduced(sum));
                sums.iter().fold(0, |sum, lane| sum ^ lane)
            }
        }
    };
}

with_registers! {
    pclmul, "pclmulqdq", 1, __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_xor_si128,
    _mm_clmulepi64_si128, _mm_slli_si128, _mm_srli_si128, _mm_shuffle_epi32
}
with_registers! {
    vpclmul256, "avx2,vpclmulqdq", 2, __m256i, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_xor_si256,
    _mm256_clmulepi64_epi128, _mm256_slli_si256, _mm256_srli_si256, _mm256_shuffle_epi32
}
with_registers! {
    vpclmul512, "avx512f,avx512bw,vpclmulqdq", 4, __m512i, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_xor_si512,
    _mm512_clmulepi64_epi128, _mm512_bslli_epi128, _mm512_bsrli_epi128, _mm512_shuffle_epi32
}
