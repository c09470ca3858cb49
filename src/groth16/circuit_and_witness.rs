//! Holds the data that proofs of one circuit share (variables' numbers, places in the key, matrices), and the witness
//! of one proof.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ff::Field;
use rayon::prelude::*;

use super::key::PerDevice;
use super::parameters::ERROR_CONTEXT;
use super::{AuxValues, Engine, ProvingKeyOnDevice};
use crate::backend::{Abort, Buffer, Device, Stream, catch_hook_panic};
use crate::exec::ExecCtx;
use crate::field::NttField;
use crate::matrix::{Csr, CsrOnDevice, SparseOptions};
use crate::secret_vec::SecretVec;
use crate::{Accelerator, Error, Result};

/// Marks the variables that have bases in a key's queries of A and B. A variable has a base in the query of A if it
/// occurs in A of any constraint, and likewise for B. Every input has a base in the query of A.
#[derive(Debug, Clone, Copy)]
pub struct Densities<'a> {
    /// For each auxiliary variable, whether it has a base in the query of A.
    pub a_aux: &'a [bool],
    /// For each input, whether it has a base in the queries of B.
    pub b_inputs: &'a [bool],
    /// For each auxiliary variable, whether it has a base in the queries of B.
    pub b_aux: &'a [bool],
}

/// Describes a circuit to a prover: its sizes, the variables that have bases in the key, and optionally its matrices.
/// Variables are numbered from 0: the constant one, the other inputs, then the auxiliary variables.
#[derive(Debug)]
pub struct Circuit<F> {
    pub(super) inputs: usize,
    pub(super) aux: usize,
    pub(super) constraints: usize,
    /// Indices of the variables that have bases in the query of A, in ascending order.
    pub(super) a: Vec<u32>,
    /// Indices of the variables that have bases in the queries of B, in ascending order.
    pub(super) b: Vec<u32>,
    /// A and B, and C unless it is given by C·z = A·z ∘ B·z; empty if every witness has its evaluations.
    matrices: Vec<Arc<Csr<F>>>,
    on_devices: PerDevice<DeviceVariableIndices>,
    matrices_on_devices: [PerDevice<CsrOnDevice<F>>; 3],
}

/// Holds the constraints' matrices A and B on one device, and C if the circuit has it.
pub(super) type DeviceMatrices<F> = Vec<Arc<CsrOnDevice<F>>>;

/// Holds, on one device, the indices of the variables that have bases in the queries of A and B. An index has 32 bits.
#[derive(Debug)]
pub(super) struct DeviceVariableIndices {
    /// Indices of the variables in the query of A; `None` if all variables are in it.
    pub a: Option<Buffer>,
    /// Indices of the variables in the queries of B; `None` if all variables are in them.
    pub b: Option<Buffer>,
}

impl<F: NttField> Circuit<F> {
    /// Creates a circuit of `constraints` constraints without matrices. `densities` marks the variables that have bases
    /// in the key. Every witness must contain its evaluations A·z, B·z and C·z.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the densities of auxiliary variables differ in length.
    /// - [`Error::Invalid`]: there are more than 2^31 variables or constraints.
    pub fn new(constraints: usize, densities: Densities<'_>) -> Result<Self> {
        let Densities { a_aux, b_inputs, b_aux } = densities;
        Error::check_eq(ERROR_CONTEXT, "length of the density of b_aux", a_aux.len(), b_aux.len())?;
        let (inputs, aux) = (b_inputs.len(), a_aux.len());
        check_count_limit("variables", inputs + aux)?;
        check_count_limit("constraints", constraints)?;
        let a = (0..inputs as u32).into_par_iter().chain(selected_variables(a_aux, inputs)).collect();
        let b = selected_variables(b_inputs, 0).chain(selected_variables(b_aux, inputs)).collect();
        Ok(Self {
            inputs,
            aux,
            constraints,
            a,
            b,
            matrices: Vec::new(),
            on_devices: PerDevice::default(),
            matrices_on_devices: Default::default(),
        })
    }

    /// Creates a circuit from its `matrices` A, B and C. Their first `inputs` columns belong to inputs. Witnesses need
    /// no evaluations, since the matrices give them.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: rows or columns of the matrices differ in number.
    /// - [`Error::Invalid`]: there are more inputs than columns.
    pub fn from_matrices(inputs: usize, matrices: [Arc<Csr<F>>; 3]) -> Result<Self> {
        let [a, b, c] = &matrices;
        let (rows, columns) = (a.rows(), a.columns());
        for (name, matrix) in [("B", b), ("C", c)] {
            Error::check_eq(ERROR_CONTEXT, format!("rows of {name}"), rows, matrix.rows())?;
            Error::check_eq(ERROR_CONTEXT, format!("columns of {name}"), columns, matrix.columns())?;
        }
        if inputs > columns {
            return Err(Error::invalid(ERROR_CONTEXT, "number of inputs", format!("at most {columns}"), inputs));
        }
        let (in_a, in_b) = (nonzero_columns(a), nonzero_columns(b));
        let densities = Densities { a_aux: &in_a[inputs..], b_inputs: &in_b[..inputs], b_aux: &in_b[inputs..] };
        Ok(Self { matrices: matrices.into(), ..Self::new(rows, densities)? })
    }

    /// Creates a circuit from its `matrices` A and B alone. C·z is computed as the elementwise product of A·z and B·z,
    /// which it is for every witness that satisfies the constraints. Any other witness gives a proof that does not
    /// verify. `densities` marks the variables that have bases in the key.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: rows of the matrices differ in number.
    /// - [`Error::Invalid`]: the matrices have other numbers of columns than there are variables.
    /// - [`Self::new`] lists the other errors.
    pub fn from_two_matrices(densities: Densities<'_>, matrices: [Arc<Csr<F>>; 2]) -> Result<Self> {
        let circuit = Self::new(matrices[0].rows(), densities)?;
        Error::check_eq(ERROR_CONTEXT, "rows of B", circuit.constraints, matrices[1].rows())?;
        for (name, matrix) in ["A", "B"].iter().zip(&matrices) {
            Error::check_eq(ERROR_CONTEXT, format!("columns of {name}"), circuit.variable_count(), matrix.columns())?;
        }
        Ok(Self { matrices: matrices.into(), ..circuit })
    }

    /// Returns the number of inputs, including the constant one.
    pub fn input_count(&self) -> usize {
        self.inputs
    }

    /// Returns the number of auxiliary variables.
    pub fn aux_count(&self) -> usize {
        self.aux
    }

    /// Returns the number of constraints.
    pub fn constraint_count(&self) -> usize {
        self.constraints
    }

    /// Returns the number of bases in the query of A. Two numbers of variables with bases in the queries of B follow:
    /// inputs, then auxiliary variables.
    pub fn query_lengths(&self) -> [usize; 3] {
        let b_inputs = self.b.partition_point(|variable| (*variable as usize) < self.inputs);
        [self.a.len(), b_inputs, self.b.len() - b_inputs]
    }

    /// Returns the indices of the variables that have bases in the query of A, in the order of those bases.
    pub fn variables_of_a(&self) -> &[u32] {
        &self.a
    }

    /// Returns the indices of the variables that have bases in the queries of B, in the order of those bases.
    pub fn variables_of_b(&self) -> &[u32] {
        &self.b
    }

    /// Returns the matrices A, B and C. The slice has only A and B if [`Self::from_two_matrices`] made the circuit, and
    /// is empty if [`Self::new`] made it.
    pub fn matrices(&self) -> &[Arc<Csr<F>>] {
        &self.matrices
    }

    /// Uploads the circuit to each device of `accelerator` that lacks it. Without this call, the first proof on a
    /// device uploads it there. If `abort` stops the upload, the parts uploaded so far stay. A device without room for
    /// matrices beside a proof's vectors gets none. Each proof then uploads them one after another.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a device has too little memory, or its driver fails.
    /// - [`Error::Aborted`]: the hook aborted.
    pub fn upload(&self, accelerator: &Accelerator, abort: Abort<'_>) -> Result<()> {
        let upload = |device, ctx: ExecCtx<'_>| {
            self.get_or_upload_indices(device, ctx)?;
            match self.has_room_for_matrices(device, self.constraints.next_power_of_two())? {
                true => self.get_or_upload_matrices(device, ctx).map(drop),
                false => Ok(()),
            }
        };
        catch_hook_panic(abort, |abort| {
            accelerator.devices().iter().try_for_each(|device| upload(device, ExecCtx::unreported(abort)))
        })
    }

    /// Returns the number of bytes that the circuit takes on all devices together.
    pub fn device_bytes(&self) -> u64 {
        let matrices = self.matrices_on_devices.iter().flat_map(PerDevice::all).map(|matrix| matrix.bytes());
        self.on_devices.all().iter().map(|part| part.device_bytes()).chain(matrices).sum()
    }

    pub(super) fn variable_count(&self) -> usize {
        self.inputs + self.aux
    }

    /// Checks that `key` has the domain and the lengths of queries that this circuit needs.
    pub(super) fn check_key<E: Engine<Fr = F>>(&self, key: &ProvingKeyOnDevice<E>) -> Result<()> {
        Error::check_eq(
            ERROR_CONTEXT,
            "elements of the key's domain",
            self.constraints.next_power_of_two(),
            key.domain_size(),
        )?;
        let key = key.parameters();
        Error::check_eq(ERROR_CONTEXT, "bases of l", self.aux, key.l.len())?;
        Error::check_eq(ERROR_CONTEXT, "bases of a", self.a.len(), key.a.len())?;
        Error::check_eq(ERROR_CONTEXT, "bases of b", self.b.len(), key.b_g1.len())
    }

    /// Returns the indices of the variables in the queries of A and B on `device`, and uploads them if it lacks them.
    pub(super) fn get_or_upload_indices(
        &self,
        device: &Arc<Device>,
        ctx: ExecCtx<'_>,
    ) -> Result<Arc<DeviceVariableIndices>> {
        self.on_devices.get(device, || {
            ctx.check_abort()?;
            let mut stream = device.stream()?;
            let (a, b) = (self.upload_indices(&mut stream, &self.a)?, self.upload_indices(&mut stream, &self.b)?);
            ctx.synchronize(&mut stream)?;
            Ok(DeviceVariableIndices { a, b })
        })
    }

    /// Returns the matrices on `device`, and uploads those that it lacks. If the abort hook stops the upload, the
    /// matrices uploaded so far stay.
    pub(super) fn get_or_upload_matrices(&self, device: &Arc<Device>, ctx: ExecCtx<'_>) -> Result<DeviceMatrices<F>> {
        let get = |(matrix, on_devices): (&Arc<Csr<F>>, &PerDevice<CsrOnDevice<F>>)| {
            on_devices.get(device, || CsrOnDevice::new_abortable(device, matrix, SparseOptions::default(), ctx))
        };
        self.matrices.iter().zip(&self.matrices_on_devices).map(get).collect()
    }

    /// Uploads the matrix with the index `number` to `device`, where it stays as long as the result lives.
    pub(super) fn upload_matrix(
        &self,
        device: &Arc<Device>,
        number: usize,
        ctx: ExecCtx<'_>,
    ) -> Result<CsrOnDevice<F>> {
        let matrix = self.matrices.get(number).ok_or_else(missing_matrices_error)?;
        CsrOnDevice::new_abortable(device, matrix, SparseOptions::default(), ctx)
    }

    /// Returns whether `device` has room for the matrices that it lacks, beside an assignment and the vectors a, b and c
    /// of `domain` elements each. Transforms that do not work in place take one more vector. A tenth of the free memory
    /// is left to tables of transforms and to smaller buffers.
    pub(super) fn has_room_for_matrices(&self, device: &Arc<Device>, domain: usize) -> Result<bool> {
        let all = self.matrices.iter().zip(&self.matrices_on_devices);
        let lacking = all.filter(|(_, on_devices)| !on_devices.has(device));
        let lacking: Vec<u64> = lacking.map(|(matrix, _)| CsrOnDevice::estimate_bytes(matrix)).collect();
        if lacking.is_empty() && !self.matrices.is_empty() {
            return Ok(true);
        }
        let vectors = if device.info().caps.forward_progress { 3 } else { 4 };
        let vectors = (size_of::<F>() as u64).saturating_mul((vectors * domain + self.variable_count()) as u64);
        let free = device.free_memory()?;
        let fits = lacking.iter().sum::<u64>().saturating_add(vectors) <= free - free / 10;
        if !fits {
            log::info!("groth16: a, b and c are made one after another: {free} bytes are free");
        }
        Ok(fits)
    }

    fn upload_indices(&self, stream: &mut Stream, indices: &[u32]) -> Result<Option<Buffer>> {
        if indices.len() == self.variable_count() {
            return Ok(None);
        }
        let buffer = stream.allocate(size_of_val(indices))?;
        stream.upload(&buffer, bytemuck::cast_slice(indices))?;
        Ok(Some(buffer))
    }
}

impl DeviceVariableIndices {
    fn device_bytes(&self) -> u64 {
        [&self.a, &self.b].into_iter().flatten().map(|buffer| buffer.bytes() as u64).sum()
    }
}

/// Returns the indices of the variables that `density` marks, in ascending order. Its first element belongs to variable
/// `first`.
fn selected_variables(density: &[bool], first: usize) -> impl ParallelIterator<Item = u32> + '_ {
    let places = density.par_iter().enumerate().filter(|(_, chosen)| **chosen);
    places.map(move |(place, _)| (first + place) as u32)
}

/// Returns, for each column of `matrix`, whether it has a coefficient other than zero.
fn nonzero_columns<F: NttField>(matrix: &Csr<F>) -> Vec<bool> {
    let zero: Vec<bool> = matrix.dictionary().iter().map(Field::is_zero_vartime).collect();
    let occurs: Vec<AtomicBool> = (0..matrix.columns()).into_par_iter().map(|_| AtomicBool::default()).collect();
    let nonzeros = matrix.column_indices().par_iter().zip(matrix.coefficient_indices());
    nonzeros.filter(|(_, coefficient)| !zero[**coefficient as usize]).for_each(|(column, _)| {
        let occurs = &occurs[*column as usize];
        // Most are set already, some by all cores: a read lets cores share the cache line.
        if !occurs.load(Ordering::Relaxed) {
            occurs.store(true, Ordering::Relaxed);
        }
    });
    occurs.into_par_iter().map(AtomicBool::into_inner).collect()
}

fn check_count_limit(what: &'static str, number: usize) -> Result<()> {
    const MAX_VARIABLES: usize = 1 << 31;
    if number <= MAX_VARIABLES {
        Ok(())
    } else {
        Err(Error::invalid(ERROR_CONTEXT, what, format!("at most {MAX_VARIABLES}"), number))
    }
}

/// Borrows the assignment of a circuit's variables, optionally with the evaluated constraints.
#[derive(Clone, Copy)]
pub struct Witness<'a, F: Copy> {
    /// Values of the inputs; the first is the constant one.
    pub inputs: &'a [F],
    /// Values of the auxiliary variables.
    pub aux: AuxValues<'a, F>,
    /// The products A·z, B·z and C·z for the assignment z. If `None`, the prover computes them from the circuit's
    /// matrices.
    pub evaluations: Option<[&'a [F]; 3]>,
}

impl<F: Copy> fmt::Debug for Witness<'_, F> {
    /// Writes only the lengths, because the values are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inputs, aux, evaluations } = self;
        let mut fields = f.debug_struct("Witness");
        fields.field("inputs", &inputs.len()).field("aux", &aux.len());
        fields.field("evaluations", &evaluations.map(|vectors| vectors.map(<[F]>::len))).finish()
    }
}

impl<'a, F: NttField> Witness<'a, F> {
    /// Returns the inputs after the constant one, or `None` if the first input is not one.
    pub fn public_inputs(&self) -> Option<&'a [F]> {
        self.inputs.split_first().filter(|(one, _)| **one == F::ONE).map(|(_, inputs)| inputs)
    }

    /// Returns a copy of the values of all variables.
    pub(crate) fn to_assignment(self) -> SecretVec<F> {
        let mut assignment = SecretVec(vec![F::ZERO; self.inputs.len() + self.aux.len()]);
        let (inputs, aux) = assignment.split_at_mut(self.inputs.len());
        inputs.copy_from_slice(self.inputs);
        self.aux.write_to(aux);
        assignment
    }

    /// Checks that the witness has the lengths that `circuit` needs. `number` is its index in the batch, for error
    /// messages.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a length of the witness differs from the circuit's.
    /// - [`Error::Invalid`]: the witness has no evaluations, and the circuit no matrices.
    pub(crate) fn check_lengths(&self, number: usize, circuit: &Circuit<F>) -> Result<()> {
        let of = |what: &str| format!("{what} of witness {number}");
        Error::check_eq(ERROR_CONTEXT, of("inputs"), circuit.inputs, self.inputs.len())?;
        Error::check_eq(ERROR_CONTEXT, of("auxiliary values"), circuit.aux, self.aux.len())?;
        match &self.evaluations {
            Some(vectors) => ["a", "b", "c"].iter().zip(vectors).try_for_each(|(name, vector)| {
                Error::check_eq(ERROR_CONTEXT, of(name), circuit.constraints, vector.len())
            }),
            None if circuit.matrices.is_empty() => Err(missing_evaluations_error(of("evaluations"))),
            None => Ok(()),
        }
    }
}

/// Returns the error for a witness without evaluations whose circuit has no matrices.
pub(super) fn missing_matrices_error() -> Error {
    missing_evaluations_error("evaluations")
}

fn missing_evaluations_error(what: impl Into<String>) -> Error {
    Error::invalid(ERROR_CONTEXT, what, "some, or a circuit with its matrices", "neither")
}
