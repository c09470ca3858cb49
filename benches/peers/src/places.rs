//! Where the proofs were made.

#[cfg(not(feature = "published"))]
pub use reported::{ran_on, watch};
#[cfg(feature = "published")]
pub use unreported::{ran_on, watch};

/// The drop-in's engine says where each batch ran.
#[cfg(not(feature = "published"))]
mod reported {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, PoisonError};

    use proofwarp::report;

    static PLACES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

    /// Starts to collect the places.
    pub fn watch() {
        report::observe(|report| {
            let place = format!("{} ({})", report.backend, report.device);
            if PLACES.lock().unwrap_or_else(PoisonError::into_inner).insert(place) {
                report.fallbacks.iter().for_each(|reason| eprintln!("not used: {reason}"));
            }
        });
    }

    /// All places of the proofs since then.
    pub fn ran_on() -> String {
        let places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        places.iter().map(String::as_str).collect::<Vec<_>>().join(" and ")
    }
}

/// The published crate proves on all of NVIDIA's GPUs or not at all.
#[cfg(feature = "published")]
mod unreported {
    /// There is nothing to watch.
    pub fn watch() {}

    /// What it runs on.
    pub fn ran_on() -> String {
        "cuda".to_owned()
    }
}
