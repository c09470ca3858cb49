//! Who is measured.

use std::cell::RefCell;
use std::rc::Rc;

use proofwarp::{Accelerator, BackendKind};

use crate::Failure;
use crate::peers::{self, Found, Peer};
use crate::protocol::{HOST, RESIDENT, Request};
use crate::results::Outcome;
use crate::sampling::median;

/// An implementation, and where its inputs are.
pub struct Contestant {
    /// Name for the tables.
    pub implementation: String,
    /// [`RESIDENT`] or [`HOST`].
    pub place: &'static str,
    /// Runs it.
    pub how: How,
}

/// Runs a contestant.
pub enum How {
    /// This crate on one backend.
    Ours(Accelerator),
    /// The program of a peer.
    Peer(Rc<RefCell<Peer>>),
    /// The fastest code that this crate knows for the host's cores.
    Cpu,
    /// Nothing, for that reason.
    Absent(String),
}

impl Contestant {
    fn new(implementation: impl Into<String>, place: &'static str, how: How) -> Self {
        Self { implementation: implementation.into(), place, how }
    }
}

/// This crate on CUDA and OpenCL, on one device and, where there are more, on all of them.
pub fn ours(places: &[&'static str]) -> Vec<Contestant> {
    let mut contestants = Vec::new();
    for (backend, name) in [(BackendKind::Cuda, "CUDA"), (BackendKind::OpenCl, "OpenCL")] {
        for (suffix, accelerator) in accelerators(backend) {
            for place in places {
                let how = accelerator.clone().map_or_else(How::Absent, How::Ours);
                contestants.push(Contestant::new(format!("proofwarp {name}{suffix}"), place, how));
            }
        }
    }
    contestants
}

/// A backend's first device, as peers take one, and all of them under a name that says how many.
fn accelerators(backend: BackendKind) -> Vec<(String, Result<Accelerator, String>)> {
    let all = match Accelerator::with_backend(backend) {
        Ok(all) => all,
        Err(error) => return vec![(String::new(), Err(error.to_string()))],
    };
    let devices = all.devices().len();
    let first = all.with_devices(all.devices().iter().take(1).cloned().collect());
    let mut found = vec![(String::new(), Ok(first))];
    if devices > 1 {
        found.push((format!(" on {devices}"), Ok(all)));
    }
    found
}

/// Finds sppark and open-icicle, with inputs on the device and on the host, and the stock crate.
pub fn peers() -> Vec<Contestant> {
    let (sppark, icicle, stock) = (peers::sppark(), peers::icicle(), peers::stock());
    let on_cpu = stock.as_ref().is_ok_and(|peer| peer.borrow().name == "cpu");
    let contestant =
        |name, place, found: &Found| Contestant::new(name, place, found.clone().map_or_else(How::Absent, How::Peer));
    vec![
        contestant("sppark", RESIDENT, &sppark),
        contestant("sppark", HOST, &sppark),
        contestant("icicle", RESIDENT, &icicle),
        contestant("icicle", HOST, &icicle),
        contestant(if on_cpu { "stock on the CPU" } else { "stock" }, HOST, &stock),
    ]
}

/// Adds the host's cores, under `name`.
pub fn cpu(name: &str) -> Contestant {
    Contestant::new(name, HOST, How::Cpu)
}

/// Asks a peer's program for a measurement.
///
/// # Errors
/// The program cannot do that, or ended.
pub fn ask(peer: &RefCell<Peer>, request: &Request) -> Result<Outcome, Failure> {
    median(|iterations| peer.borrow_mut().ask(&Request { iterations, ..request.clone() }))
}
