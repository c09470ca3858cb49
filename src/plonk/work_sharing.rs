//! Divides the work of a proof among its own device and others, by sizes alone, and runs the shares.
//!
//! In its model a device takes a fixed time to begin, then a constant time for each column or coset. Each column or
//! coset goes to the device that would finish it first. A slow link therefore leaves most or all to the proof's own
//! device.

use std::panic::resume_unwind;
use std::thread;

use super::circuit::ProofCurve;
use super::columns_layout_and_key::{ColumnView, Key};
use super::compiled_circuit::CompiledCircuit;
use super::engine::{Basis, Engine};
use crate::{Error, Result};

/// Holds the inputs of all stages of a proof: engine, circuit, key and peer devices.
#[derive(Debug, Clone, Copy)]
pub struct ProverContext<'a, C: ProofCurve> {
    /// The proof's own engine.
    pub engine: &'a Engine<C>,
    /// The constraint system, compiled for the engine's memory plan.
    pub circuit: &'a CompiledCircuit<C::Scalar>,
    /// Columns that are the same in every proof.
    pub key: &'a Key<'a, C::Scalar>,
    /// Other devices that do a share of the commitments and of the quotient. Usually there are none.
    pub peers: &'a [PeerDevice<'a, C>],
}

/// Holds the engine of another device, and the proof's key there. The proof's own engine takes over if this one fails.
/// This one should therefore be made by [`Engine::without_cpu_fallback`].
#[derive(Debug, Clone, Copy)]
pub struct PeerDevice<'a, C: ProofCurve> {
    /// Engine of the other device, with the setup of the proof's own engine.
    pub engine: &'a Engine<C>,
    /// Columns of the proof's key, preferably on the engine's device.
    pub key: &'a Key<'a, C::Scalar>,
    /// Way in which columns are copied to the device ([`Engine::link_from`]). It limits the device's share of the work
    /// to what is worthwhile. If it is `None`, shares are even, whatever copies cost.
    pub link: Option<Link>,
}

impl<C: ProofCurve> ProverContext<'_, C> {
    /// Commits to each of `columns` in `basis`, on all devices. Returns the commitments in the order of `columns`. Each
    /// device takes adjacent columns.
    ///
    /// # Errors
    /// - [`Engine::commit`] failed: its error.
    pub(super) fn commit(&self, basis: Basis, columns: &[ColumnView<'_, C::Scalar>]) -> Result<Vec<C>> {
        let counts = assign_commitment_counts(self.circuit.rows(), columns.len(), &self.peer_links());
        let (own, mut rest) = columns.split_at(counts[0]);
        if rest.is_empty() {
            return self.engine.commit(basis, columns);
        }
        // Goes first: peers that fetch columns hold the engine's stream.
        let own = self.engine.prepare_scalars(own)?;
        let shares = self.peers.iter().zip(&counts[1..]).filter(|(_, count)| **count > 0).map(|(peer, count)| {
            let (share, others) = rest.split_at(*count);
            rest = others;
            (peer, share)
        });
        let shares: Vec<_> = shares.collect();
        thread::scope(|scope| {
            let start = |(peer, columns)| {
                let work = move || PeerDevice::commit_copies(peer, self.engine, basis, columns);
                (thread::Builder::new().spawn_scoped(scope, work), columns)
            };
            let others: Vec<_> = shares.into_iter().map(start).collect();
            let mut points = self.engine.commit_scalars(basis, &own)?;
            for (share, columns) in others {
                let theirs = match share {
                    Ok(share) => share.join().unwrap_or_else(|panic| resume_unwind(panic)),
                    Err(error) => Err(Error::device("host", "thread", error)),
                };
                points.extend(retry_on_own_engine(theirs, || self.engine.commit(basis, columns))?);
            }
            Ok(points)
        })
    }

    pub(super) fn peer_links(&self) -> Vec<Option<Link>> {
        self.peers.iter().map(|peer| peer.link).collect()
    }
}

impl<C: ProofCurve> PeerDevice<'_, C> {
    fn commit_copies(&self, of: &Engine<C>, basis: Basis, columns: &[ColumnView<'_, C::Scalar>]) -> Result<Vec<C>> {
        self.engine.commit_on_device(basis, &self.engine.copy_columns_from(of, columns)?)
    }
}

/// Returns the result `theirs` of a peer, or the result of `own` if the peer failed. After an abort or an invalid
/// argument, `own` is not called, and the peer's error is returned.
pub(super) fn retry_on_own_engine<T>(theirs: Result<T>, own: impl FnOnce() -> Result<T>) -> Result<T> {
    match theirs {
        Err(error) if !matches!(error, Error::Aborted | Error::Invalid { .. }) => {
            log::warn!("plonk: the proof's own device does another one's share: {error}");
            own()
        }
        theirs => theirs,
    }
}

/// Names the way in which columns are copied between two devices, from the fastest to the slowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// From device memory to device memory, directly.
    Direct,
    /// Through the host, by the driver.
    Driver,
    /// Downloaded to the host, then uploaded.
    Host,
}

/// Time of a commitment in ps per row of its column, measured on one H100 (BN254).
const COMMITMENT: u64 = 3500;
/// Fixed time of all commitments of a call, 0.4 ms, in ps.
const COMMITMENTS: u64 = 400_000_000;
/// Time to evaluate a column on a coset, in ps per row. It includes the column's part of the constraint terms.
const COSET: u64 = 260;
/// Time until another device begins to work, 0.1 ms, in ps. It is for a thread, a copy and an event.
const BEGIN: u64 = 100_000_000;

impl Link {
    /// Returns the time to copy an element of 32 bytes over the link, in ps. The link has 200 GB/s directly, 30 GB/s
    /// (measured) by the driver, and 6 GB/s through the host.
    fn element_copy_ps(self) -> u64 {
        match self {
            Self::Direct => 160,
            Self::Driver => 1070,
            Self::Host => 5300,
        }
    }
}

/// Models the time of a device's work in ps: `begin` once, and `each` for every piece of work.
#[derive(Debug, Clone, Copy)]
struct DeviceCost {
    begin: u64,
    each: u64,
}

impl DeviceCost {
    /// Returns the time models of all devices: `own` for the proof's own device, then one for the device of each of
    /// `links`. Another device copies `first` elements once, and `each` elements for every piece of work. A device
    /// whose link is `None` gets the model `own`, so that shares are even.
    fn for_all_devices(own: Self, links: &[Option<Link>], [first, each]: [u64; 2]) -> Vec<Self> {
        let other = |link: &Option<Link>| match link.map(Link::element_copy_ps) {
            Some(element) => Self { begin: own.begin + BEGIN + element * first, each: own.each + element * each },
            None => own,
        };
        std::iter::once(own).chain(links.iter().map(other)).collect()
    }

    fn estimate_end_time(self, count: u64) -> u64 {
        self.begin + self.each * count
    }
}

/// Assigns each of `count` equal pieces of work to the device that would finish it first, the first one if several
/// would. Returns a device's index in `lanes` for each piece.
fn list_schedule(count: usize, lanes: &[DeviceCost]) -> Vec<usize> {
    let mut dealt = vec![0; lanes.len()];
    let mut next = || {
        let device =
            (0..lanes.len()).min_by_key(|device| lanes[*device].estimate_end_time(dealt[*device] + 1)).unwrap_or(0);
        dealt[device] += 1;
        device
    };
    (0..count).map(|_| next()).collect()
}

/// Returns the number of columns that each device commits to, out of `columns` columns of `n` elements. The proof's own
/// device is first, then the device of each of `links`.
pub(super) fn assign_commitment_counts(n: usize, columns: usize, links: &[Option<Link>]) -> Vec<usize> {
    let own = DeviceCost { begin: COMMITMENTS, each: COMMITMENT * n as u64 };
    let owners = list_schedule(columns, &DeviceCost::for_all_devices(own, links, [0, n as u64]));
    (0..=links.len()).map(|device| owners.iter().filter(|owner| **owner == device).count()).collect()
}

/// Returns, for each of `count` cosets of `n` rows, the number of the device that evaluates the constraints there. 0 is
/// the proof's own device, k + 1 the device of `links[k]`. Other devices copy the proof's `own` columns first. They
/// have the key's `shared` columns already.
pub(super) fn assign_coset_devices(
    n: usize,
    count: usize,
    [own, shared]: [usize; 2],
    links: &[Option<Link>],
) -> Vec<usize> {
    let (n, columns) = (n as u64, [own, own + shared].map(|count| count as u64));
    let lane = DeviceCost { begin: 0, each: COSET * n * columns[1] };
    list_schedule(count, &DeviceCost::for_all_devices(lane, links, [n * columns[0], n]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKS: [Option<Link>; 4] = [None, Some(Link::Direct), Some(Link::Driver), Some(Link::Host)];

    /// Numbers of columns of the measured circuit: 26 of the proof's own, 30 of the key.
    const COLUMNS: [usize; 2] = [26, 30];

    #[test]
    fn linked_devices_share_evenly() {
        for link in LINKS.into_iter().take(2) {
            for log_n in [16, 18, 20] {
                assert_eq!(assign_commitment_counts(1 << log_n, 12, &[link]), [6, 6]);
                assert_eq!(assign_commitment_counts(1 << log_n, 9, &[link]), [5, 4]);
                assert_eq!(assign_coset_devices(1 << log_n, 4, COLUMNS, &[link]), [0, 1, 0, 1]);
            }
            assert_eq!(assign_commitment_counts(1 << 20, 12, &[link; 3]), [3; 4]);
            assert_eq!(assign_coset_devices(1 << 20, 4, COLUMNS, &[link; 3]), [0, 1, 2, 3]);
        }
    }

    #[test]
    fn one_column_is_not_shared() {
        assert!(LINKS.iter().all(|link| assign_commitment_counts(1 << 20, 1, &[*link]) == [1, 0]));
    }

    #[test]
    fn what_goes_through_the_host_is_shared_less() {
        assert_eq!(assign_commitment_counts(1 << 20, 12, &[Some(Link::Driver)]), [7, 5]);
        assert_eq!(assign_coset_devices(1 << 20, 4, COLUMNS, &[Some(Link::Driver)]), [0, 0, 1, 0]);
        assert_eq!(assign_commitment_counts(1 << 20, 12, &[Some(Link::Host)]), [9, 3]);
        // The copies of 26 columns take longer than all four cosets.
        assert_eq!(assign_coset_devices(1 << 20, 4, COLUMNS, &[Some(Link::Host)]), [0; 4]);
    }

    #[test]
    fn short_columns_stay() {
        for link in [Link::Direct, Link::Driver, Link::Host] {
            assert_eq!(assign_commitment_counts(1 << 10, 12, &[Some(link)]), [12, 0]);
            assert_eq!(assign_coset_devices(1 << 10, 4, COLUMNS, &[Some(link)]), [0; 4]);
        }
        assert_eq!(assign_commitment_counts(1 << 4, 12, &[None]), [6, 6]);
    }

    /// Checks that, by the model, no device ends later than the proof's own device would alone. Also checks that each
    /// column is assigned.
    #[test]
    fn sharing_never_takes_longer_by_its_model() {
        let sizes = LINKS.into_iter().flat_map(|link| [4, 10, 14, 20, 24].map(|log_n| (link, log_n)));
        for ((link, log_n), columns) in sizes.flat_map(|size| (0..13).map(move |columns| (size, columns))) {
            let n = 1_u64 << log_n;
            let own = DeviceCost { begin: COMMITMENTS, each: COMMITMENT * n };
            let lanes = DeviceCost::for_all_devices(own, &[link; 2], [0, n]);
            let counts = assign_commitment_counts(1 << log_n, columns, &[link; 2]);
            let ends = counts.iter().zip(&lanes).filter(|(count, _)| **count > 0);
            let last = ends.map(|(count, lane)| lane.estimate_end_time(*count as u64)).max().unwrap_or(0);
            assert!(last <= own.estimate_end_time(columns as u64), "{link:?}, 2^{log_n}, {columns}: {counts:?}");
            assert_eq!(counts.iter().sum::<usize>(), columns);
        }
    }
}
