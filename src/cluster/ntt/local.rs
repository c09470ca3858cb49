//! Runs one rank's part of a dimension, on its devices or its cores.

use std::sync::Arc;

use crate::backend::{Abort, Device, StreamStats, check_abort};
use crate::exec::ExecCtx;
use crate::field::{DeviceVector, NttField};
use crate::ntt::{ColumnBlock, Direction, NttDomain, transform_each_on_cpu};
use crate::report::OpScope;
use crate::secret_vec::SecretVec;
use crate::{Accelerator, Error, Result};

/// Describes one dimension of a transform, columns or rows, as each rank runs it on vectors of its own. After the
/// columns, multiplications by twiddles and a transposition follow.
#[derive(Debug, Clone)]
pub(super) struct LocalPass<F> {
    pub domain: NttDomain<F>,
    pub direction: Direction,
    /// ω of the whole transform and the binary logarithm of its order, for columns; `None` for rows.
    pub between: Option<(F, u32)>,
}

/// Records the stream statistics of a [`LocalPass::run`], and why the CPU took over, if it did.
#[derive(Debug, Default)]
pub(super) struct PassStats {
    pub traffic: StreamStats,
    /// Error of the device if the CPU took over; `None` otherwise.
    pub fallback: Option<String>,
}

impl<F: NttField> LocalPass<F> {
    /// Transforms the vectors in `from`, one after another, into `to`, which has the same length. `first` is the index
    /// of the first one among the vectors of all ranks. Runs on device `lane` modulo the number of devices, or on the
    /// CPU. For columns, their number is a power of two, and `to` has them transposed.
    pub(super) fn run(
        &self,
        accelerator: &Accelerator,
        lane: usize,
        (from, first): (&[F], usize),
        to: &mut [F],
        abort: Abort<'_>,
    ) -> Result<PassStats> {
        check_abort(abort)?;
        let device = accelerator.devices().get(lane % accelerator.devices().len().max(1));
        let mut fallback = None;
        if let Some(device) = device {
            match self.run_on_device(device, (from, first), to, abort) {
                Ok(traffic) => return Ok(PassStats { traffic, fallback }),
                Err(error) => {
                    let call = OpScope { operation: format!("cluster ntt {}", F::NAME), elements: from.len() };
                    call.report_device_failure(device.info(), &error);
                    if accelerator.forced().is_some() || matches!(error, Error::Aborted | Error::Invalid { .. }) {
                        return Err(error);
                    }
                    fallback = Some(error.to_string());
                }
            }
        }
        self.run_on_cpu((from, first), to, abort)?;
        Ok(PassStats { traffic: StreamStats::default(), fallback })
    }

    fn run_on_device(
        &self,
        device: &Arc<Device>,
        (from, first): (&[F], usize),
        to: &mut [F],
        abort: Abort<'_>,
    ) -> Result<StreamStats> {
        let mut stream = device.stream()?;
        let mut values = DeviceVector::upload(&mut stream, from)?;
        self.domain.enqueue(self.direction, &mut stream, &mut values)?;
        let result = match self.column_block(from.len(), first) {
            Some(columns) => columns.enqueue_twiddle_transpose(&mut stream, &values)?,
            None => values,
        };
        stream.synchronize(abort)?;
        result.download(&mut stream, to)?;
        stream.synchronize(None)?;
        Ok(stream.stats())
    }

    fn run_on_cpu(&self, (from, first): (&[F], usize), to: &mut [F], abort: Abort<'_>) -> Result<()> {
        let transform = self.domain.transform(self.direction);
        let Some(columns) = self.column_block(from.len(), first) else {
            to.copy_from_slice(from);
            return transform_each_on_cpu(to, &transform, ExecCtx::unreported(abort));
        };
        let mut values = SecretVec(from.to_vec());
        transform_each_on_cpu(&mut values, &transform, ExecCtx::unreported(abort))?;
        columns.twiddle_transpose_cpu(&mut values, to);
        Ok(())
    }

    fn column_block(&self, elements: usize, first: usize) -> Option<ColumnBlock<F>> {
        let length_log = self.domain.log_n();
        let count_log = (elements >> length_log).trailing_zeros();
        self.between.map(|(omega, order_log)| ColumnBlock { length_log, count_log, first, omega, order_log })
    }
}
