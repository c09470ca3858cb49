//! A device that goes wrong where it is told to, and what is proved on it.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use proofwarp::Accelerator;
use proofwarp::backend::{Device, Driver};

use crate::draw::Usual;
use crate::faulty::{Faults, Faulty, Live};
use crate::hook::Questions;
use crate::subject::{Group, Refusal, Subject};
use crate::{bellperson, groth16, halo2, sumcheck};

/// A group's subjects on a device.
pub struct Bench {
    pub faults: Faults,
    pub device: Arc<Device>,
    forced: Accelerator,
    free: Accelerator,
    pub subjects: Vec<Box<dyn Subject>>,
}

/// The first device of the backend that the environment names, or of the first that there is.
///
/// # Errors
/// There is none.
pub fn driver() -> Result<Arc<dyn Driver>, Refusal> {
    let accelerator = Accelerator::from_env()?;
    let like = accelerator.devices().first().ok_or_else(|| Refusal::Other("no device".to_owned()))?;
    Ok(Arc::from(crate::common::fresh_driver(like)))
}

impl Bench {
    /// # Errors
    /// The device does not work.
    pub fn new(group: Group, driver: &Arc<dyn Driver>) -> Result<Self, Refusal> {
        let (faulty, faults) = Faulty::new(driver.clone());
        let backend = faulty.info().backend;
        let device = Device::new(Box::new(faulty), None);
        let forced = Accelerator::with_backend(backend)?.with_devices(vec![device.clone()]);
        let free = Accelerator::automatic()?.with_devices(vec![device.clone()]);
        if group.is_global() && !free.clone().make_global() {
            return Err(Refusal::Other("the process's own accelerator is there already".to_owned()));
        }
        let subjects = match group {
            Group::Sumcheck => sumcheck::subjects(),
            Group::Groth16 => groth16::subjects(&forced, &free)?,
            Group::Bellperson => bellperson::subjects(),
            Group::Halo2 => halo2::subjects(),
        };
        Ok(Self { faults, device, forced, free, subjects })
    }

    /// A run without faults, after one that makes all ready: what it is like.
    ///
    /// # Errors
    /// The device does not work, or the subject does not prove.
    pub fn usual(&self, subject: usize) -> Result<Usual, Refusal> {
        for is_forced in [false, true] {
            self.check(subject, is_forced)?;
        }
        // So that there are allocations to fail.
        self.device.trim();
        self.faults.plan(Vec::new());
        let questions = self.check(subject, true)?;
        Ok(Usual { counts: self.faults.end().1, questions: questions.asked() })
    }

    /// # Errors
    /// There is no proof, or an invalid one.
    fn check(&self, subject: usize, is_forced: bool) -> Result<Questions, Refusal> {
        let questions = Questions::new(None);
        match self.prove(subject, is_forced, &questions)? {
            true => Ok(questions),
            false => Err(Refusal::Other("an invalid proof".to_owned())),
        }
    }

    /// # Errors
    /// There is no proof.
    pub fn prove(&self, subject: usize, is_forced: bool, questions: &Questions) -> Result<bool, Refusal> {
        let accelerator = if is_forced { &self.forced } else { &self.free };
        self.subjects[subject].prove(accelerator, questions)
    }

    /// Proves `subject` without faults on the device; every subject, with new tables, if bits may have changed in what stays there.
    ///
    /// # Errors
    /// There is no proof, or an invalid one.
    pub fn is_well(&self, subject: usize, has_changed: bool) -> Result<(), Refusal> {
        // Answers about free memory hold for 50 ms, also those of a device that had little.
        let once = |subject, is_forced| {
            let first = self.check(subject, is_forced);
            let second = first.or_else(|_| {
                sleep(Duration::from_millis(60));
                self.check(subject, is_forced)
            });
            second.map(drop)
        };
        if !has_changed {
            return once(subject, true);
        }
        self.device.trim();
        // Keys of each way of proving are memory of their own.
        (0..self.subjects.len()).try_for_each(|subject| once(subject, true).and_then(|()| once(subject, false)))
    }

    /// Gives all up: what the driver has not got back.
    pub fn end(self) -> Live {
        let Self { faults, device, forced, free, subjects } = self;
        drop(subjects);
        proofwarp_halo2::clear_setups();
        drop((forced, free, device));
        faults.live()
    }
}
