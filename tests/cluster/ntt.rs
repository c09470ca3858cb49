//! Transforms.

use proofwarp::cluster::{ClusterNtt, ClusterNttOptions};
use proofwarp::field::NttField;
use proofwarp::ntt::{Direction, NttDomain, NttOptions};

use crate::tools::{Checks, random};

const DIRECTIONS: [Direction; 4] =
    [Direction::Forward, Direction::Inverse, Direction::CosetForward, Direction::CosetInverse];

/// All directions of all sizes, in blocks of a column, of some, and of all.
pub fn every_size<F: NttField>(checks: &Checks, most_log: u32) {
    for log_n in 0..=most_log {
        // Blocks of one column take a round for each two of them.
        let one_column = (log_n <= 6).then_some(0);
        for block_bytes in one_column.into_iter().chain([(4 * 32) << log_n.div_ceil(2), usize::MAX >> 1]) {
            let options = ClusterNttOptions { block_bytes, ..ClusterNttOptions::default() };
            one_size::<F>(checks, log_n, options);
        }
    }
    let coset = Some(F::from(5));
    one_size::<F>(checks, most_log, ClusterNttOptions { coset, ..ClusterNttOptions::default() });
}

fn one_size<F: NttField>(checks: &Checks, log_n: u32, options: ClusterNttOptions<F>) {
    let cluster = checks.cluster;
    let ntt = ClusterNtt::<F>::with_options(cluster, log_n, options).expect("a size");
    let domain_options = NttOptions { coset: options.coset, ..NttOptions::default() };
    let domain = NttDomain::<F>::with_options(&checks.cpu, log_n, domain_options).expect("a size");
    for direction in DIRECTIONS {
        let whole = random::<F>(log_n.into(), 1 << log_n);
        let mut expected = whole.clone();
        domain.run(direction, &mut [&mut expected], None).expect("a transform");
        let is_forward = matches!(direction, Direction::Forward | Direction::CosetForward);
        let (from, to) =
            if is_forward { (ntt.coefficients(), ntt.values()) } else { (ntt.values(), ntt.coefficients()) };
        let mut slice = from.part(cluster.rank(), &whole);
        let report = ntt.run(direction, &mut slice, None).expect("a transform");
        let what = format!("{direction} of 2^{log_n} with {options:?}");
        checks.equal(&what, &to.part(cluster.rank(), &expected), &slice);
        let forced = cluster.accelerator().forced();
        checks.check("backend", forced.is_none_or(|forced| forced == report.backend), report);
    }
}
