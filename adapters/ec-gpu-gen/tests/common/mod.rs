//! What the tests on devices share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ec_gpu_gen::rust_gpu_tools::{Device, Program};

/// Programs for all devices; loudly none where there is no device.
///
/// # Panics
/// `PROOFWARP_BACKEND` or `EC_GPU_FRAMEWORK` asks for a device and there is none.
pub fn programs() -> Vec<Program> {
    let devices = Device::all();
    if devices.is_empty() {
        let asked = |name| std::env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "cpu"));
        assert!(!asked("PROOFWARP_BACKEND") && !asked("EC_GPU_FRAMEWORK"), "a device was asked for and there is none");
        eprintln!("skipped: everything but that the constructors say so, for there is no device");
    }
    devices.into_iter().map(|device| Program::new(device, None, None).expect("a device of its own backend")).collect()
}

/// Lets one test at a time use the devices: what one injects must not hit another.
pub fn exclusive() -> MutexGuard<'static, ()> {
    static DEVICES: Mutex<()> = Mutex::new(());
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the launch after `launches` more fail on the first device, or none from here on.
pub fn fail_after(launches: Option<u32>) {
    if let Some(device) = Device::all().first() {
        device.proofwarp().inject_launch_fault(launches.unwrap_or(u32::MAX));
    }
}

/// An abort hook that says no a number of times, then yes.
pub struct Patience {
    questions: usize,
    asked: AtomicUsize,
    yes: OnceLock<Instant>,
}

impl Patience {
    pub fn new(questions: usize) -> Self {
        Self { questions, asked: AtomicUsize::new(0), yes: OnceLock::new() }
    }

    /// The hook's answer.
    pub fn ended(&self) -> bool {
        let ended = self.asked.fetch_add(1, Ordering::Relaxed) >= self.questions;
        if ended {
            self.yes.get_or_init(Instant::now);
        }
        ended
    }

    /// Time since the first yes, if there was one.
    pub fn since(&self) -> Option<Duration> {
        self.yes.get().map(Instant::elapsed)
    }
}

/// The longest that a caller of a GPU waits after its hook has said yes, with little work queued: a hundred times what it
/// takes. On a processor, which runs everything else beside it, nothing bounds it.
const ABORT_TIME: Duration = Duration::from_secs(2);

/// Checks how long a caller waited after its hook's yes.
pub fn assert_soon(waited: Duration, what: impl std::fmt::Display) {
    let on_processor = Device::all().first().is_none_or(|device| device.proofwarp().info().is_cpu);
    assert!(on_processor || waited < ABORT_TIME, "{waited:?} {what}");
}
