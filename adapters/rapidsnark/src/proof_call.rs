//! Proves a witness into the caller's buffers.

use std::ffi::{c_char, c_ulonglong, c_void};

use proofwarp::Accelerator;
use proofwarp::settings::Settings;
use proofwarp_circom::{AnyProvingKey, ProofTexts, Witness, Zkey, ZkeyHeader};

use crate::arguments::{TextBuffer, copy_bytes};
use crate::error::{Error, Result, Sizes};

/// Maximum bytes of a proof's text with its terminator. BLS12-381 has the longest: eight coordinates of 115 digits.
/// Proofs of BN254 have at most 728 bytes, and rapidsnark says 810.
pub(crate) const MAX_PROOF_BYTES: u64 = 1040;

/// Returns the maximum bytes of the public signals' text with its terminator: rapidsnark's formula. A signal takes its
/// 77 digits, two quotes and a comma.
pub(crate) fn max_public_bytes(header: &ZkeyHeader) -> u64 {
    u64::from(header.public_signals) * 82 + 4
}

/// Converts `zkey` and uploads it to the devices.
///
/// # Errors
/// - [`Error::Engine`]: a setting is malformed, or a forced backend has no device.
/// - [`AnyProvingKey::new`] lists the others.
pub(crate) fn create_prover(zkey: &Zkey) -> Result<AnyProvingKey> {
    init_log();
    Ok(AnyProvingKey::new(&Accelerator::from_env()?, zkey)?)
}

/// Returns whether proofs are verified: unless `PROOFWARP_VERIFY` is off.
///
/// # Errors
/// - [`Error::Engine`]: a setting is malformed.
pub(crate) fn verifies() -> Result<bool> {
    Ok(Settings::get()?.verify.unwrap_or(true))
}

/// Writes warnings and errors to the standard error, unless the program has a logger or `RUST_LOG` says otherwise.
fn init_log() {
    let environment = env_logger::Env::default().default_filter_or("warn");
    // The only error is that the program has a logger.
    let _ = env_logger::Builder::from_env(environment).try_init();
}

/// The caller's buffers of both texts, and their sizes before the call.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    proof: TextBuffer,
    public: TextBuffer,
    given: Sizes,
}

/// Holds what [`ProofCall::new`] checked.
pub(crate) struct ProofCall {
    witness: Witness,
    buffers: Buffers,
}

impl Buffers {
    /// # Safety
    /// Unless they are null, pointers to sizes are valid for reads and writes, and buffers for writes of these sizes.
    /// That holds as long as the result is used.
    ///
    /// # Errors
    /// - [`Error::Null`]: a pointer is null.
    pub(crate) unsafe fn new(
        proof: (*mut c_char, *mut c_ulonglong),
        public: (*mut c_char, *mut c_ulonglong),
    ) -> Result<Self> {
        let proof = TextBuffer::new(["proof_buffer", "proof_size"], proof.0, proof.1)?;
        let public = TextBuffer::new(["public_buffer", "public_size"], public.0, public.1)?;
        // SAFETY: the caller says that sizes are readable.
        let given = unsafe { Sizes { proof: proof.size(), public: public.size() } };
        Ok(Self { proof, public, given })
    }

    /// Writes `texts`.
    ///
    /// # Errors
    /// - [`Error::ShortBuffer`]: a buffer is too short. Both sizes are set, and no text is written.
    fn write(self, texts: &ProofTexts, header: &ZkeyHeader) -> Result<()> {
        let fits = |text: &str, size| (text.len() as u64) < size;
        if !fits(&texts.proof, self.given.proof) || !fits(&texts.public, self.given.public) {
            return Err(self.report_needed(header));
        }
        // SAFETY: `Self::new` has the caller's word for the sizes, and both texts fit with their terminators.
        unsafe {
            self.proof.write(&texts.proof);
            self.public.write(&texts.public);
        }
        Ok(())
    }

    /// Sets both sizes to those that any proof of a key fits in, and returns the error that says so.
    fn report_needed(self, header: &ZkeyHeader) -> Error {
        let needed = Sizes { proof: MAX_PROOF_BYTES, public: max_public_bytes(header) };
        // SAFETY: `Self::new` has the caller's word that sizes are writable.
        unsafe {
            self.proof.set_size(needed.proof);
            self.public.set_size(needed.public);
        }
        Error::ShortBuffer { needed, given: self.given }
    }
}

impl ProofCall {
    /// Copies and checks a witness, whose copy is cleared when it is freed.
    ///
    /// # Safety
    /// Unless it is null, `start` is valid for reads of `size` bytes, which nothing writes to meanwhile.
    ///
    /// # Errors
    /// [`copy_bytes`] and [`Witness::from_bytes`] list them.
    pub(crate) unsafe fn new(start: *const c_void, size: c_ulonglong, buffers: Buffers) -> Result<Self> {
        // SAFETY: the caller says so.
        let bytes = unsafe { copy_bytes("wtns_buffer", start, size)? };
        Ok(Self { witness: Witness::from_bytes("wtns_buffer", bytes)?, buffers })
    }

    /// Checks that the witness is for keys with `header`, and that the caller wants texts.
    ///
    /// # Errors
    /// - [`Error::ShortBuffer`]: a size is 0.
    /// - [`Witness::check_against`] lists the others.
    pub(crate) fn check(&self, header: &ZkeyHeader) -> Result<()> {
        self.witness.check_against(header)?;
        let Sizes { proof, public } = self.buffers.given;
        if proof == 0 || public == 0 { Err(self.buffers.report_needed(header)) } else { Ok(()) }
    }

    /// Proves the witness, and writes both texts. Verifies the proof, unless `PROOFWARP_VERIFY` is off.
    ///
    /// # Errors
    /// - [`Error::ShortBuffer`]: a buffer is too short for its text.
    /// - [`AnyProvingKey::prove_batch_to_json`] lists the others.
    pub(crate) fn prove(&self, prover: &AnyProvingKey) -> Result<()> {
        let verify = verifies()?;
        for texts in prover.prove_batch_to_json(&[&self.witness], verify, None)? {
            let ProofTexts { proof, public } = texts;
            let texts = ProofTexts { proof: remove_whitespace(&proof), public: remove_whitespace(&public) };
            self.buffers.write(&texts, prover.header())?;
        }
        Ok(())
    }
}

/// Removes the line breaks and indents of a JSON text whose strings have no whitespace.
fn remove_whitespace(text: &str) -> String {
    text.split_ascii_whitespace().collect()
}
