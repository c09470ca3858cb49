//! Runs a kernel by name, with its arguments.

use std::sync::Arc;

use halo2curves::bn256::Fr;
use proofwarp::column_ops::{Argument, Operation, Parameter, enqueue, on_cpu};
use proofwarp::rayon_waits::{on_cpu_pool, run_off_pool};
use proofwarp::report::record_host_work;

use super::arguments::{self, ArgumentRef, KernelArgument};
use super::buffer::{Column, Memory, Storage, column, lock, put, vector};
use super::fft_rounds;
use super::kernel_names::Kind;
use crate::rust_gpu_tools::GPUError;
use crate::rust_gpu_tools::error::GPUResult;
use crate::rust_gpu_tools::queue::Queue;

/// Holds a kernel and the arguments appended so far, which it borrows.
#[derive(Debug)]
pub struct Kernel<'a> {
    /// `None` if the device is the host.
    queue: Option<&'a Queue>,
    name: String,
    kind: Kind,
    items: usize,
    arguments: Vec<ArgumentRef<'a>>,
}

impl<'a> Kernel<'a> {
    pub(super) fn new(queue: Option<&'a Queue>, name: &str, kind: Kind, items: usize) -> Self {
        Self { queue, name: name.to_owned(), kind, items, arguments: Vec::new() }
    }

    /// Appends `argument` to the kernel's arguments.
    #[must_use]
    pub fn arg<T: KernelArgument>(mut self, argument: &'a T) -> Self {
        self.arguments.push(argument.as_argument());
        self
    }

    /// Queues the kernel on a device without waiting for it, or runs it at once on the host. Reading a buffer waits for
    /// queued kernels.
    ///
    /// # Errors
    /// - [`GPUError::Generic`]: an argument is missing, or its kind or length is wrong.
    /// - [`GPUError::Generic`]: there are too many arguments.
    /// - [`GPUError::Generic`]: a column is written that is also read at another row.
    /// - [`GPUError::Generic`]: the device failed.
    /// - Each error names the kernel.
    pub fn run(self) -> GPUResult<()> {
        let done = match self.kind {
            Kind::Columns(operation) => self.columns(operation),
            Kind::Round => fft_rounds::run(self.queue, &self.arguments),
        };
        done.map_err(|error| GPUError::Generic(format!("{}: {error}", self.name)))
    }

    fn columns(&self, operation: Operation) -> GPUResult<()> {
        match self.queue {
            Some(queue) => self.on_device(queue, operation)?,
            None => self.on_host(operation)?,
        }
        let written = |kind: &Parameter| matches!(kind, Parameter::Written | Parameter::Updated);
        for (given, _) in self.arguments.iter().zip(operation.parameters()).filter(|(_, kind)| written(kind)) {
            if let arguments::Kind::Memory(memory) = given.0 {
                memory.forget_first();
            }
        }
        Ok(())
    }

    fn on_device(&self, queue: &Queue, operation: Operation) -> GPUResult<()> {
        let arguments = self.arguments.iter().map(|given| match given.0 {
            arguments::Kind::Number(number) => Ok(Argument::Number(number)),
            arguments::Kind::Memory(memory) => vector(memory).map(Argument::Column),
            arguments::Kind::Local => Err(no_local_memory()),
        });
        let arguments = arguments.collect::<GPUResult<Vec<_>>>()?;
        Ok(queue.with(|stream| enqueue(stream, operation, &arguments, self.items))?)
    }

    /// Runs `operation` on the host over the present contents of the columns. The results then replace the columns that
    /// it writes.
    fn on_host(&self, operation: Operation) -> GPUResult<()> {
        let columns = self.arguments.iter().map(|given| match given.0 {
            arguments::Kind::Memory(memory) => column(memory).map(Some),
            arguments::Kind::Number(_) => Ok(None),
            arguments::Kind::Local => Err(no_local_memory()),
        });
        let columns = columns.collect::<GPUResult<Vec<Option<Arc<Column>>>>>()?;
        let pairs = self.arguments.iter().zip(&columns);
        let arguments: Vec<_> = pairs.map(|(given, column)| resolved(given, column.as_deref())).collect();
        let rows = columns.iter().flatten().map(|column| column.len()).max().unwrap_or(0);
        let work = || record_host_work("columns bn254_fr", rows, || on_cpu(operation, &arguments, self.items));
        let done = run_off_pool(|| on_cpu_pool(work))?;
        drop(arguments);
        drop(columns);
        for (number, rows) in done {
            let rows = Column(rows);
            if let arguments::Kind::Memory(Memory { place: Storage::Host(column), .. }) = self.arguments[number].0 {
                put(&mut lock(column), rows);
            }
        }
        Ok(())
    }
}

fn resolved<'a>(given: &ArgumentRef<'_>, column: Option<&'a Column>) -> Argument<'a, [Fr]> {
    match (given.0, column) {
        (arguments::Kind::Number(number), _) => Argument::Number(number),
        (_, column) => Argument::Column(column.map(|column| &column[..]).unwrap_or_default()),
    }
}

fn no_local_memory() -> GPUError {
    proofwarp::Error::invalid("kernel", "argument", "a buffer or a number", "local memory").into()
}
