//! Makes a batch of proofs, each on one rank.

use group::GroupEncoding;

use crate::cluster::batch_coordinator::{BatchOutcome, ClusterBatch};
use crate::cluster::cluster_handle::Cluster;
use crate::field::NttField;
use crate::groth16::{Circuit, Engine, Proof, ProvingKeyOnDevice, Witness, prove};
use crate::secret_vec::{SecretVec, zeroize};
use crate::{Error, Result};

/// Owns a witness and the random scalars r and s of its proof, which must be fresh ([`crate::groth16::prove()`]). All
/// values are cleared on drop.
pub struct OwnedWitness<F: NttField> {
    /// Values of the inputs; the first is one.
    pub inputs: Vec<F>,
    /// Values of the auxiliary variables.
    pub aux: Vec<F>,
    /// The products A·z, B·z and C·z for the assignment z. If `None`, the prover computes them from the circuit's
    /// matrices.
    pub evaluations: Option<[Vec<F>; 3]>,
    /// Random scalar r of the proof.
    pub r: F,
    /// Random scalar s of the proof.
    pub s: F,
}

impl<F: NttField> OwnedWitness<F> {
    /// Borrows the values as a [`Witness`], without r and s.
    pub fn as_witness(&self) -> Witness<'_, F> {
        let evaluations = self.evaluations.as_ref().map(|vectors| vectors.each_ref().map(Vec::as_slice));
        Witness { inputs: &self.inputs, aux: (&self.aux).into(), evaluations }
    }
}

impl<F: NttField> Drop for OwnedWitness<F> {
    fn drop(&mut self) {
        let vectors = [&mut self.inputs, &mut self.aux].into_iter();
        vectors.chain(self.evaluations.iter_mut().flatten()).for_each(zeroize);
        (self.r, self.s) = (F::ZERO, F::ZERO);
        std::hint::black_box(&*self);
    }
}

/// Makes the missing proofs of `batch`, each on one rank with that rank's `key`. `witness` is called with a proof's
/// number on the rank that makes the proof, and returns its witness. Called by all ranks.
///
/// # Errors
/// - The errors of [`ClusterBatch::run`], whose `make` fails with those of [`crate::groth16::prove()`] and of
///   `witness`.
pub fn prove_batch<E: Engine>(
    cluster: &Cluster,
    batch: &ClusterBatch,
    key: &ProvingKeyOnDevice<E>,
    circuit: &Circuit<E::Fr>,
    witness: impl Fn(usize) -> Result<OwnedWitness<E::Fr>> + Sync,
) -> Result<BatchOutcome> {
    batch.run(cluster, |numbers| {
        let owned = numbers.iter().map(|number| witness(*number)).collect::<Result<Vec<_>>>()?;
        let witnesses: Vec<_> = owned.iter().map(OwnedWitness::as_witness).collect();
        let r = SecretVec(owned.iter().map(|witness| witness.r).collect());
        let s = SecretVec(owned.iter().map(|witness| witness.s).collect());
        let (proofs, _) = prove(key, circuit, &witnesses, &r, &s, None)?;
        Ok(proofs.iter().map(proof_to_bytes).collect())
    })
}

/// Encodes `proof` as its compressed points A, B and C, one after another, as bellperson writes a proof.
pub fn proof_to_bytes<E: Engine>(proof: &Proof<E>) -> Vec<u8> {
    let (a, b, c) = (proof.a.to_bytes(), proof.b.to_bytes(), proof.c.to_bytes());
    [a.as_ref(), b.as_ref(), c.as_ref()].concat()
}

/// Decodes a proof from the bytes of [`proof_to_bytes`].
///
/// # Errors
/// - [`Error::Invalid`]: `bytes` has another length.
/// - [`Error::Invalid`]: `bytes` encodes no points.
pub fn proof_from_bytes<E: Engine>(bytes: &[u8]) -> Result<Proof<E>> {
    let mut rest = bytes;
    let proof = Proof { a: decode_point(&mut rest)?, b: decode_point(&mut rest)?, c: decode_point(&mut rest)? };
    if rest.is_empty() {
        return Ok(proof);
    }
    Err(Error::invalid("groth16", "bytes of a proof", bytes.len() - rest.len(), bytes.len()))
}

fn decode_point<C: GroupEncoding>(bytes: &mut &[u8]) -> Result<C> {
    let mut encoding = C::Repr::default();
    let length = encoding.as_ref().len();
    let point = bytes.split_at_checked(length).and_then(|(head, tail)| {
        *bytes = tail;
        encoding.as_mut().copy_from_slice(head);
        Option::from(C::from_bytes(&encoding))
    });
    point.ok_or_else(|| Error::invalid("groth16", "point of a proof", format!("{length} bytes of one"), "others"))
}
