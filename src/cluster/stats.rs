//! Records a rank's work, how long it waited, and the bytes that it sent.

use std::time::Duration;

/// Holds the times and the sent bytes of one rank, summed over all calls of its [`super::Cluster`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RankStats {
    /// Time in which the rank's devices or cores computed.
    pub work: Duration,
    /// Time in which the rank waited for messages, or for other ranks, and did nothing else.
    pub waiting: Duration,
    /// Time in which messages were exchanged, including the time that computation overlaps.
    pub messages: Duration,
    /// Bytes sent to other ranks.
    pub sent: u64,
}

impl RankStats {
    /// Returns the increase of each value since the earlier state `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            work: self.work.saturating_sub(before.work),
            waiting: self.waiting.saturating_sub(before.waiting),
            messages: self.messages.saturating_sub(before.messages),
            sent: self.sent.saturating_sub(before.sent),
        }
    }

    /// Encodes the statistics for a message as four little-endian 64-bit integers: the times in nanoseconds, then the
    /// sent bytes.
    pub(super) fn to_bytes(self) -> [u8; 32] {
        let nanoseconds = |time: Duration| time.as_nanos() as u64;
        let [work, waiting, messages] = [self.work, self.waiting, self.messages].map(nanoseconds);
        let mut bytes = [0; 32];
        let words = [work, waiting, messages, self.sent];
        bytes.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        bytes
    }

    /// Decodes statistics from the bytes of [`Self::to_bytes`]. Values that `bytes` lacks are zero.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let word = |number: usize| {
            let word = bytes.get(8 * number..8 * number + 8).and_then(|word| word.try_into().ok());
            word.map_or(0, u64::from_le_bytes)
        };
        let time = |number| Duration::from_nanos(word(number));
        Self { work: time(0), waiting: time(1), messages: time(2), sent: word(3) }
    }
}

/// Holds the row of one rank in the table that [`super::Cluster::gather_stats`] gathers.
#[derive(Debug, Clone)]
pub struct RankRow {
    /// Number of the rank, from 0.
    pub rank: usize,
    /// Names of the rank's devices, separated by commas, or `cpu` if it has none.
    pub devices: String,
    /// Times and sent bytes of the rank so far.
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
