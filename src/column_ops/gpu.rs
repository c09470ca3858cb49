//! Queues operations on a stream.

use std::sync::Arc;

use super::check::{Argument, CheckedArgument, CheckedCall, ColumnAccess};
use super::operation::{Operation, Parameter};
use crate::Result;
use crate::backend::{Arg, Stream};
use crate::field::{DeviceVector, NttField};
use crate::kernels;
use crate::module_launcher::{KernelModule, buffer_arg};

/// Number of work-items per work-group. Equals `COLUMNS_GROUP` of `cl/halo2_gpu_columns.cl`.
const GROUP: u32 = 128;

impl<F: NttField> ColumnAccess for DeviceVector<F> {
    fn length(&self) -> usize {
        self.len()
    }

    fn is_same_memory(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.buffer(), other.buffer())
    }
}

/// Queues `operation` on columns in the memory of the stream's device, and does not wait. `arguments` have the order of
/// [`Operation::parameters`]. `items` is the number of work-items, or 0 for as many as the rows need.
///
/// # Errors
/// - [`Error::Invalid`](crate::Error::Invalid): an argument is missing, of another kind, shorter than the rows, out of
///   its range or of another device.
/// - [`Error::Invalid`](crate::Error::Invalid): a written column is also read at other rows or as single elements, or
///   is written twice.
/// - [`Error::Invalid`](crate::Error::Invalid): there are fewer work-items than the number of rows needs.
/// - [`Error::Invalid`](crate::Error::Invalid): there are 2^32 rows or more.
/// - There are no kernels for the field.
/// - [`Error::Device`](crate::Error::Device): the device failed.
///
/// Columns stay unchanged unless the device failed.
pub fn enqueue<F: NttField>(
    stream: &mut Stream,
    operation: Operation,
    arguments: &[Argument<'_, DeviceVector<F>>],
    items: usize,
) -> Result<()> {
    let call = CheckedCall::new(operation, arguments, items)?;
    let mut args = vec![Arg::U32(call.rows)];
    let parameters = operation.parameters().iter().filter(|parameter| **parameter != Parameter::Rows);
    for (parameter, argument) in parameters.zip(&call.arguments) {
        args.push(match argument {
            CheckedArgument::Number(number) => Arg::U32(*number),
            CheckedArgument::Column(column) => {
                match parameter {
                    Parameter::Written | Parameter::Updated => column.wait_before_write(stream)?,
                    _ => column.wait_before_read(stream)?,
                }
                buffer_arg(column.buffer())
            }
        });
    }
    let items = work_item_count(operation, &call);
    let program = KernelModule::find(&kernels::columns::FAMILY, F::NAME)?;
    // SAFETY: the arguments match the kernel: the number of rows, then the operation's parameters. Columns were found
    // to have all rows, single elements to be there, and rotations to be below the rows.
    unsafe { program.launch(stream, operation.kernel(), items, GROUP, &args) }
}

/// Returns the number of work-items that `operation` needs to write all rows of `call`.
fn work_item_count<C: ?Sized>(operation: Operation, call: &CheckedCall<'_, C>) -> u64 {
    let rows_of_item = match (operation, call.arguments.last()) {
        (Operation::LookupSlots, Some(CheckedArgument::Number(slot))) => u64::from(*slot),
        _ => operation.rows_per_item() as u64,
    };
    u64::from(call.rows).div_ceil(rows_of_item)
}
