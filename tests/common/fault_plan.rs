//! Faults of a driver, planned and done.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use proofwarp::backend::MemoryHandle;

/// A driver's calls, by what can go wrong with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    CopyIn,
    CopyOut,
    CopyBetween,
    Zero,
    Launch,
    Event,
    Allocation,
    /// Whether a mark has been passed: asked as often as time allows.
    Look,
}

/// All of them, by their numbers.
pub const CALLS: [Call; 8] = [
    Call::CopyIn,
    Call::CopyOut,
    Call::CopyBetween,
    Call::Zero,
    Call::Launch,
    Call::Event,
    Call::Allocation,
    Call::Look,
];

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// A copy brings another bit to the device.
    BitIn,
    /// A copy brings another bit to the host.
    BitOut,
    /// A copy within the device brings another bit.
    BitBetween,
    /// A kernel leaves another bit in one of its buffers.
    BitOfKernel,
    /// A launch fails, and is not queued.
    Launch,
    /// A copy to the device fails, and is not queued.
    CopyIn,
    /// A copy to the host fails, and is not queued.
    CopyOut,
    /// A copy within the device fails, and is not queued.
    CopyBetween,
    /// Zeros fail, and are not queued.
    Zero,
    /// A mark, or a wait for one, fails.
    Event,
    /// A look at a mark fails.
    Look,
    /// An allocation fails by an error of the driver.
    Allocation,
    /// From a call on, there is no more memory than a few pages.
    Memory,
    /// From a call on, every call fails.
    Lost,
}

pub const FAULTS: [Fault; 14] = [
    Fault::BitIn,
    Fault::BitOut,
    Fault::BitBetween,
    Fault::BitOfKernel,
    Fault::Launch,
    Fault::CopyIn,
    Fault::CopyOut,
    Fault::CopyBetween,
    Fault::Zero,
    Fault::Event,
    Fault::Look,
    Fault::Allocation,
    Fault::Memory,
    Fault::Lost,
];

impl Fault {
    /// Whether the driver reports nothing.
    pub fn is_silent(self) -> bool {
        matches!(self, Self::BitIn | Self::BitOut | Self::BitBetween | Self::BitOfKernel)
    }

    /// Which calls it strikes; `None`: any but a look.
    pub fn call(self) -> Option<Call> {
        match self {
            Self::BitIn | Self::CopyIn => Some(Call::CopyIn),
            Self::BitOut | Self::CopyOut => Some(Call::CopyOut),
            Self::BitBetween | Self::CopyBetween => Some(Call::CopyBetween),
            Self::BitOfKernel | Self::Launch => Some(Call::Launch),
            Self::Zero => Some(Call::Zero),
            Self::Event => Some(Call::Event),
            Self::Look => Some(Call::Look),
            Self::Allocation | Self::Memory => Some(Call::Allocation),
            Self::Lost => None,
        }
    }
}

/// A fault at the call of this number, counted among those that it strikes; `random` says which bit, or how many pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    pub fault: Fault,
    pub at: u64,
    pub random: u64,
}

/// What the driver has given out and not got back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Live {
    pub memories: usize,
    pub bytes: u64,
    pub pinned: u64,
    pub streams: u64,
    pub events: u64,
}

impl Live {
    /// The larger one of each count.
    pub fn max(self, other: Self) -> Self {
        Self {
            memories: self.memories.max(other.memories),
            bytes: self.bytes.max(other.bytes),
            pinned: self.pinned.max(other.pinned),
            streams: self.streams.max(other.streams),
            events: self.events.max(other.events),
        }
    }
}

/// How many calls there were since faults were planned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts([u64; CALLS.len()]);

impl Counts {
    /// Those that a fault could strike.
    pub fn of(&self, fault: Fault) -> u64 {
        let all_but_looks = || self.0[..Call::Look as usize].iter().sum();
        fault.call().map_or_else(all_but_looks, |call| self.0[call as usize])
    }
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) counts: Counts,
    planned: Vec<Planned>,
    pub(super) fired: Vec<Planned>,
    pub(super) is_lost: bool,
    /// Bytes that may be allocated at most.
    pub(super) bound: Option<u64>,
    pub(super) live: Live,
    /// Bytes of each block.
    pub(super) blocks: HashMap<MemoryHandle, usize>,
    /// Bytes of parts, with their blocks. A part may have its block's handle.
    pub(super) parts: HashMap<MemoryHandle, (MemoryHandle, usize)>,
    /// Whether the next launch's callers are to be noted.
    is_traced: bool,
    /// The callers of the launch that was noted.
    callers: Option<String>,
}

impl State {
    /// Bytes of what a kernel's argument points to, where that is known.
    pub(super) fn bytes_of(&self, memory: MemoryHandle) -> Option<usize> {
        let part = self.parts.get(&memory).map(|(_, bytes)| *bytes);
        part.or_else(|| self.blocks.get(&memory).copied())
    }
}

/// The faults of a driver, planned and done.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Mutex<State>>);

impl Faults {
    /// Plans faults in place of what was planned, and counts from zero.
    pub fn plan(&self, planned: Vec<Planned>) {
        let mut state = self.state();
        let (blocks, parts) = (std::mem::take(&mut state.blocks), std::mem::take(&mut state.parts));
        *state = State { planned, live: state.live, blocks, parts, ..State::default() };
    }

    /// Has the driver work well again: the faults that were done, and the calls since they were planned.
    pub fn end(&self) -> (Vec<Planned>, Counts) {
        let (fired, counts) = {
            let mut state = self.state();
            (std::mem::take(&mut state.fired), state.counts)
        };
        self.plan(Vec::new());
        (fired, counts)
    }

    /// Notes the callers of the next launch.
    pub fn trace_next_launch(&self) {
        self.state().is_traced = true;
    }

    /// The callers of the launch that was noted, innermost first.
    pub fn callers(&self) -> Option<String> {
        self.state().callers.take()
    }

    pub(super) fn trace_launch(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.is_traced) {
            state.callers = Some(std::backtrace::Backtrace::force_capture().to_string());
        }
    }

    pub fn live(&self) -> Live {
        self.state().live
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call: the fault that strikes it.
    pub(super) fn strike(&self, call: Call) -> Option<Planned> {
        let mut state = self.state();
        let (number, total) = (state.counts.0[call as usize], state.counts.of(Fault::Lost));
        state.counts.0[call as usize] += 1;
        let is_due = |planned: &Planned| match planned.fault.call() {
            Some(other) => other == call && planned.at == number,
            None => call != Call::Look && planned.at == total,
        };
        let due = state.planned.iter().position(is_due)?;
        let planned = state.planned.swap_remove(due);
        state.fired.push(planned);
        match planned.fault {
            Fault::Lost => state.is_lost = true,
            Fault::Memory => state.bound = Some(state.live.bytes + planned.random % 16 * 4096),
            _ => {}
        }
        Some(planned)
    }

    pub(super) fn is_lost(&self) -> bool {
        self.state().is_lost
    }
}
