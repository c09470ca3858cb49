//! Sums of multiples of polynomials.

use proofwarp::field::{DeviceVector, NttField};
use proofwarp::plonk::steps::DeviceColumn;
use proofwarp::plonk::steps::combine::{LinearCombination, enqueue, on_cpu};

use crate::shared::{column, download, every_field, on_devices, random, refused, upload};

/// Sums of no terms, of one, and of more vectors than a launch knows, with and without something subtracted.
fn combines<F: NttField>() {
    for n in [1, 2, 5, 128, 1000, 4096] {
        let polynomials: Vec<Vec<F>> = (0..21).map(|k| column(n, k)).collect();
        let factors = random::<F>(21, 90);
        let kinds = [(0..0, 0), (0..1, 1), (1..21, 4), (3..9, 0), (0..0, 3), (9..21, 2)];
        let minus = |count: usize| random::<F>(count.min(n), 91);
        let mut expected = Vec::new();
        for (terms, count) in &kinds {
            let row = |row: usize| terms.clone().map(|k| polynomials[k][row] * factors[k]).sum::<F>();
            let mut sum: Vec<F> = (0..n).map(row).collect();
            sum.iter_mut().zip(minus(*count)).for_each(|(value, low)| *value -= low);
            expected.extend(sum);
        }
        let host = kinds.iter().map(|(terms, count)| LinearCombination {
            terms: terms.clone().map(|k| (polynomials[k].as_slice(), factors[k])).collect(),
            minus: minus(*count),
        });
        assert!(on_cpu(n, &host.collect::<Vec<_>>()).expect("on the CPU") == expected);
        on_devices(|stream| {
            let each: Vec<DeviceVector<F>> = polynomials.iter().map(|p| upload(stream, p)).collect();
            let whole = upload(stream, &polynomials.concat());
            let apart: Vec<_> = each.iter().map(|vector| DeviceColumn::new(vector, 0)).collect();
            let together: Vec<_> = (0..21).map(|k| DeviceColumn::new(&whole, k * n)).collect();
            for places in [apart, together] {
                let sums = kinds.iter().map(|(terms, count)| LinearCombination {
                    terms: terms.clone().map(|k| (places[k], factors[k])).collect(),
                    minus: minus(*count),
                });
                let out = enqueue(stream, n, &sums.collect::<Vec<_>>()).expect("enqueue");
                assert!(download(stream, &out) == expected, "{n}");
            }
        });
    }
}
every_field!(combines);

#[test]
fn refuses() {
    type F = halo2curves::bn256::Fr;
    on_devices(|stream| {
        let vector = upload::<F>(stream, &random(10, 1));
        let sum = |first: usize, minus: usize| {
            [LinearCombination { terms: vec![(DeviceColumn::new(&vector, first), F::one())], minus: random(minus, 2) }]
        };
        refused(enqueue(stream, 10, &sum(2, 0)), "within 10", "from 2 on");
        refused(enqueue(stream, 4, &sum(2, 5)), "at most 4", "5");
        refused(enqueue(stream, 0, &sum(2, 0)), "1 to", "0");
        assert_eq!(stream.stats().launches, 0);
        assert!(enqueue::<F>(stream, 4, &[]).expect("none").is_empty());
    });
    let short = [F::one(); 3];
    refused(on_cpu(4, &[LinearCombination { terms: vec![(&short[..], F::one())], minus: Vec::new() }]), "4", "3");
}
