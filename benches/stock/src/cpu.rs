//! The stock crate's CPU code.

use std::sync::Arc;

use blstrs::{G1Affine, G2Affine, Scalar};
use ec_gpu_gen::multiexp_cpu::{FullDensity, multiexp_cpu};
use ec_gpu_gen::threadpool::Worker;

use crate::{Failure, Repr};

pub struct Engine;

impl Engine {
    pub fn new() -> Result<Self, Failure> {
        Ok(Self)
    }

    pub fn name(&self) -> String {
        "cpu".to_owned()
    }

    pub fn ntt(&mut self, worker: &Worker, values: &mut [Scalar], omega: &Scalar, log_n: u32) -> Result<(), Failure> {
        if log_n <= worker.log_num_threads() {
            ec_gpu_gen::fft_cpu::serial_fft::<Scalar>(values, omega, log_n);
        } else {
            ec_gpu_gen::fft_cpu::parallel_fft::<Scalar>(values, worker, omega, log_n, worker.log_num_threads());
        }
        Ok(())
    }

    pub fn g1(&mut self, worker: &Worker, bases: &Arc<Vec<G1Affine>>, scalars: &Arc<Vec<Repr>>) -> Result<(), Failure> {
        multiexp_cpu::<_, _, G1Affine, _>(worker, (bases.clone(), 0), FullDensity, scalars.clone()).wait()?;
        Ok(())
    }

    pub fn g2(&mut self, worker: &Worker, bases: &Arc<Vec<G2Affine>>, scalars: &Arc<Vec<Repr>>) -> Result<(), Failure> {
        multiexp_cpu::<_, _, G2Affine, _>(worker, (bases.clone(), 0), FullDensity, scalars.clone()).wait()?;
        Ok(())
    }
}
