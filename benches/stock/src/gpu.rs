//! The stock crate's GPU code, on the first device.

use std::sync::Arc;

use blstrs::{G1Affine, G2Affine, Scalar};
use ec_gpu_gen::fft::FftKernel;
use ec_gpu_gen::multiexp::MultiexpKernel;
use ec_gpu_gen::rust_gpu_tools::{Device, program_closures};
use ec_gpu_gen::threadpool::Worker;

use crate::{Failure, Repr};

pub struct Engine {
    device: &'static Device,
    ntt: FftKernel<'static, Scalar>,
    g1: MultiexpKernel<'static, G1Affine>,
    g2: MultiexpKernel<'static, G2Affine>,
}

impl Engine {
    pub fn new() -> Result<Self, Failure> {
        // The reference makes the driver's symbols part of the program.
        #[cfg(feature = "cuda")]
        proofwarp_cuda_driver::link();
        let device = *Device::all().first().ok_or("no GPU for the stock crate")?;
        let program = || ec_gpu_gen::program!(device);
        Ok(Self {
            device,
            ntt: FftKernel::create(vec![program()?])?,
            g1: MultiexpKernel::create(vec![program()?], &[device])?,
            g2: MultiexpKernel::create(vec![program()?], &[device])?,
        })
    }

    pub fn name(&self) -> String {
        format!("gpu {}", self.device.name())
    }

    pub fn ntt(&mut self, _: &Worker, values: &mut [Scalar], omega: &Scalar, log_n: u32) -> Result<(), Failure> {
        Ok(self.ntt.radix_fft(values, omega, log_n)?)
    }

    pub fn g1(&mut self, worker: &Worker, bases: &Arc<Vec<G1Affine>>, scalars: &Arc<Vec<Repr>>) -> Result<(), Failure> {
        self.g1.multiexp(worker, bases.clone(), scalars.clone(), 0)?;
        Ok(())
    }

    pub fn g2(&mut self, worker: &Worker, bases: &Arc<Vec<G2Affine>>, scalars: &Arc<Vec<Repr>>) -> Result<(), Failure> {
        self.g2.multiexp(worker, bases.clone(), scalars.clone(), 0)?;
        Ok(())
    }
}
