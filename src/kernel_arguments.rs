//! Typed arguments of kernels, and the types that the macro `kernels!` makes of kernels.

use std::marker::PhantomData;

use crate::backend::{Arg, Buffer, MemoryHandle};

/// Ties an argument to a buffer's lifetime, and to the type of its elements.
type Elements<'a, T> = PhantomData<(&'a (), fn() -> T)>;

/// Passes a buffer that holds elements of `T`, which the kernel reads.
pub struct In<'a, T>(MemoryHandle, Elements<'a, T>);

/// Passes a buffer that holds elements of `T`, which the kernel writes, and may read.
pub struct Out<'a, T>(MemoryHandle, Elements<'a, T>);

/// Passes a structure by value. The kernel gets a copy of what `0` is when the launch is queued.
pub struct Value<'a, T: ?Sized>(pub &'a T);

/// Passes this many bytes of memory that is local to each work-group.
#[derive(Debug, Clone, Copy)]
pub struct Local(pub u32);

impl<'a, T> In<'a, T> {
    /// Passes `buffer`, which holds elements of `T`.
    pub fn new(buffer: &'a Buffer) -> Self {
        Self::from_handle(buffer.handle())
    }

    /// Passes the memory of `handle`, which holds elements of `T`. The caller keeps it alive until the launch.
    pub(crate) fn from_handle(handle: MemoryHandle) -> Self {
        Self(handle, PhantomData)
    }
}

impl<'a, T> Out<'a, T> {
    /// Passes `buffer`, which holds elements of `T` or has room for them.
    pub fn new(buffer: &'a Buffer) -> Self {
        Self::from_handle(buffer.handle())
    }

    /// Passes the memory of `handle`, which holds elements of `T` or has room for them. The caller keeps it alive until
    /// the launch.
    pub(crate) fn from_handle(handle: MemoryHandle) -> Self {
        Self(handle, PhantomData)
    }
}

impl<T> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<'_, T> {}

impl<T> Clone for Out<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<'_, T> {}

impl<T: ?Sized> Clone for Value<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Value<'_, T> {}

/// Represents an argument of a kernel.
pub trait KernelArgument {
    /// Returns the argument as backends take it.
    fn to_arg(&self) -> Arg;
}

impl KernelArgument for u32 {
    fn to_arg(&self) -> Arg {
        Arg::U32(*self)
    }
}

impl KernelArgument for u64 {
    fn to_arg(&self) -> Arg {
        Arg::U64(*self)
    }
}

impl<T> KernelArgument for In<'_, T> {
    fn to_arg(&self) -> Arg {
        Arg::Memory(self.0)
    }
}

impl<T> KernelArgument for Out<'_, T> {
    fn to_arg(&self) -> Arg {
        Arg::Memory(self.0)
    }
}

impl<T: ?Sized> KernelArgument for Value<'_, T> {
    fn to_arg(&self) -> Arg {
        Arg::Value(std::ptr::from_ref(self.0).cast(), size_of_val(self.0))
    }
}

impl KernelArgument for Local {
    fn to_arg(&self) -> Arg {
        Arg::Local(self.0)
    }
}

/// Represents a kernel with its arguments, which `KernelModule::run` launches. The macro `kernels!` implements it.
///
/// A wrong number of arguments, a wrong name or a wrong type does not compile:
/// ```compile_fail,E0063
/// # use proofwarp::kernel_arguments::{In, Out};
/// # use proofwarp::kernels::groth16::Product;
/// # fn launch<'a, F>(c: Out<'a, F>, a: In<'a, F>) -> Product<'a, F> {
/// Product { n: 1, c, a } // b is missing
/// # }
/// ```
/// ```compile_fail,E0308
/// # use proofwarp::kernel_arguments::{In, Out};
/// # use proofwarp::kernels::groth16::Product;
/// # fn launch<'a, F>(c: Out<'a, F>, a: In<'a, F>) -> Product<'a, F> {
/// Product { n: 1, c, a, b: c } // b is read, not written
/// # }
/// ```
/// ```compile_fail,E0308
/// # use proofwarp::kernel_arguments::{In, Out};
/// # use proofwarp::kernels::groth16::Product;
/// # fn launch<'a, F>(c: Out<'a, F>, a: In<'a, F>, b: In<'a, u32>) -> Product<'a, F> {
/// Product { n: 1, c, a, b } // b holds numbers, not field elements
/// # }
/// ```
/// With all arguments it does:
/// ```
/// # use proofwarp::kernel_arguments::{In, Out};
/// # use proofwarp::kernels::groth16::Product;
/// # fn launch<'a, F>(c: Out<'a, F>, a: In<'a, F>) -> Product<'a, F> {
/// Product { n: 1, c, a, b: a }
/// # }
/// ```
///
/// So it is with launches that are cooperative, or whose group size the source gives. A structure of another kernel, or
/// a state that is only read, does not compile:
/// ```compile_fail,E0308
/// # use proofwarp::kernel_arguments::{In, Out, Value};
/// # use proofwarp::kernels::ntt::{ColumnPass, Fixed, RowParams};
/// # use proofwarp::kernels::spec::Element;
/// # fn launch<'a>(row: Value<'a, RowParams>, data: In<'a, Element>, out: Out<'a, Element>, nodes: In<'a, Fixed>, state: Out<'a, u32>) -> ColumnPass<'a> {
/// ColumnPass { params: row, data, out, nodes, state }
/// # }
/// ```
/// ```compile_fail,E0308
/// # use proofwarp::kernel_arguments::{In, Out, Value};
/// # use proofwarp::kernels::ntt::{ColumnPass, ColumnParams, Fixed};
/// # use proofwarp::kernels::spec::Element;
/// # fn launch<'a>(params: Value<'a, ColumnParams>, data: In<'a, Element>, out: Out<'a, Element>, nodes: In<'a, Fixed>, state: In<'a, u32>) -> ColumnPass<'a> {
/// ColumnPass { params, data, out, nodes, state }
/// # }
/// ```
/// ```
/// # use proofwarp::kernel_arguments::{In, Out, Value};
/// # use proofwarp::kernels::ntt::{ColumnPass, ColumnParams, Fixed};
/// # use proofwarp::kernels::spec::Element;
/// # fn launch<'a>(params: Value<'a, ColumnParams>, data: In<'a, Element>, out: Out<'a, Element>, nodes: In<'a, Fixed>, state: Out<'a, u32>) -> ColumnPass<'a> {
/// ColumnPass { params, data, out, nodes, state }
/// # }
/// ```
///
/// Nor do launches with local memory whose size is a plain number, or is missing:
/// ```compile_fail,E0308
/// # use proofwarp::kernel_arguments::{In, Out, Value};
/// # use proofwarp::kernels::gemm::{Int8Residues, Int8ResiduesParams};
/// # fn launch<'a>(params: Value<'a, Int8ResiduesParams>, table: In<'a, u32>, a: In<'a, u8>, b: In<'a, u8>, out: Out<'a, u8>) -> Int8Residues<'a> {
/// Int8Residues { params, table, a, b, out, local: 1024 }
/// # }
/// ```
/// ```compile_fail,E0063
/// # use proofwarp::kernel_arguments::{In, Out, Value};
/// # use proofwarp::kernels::gemm::{Int8Residues, Int8ResiduesParams};
/// # fn launch<'a>(params: Value<'a, Int8ResiduesParams>, table: In<'a, u32>, a: In<'a, u8>, b: In<'a, u8>, out: Out<'a, u8>) -> Int8Residues<'a> {
/// Int8Residues { params, table, a, b, out }
/// # }
/// ```
/// ```
/// # use proofwarp::kernel_arguments::{In, Local, Out, Value};
/// # use proofwarp::kernels::gemm::{Int8Residues, Int8ResiduesParams};
/// # fn launch<'a>(params: Value<'a, Int8ResiduesParams>, table: In<'a, u32>, a: In<'a, u8>, b: In<'a, u8>, out: Out<'a, u8>) -> Int8Residues<'a> {
/// Int8Residues { params, table, a, b, out, local: Local(1024) }
/// # }
/// ```
///
/// # Safety
/// [`Self::args`] returns the arguments that the kernel [`Self::NAME`] takes, in number, kind and order.
pub unsafe trait Kernel {
    /// Name of the kernel.
    const NAME: &'static str;
    /// Number of work-items of a work-group.
    const GROUP_SIZE: u32;

    /// Returns the arguments. They may point to what the structure borrows.
    fn args(&self) -> impl AsRef<[Arg]>;
}

/// Declares the type of a kernel, whose fields are the kernel's arguments. `kernels!` calls it.
macro_rules! launcher {
    ($(#[$doc:meta])* $kernel:ident[$group:expr] => $name:ident $(<$($generic:ident),+>)? {
        $($parameter:ident: $class:ident $(<$element:ty>)?,)*
    }) => {
        $(#[$doc])*
        #[allow(clippy::struct_field_names, reason = "they are the kernel's own")]
        pub struct $name<'a $($(, $generic)+)?> {
            $(#[allow(missing_docs, reason = "the kernel's text describes its parameters")]
            pub $parameter: launcher!(@type $class $(<$element>)?),)*
        }

        // SAFETY: a test compares the declaration with the kernel's own.
        unsafe impl $(<$($generic),+>)? $crate::kernel_arguments::Kernel for $name<'_ $($(, $generic)+)?> {
            const NAME: &'static str = stringify!($kernel);
            const GROUP_SIZE: u32 = $group;

            fn args(&self) -> impl AsRef<[$crate::backend::Arg]> {
                use $crate::kernel_arguments::KernelArgument as _;
                [$(self.$parameter.to_arg()),*]
            }
        }
    };
    (@type u32) => { u32 };
    (@type u64) => { u64 };
    (@type Local) => { $crate::kernel_arguments::Local };
    (@type $class:ident<$element:ty>) => { $crate::kernel_arguments::$class<'a, $element> };
}
