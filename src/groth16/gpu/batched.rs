//! Makes several proofs together: each MSM runs for all of them before the next one begins. If memory is short, single
//! proofs are made this way too.
//!
//! The MSMs whose scalars are the assignments come first, query by query. Then one circuit after the other is
//! transformed, which leaves a vector of each. The MSM over h comes last.

use std::ops::Range;
use std::sync::Arc;

use super::device_prover::{DeviceProver, gather_or_share};
use super::proof_streams::ProofStreams;
use crate::backend::Buffer;
use crate::curve::MsmCurve;
use crate::exec::ExecCtx;
use crate::field::DeviceVector;
use crate::groth16::msm_sums_and_proof::{PartialMsmSums, PartialResults};
use crate::groth16::schedule::{ProofTask, QueryId};
use crate::groth16::{Engine, Witness};
use crate::msm::{DeviceScalars, Msm};
use crate::{Error, Result};

/// Runs the missing MSMs of `job` by `prover` and adds their sums to `results`, unless the abort hook asks to stop. The MSMs
/// run one after another, each with all the memory. Serves jobs for which memory is too short for concurrent MSMs.
pub(crate) fn prove_one<E: Engine>(
    prover: &DeviceProver<'_, E>,
    job: ProofTask,
    witnesses: &[Witness<'_, E::Fr>],
    results: &PartialResults<E>,
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let one = || prove_batch(prover, results.unfinished_tasks(&[job]), witnesses, results, ctx);
    match one() {
        // Blocks that others left in use may have split the memory into parts that are too small.
        Err(Error::OutOfMemory { .. }) => {
            prover.device.trim();
            one()
        }
        done => done,
    }
}

/// Runs `jobs` as one batch: each MSM runs for all of them before the next MSM begins. Adds the sums to `results`, also
/// if the batch fails later.
pub(crate) fn prove_batch<E: Engine>(
    prover: &DeviceProver<'_, E>,
    jobs: Vec<ProofTask>,
    witnesses: &[Witness<'_, E::Fr>],
    results: &PartialResults<E>,
    ctx: ExecCtx<'_>,
) -> Result<()> {
    ProofBatch { prover, jobs, witnesses, results, ctx }.prove()
}

/// Holds the state of a batch of proofs on one device. Each MSM runs for all proofs before the next MSM begins.
struct ProofBatch<'a, 'b, E: Engine> {
    prover: &'a DeviceProver<'b, E>,
    jobs: Vec<ProofTask>,
    witnesses: &'a [Witness<'a, E::Fr>],
    results: &'a PartialResults<E>,
    ctx: ExecCtx<'a>,
}

/// Holds one proof of a batch: its task, and its assignment on the device.
struct BatchMember<F> {
    job: ProofTask,
    assignment: DeviceVector<F>,
}

/// Describes how the scalars of one query's MSM are selected from an assignment.
struct ScalarSelection<'a> {
    /// Indices of these variables on the device; `None` if they are contiguous.
    chosen: Option<&'a Buffer>,
    range: Range<usize>,
}

impl<E: Engine> ProofBatch<'_, '_, E> {
    fn prove(&self) -> Result<()> {
        let (tables, circuit, chosen) = (&self.prover.tables, self.prover.circuit, &self.prover.chosen);
        let members = self.upload()?;
        let a = ScalarSelection { chosen: chosen.a.as_ref(), range: 0..circuit.a.len() };
        let b = ScalarSelection { chosen: chosen.b.as_ref(), range: 0..circuit.b.len() };
        let l = ScalarSelection { chosen: None, range: circuit.inputs..circuit.variable_count() };
        self.run_selected_msms(&members, QueryId::BG2, tables.get_or_upload_b_g2()?, &b, PartialMsmSums::from_g2)?;
        for (query, of) in [(QueryId::BG1, &b), (QueryId::A, &a), (QueryId::L, &l)] {
            self.run_selected_msms(&members, query, tables.get_or_upload_g1(query)?, of, |sum| {
                PartialMsmSums::from_g1(query, sum)
            })?;
        }
        self.run_h_msms(members)
    }

    /// Uploads the assignments of all jobs, and waits for the uploads.
    fn upload(&self) -> Result<Vec<BatchMember<E::Fr>>> {
        let variables = self.prover.circuit.variable_count();
        self.prover.device.trim_pool_if_short()?;
        // Declared before the streams, which finish their work before it is freed.
        let mut members = Vec::new();
        let mut lane = ProofStreams::new(self.prover.device, self.ctx)?;
        for job in &self.jobs {
            members
                .push(BatchMember { job: *job, assignment: DeviceVector::allocate_uninit(&lane.compute, variables)? });
        }
        lane.fence_upload_stream()?;
        for BatchMember { job, assignment } in &members {
            lane.upload_assignment(assignment, &self.witnesses[job.number])?;
        }
        self.finish_streams(lane)?;
        Ok(members)
    }

    /// Computes the MSM over `query` for each of `members` whose task includes it. The scalars are the values that `of`
    /// selects from the assignment. `partial` wraps a sum for the results.
    fn run_selected_msms<C: MsmCurve>(
        &self,
        members: &[BatchMember<E::Fr>],
        query: QueryId,
        table: Option<&Arc<Msm<'static, C>>>,
        of: &ScalarSelection<'_>,
        partial: impl Fn(C::Curve) -> PartialMsmSums<E>,
    ) -> Result<()> {
        let members: Vec<_> = members.iter().filter(|member| member.job.share.has(query)).collect();
        // Selected scalars would take a part of a block that the MSM needs whole.
        self.prover.device.trim_pool_if_short()?;
        // Uses a stream of its own, so that memory left by selections in its pool is free for the next MSMs.
        let mut stream = self.prover.device.stream()?;
        let selections = members.iter().map(|member| gather_or_share(&mut stream, of.chosen, &member.assignment));
        let selections = selections.collect::<Result<Vec<_>>>()?;
        let ready = Arc::new(stream.record_event()?);
        let scalars = selections.into_iter().map(|buffer| self.prover.wrap_scalars(buffer, of.range.clone(), &ready));
        let scalars = scalars.collect::<Result<Vec<_>>>()?;
        self.ctx.record([&stream]);
        self.run_msms(members.iter().map(|member| member.job.number), table, &scalars, partial)
    }

    /// Computes the quotient for each of `members` whose task includes h, then the MSMs over them.
    fn run_h_msms(&self, members: Vec<BatchMember<E::Fr>>) -> Result<()> {
        let prover @ DeviceProver { device, tables, .. } = self.prover;
        device.trim_pool_if_short()?;
        let mut quotients = Vec::new();
        let mut lane = ProofStreams::new(device, self.ctx)?;
        for BatchMember { job, assignment } in members.iter().filter(|member| member.job.share.has(QueryId::H)) {
            let witness = &self.witnesses[job.number];
            let h = prover.enqueue_quotient_in_short_memory(&mut lane, witness, assignment, self.ctx)?;
            quotients.push((job.number, h));
        }
        let ready = Arc::new(lane.compute.record_event()?);
        self.finish_streams(lane)?;
        drop(members);
        let scalars = quotients.iter().map(|(_, h)| prover.wrap_quotient(h, &ready));
        let scalars = scalars.collect::<Result<Vec<_>>>()?;
        let numbers = quotients.into_iter().map(|(number, _)| number);
        self.run_msms(numbers, tables.get_or_upload_g1(QueryId::H)?, &scalars, |sum| {
            PartialMsmSums::from_g1(QueryId::H, sum)
        })
    }

    /// Waits for the work on the streams `lane`, and adds up their statistics. Dropping the streams frees their memory.
    fn finish_streams(&self, mut lane: ProofStreams<'_>) -> Result<()> {
        self.ctx.synchronize(&mut lane.compute)?;
        lane.record_stats();
        Ok(())
    }

    /// Computes the MSM of each element of `scalars` over the bases `table`. `numbers` has the index of each element's
    /// proof, and `partial` wraps a sum for the results.
    fn run_msms<C: MsmCurve>(
        &self,
        numbers: impl Iterator<Item = usize>,
        table: Option<&Arc<Msm<'static, C>>>,
        scalars: &[DeviceScalars],
        partial: impl Fn(C::Curve) -> PartialMsmSums<E>,
    ) -> Result<()> {
        if scalars.is_empty() {
            return Ok(());
        }
        let table = table.ok_or_else(|| Error::device("host", "groth16", "no bases of a query"))?;
        self.prover.device.trim_pool_if_short()?;
        let sums = table.run_without_fallback(scalars, self.ctx)?;
        numbers.zip(sums).for_each(|(number, sum)| self.results.put(number, partial(sum)));
        Ok(())
    }
}
