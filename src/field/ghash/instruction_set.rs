//! Chooses the instructions that multiply.

use super::portable;
#[cfg(target_arch = "x86_64")]
use super::x86;

/// Selects the instructions that multiply elements, which are given by their bits. All variants give equal results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplier {
    /// Integer products with holes between bits.
    Portable,
    /// PCLMULQDQ.
    #[cfg(target_arch = "x86_64")]
    Pclmul(CpuFeatures),
    /// VPCLMULQDQ with 256 bits, two elements at a time.
    #[cfg(target_arch = "x86_64")]
    Vpclmul256(CpuFeatures),
    /// VPCLMULQDQ with 512 bits, four elements at a time.
    #[cfg(target_arch = "x86_64")]
    Vpclmul512(CpuFeatures),
}

/// Proves that the processor has the instructions of a [`Multiplier`]. Only the checks of [`Multiplier`] create it.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuFeatures(());

impl Multiplier {
    /// Returns the variants that this processor can run, in ascending order of speed.
    pub fn available() -> Vec<Self> {
        let all = [Some(Self::Portable)].into_iter();
        #[cfg(target_arch = "x86_64")]
        let all = all.chain([Self::detect_pclmul(), Self::detect_vpclmul256(), Self::detect_vpclmul512()]);
        all.flatten().collect()
    }

    /// Returns the fastest variant that this processor can run.
    pub fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            Self::detect_vpclmul512()
                .or_else(Self::detect_vpclmul256)
                .or_else(Self::detect_pclmul)
                .unwrap_or(Self::Portable)
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self::Portable
    }

    #[cfg(target_arch = "x86_64")]
    fn detect_pclmul() -> Option<Self> {
        is_x86_feature_detected!("pclmulqdq").then_some(Self::Pclmul(CpuFeatures(())))
    }

    #[cfg(target_arch = "x86_64")]
    fn detect_vpclmul256() -> Option<Self> {
        let here = is_x86_feature_detected!("vpclmulqdq") && is_x86_feature_detected!("avx2");
        (here && Self::detect_pclmul().is_some()).then_some(Self::Vpclmul256(CpuFeatures(())))
    }

    #[cfg(target_arch = "x86_64")]
    fn detect_vpclmul512() -> Option<Self> {
        let here = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        (here && Self::detect_vpclmul256().is_some()).then_some(Self::Vpclmul512(CpuFeatures(())))
    }

    /// Returns the product of the elements `a` and `b`.
    pub fn product(self, a: u128, b: u128) -> u128 {
        let mut product = [a];
        match self {
            Self::Portable => portable::multiply(&mut product, &[b]),
            // SAFETY: `CpuFeatures` proves that the processor has the instructions of this variant and of those before
            // it.
            #[cfg(target_arch = "x86_64")]
            _ => unsafe { x86::pclmul::multiply(&mut product, &[b]) },
        }
        product[0]
    }

    /// Computes `a[i] = a[i]·b[i]`, up to the shorter length.
    pub fn multiply(self, a: &mut [u128], b: &[u128]) {
        match self {
            Self::Portable => portable::multiply(a, b),
            // SAFETY: `CpuFeatures` proves that the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Self::Pclmul(_) => unsafe { x86::pclmul::multiply(a, b) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Vpclmul256(_) => unsafe { x86::vpclmul256::multiply(a, b) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Vpclmul512(_) => unsafe { x86::vpclmul512::multiply(a, b) },
        }
    }

    /// Returns `Σ a[i]·b[i]`, up to the shorter length. The sum is reduced only once.
    pub fn sum_of_products(self, a: &[u128], b: &[u128]) -> u128 {
        match self {
            Self::Portable => portable::sum_of_products(a, b),
            // SAFETY: `CpuFeatures` proves that the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Self::Pclmul(_) => unsafe { x86::pclmul::sum_of_products(a, b) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Vpclmul256(_) => unsafe { x86::vpclmul256::sum_of_products(a, b) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Vpclmul512(_) => unsafe { x86::vpclmul512::sum_of_products(a, b) },
        }
    }

    /// Computes `low[i] += factor·(high[i] − low[i])`, up to the shorter length.
    pub fn fold(self, low: &mut [u128], high: &[u128], factor: u128) {
        match self {
            Self::Portable => portable::fold(low, high, factor),
            // SAFETY: `CpuFeatures` proves that the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Self::Pclmul(_) => unsafe { x86::pclmul::fold(low, high, factor) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Vpclmul256(_) => unsafe { x86::vpclmul256::fold(low, high, factor) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Vpclmul512(_) => unsafe { x86::vpclmul512::fold(low, high, factor) },
        }
    }
}
