//! Runs one rank's step between the two dimensions of a transform over several ranks. It multiplies columns by powers
//! of ω, and transposes them to rows.

use rayon::prelude::*;

use crate::Result;
use crate::backend::Stream;
use crate::exec::ExecCtx;
use crate::field::{DeviceVector, TransformField};
use crate::kernel_arguments::{In, Out};
use crate::kernels::ntt::{FAMILY, Transpose};
use crate::module_launcher::KernelModule;
use crate::ntt::gpu::{launch, multiply_by_powers};
use crate::ntt::{Transform, VectorLayout, cpu};

/// Transforms each vector of `2^log_n` consecutive elements of `values` in place. The host's cores share the vectors,
/// and also the work of a long vector.
///
/// # Errors
/// - [`Error::Aborted`](crate::Error::Aborted): the hook aborted; the vectors are then undefined.
pub(crate) fn transform_each_on_cpu<F: TransformField>(
    values: &mut [F],
    transform: &Transform<F>,
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let vectors = values.par_chunks_mut(1 << transform.log_n);
    vectors.map(|vector| cpu::transform_many(&mut [vector], &[*transform], ctx)).collect()
}

/// Describes `2^count_log` consecutive columns of a matrix, each of `2^length_log` elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnBlock<F> {
    /// Binary logarithm of a column's length.
    pub length_log: u32,
    /// Binary logarithm of the number of columns.
    pub count_log: u32,
    /// Index of the first column among all columns.
    pub first: usize,
    /// Base ω of the twiddles: ω^(i·c) multiplies element i of column c.
    pub omega: F,
    /// Binary logarithm of ω's order, at most 32.
    pub order_log: u32,
}

impl<F: TransformField> ColumnBlock<F> {
    /// Queues the multiplication of the columns in `values` by their twiddles, in place, and the transposition of the
    /// result. Returns the columns as rows of a matrix: element i of column c is at i·2^count_log + c.
    pub(crate) fn enqueue_twiddle_transpose(
        &self,
        stream: &mut Stream,
        values: &DeviceVector<F>,
    ) -> Result<DeviceVector<F>> {
        let layout = VectorLayout { vectors: 1 << self.count_log, stride: 1 << self.length_log };
        let data = (&**values.buffer(), layout, self.length_log);
        if self.order_log > 0 {
            multiply_by_powers(stream, data, (self.omega, self.order_log), (self.first as u32, 1))?;
        }
        let turned = DeviceVector::allocate_uninit(stream, values.len())?;
        let transpose = Transpose {
            from: In::new(values.buffer()),
            to: Out::new(turned.buffer()),
            rows_log: self.count_log,
            columns_log: self.length_log,
        };
        let elements = 1 << (self.count_log + self.length_log);
        launch(KernelModule::find(&FAMILY, F::NAME)?, stream, elements, transpose)?;
        Ok(turned)
    }

    /// Multiplies the columns in `values` by their twiddles, in place, on the host's cores. Writes their transpose to
    /// `turned`: element i of column c to i·2^count_log + c.
    pub(crate) fn twiddle_transpose_cpu(&self, values: &mut [F], turned: &mut [F]) {
        let (length, count) = (1usize << self.length_log, 1usize << self.count_log);
        values.par_chunks_mut(length).enumerate().for_each(|(column, values)| {
            let factor = self.omega.pow_vartime([(self.first + column) as u64]);
            let mut power = F::ONE;
            for value in values {
                *value *= power;
                power *= factor;
            }
        });
        let values = &*values;
        turned.par_chunks_mut(count).enumerate().for_each(|(row, turned)| {
            turned.iter_mut().enumerate().for_each(|(column, to)| *to = values[column * length + row]);
        });
    }
}
