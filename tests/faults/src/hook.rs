//! An abort hook that says stop after a number of questions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts questions, and says stop from one of them on.
#[derive(Debug, Clone)]
pub struct Questions {
    asked: Arc<AtomicU64>,
    stop_after: u64,
}

impl Questions {
    pub fn new(stop_after: Option<u64>) -> Self {
        Self { asked: Arc::default(), stop_after: stop_after.unwrap_or(u64::MAX) }
    }

    pub fn ask(&self) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst) >= self.stop_after
    }

    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    /// Whether it said stop.
    pub fn has_stopped(&self) -> bool {
        self.asked() > self.stop_after
    }
}
