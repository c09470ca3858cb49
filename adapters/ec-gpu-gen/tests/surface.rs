//! The stock crate's public surface, named item by item: what compiles on ec-gpu-gen 0.7.1 and the rust-gpu-tools 0.7.2 that it
//! re-exports has to compile here. Then kernels of the caller's own, on whatever devices there are.
#![allow(missing_docs, clippy::unwrap_used)]

use std::io;

use blstrs::{Fp, G1Affine, Scalar};
use ec_gpu_gen::multiexp_cpu::{DensityTracker, FullDensity, QueryDensity, Source, SourceBuilder as BaseSource};
use ec_gpu_gen::threadpool::{THREAD_POOL, Waiter, Worker};
use ec_gpu_gen::{EcError, EcResult, SourceBuilder, fft_cpu, generate, multiexp_cpu};

#[test]
fn what_needs_no_feature_is_there() {
    let _: fn(&SourceBuilder) = generate;
    let builder = SourceBuilder::default().add_field::<Scalar>().add_fft::<Scalar>().add_multiexp::<G1Affine, Fp>();
    let builder = builder.append_source("// appended".to_owned());
    assert!(builder.build_32_bit_limbs().ends_with("// appended") && builder.build_64_bit_limbs().contains("Scalar"));
    let _: fn(&mut [Scalar], &Scalar, u32) = fft_cpu::serial_fft;
    let _: fn(&mut [Scalar], &Worker, &Scalar, u32, u32) = fft_cpu::parallel_fft;
    let errors: [EcError; 2] = [EcError::Simple("text"), EcError::from(io::Error::other("text"))];
    assert!(errors.iter().all(|error| matches!(error, EcError::Simple(_) | EcError::Io(_))));
    assert_eq!(Worker::new().compute(|| 1).wait() + Waiter::done(2).wait(), 3);
    assert_eq!(Worker::default().scope(4, |_scope, chunk| chunk.min(1)) + THREAD_POOL.scoped(|_| 1), 2);
    assert!(Worker::new().scoped(|_| true) && Worker::new().log_num_threads() < 64);
}

#[test]
fn sums_on_the_cpu_have_their_names() {
    fn sources<S: BaseSource<G1Affine, Source = T>, T: Source<G1Affine>>() {}
    sources::<(std::sync::Arc<Vec<G1Affine>>, usize), _>();
    let mut density = DensityTracker::new();
    density.add_element();
    density.inc(0);
    let mut other = DensityTracker { bv: density.bv.clone(), total_density: density.total_density };
    other.extend(&density, false);
    other.extend(density.clone(), false);
    assert_eq!((other.get_total_density(), (&other).get_query_size()), (3, Some(3)));
    assert_eq!((&FullDensity).get_query_size(), None);
    let bases = std::sync::Arc::new(Vec::<G1Affine>::new());
    let exponents = std::sync::Arc::new(Vec::<[u8; 32]>::new());
    let sum = multiexp_cpu::multiexp_cpu(&Worker::new(), (bases, 0), FullDensity, exponents);
    let _: EcResult<blstrs::G1Projective> = sum.wait();
}

#[cfg(any(feature = "cuda", feature = "opencl"))]
mod devices {
    use ec_gpu_gen::EcError;
    use ec_gpu_gen::fft::{FftKernel, SingleFftKernel};
    use ec_gpu_gen::multiexp::{MultiexpKernel, SingleMultiexpKernel};
    use ec_gpu_gen::rust_gpu_tools::{
        Device, DeviceUuid, Framework, GPUError, LocalBuffer, PciId, Program, UniqueId, Vendor, program_closures,
    };

    use super::{G1Affine, Scalar, io};

    #[test]
    fn identifiers_read_and_print() {
        let uuid = "46abccd6-022e-b783-572d-833f7104d05f";
        assert_eq!(DeviceUuid::try_from(uuid).unwrap().to_string(), uuid);
        assert_eq!(DeviceUuid::from(<[u8; 16]>::from(DeviceUuid::default())), DeviceUuid::default());
        assert!(matches!(DeviceUuid::try_from(&uuid[4..]), Err(GPUError::InvalidId(_))));
        assert_eq!(u16::from(PciId::try_from("0a:1f").unwrap()), 0x0a1f);
        assert_eq!(PciId::from(0x0100).to_string(), "01:00");
        for wrong in ["3f", "aaxx", "+a:bb"] {
            assert!(matches!(PciId::try_from(wrong), Err(GPUError::InvalidId(_))), "{wrong}");
        }
        assert_eq!(UniqueId::try_from("aa:bb").unwrap(), UniqueId::PciId(PciId::from(0xaabb)));
        assert!(matches!(UniqueId::try_from(uuid).unwrap(), UniqueId::Uuid(_)));
        assert_eq!(UniqueId::PciId(PciId::from(0xaabb)).to_string(), "aa:bb");
        assert!(UniqueId::try_from("aabbccddeeffgg").is_err());
    }

    #[test]
    fn vendors_read_and_print() {
        let read = [
            ("Advanced Micro Devices, Inc.", Vendor::Amd),
            ("AMD", Vendor::Amd),
            ("NVIDIA Corporation", Vendor::Nvidia),
        ];
        assert!(read.iter().all(|(text, vendor)| Vendor::try_from(*text).unwrap() == *vendor));
        let numbers = [(0x1002, Vendor::Amd), (0x0102_1d00, Vendor::Amd), (0x10de, Vendor::Nvidia)];
        assert!(numbers.iter().all(|(id, vendor)| Vendor::try_from(*id).unwrap() == *vendor));
        assert!(matches!(Vendor::try_from("another"), Err(GPUError::UnsupportedVendor(_))));
        assert_eq!(Vendor::try_from(0x1abc_u32).unwrap_err().to_string(), "Vendor 0x1abc is not supported.");
        assert_eq!([Vendor::Amd, Vendor::Nvidia].map(|vendor| vendor.to_string()), [read[0].0, read[2].0]);
    }

    /// A match without an arm for anything else, as callers write it.
    fn kind(error: &GPUError) -> &'static str {
        match error {
            #[cfg(feature = "opencl")]
            GPUError::Opencl3(_, _) | GPUError::ProgramInfoNotAvailable(_) | GPUError::DeviceInfoNotAvailable(_) => {
                "opencl"
            }
            #[cfg(feature = "cuda")]
            GPUError::Cuda(_) => "cuda",
            GPUError::DeviceNotFound | GPUError::KernelNotFound(_) => "not found",
            GPUError::IO(_) => "io",
            GPUError::UnsupportedVendor(_) | GPUError::InvalidId(_) | GPUError::Generic(_) => "other",
        }
    }

    #[test]
    fn errors_have_the_variants() {
        assert_eq!(kind(&io::Error::other("text").into()), "io");
        assert_eq!(kind(&GPUError::KernelNotFound("name".to_owned())), "not found");
        assert!(matches!(EcError::from(GPUError::DeviceNotFound), EcError::GpuTools(_)));
        assert!(matches!(EcError::Aborted, EcError::Aborted));
        #[cfg(feature = "opencl")]
        assert_eq!(kind(&ec_gpu_gen::rust_gpu_tools::ClError(-5).into()), "opencl");
        #[cfg(feature = "cuda")]
        assert_eq!(kind(&ec_gpu_gen::rust_gpu_tools::CudaError(2).into()), "cuda");
    }

    #[test]
    fn devices_tell_what_they_are() {
        for device in Device::all() {
            let UniqueId::Uuid(uuid) = device.unique_id() else { panic!("{device:?} has no UUID") };
            assert_eq!(Device::by_uuid(uuid), Some(device));
            assert_eq!(Device::by_unique_id(device.unique_id()), Some(device));
            assert!(device.memory() > 0 && device.compute_units() > 0 && !device.name().is_empty());
            let _: (Vendor, Option<(u32, u32)>) = (device.vendor(), device.compute_capability());
            match device.framework() {
                #[cfg(feature = "cuda")]
                Framework::Cuda => {
                    let reached = device.cuda_device().unwrap();
                    let _: ((u32, u32), Option<DeviceUuid>) = (reached.compute_capability(), reached.uuid());
                    assert_eq!(Device::by_pci_id(reached.pci_id()), Some(device));
                    assert_eq!((reached.vendor(), reached.name()), (Vendor::Nvidia, device.name()));
                    assert_eq!((reached.memory(), reached.compute_units()), (device.memory(), device.compute_units()));
                }
                #[cfg(feature = "opencl")]
                Framework::Opencl => {
                    let reached = device.opencl_device().unwrap();
                    let _: (Option<(u32, u32)>, Option<DeviceUuid>) = (reached.compute_capability(), reached.uuid());
                    let id: ec_gpu_gen::rust_gpu_tools::opencl::cl_device_id = reached.cl_device_id();
                    assert!(!id.is_null() && Device::by_pci_id(reached.pci_id()) == Some(device));
                    assert_eq!((reached.vendor(), reached.name()), (device.vendor(), device.name()));
                    assert_eq!((reached.memory(), reached.compute_units()), (device.memory(), device.compute_units()));
                }
            }
        }
    }

    type Hook<'a> = &'a (dyn Fn() -> bool + Send + Sync);
    type Single<'a> = Option<Hook<'a>>;

    #[test]
    fn kernels_are_made_as_in_the_stock_crate() {
        let _: fn(Program, Single<'static>) -> _ = SingleFftKernel::<Scalar>::create;
        let _: fn(Vec<Program>) -> _ = FftKernel::<Scalar>::create;
        let _: fn(Vec<Program>, Hook<'static>) -> _ = FftKernel::<Scalar>::create_with_abort;
        let _: fn(Program, &Device, Single<'static>) -> _ = SingleMultiexpKernel::<G1Affine>::create;
        let _: fn(Vec<Program>, &[&Device]) -> _ = MultiexpKernel::<G1Affine>::create;
        let _: fn(Vec<Program>, &[&Device], Hook<'static>) -> _ = MultiexpKernel::<G1Affine>::create_with_abort;
    }

    /// Buffers of whatever framework, as neptune keeps them.
    #[derive(Debug)]
    enum Kept<T> {
        #[cfg(feature = "cuda")]
        Cuda(ec_gpu_gen::rust_gpu_tools::cuda::Buffer<T>),
        #[cfg(feature = "opencl")]
        Opencl(ec_gpu_gen::rust_gpu_tools::opencl::Buffer<T>),
    }

    #[cfg(feature = "cuda")]
    impl<T> ec_gpu_gen::rust_gpu_tools::cuda::KernelArgument for Kept<T> {
        fn as_c_void(&self) -> *mut std::ffi::c_void {
            match self {
                Self::Cuda(buffer) => buffer.as_c_void(),
                #[cfg(feature = "opencl")]
                Self::Opencl(_) => unreachable!("of the other framework"),
            }
        }
    }

    #[cfg(feature = "opencl")]
    impl<T> ec_gpu_gen::rust_gpu_tools::opencl::KernelArgument for Kept<T> {
        fn push(&self, kernel: &mut ec_gpu_gen::rust_gpu_tools::opencl::Kernel<'_>) {
            match self {
                #[cfg(feature = "cuda")]
                Self::Cuda(_) => unreachable!("of the other framework"),
                Self::Opencl(buffer) => buffer.push(kernel),
            }
        }
    }

    /// An argument of the caller's own type, by value.
    #[repr(C)]
    struct Pair(u32, u32);

    #[cfg(feature = "cuda")]
    impl ec_gpu_gen::rust_gpu_tools::cuda::KernelArgument for Pair {
        fn as_c_void(&self) -> *mut std::ffi::c_void {
            std::ptr::from_ref(self).cast_mut().cast()
        }
    }

    #[cfg(feature = "opencl")]
    impl ec_gpu_gen::rust_gpu_tools::opencl::KernelArgument for Pair {
        fn push(&self, kernel: &mut ec_gpu_gen::rust_gpu_tools::opencl::Kernel<'_>) {
            // SAFETY: the kernel's parameter is such a pair.
            unsafe { kernel.builder.set_arg(&Pair(self.0, self.1)) };
        }
    }

    /// `out[i] = factors.0 · in[i] + factors.1 · added`, through memory local to the group.
    #[cfg(feature = "opencl")]
    const TEXT: &str = "typedef struct { uint first, second; } pair;
        __kernel void scale(uint n, int added, pair factors, __global const uint *in, __local uint *between, __global uint *out) {
            uint i = get_global_id(0), j = get_local_id(0);
            if (i < n) between[j] = in[i];
            barrier(CLK_LOCAL_MEM_FENCE);
            if (i < n) out[i] = factors.first * between[j] + factors.second * (uint)added;
        }";

    /// The same as PTX, which needs no compiler.
    #[cfg(feature = "cuda")]
    const PTX: &str = "
.version 6.0
.target sm_50
.address_size 64
.extern .shared .align 4 .b8 between[];
.visible .entry scale(.param .u32 n, .param .u32 added, .param .align 4 .b8 factors[8],
                      .param .u64 in, .param .u64 unused, .param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %r<12>;
    .reg .b64 %d<6>;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r0, %r1, %r2;
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p, %r3, %r4;
    @%p bra END;
    ld.param.u64 %d0, [in];
    cvta.to.global.u64 %d0, %d0;
    mul.wide.u32 %d1, %r3, 4;
    add.u64 %d2, %d0, %d1;
    ld.global.u32 %r5, [%d2];
    shl.b32 %r6, %r2, 2;
    mov.u32 %r7, between;
    add.u32 %r7, %r7, %r6;
    st.shared.u32 [%r7], %r5;
    ld.shared.u32 %r5, [%r7];
    ld.param.u32 %r8, [factors];
    ld.param.u32 %r9, [factors+4];
    ld.param.u32 %r10, [added];
    mul.lo.u32 %r9, %r9, %r10;
    mad.lo.u32 %r5, %r8, %r5, %r9;
    ld.param.u64 %d3, [out];
    cvta.to.global.u64 %d3, %d3;
    add.u64 %d4, %d3, %d1;
    st.global.u32 [%d4], %r5;
END:
    ret;
}
";

    /// The program on the framework that the device is listed by; nothing where there is no device.
    fn program() -> Option<Program> {
        let Some(device) = Device::all().into_iter().next() else {
            let asked = std::env::var("PROOFWARP_BACKEND").is_ok_and(|value| !matches!(value.as_str(), "" | "cpu"));
            assert!(!asked, "a device was asked for and there is none");
            eprintln!("skipped: kernels of the caller's own, for there is no device");
            return None;
        };
        Some(match device.framework() {
            #[cfg(feature = "cuda")]
            Framework::Cuda => {
                use ec_gpu_gen::rust_gpu_tools::cuda;
                Program::Cuda(cuda::Program::from_bytes(device.cuda_device().unwrap(), PTX.as_bytes()).unwrap())
            }
            #[cfg(feature = "opencl")]
            Framework::Opencl => {
                use ec_gpu_gen::rust_gpu_tools::opencl;
                Program::Opencl(opencl::Program::from_opencl(device.opencl_device().unwrap(), TEXT).unwrap())
            }
        })
    }

    fn keep(program: &Program, values: &[u32]) -> Result<Kept<u32>, GPUError> {
        match program {
            #[cfg(feature = "cuda")]
            Program::Cuda(program) => {
                program.run(|program, values| program.create_buffer_from_slice(values).map(Kept::Cuda), values)
            }
            #[cfg(feature = "opencl")]
            Program::Opencl(program) => {
                program.run(|program, values| program.create_buffer_from_slice(values).map(Kept::Opencl), values)
            }
        }
    }

    #[test]
    fn a_kernel_of_the_callers_own_runs() {
        let Some(program) = program() else { return };
        assert_eq!(program.device_name(), Device::all()[0].name());
        let values: Vec<u32> = (0..1000).collect();
        let kept = keep(&program, &values).unwrap();
        let mut out = vec![0_u32; values.len()];
        let closures = program_closures!(|program, out: &mut Vec<u32>| -> Result<(), GPUError> {
            let mut written = program.create_buffer_from_slice(&vec![9_u32; out.len()])?;
            program.write_from_buffer(&mut written, &[7; 10])?;
            let local = LocalBuffer::<u32>::new(64);
            let kernel = program.create_kernel("scale", out.len().div_ceil(64), 64)?;
            let last = out.len() as u32 - 1;
            let kernel = kernel.arg(&last).arg(&-2_i32).arg(&Pair(3, 5)).arg(&kept);
            kernel.arg(&local).arg(&written).run()?;
            program.read_into_buffer(&written, out)
        });
        program.run(closures, &mut out).unwrap();
        let expected = values.iter().map(|value| (3 * value).wrapping_sub(10));
        assert!(out[..999].iter().copied().eq(expected.take(999)), "{out:?}");
        assert_eq!(out[999], 9, "behind the end");
    }

    #[test]
    fn what_a_program_cannot_do_is_an_error() {
        let Some(program) = program() else { return };
        let closures = program_closures!(|program, _nothing| -> Result<(), GPUError> {
            let missing = program.create_kernel("missing", 1, 1);
            assert!(matches!(missing, Err(GPUError::KernelNotFound(name)) if name == "missing"));
            // SAFETY: it is not read before it was written.
            let mut buffer = unsafe { program.create_buffer::<u32>(4)? };
            assert!(program.write_from_buffer(&mut buffer, &[0; 5]).is_err());
            assert!(program.read_into_buffer(&buffer, &mut [0; 5]).is_err());
            // SAFETY: as above.
            assert!(unsafe { program.create_buffer::<u32>(usize::MAX) }.is_err());
            let local = LocalBuffer::<u32>::new(1);
            let kernel = program.create_kernel("scale", 1, 1)?.arg(&local).arg(&local);
            assert!(kernel.run().unwrap_err().to_string().contains("more than one `LocalBuffer`"));
            Ok(())
        });
        program.run(closures, ()).unwrap();
    }

    #[test]
    fn what_does_not_compile_or_load_is_an_error() {
        let Some(device) = Device::all().into_iter().next() else { return };
        #[cfg(feature = "opencl")]
        if let Some(device) = device.opencl_device() {
            use ec_gpu_gen::rust_gpu_tools::opencl::Program;
            let wrong = Program::from_opencl(device, "__kernel void wrong(").unwrap();
            assert!(
                matches!(wrong.create_kernel("wrong", 1, 1), Err(GPUError::Generic(text)) if text.contains("clBuildProgram"))
            );
            assert!(Program::from_binary(device, vec![1; 64]).unwrap().create_kernel("wrong", 1, 1).is_err());
        }
        #[cfg(feature = "cuda")]
        if let Some(device) = device.cuda_device() {
            use ec_gpu_gen::rust_gpu_tools::cuda::Program;
            for wrong in [&b""[..], b"no PTX", &[0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 255, 0, 0, 0, 0, 0, 0, 0]] {
                assert!(Program::from_bytes(device, wrong).unwrap().create_kernel("wrong", 1, 1).is_err());
            }
            assert!(matches!(Program::from_binary(device, c"/does/not/exist"), Err(GPUError::IO(_))));
        }
    }
}
