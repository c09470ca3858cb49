//! Records a rank's work, how long it waited, and the bytes that it sent.

use std::time::Duration;

/// Adds up all calls of a [`super::Cluster`] on one rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RankStats {
    /// Time in which the rank's devices or cores worked on its part.
    pub work: Duration,
    /// Time in which the rank waited for messages, or for other ranks, and did nothing else.
    pub waiting: Duration,
    /// Time of messages, including those hidden behind work.
    pub messages: Duration,
    /// Bytes sent to other ranks.
    pub sent: u64,
}

impl RankStats {
    /// Returns the increase since the state `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            work: self.work.saturating_sub(before.work),
            waiting: self.waiting.saturating_sub(before.waiting),
            messages: self.messages.saturating_sub(before.messages),
            sent: self.sent.saturating_sub(before.sent),
        }
    }

    /// Encodes the ledger as bytes of a message.
    pub(super) fn to_bytes(self) -> [u8; 32] {
        let nanoseconds = |time: Duration| time.as_nanos() as u64;
        let [work, waiting, messages] = [self.work, self.waiting, self.messages].map(nanoseconds);
        let mut bytes = [0; 32];
        let words = [work, waiting, messages, self.sent];
        bytes.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        bytes
    }

    /// Decodes a ledger from bytes of a message; missing ones are zeros.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let word = |number: usize| {
            let word = bytes.get(8 * number..8 * number + 8).and_then(|word| word.try_into().ok());
            word.map_or(0, u64::from_le_bytes)
        };
        let time = |number| Duration::from_nanos(word(number));
        Self { work: time(0), waiting: time(1), messages: time(2), sent: word(3) }
    }
}

/// Holds a rank's line of the table that [`super::Cluster::table`] gathers.
#[derive(Debug, Clone)]
pub struct RankRow {
    /// The rank.
    pub rank: usize,
    /// Names of the devices that it works on, or of the CPU.
    pub devices: String,
    /// The sums so far.
    pub ledger: RankStats,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_back() {
        let [work, waiting, messages] = [1, 20, 300].map(Duration::from_millis);
        let ledger = RankStats { work, waiting, messages, sent: 4000 };
        assert_eq!(RankStats::from_bytes(&ledger.to_bytes()), ledger);
        assert_eq!(RankStats::from_bytes(&[]), RankStats::default());
        assert_eq!(ledger.since(&ledger), RankStats::default());
    }
}
