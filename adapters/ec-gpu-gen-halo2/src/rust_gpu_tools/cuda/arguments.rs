//! What kernels are given.

use std::fmt;
use std::marker::PhantomData;

use super::buffer::{Buffer, Memory};

/// What a kernel takes as an argument.
pub trait KernelArgument {
    /// What it is.
    fn given(&self) -> Given<'_>;
}

/// An argument as kernels see it.
#[derive(Clone, Copy)]
pub struct Given<'a>(pub(super) Kind<'a>);

#[derive(Clone, Copy)]
pub(super) enum Kind<'a> {
    Memory(&'a Memory),
    Number(i64),
    Local,
}

impl fmt::Debug for Given<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Memory(memory) => write!(f, "{} elements", memory.len()),
            Kind::Number(number) => number.fmt(f),
            Kind::Local => f.write_str("local memory"),
        }
    }
}

impl<T> KernelArgument for Buffer<T> {
    fn given(&self) -> Given<'_> {
        Given(Kind::Memory(self.memory()))
    }
}

impl KernelArgument for i32 {
    fn given(&self) -> Given<'_> {
        Given(Kind::Number(i64::from(*self)))
    }
}

impl KernelArgument for u32 {
    fn given(&self) -> Given<'_> {
        Given(Kind::Number(i64::from(*self)))
    }
}

/// Memory local to a work-group, of so many elements, as an argument of a kernel: proofwarp's kernels have their own, so that
/// it stands for none.
#[derive(Debug)]
pub struct LocalBuffer<T> {
    length: usize,
    elements: PhantomData<T>,
}

impl<T> LocalBuffer<T> {
    /// Room for so many elements.
    pub fn new(length: usize) -> Self {
        Self { length, elements: PhantomData }
    }

    /// Number of elements.
    pub fn length(&self) -> usize {
        self.length
    }
}

impl<T> KernelArgument for LocalBuffer<T> {
    fn given(&self) -> Given<'_> {
        Given(Kind::Local)
    }
}
