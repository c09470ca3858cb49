//! Queues operations on a stream.

use std::sync::Arc;

use super::check::{Argument, CheckedArgument, CheckedCall, ColumnAccess};
use super::operation::{Operation, for_each_operation};
use crate::backend::Stream;
use crate::field::{DeviceVector, NttField};
use crate::kernel_arguments::{In, Out};
use crate::kernels::columns::{self as kernel, FAMILY};
use crate::module_launcher::KernelModule;
use crate::{Error, Result};

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
    let items = work_item_count(operation, &call);
    run_kernel(stream, operation, items, &call)
}

/// Defines `run_kernel`. The compiler checks that the arguments of each operation are the parameters of its kernel.
macro_rules! define_run_kernel {
    ($(
        $(#[$doc:meta])*
        $name:ident = $kernel:ident [$($kind:ident $(($count:literal))? $($parameter:ident)?),*];
    )*) => {
        /// Queues the kernel of `operation` over `items` work-items, after the work on the columns of `call`.
        fn run_kernel<F: NttField>(
            stream: &mut Stream,
            operation: Operation,
            items: u64,
            call: &CheckedCall<'_, DeviceVector<F>>,
        ) -> Result<()> {
            let module = KernelModule::find(&FAMILY, F::NAME)?;
            let mut rest = call.arguments.iter();
            match operation {
                $(Operation::$name => {
                    let kernel = kernel::$kernel {
                        rows: call.rows,
                        $($($parameter: kernel_argument!($kind)(stream, rest.next())?,)?)*
                    };
                    module.run(stream, items, kernel)
                })*
            }
        }
    };
}

/// Returns the function that makes the kernel's argument of an operation's argument of this kind.
macro_rules! kernel_argument {
    (Rotation) => {
        number
    };
    (Number) => {
        number
    };
    (Written) => {
        output
    };
    (Updated) => {
        output
    };
    ($read:ident) => {
        input
    };
}

for_each_operation!(define_run_kernel);

/// Returns the column `argument`, which the kernel writes, after the work on it that other streams have queued.
fn output<'a, F: NttField>(
    stream: &Stream,
    argument: Option<&CheckedArgument<'a, DeviceVector<F>>>,
) -> Result<Out<'a, F>> {
    let Some(CheckedArgument::Column(column)) = argument else { return Err(missing_error("a column")) };
    column.wait_before_write(stream)?;
    Ok(column.as_out())
}

/// Returns the column `argument`, which the kernel reads, after the writes to it that other streams have queued.
fn input<'a, F: NttField>(
    stream: &Stream,
    argument: Option<&CheckedArgument<'a, DeviceVector<F>>>,
) -> Result<In<'a, F>> {
    let Some(CheckedArgument::Column(column)) = argument else { return Err(missing_error("a column")) };
    column.wait_before_read(stream)?;
    Ok(column.as_in())
}

/// Returns the number `argument`.
fn number<C: ?Sized>(_: &Stream, argument: Option<&CheckedArgument<'_, C>>) -> Result<u32> {
    let Some(CheckedArgument::Number(number)) = argument else { return Err(missing_error("a number")) };
    Ok(*number)
}

fn missing_error(expected: &str) -> Error {
    Error::invalid("columns", "argument of a kernel", expected, "none")
}

/// Returns the number of work-items that `operation` needs to write all rows of `call`.
fn work_item_count<C: ?Sized>(operation: Operation, call: &CheckedCall<'_, C>) -> u64 {
    let rows_of_item = match (operation, call.arguments.last()) {
        (Operation::LookupSlots, Some(CheckedArgument::Number(slot))) => u64::from(*slot),
        _ => operation.rows_per_item() as u64,
    };
    u64::from(call.rows).div_ceil(rows_of_item)
}
