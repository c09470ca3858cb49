//! The field that columns are over: the proof's, or the one that it extends.

use proofwarp::field::{DeviceVector, Element, HostVector};
use proofwarp::sumcheck::{Columns, SumcheckField};

/// Describes the entries of columns of a proof over F.
pub trait Over<F: SumcheckField> {
    type Entry: Element;

    fn lift(entry: Self::Entry) -> F;

    fn in_work(entry: Self::Entry) -> F::Compute {
        Self::lift(entry).to_compute_field()
    }

    fn host<'a>(columns: &[&'a [Self::Entry]]) -> Columns<'a, F>;

    fn pinned<'a>(columns: &[&'a HostVector<Self::Entry>]) -> Columns<'a, F>;

    fn device(columns: &DeviceVector<Self::Entry>) -> Columns<'_, F>;
}

/// Stands for elements of F.
pub struct Same;

impl<F: SumcheckField> Over<F> for Same {
    type Entry = F;

    fn lift(entry: F) -> F {
        entry
    }

    fn host<'a>(columns: &[&'a [F]]) -> Columns<'a, F> {
        Columns::host(columns)
    }

    fn pinned<'a>(columns: &[&'a HostVector<F>]) -> Columns<'a, F> {
        Columns::pinned(columns)
    }

    fn device(columns: &DeviceVector<F>) -> Columns<'_, F> {
        Columns::device(columns)
    }
}

/// Elements of the field that F extends.
#[cfg(feature = "plonky3")]
pub struct Below;

#[cfg(feature = "plonky3")]
impl<F: SumcheckField> Over<F> for Below {
    type Entry = F::Base;

    fn lift(entry: F::Base) -> F {
        F::from_base(entry)
    }

    fn host<'a>(columns: &[&'a [F::Base]]) -> Columns<'a, F> {
        Columns::host_base(columns)
    }

    fn pinned<'a>(columns: &[&'a HostVector<F::Base>]) -> Columns<'a, F> {
        Columns::pinned_base(columns)
    }

    fn device(columns: &DeviceVector<F::Base>) -> Columns<'_, F> {
        Columns::device_base(columns)
    }
}
