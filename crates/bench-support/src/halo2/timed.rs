//! A circuit that knows how long its synthesis took.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use halo2_axiom::circuit::Layouter;
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{Circuit, ConstraintSystem, Error};

/// A circuit, and nanoseconds of its last synthesis.
pub struct Timed<C> {
    circuit: C,
    synthesis: AtomicU64,
}

impl<C> Timed<C> {
    pub fn new(circuit: C) -> Self {
        Self { circuit, synthesis: AtomicU64::new(0) }
    }

    /// How long the last synthesis took.
    pub fn synthesis(&self) -> Duration {
        Duration::from_nanos(self.synthesis.load(Ordering::Relaxed))
    }
}

impl<C: Circuit<Fr>> Circuit<Fr> for Timed<C> {
    type Config = C::Config;
    type FloorPlanner = C::FloorPlanner;
    type Params = C::Params;

    fn without_witnesses(&self) -> Self {
        Self::new(self.circuit.without_witnesses())
    }

    fn params(&self) -> C::Params {
        self.circuit.params()
    }

    fn configure_with_params(meta: &mut ConstraintSystem<Fr>, params: C::Params) -> C::Config {
        C::configure_with_params(meta, params)
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> C::Config {
        C::configure(meta)
    }

    fn synthesize(&self, config: C::Config, layouter: impl Layouter<Fr>) -> Result<(), Error> {
        let start = Instant::now();
        self.circuit.synthesize(config, layouter)?;
        self.synthesis.store(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        Ok(())
    }
}
