//! Selects the kernels that compute the rounds, and passes a round's challenge to them.

use crate::backend::{Device, missing_clmad_reason};
use crate::field::{Element, as_bytes};
use crate::kernel_arguments::{Kernel, Value};
use crate::kernels;
use crate::kernels::sumcheck::{Fold, SumcheckChallenge};
use crate::module_launcher::KernelModule;
use crate::sumcheck::field::SumcheckField;
use crate::sumcheck::rounds::{KernelPath, SumcheckOptions, bitsliced_tail_log, is_binary};
use crate::{Error, Result};

/// Names the feature that [`KernelPath::Clmad`] needs.
const CLMAD: &str = "carry-less multiply-add";

/// Selects the requested path, or else the fastest that `device` has, for a claim of `variables` variables. Returns the
/// path, its kernels, and the reasons why it is not another path.
pub(crate) fn select_kernels<F: SumcheckField>(
    device: &Device,
    variables: u32,
    options: &SumcheckOptions,
) -> Result<(KernelPath, KernelModule, Vec<String>)> {
    let portable = KernelModule::find(&kernels::sumcheck::FAMILY, F::Compute::NAME)?;
    if options.path == Some(KernelPath::Bitsliced) {
        return match bitsliced_tail_log(options) {
            tail if variables > tail => Ok((
                KernelPath::Bitsliced,
                KernelModule::find(&kernels::sumcheck::SLICED, kernels::binary::TOWER.name)?,
                Vec::new(),
            )),
            tail => {
                let reason = format!("expected more than 2^{tail} rows, got 2^{variables}");
                Ok((KernelPath::Portable, portable, vec![unused_path(KernelPath::Bitsliced, reason)]))
            }
        };
    }
    let wanted = options.path != Some(KernelPath::Portable) && is_binary::<F>();
    match wanted.then(|| load_clmad_kernels::<F>(device)) {
        None => Ok((KernelPath::Portable, portable, Vec::new())),
        Some(Ok(program)) => Ok((KernelPath::Clmad, program, Vec::new())),
        Some(Err(error)) if options.path.is_some() => Err(error),
        Some(Err(error)) => Ok((KernelPath::Portable, portable, vec![unused_path(KernelPath::Clmad, error)])),
    }
}

fn unused_path(path: KernelPath, reason: impl std::fmt::Display) -> String {
    format!("path {path} not used: {reason}")
}

/// Returns the kernels that use carry-less multiply-add, if `device` can run them.
///
/// # Errors
/// - [`Error::Unsupported`]: the device has no carry-less multiply-add.
/// - [`Error::Unsupported`]: kernels with carry-less multiply-add were not built in.
/// - [`Error::Device`], [`Error::NoKernel`]: the driver refuses the kernels.
fn load_clmad_kernels<F: SumcheckField>(device: &Device) -> Result<KernelModule> {
    let info = device.info();
    if !info.caps.carryless_multiply {
        let reason = "expected a CUDA device of compute capability 8.0 or later";
        return Err(Error::unsupported(&info.name, CLMAD, reason));
    }
    let program =
        KernelModule::find(&kernels::sumcheck::FAMILY, &format!("{}_{}", F::Compute::NAME, kernels::sumcheck::CLMAD))?;
    if let Some(note) = missing_clmad_reason(program.name()) {
        return Err(Error::unsupported(&info.name, CLMAD, format!("its kernels were not built in: {note}")));
    }
    program.preload(device, <Fold<'_, F::Compute> as Kernel>::NAME).map(|()| program)
}

/// Holds an element as words of a kernel argument. For a prime field of more than two limbs, these are the element as a
/// number, and ⌊element·R/p⌋. Shoup's multiplication by the element needs both (`cl/field_shoup.cl`).
pub(super) struct Challenge(Vec<u32>);

impl Challenge {
    /// Prepares `element` as an argument for kernels of `program`, which must be a module of the element's field.
    pub(super) fn new<W: Element>(program: KernelModule, element: W) -> Self {
        Self(if program.is_multi_limb() { shoup_factor(program, &element) } else { element_words(&element) })
    }

    /// Returns the kernel argument.
    pub(super) fn as_value(&self) -> Value<'_, SumcheckChallenge> {
        Value(&self.0)
    }
}

/// Returns the 32-bit words of `element` in memory.
fn element_words<W: Element>(element: &W) -> Vec<u32> {
    let words = as_bytes(std::slice::from_ref(element)).as_chunks::<4>().0;
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Returns `element` as a number b, then ⌊b·R/p⌋, each in little-endian limbs of 32 bits. One Montgomery reduction
/// gives b. Its digits are the quotient, since b·R = quotient·p + (b·R mod p).
fn shoup_factor<W: Element>(program: KernelModule, element: &W) -> Vec<u32> {
    let mut number = element_words(element);
    let (modulus, inverse) = (program.modulus(), program.inv32());
    let quotient: Vec<u32> = modulus.iter().map(|_| reduce_by_a_word(&mut number, modulus, inverse)).collect();
    [number, quotient].concat()
}

/// Performs one step of a Montgomery reduction. It adds to `number` the multiple of `modulus` that makes its lowest
/// word zero, and removes that word. `inverse` is −1/`modulus` mod 2^32. Returns the factor of `modulus`.
fn reduce_by_a_word(number: &mut [u32], modulus: &[u32], inverse: u32) -> u32 {
    let digit = number[0].wrapping_mul(inverse);
    let mut carry = (u64::from(digit) * u64::from(modulus[0]) + u64::from(number[0])) >> 32;
    for i in 1..modulus.len() {
        carry += u64::from(digit) * u64::from(modulus[i]) + u64::from(number[i]);
        number[i - 1] = carry as u32;
        carry >>= 32;
    }
    number[modulus.len() - 1] = carry as u32;
    digit
}

#[cfg(test)]
mod tests {
    use ff::{Field, PrimeField};
    use halo2curves::bn256::Fr;
    use num_bigint::BigUint;

    use super::*;
    use crate::kernels;

    #[test]
    fn a_fixed_factor_is_the_number_and_its_quotient() {
        let program = KernelModule::find(&kernels::sumcheck::FAMILY, kernels::bn254::FR.name).expect("there");
        let modulus = BigUint::from_slice(program.modulus());
        for element in [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(12345).invert().expect("not zero")] {
            let number = BigUint::from_bytes_le(element.to_repr().as_ref());
            let quotient = (&number << 256) / &modulus;
            let words = shoup_factor(program, &element);
            assert_eq!([&words[..8], &words[8..]].map(BigUint::from_slice), [number, quotient]);
        }
    }
}
