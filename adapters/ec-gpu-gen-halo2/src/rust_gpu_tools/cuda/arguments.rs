//! Defines the arguments that kernels take.

use std::fmt;
use std::marker::PhantomData;

use super::buffer::{Buffer, Memory};

/// Converts a value to a kernel argument.
pub trait KernelArgument {
    /// Returns this value as a kernel argument.
    fn as_argument(&self) -> ArgumentRef<'_>;
}

/// Holds a kernel argument: a borrowed buffer, an integer, or a placeholder for local memory.
#[derive(Clone, Copy)]
pub struct ArgumentRef<'a>(pub(super) Kind<'a>);

#[derive(Clone, Copy)]
pub(super) enum Kind<'a> {
    Memory(&'a Memory),
    Number(i64),
    Local,
}

impl fmt::Debug for ArgumentRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Memory(memory) => write!(f, "{} elements", memory.len()),
            Kind::Number(number) => number.fmt(f),
            Kind::Local => f.write_str("local memory"),
        }
    }
}

impl<T> KernelArgument for Buffer<T> {
    fn as_argument(&self) -> ArgumentRef<'_> {
        ArgumentRef(Kind::Memory(self.memory()))
    }
}

impl KernelArgument for i32 {
    fn as_argument(&self) -> ArgumentRef<'_> {
        ArgumentRef(Kind::Number(i64::from(*self)))
    }
}

impl KernelArgument for u32 {
    fn as_argument(&self) -> ArgumentRef<'_> {
        ArgumentRef(Kind::Number(i64::from(*self)))
    }
}

/// Stands for local memory of a work-group as a kernel argument. It allocates none, because proofwarp's kernels have
/// their own.
#[derive(Debug)]
pub struct LocalBuffer<T> {
    length: usize,
    elements: PhantomData<T>,
}

impl<T> LocalBuffer<T> {
    /// Creates an argument that stands for local memory of `length` elements of type `T`.
    pub fn new(length: usize) -> Self {
        Self { length, elements: PhantomData }
    }

    /// Returns the number of elements.
    pub fn length(&self) -> usize {
        self.length
    }
}

impl<T> KernelArgument for LocalBuffer<T> {
    fn as_argument(&self) -> ArgumentRef<'_> {
        ArgumentRef(Kind::Local)
    }
}
