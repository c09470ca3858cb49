//! Assigns the MSMs of proofs to devices, by sizes alone.

use std::fmt;

/// Relative cost of an MSM per base in G1. All three costs were measured on one H200 at 2^20.
const G1: u64 = 10;
/// Relative cost of an MSM per base in G2.
const G2: u64 = 27;
/// Relative cost of the transforms per base of h.
const TRANSFORMS: u64 = 2;

/// Names a query of a proving key: the bases of one MSM. A proof has one MSM over each query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryId {
    BG2,
    H,
    L,
    A,
    BG1,
}

impl QueryId {
    pub(crate) const ALL: [Self; 5] = [Self::BG2, Self::H, Self::L, Self::A, Self::BG1];
}

impl fmt::Display for QueryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BG2 => "B in G2",
            Self::H => "H",
            Self::L => "L",
            Self::A => "A",
            Self::BG1 => "B in G1",
        })
    }
}

/// Holds a set of queries, such as those whose MSMs one device computes for a proof.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct QuerySet([bool; QueryId::ALL.len()]);

impl QuerySet {
    pub(crate) const ALL: Self = Self([true; QueryId::ALL.len()]);

    pub(crate) fn has(self, query: QueryId) -> bool {
        self.0[query as usize]
    }

    pub(crate) fn with(mut self, query: QueryId) -> Self {
        self.0[query as usize] = true;
        self
    }

    /// Returns the queries of this set that are not in `other`.
    pub(crate) fn difference(self, other: Self) -> Self {
        let left = QueryId::ALL.into_iter().filter(|query| self.has(*query) && !other.has(*query));
        left.fold(Self::default(), Self::with)
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Returns the union of this set and `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        QueryId::ALL.into_iter().filter(|query| other.has(*query)).fold(self, Self::with)
    }
}

/// Describes the MSMs that one device computes for one witness: those over the queries in `share`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProofTask {
    /// Index of the witness in the batch.
    pub number: usize,
    pub share: QuerySet,
}

/// Holds the estimated cost of each MSM of a proof, in relative units, indexed by query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Costs([u64; QueryId::ALL.len()]);

impl Costs {
    /// Estimates the costs. `bases` returns the number of bases of a query. The cost of h includes the transforms,
    /// which must run on the same device.
    pub(crate) fn new(bases: impl Fn(QueryId) -> usize) -> Self {
        Self(QueryId::ALL.map(|query| {
            let base = match query {
                QueryId::BG2 => G2,
                QueryId::H => G1 + TRANSFORMS,
                QueryId::L | QueryId::A | QueryId::BG1 => G1,
            };
            base.saturating_mul(bases(query) as u64)
        }))
    }

    /// Distributes the MSMs of one proof over `devices` devices, and returns the queries of each device. The most
    /// expensive MSMs are assigned first, each to the device with the least work so far.
    fn distribute_queries(&self, devices: usize) -> Vec<QuerySet> {
        let mut shares = vec![(0, QuerySet::default()); devices];
        let mut queries = QueryId::ALL;
        queries.sort_by_key(|query| std::cmp::Reverse(self.0[*query as usize]));
        for query in queries {
            if let Some((load, share)) = shares.iter_mut().min_by_key(|(load, _)| *load) {
                (*load, *share) = (self.0[query as usize].saturating_add(*load), share.with(query));
            }
        }
        shares.into_iter().map(|(_, share)| share).collect()
    }
}

/// Returns the tasks of each of `devices` devices for `witnesses` proofs. Every device gets equally many whole proofs.
/// The MSMs of each remaining proof are spread over some of the devices by `costs`.
pub(crate) fn schedule(witnesses: usize, devices: usize, costs: &Costs) -> Vec<Vec<ProofTask>> {
    let devices = devices.max(1);
    let (whole, left) = (witnesses / devices, witnesses % devices);
    let of = |device| (device * whole..(device + 1) * whole).map(|number| ProofTask { number, share: QuerySet::ALL });
    let mut jobs: Vec<Vec<ProofTask>> = (0..devices).map(|device| of(device).collect()).collect();
    for position in 0..left {
        let group = devices * position / left..devices * (position + 1) / left;
        let number = whole * devices + position;
        let shares = costs.distribute_queries(group.len()).into_iter();
        for (jobs, share) in jobs[group].iter_mut().zip(shares).filter(|(_, share)| !share.is_empty()) {
            jobs.push(ProofTask { number, share });
        }
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the costs of a circuit of 2^20 constraints, with three of four variables in B.
    fn costs() -> Costs {
        Costs::new(|query| if matches!(query, QueryId::BG1 | QueryId::BG2) { 3 << 18 } else { 1 << 20 })
    }

    #[test]
    fn every_sum_is_made_once() {
        for (witnesses, devices) in (0..12).flat_map(|witnesses| (1..8).map(move |devices| (witnesses, devices))) {
            let jobs = schedule(witnesses, devices, &costs());
            assert_eq!(jobs.len(), devices);
            let all: Vec<ProofTask> = jobs.into_iter().flatten().collect();
            for (number, query) in (0..witnesses).flat_map(|number| QueryId::ALL.map(|query| (number, query))) {
                let makers = all.iter().filter(|job| job.number == number && job.share.has(query)).count();
                assert_eq!(makers, 1, "{query:?} of {number}, {witnesses} over {devices}");
            }
            assert!(all.iter().all(|job| job.number < witnesses && !job.share.is_empty()));
        }
    }

    #[test]
    fn batches_are_even() {
        let whole = |witnesses, devices| -> Vec<usize> {
            let count = |jobs: &Vec<ProofTask>| jobs.iter().filter(|job| job.share == QuerySet::ALL).count();
            schedule(witnesses, devices, &costs()).iter().map(count).collect()
        };
        assert_eq!(whole(8, 4), [2, 2, 2, 2]);
        assert_eq!(whole(10, 4), [2, 2, 2, 2]);
        assert_eq!(whole(7, 4), [2, 2, 1, 1]);
        assert_eq!(whole(3, 2), [1, 1]);
        assert_eq!(whole(5, 1), [5]);
    }

    #[test]
    fn one_proof_is_balanced() {
        let costs = costs();
        let total: u64 = costs.0.iter().sum();
        let load = |share: &QuerySet| -> u64 {
            QueryId::ALL.iter().filter(|query| share.has(**query)).map(|query| costs.0[*query as usize]).sum()
        };
        for (devices, percent) in [(2, 55), (3, 40), (4, 35)] {
            let shares = costs.distribute_queries(devices);
            assert!(shares.iter().all(|share| !share.is_empty()));
            let most = shares.iter().map(load).max().expect("some");
            assert!(100 * most <= percent * total, "{most} of {total} on one of {devices}: {shares:?}");
        }
    }
}
