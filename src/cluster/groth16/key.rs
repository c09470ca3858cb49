//! Makes one proof with a key that is too large for the devices of one host. Its queries are in slices, and a layout of
//! numbers says which bases each rank has.

use std::time::Instant;

use rayon::prelude::*;

use super::quotient::{evaluate_constraints, quotient, scatter};
use crate::backend::{Abort, DeviceInfo, StreamStats};
use crate::cluster::cluster_handle::Cluster;
use crate::cluster::msm::{speeds, sum_across_ranks};
use crate::cluster::ntt::{ClusterNtt, CyclicLayout};
use crate::cluster::partition::Partition;
use crate::curve::MsmCurve;
use crate::groth16::{Circuit, Engine, MsmSums, Parameters, Proof, ProvingKeyOnDevice, Witness, assemble_proof, prove};
use crate::msm::{BasePoints, Msm, MsmOptions, Scalars};
use crate::report::OpScope;
use crate::secret_vec::SecretVec;
use crate::{Error, Report, Result};

const ERROR_CONTEXT: &str = "cluster groth16";

/// Holds the inputs of one proof, on the rank that provides them.
pub struct Input<'a, E: Engine> {
    /// The circuit.
    pub circuit: &'a Circuit<E::Fr>,
    /// The witness. If it has no evaluations, the rank computes them from the circuit's matrices.
    pub witness: Witness<'a, E::Fr>,
    /// Random scalars (r, s), which must be fresh ([`crate::groth16::prove()`]).
    pub blinding: (E::Fr, E::Fr),
}

#[expect(clippy::expl_impl_clone_on_copy, reason = "the engine need not be either")]
impl<E: Engine> Clone for Input<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Engine> Copy for Input<'_, E> {}

/// Holds a proving key in slices, one per rank, each on its rank's devices.
#[derive(Debug)]
pub struct ClusterKey<'c, E: Engine> {
    cluster: &'c Cluster,
    layout: KeyLayout,
    parts: KeyParts<'c, E>,
}

#[derive(Debug)]
enum KeyParts<'c, E: Engine> {
    /// The whole key, if there is only one rank, which proves as without a cluster.
    Whole(Box<ProvingKeyOnDevice<E>>),
    Partition(Box<ShardedKey<'c, E>>),
}

#[derive(Debug)]
struct ShardedKey<'c, E: Engine> {
    /// α, β and δ. Its queries are empty, since the MSMs hold the bases.
    constants: Parameters<E>,
    ntt: ClusterNtt<'c, E::Fr>,
    h: Msm<'static, E::G1Affine>,
    l: Msm<'static, E::G1Affine>,
    a: Msm<'static, E::G1Affine>,
    b_g1: Msm<'static, E::G1Affine>,
    b_g2: Msm<'static, E::G2Affine>,
}

impl<'c, E: Engine> ClusterKey<'c, E> {
    /// Creates a key for `circuit`, whose lengths must be the same on all ranks. `load` returns this rank's part of the
    /// key, given which bases each rank has. Called by all ranks.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: a rank failed to load its part, or the part has other lengths.
    /// - [`Error::Rank`] on all ranks: the circuit's lengths differ between ranks.
    /// - [`Error::Rank`] on all ranks: a rank has too little memory, or failed.
    /// - The error itself: there is only one rank ([`Cluster::all_or_error`]).
    pub fn new(
        cluster: &'c Cluster,
        circuit: &Circuit<E::Fr>,
        load: impl FnOnce(&KeyLayout) -> Result<Parameters<E>>,
    ) -> Result<Self> {
        let domain = circuit.constraint_count().next_power_of_two();
        let ntt = ClusterNtt::<E::Fr>::new(cluster, domain.trailing_zeros())?;
        let speeds = speeds::<E::G1Affine>(cluster)?;
        let slices = |length: usize| Partition::weighted(length, &speeds);
        let [a, b_inputs, b_aux] = circuit.query_lengths();
        let layout =
            |h| Ok(KeyLayout { h, l: slices(circuit.aux_count())?, a: slices(a)?, b: slices(b_inputs + b_aux)? });
        let layout = cluster.all_or_error(layout(ntt.coefficients().clone()))?;
        cluster.check_replicated("lengths of the circuit", format!("{layout:?}").as_bytes())?;
        let rank = cluster.rank();
        let parts = cluster.time_compute(|| {
            let part = load(&layout)?;
            layout.check(rank, &part)?;
            KeyParts::new(cluster, ntt, part)
        });
        Ok(Self { cluster, layout, parts: cluster.all_or_error(parts)? })
    }

    /// Returns which bases of the key each rank has.
    pub fn layout(&self) -> &KeyLayout {
        &self.layout
    }

    /// Makes one proof with all ranks, from the `input` of rank `root`; other ranks pass `None`. Returns the proof on
    /// `root`, and `None` on other ranks. Called by all ranks.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: there is no rank `root`, its input is missing, or its input does not fit the
    ///   key.
    /// - [`Error::Rank`] on all ranks: the input has neither evaluations nor matrices.
    /// - [`Error::Rank`] on all ranks: a rank aborted or failed.
    /// - [`Error::Aborted`]: this rank's own hook aborted.
    /// - [`Error::Invalid`]: there is only one rank, and `root` or its input does not fit.
    /// - The errors of [`crate::groth16::prove()`]: there is only one rank.
    pub fn prove(
        &self,
        root: usize,
        input: Option<Input<'_, E>>,
        abort: Abort<'_>,
    ) -> Result<(Option<Proof<E>>, Report)> {
        let start = Instant::now();
        let input = self.cluster.all_or_error(self.check_input(root, input))?;
        match (&self.parts, input) {
            (KeyParts::Partition(parts), input) => {
                let (proof, traffic) = parts.prove(self.cluster, &self.layout, root, input, abort)?;
                Ok((proof, self.report(start, traffic)))
            }
            (KeyParts::Whole(key), Some(Input { circuit, witness, blinding: (r, s) })) => {
                let proofs = self.cluster.time_compute(|| prove(key, circuit, &[witness], &[r], &[s], abort));
                proofs.map(|(proofs, report)| (proofs.into_iter().next(), report))
            }
            (KeyParts::Whole(_), None) => Err(Error::internal(ERROR_CONTEXT)),
        }
    }

    fn check_input<'a>(&self, root: usize, input: Option<Input<'a, E>>) -> Result<Option<Input<'a, E>>> {
        if root >= self.cluster.size() {
            return Err(Error::invalid(ERROR_CONTEXT, "root", format!("below {}", self.cluster.size()), root));
        }
        if root != self.cluster.rank() {
            return Ok(None);
        }
        let input = input.ok_or_else(|| Error::invalid(ERROR_CONTEXT, "input of the root", "some", "none"))?;
        let (circuit, [a, b_inputs, b_aux]) = (input.circuit, input.circuit.query_lengths());
        let KeyLayout { h, l, a: of_a, b } = &self.layout;
        Error::check_eq(
            "cluster groth16",
            "order of the domain",
            h.class_count() * h.class_length(),
            circuit.constraint_count().next_power_of_two(),
        )?;
        Error::check_eq("cluster groth16", "auxiliary variables", l.length(), circuit.aux_count())?;
        Error::check_eq("cluster groth16", "variables of a", of_a.length(), a)?;
        Error::check_eq("cluster groth16", "variables of b", b.length(), b_inputs + b_aux)?;
        input.witness.check_lengths(0, circuit)?;
        Ok(Some(input))
    }

    fn report(&self, start: Instant, traffic: StreamStats) -> Report {
        let call =
            OpScope { operation: format!("cluster groth16 {}", E::G1Affine::NAME), elements: self.layout.l.length() };
        let device = self.cluster.accelerator().devices().first();
        let (backend, name) = DeviceInfo::backend_and_name(device.map(|device| device.info()));
        call.report_success(backend, name, start, traffic, Vec::new())
    }
}

impl<'c, E: Engine> KeyParts<'c, E> {
    fn new(cluster: &'c Cluster, ntt: ClusterNtt<'c, E::Fr>, part: Parameters<E>) -> Result<Self> {
        let accelerator = cluster.accelerator();
        if cluster.size() == 1 {
            return Ok(Self::Whole(Box::new(ProvingKeyOnDevice::new(accelerator, part)?)));
        }
        let Parameters { h, l, a, b_g1, b_g2, .. } = part;
        let none = || Vec::new().into();
        let constants = Parameters { h: none(), l: none(), a: none(), b_g1: none(), b_g2: Vec::new().into(), ..part };
        let table = |points| Msm::shared(accelerator, points, MsmOptions::default());
        let b_g2 = Msm::shared(accelerator, b_g2, MsmOptions::default())?;
        let (h, l, a, b_g1) = (table(h)?, table(l)?, table(a)?, table(b_g1)?);
        Ok(Self::Partition(Box::new(ShardedKey { constants, ntt, h, l, a, b_g1, b_g2 })))
    }
}

/// Holds one rank's values for a proof. These are its slices of a, b and c, and the scalars of its bases in the queries
/// of l, a and b.
struct LocalScalars<F: crate::field::NttField> {
    vectors: [SecretVec<F>; 3],
    l: SecretVec<F>,
    a: SecretVec<F>,
    b: SecretVec<F>,
}

impl<E: Engine> ShardedKey<'_, E> {
    fn prove(
        &self,
        cluster: &Cluster,
        layout: &KeyLayout,
        root: usize,
        input: Option<Input<'_, E>>,
        abort: Abort<'_>,
    ) -> Result<(Option<Proof<E>>, StreamStats)> {
        let LocalScalars { vectors, l, a, b } = self.scatter_scalars(cluster, layout, root, input, abort)?;
        let h = quotient(&self.ntt, cluster, vectors, abort)?;
        let h = &h[..layout.h_indices(cluster.rank()).len()];
        let sums = cluster.time_compute(|| self.run_local_msms([h, &l, &a, &b], abort));
        let (g1, g2, traffic) = cluster.all_or_error(sums)?;
        let g1 = sum_across_ranks::<E::G1Affine>(cluster, &g1, Some(root))?;
        let g2 = sum_across_ranks::<E::G2Affine>(cluster, &[g2], Some(root))?;
        let sums = g1.zip(g2).and_then(|(g1, g2)| {
            let (&[h, l, a, b_g1], &[b_g2]) = (&g1[..], &g2[..]) else { return None };
            Some(MsmSums { h, l, a, b_g1, b_g2 })
        });
        Ok((sums.zip(input).map(|(sums, input)| assemble_proof(&self.constants, &sums, input.blinding)), traffic))
    }

    /// Evaluates the constraints on rank `root`, and sends each rank its slices of a, b and c and the scalars of its
    /// bases.
    fn scatter_scalars(
        &self,
        cluster: &Cluster,
        layout: &KeyLayout,
        root: usize,
        input: Option<Input<'_, E>>,
        abort: Abort<'_>,
    ) -> Result<LocalScalars<E::Fr>> {
        let rank = cluster.rank();
        let domain = layout.h.class_count() * layout.h.class_length();
        let (accelerator, values) = (cluster.accelerator(), self.ntt.values());
        let assignment = input.map_or_else(SecretVec::default, |input| input.witness.to_assignment());
        let evaluated = input.map(|input| {
            let work = || evaluate_constraints(accelerator, domain, input.circuit, &input.witness, &assignment, abort);
            cluster.time_compute(work)
        });
        let evaluated = cluster.all_or_error(evaluated.transpose())?;
        let vectors = [0, 1, 2].map(|number| {
            let part = |rank: usize| evaluated.as_ref().map_or_else(Vec::new, |all| values.part(rank, &all[number]));
            scatter(cluster, root, part, values.length(rank))
        });
        let chosen = |slices: &Partition, variables: &(dyn Fn(usize) -> usize + Sync)| {
            let part =
                |rank: usize| slices.range(rank).into_par_iter().map(|i| assignment[variables(i)]).collect::<Vec<_>>();
            scatter(cluster, root, part, slices.range(rank).len())
        };
        let circuit = input.map(|input| input.circuit);
        let of = |variables: Option<&[u32]>, i: usize| variables.map_or(0, |variables| variables[i] as usize);
        let l = chosen(&layout.l, &|i| circuit.map_or(0, Circuit::input_count) + i);
        let a = chosen(&layout.a, &|i| of(circuit.map(Circuit::variables_of_a), i));
        let b = chosen(&layout.b, &|i| of(circuit.map(Circuit::variables_of_b), i));
        Ok(LocalScalars { vectors, l, a, b })
    }

    /// Computes this rank's part of the MSMs. Returns the sums over h, l, a and b in G1, in this order, then the sum
    /// over b in G2.
    fn run_local_msms(
        &self,
        [h, l, a, b]: [&[E::Fr]; 4],
        abort: Abort<'_>,
    ) -> Result<(Vec<E::G1>, E::G2, StreamStats)> {
        let (g2, report) = self.b_g2.run(Scalars::elements(b), abort)?;
        let (mut sums, mut traffic) = (Vec::new(), report.traffic);
        for (bases, scalars) in [(&self.h, h), (&self.l, l), (&self.a, a), (&self.b_g1, b)] {
            let (sum, report) = bases.run(Scalars::elements(scalars), abort)?;
            sums.push(sum);
            traffic = traffic + report.traffic;
        }
        Ok((sums, g2, traffic))
    }
}

/// Describes which bases of a key's queries each rank has.
///
/// A rank has the bases of h for the coefficients of h that it computes. No key has a base for the last coefficient.
/// Each other query is divided into consecutive ranges, in proportion to the ranks' speeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyLayout {
    /// Distribution of the coefficients of h over the ranks.
    pub h: CyclicLayout,
    /// Range of bases of each rank in the query of l.
    pub l: Partition,
    /// Range of bases of each rank in the query of A.
    pub a: Partition,
    /// Range of bases of each rank in both queries of B.
    pub b: Partition,
}

impl KeyLayout {
    /// Returns the indices in the query of h of the bases of `rank`, in the order of its coefficients.
    pub fn h_indices(&self, rank: usize) -> Vec<usize> {
        let all = self.h.class_count() * self.h.class_length();
        (0..self.h.length(rank)).map(|position| self.h.index(rank, position)).filter(|index| *index + 1 < all).collect()
    }

    /// Returns the part of the key `whole` that `rank` needs. If `whole` is in a mapped file, only the points of this
    /// part are decoded. The host decodes those of h now, because they are not contiguous. Devices decode the others
    /// later.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the key has other lengths.
    /// - [`Error::Invalid`]: an encoded point is not as expected.
    pub fn part<E: Engine>(&self, rank: usize, whole: &Parameters<E>) -> Result<Parameters<E>> {
        Error::check_eq(
            "cluster groth16",
            "bases of h",
            self.h.class_count() * self.h.class_length() - 1,
            whole.h.len(),
        )?;
        Ok(Parameters {
            h: whole.h.gather(&self.h_indices(rank))?,
            l: slice_query(&whole.l, &self.l, rank)?,
            a: slice_query(&whole.a, &self.a, rank)?,
            b_g1: slice_query(&whole.b_g1, &self.b, rank)?,
            b_g2: slice_query(&whole.b_g2, &self.b, rank)?,
            ..whole.clone()
        })
    }

    /// Checks that the queries of `part` have the lengths that `rank` needs.
    pub(super) fn check<E: Engine>(&self, rank: usize, part: &Parameters<E>) -> Result<()> {
        Error::check_eq("cluster groth16", "bases of h of the rank", self.h_indices(rank).len(), part.h.len())?;
        Error::check_eq("cluster groth16", "bases of l of the rank", self.l.range(rank).len(), part.l.len())?;
        Error::check_eq("cluster groth16", "bases of a of the rank", self.a.range(rank).len(), part.a.len())?;
        Error::check_eq("cluster groth16", "bases of b of the rank", self.b.range(rank).len(), part.b_g1.len())?;
        Error::check_eq("cluster groth16", "bases of b in G2 of the rank", self.b.range(rank).len(), part.b_g2.len())
    }
}

fn slice_query<C: MsmCurve>(whole: &BasePoints<C>, slices: &Partition, rank: usize) -> Result<BasePoints<C>> {
    Error::check_eq("cluster groth16", "bases of a query", slices.length(), whole.len())?;
    whole.slice(slices.range(rank))
}
