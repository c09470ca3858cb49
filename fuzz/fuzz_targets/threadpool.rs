//! Jobs of the drop-in's pool that start others, wait for them and panic: each runs once, and the caller hears of a panic.
#![no_main]

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use arbitrary::Arbitrary;
use ec_gpu_gen::threadpool::{Scope, Worker};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Job {
    Counts,
    Panics,
    Computes(bool),
    Scope(Vec<Job>),
    Recurse(Vec<Job>),
    Zoom(Vec<Job>),
}

fuzz_target!(|jobs: Vec<Job>| {
    // Panics are expected here; libFuzzer's own hook would end the program.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| set_hook(Box::new(|_| {})));
    let done = AtomicUsize::new(0);
    let panicked = catch_unwind(AssertUnwindSafe(|| scoped(&jobs, &done))).is_err();
    let (count, panics) = counted(&jobs);
    assert_eq!(panicked, panics > 0);
    // What was behind a panic in its own job has not been started.
    assert!(done.load(Ordering::Relaxed) <= count && (panicked || done.load(Ordering::Relaxed) == count));
});

fn scoped(jobs: &[Job], done: &AtomicUsize) {
    Worker::new().scoped(|scope| jobs.iter().for_each(|job| start(scope, job, done)));
}

fn start<'s>(scope: &Scope<'s>, job: &'s Job, done: &'s AtomicUsize) {
    match job {
        Job::Counts => scope.execute(move || _ = done.fetch_add(1, Ordering::Relaxed)),
        Job::Panics => scope.execute(|| panic!("on purpose")),
        Job::Computes(panics) => scope.execute(move || {
            let panics = *panics;
            done.fetch_add(
                Worker::new().compute(move || usize::from(!panics) / usize::from(!panics)).wait(),
                Ordering::Relaxed,
            );
        }),
        Job::Scope(jobs) => scope.execute(move || scoped(jobs, done)),
        Job::Recurse(jobs) => scope.recurse(move |scope| jobs.iter().for_each(|job| start(scope, job, done))),
        Job::Zoom(jobs) => {
            scope.recurse(move |scope| scope.zoom(|scope| jobs.iter().for_each(|job| start(scope, job, done))))
        }
    }
}

/// Jobs that count, and jobs that panic.
fn counted(jobs: &[Job]) -> (usize, usize) {
    let of = |job: &Job| match job {
        Job::Counts | Job::Computes(false) => (1, 0),
        Job::Panics | Job::Computes(true) => (0, 1),
        Job::Scope(jobs) | Job::Recurse(jobs) | Job::Zoom(jobs) => counted(jobs),
    };
    jobs.iter().map(of).fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
}
