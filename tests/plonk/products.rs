//! Factors and grand products.

use proofwarp::field::{DeviceVector, NttField};
use proofwarp::plonk::steps::product_factors::{Challenges, Factors, Lookup, PermutationSet};
use proofwarp::plonk::steps::{DeviceColumn, RowCounts, product_factors, products};

use crate::shared::{column, download, every_field, on_devices, random, refused, upload};

/// The definition, of one chain.
fn grand_products<F: NttField>(rows: RowCounts, numerators: &[F], denominators: &[F]) -> Vec<F> {
    let (n, mut z, mut product) = (rows.n(), vec![F::ZERO; numerators.len()], F::ONE);
    for start in (0..z.len()).step_by(n) {
        for row in start..start + rows.usable {
            z[row] = product;
            product *= numerators[row] * denominators[row].invert().unwrap_or(F::ZERO);
        }
        z[start + rows.usable] = product;
    }
    z
}

/// Numerators and denominators with zeros in both.
fn chains<F: NttField>() {
    for log_n in 1..=12 {
        let n = 1usize << log_n;
        for usable in [0, 1, n - 1, n / 2, n.saturating_sub(6)] {
            let rows = RowCounts { log_n, usable: usable.min(n - 1) };
            let chains = [3, 1, 0, 2];
            let mut lists = [random::<F>(6 * n, 1), random::<F>(6 * n, 2)];
            // A zero ends all that follows in its chain, so there are few, in the last chain.
            lists[0][5 * n + rows.usable / 2] = F::ZERO;
            lists[1][5 * n + rows.usable / 3] = F::ZERO;
            let mut at = 0;
            let expected: Vec<F> = chains
                .iter()
                .flat_map(|chain| {
                    let range = at * n..(at + chain) * n;
                    at += chain;
                    grand_products(rows, &lists[0][range.clone()], &lists[1][range])
                })
                .collect();
            let host = Factors { numerators: lists[0].clone(), denominators: lists[1].clone() };
            assert!(products::on_cpu(rows, &host, &chains).expect("on the CPU") == expected, "{rows:?}");
            on_devices(|stream| {
                let [numerators, denominators] = [&lists[0], &lists[1]].map(|list| upload(stream, list));
                let there = Factors { numerators, denominators };
                let z = products::enqueue(stream, rows, &there, &chains).expect("enqueue");
                assert!(download(stream, &z) == expected, "{rows:?}");
            });
        }
    }
}
every_field!(chains);

fn agree<F: NttField>(rows: RowCounts, [numerators, denominators]: [Vec<F>; 2], chains: &[usize]) -> Vec<F> {
    let host = Factors { numerators, denominators };
    let expected = products::on_cpu(rows, &host, chains).expect("on the CPU");
    on_devices(|stream| {
        let [numerators, denominators] = [&host.numerators, &host.denominators].map(|list| upload(stream, list));
        let there = Factors { numerators, denominators };
        let z = products::enqueue(stream, rows, &there, chains).expect("enqueue");
        assert!(download(stream, &z) == expected, "{rows:?}");
    });
    expected
}

/// Of zeros nothing is left behind the first row, wherever they are.
fn zeros<F: NttField>() {
    let rows = RowCounts { log_n: 11, usable: 2042 };
    let n = rows.n();
    let ones_first =
        |z: &[F]| z.chunks(2 * n).all(|chain| chain[0] == F::ONE && chain[1..].iter().all(|value| *value == F::ZERO));
    for which in [0, 1] {
        let mut lists = [vec![F::ONE; 4 * n], vec![F::ONE; 4 * n]];
        lists[which].fill(F::ZERO);
        assert!(ones_first(&agree(rows, lists, &[2, 2])));
    }
    // In the first and last row that count of the first column, and in all of a tile of the second.
    for place in [0..1, 2041..2042, n + 512..n + 1024, 2042..2048] {
        let mut lists = [random::<F>(2 * n, 3), random::<F>(2 * n, 4)];
        lists[1][place.clone()].fill(F::ZERO);
        let z = agree(rows, lists.clone(), &[2]);
        assert!(z == grand_products(rows, &lists[0], &lists[1]), "{place:?}");
    }
}
every_field!(zeros);

/// Chains of more tiles than a group has work-items.
#[test]
fn long_chains() {
    type F = halo2curves::bn256::Fr;
    let rows = RowCounts { log_n: 15, usable: (1 << 15) - 6 };
    let lists = [random::<F>(5 << 15, 1), random::<F>(5 << 15, 2)];
    let z = agree(rows, lists.clone(), &[4, 1]);
    let [of_four, of_one] =
        [0..4 << 15, 4 << 15..5 << 15].map(|range| grand_products(rows, &lists[0][range.clone()], &lists[1][range]));
    assert!(z == [of_four, of_one].concat());
}

/// Sets and lookups over more vectors than a launch knows.
fn factors_of_columns<F: NttField>() {
    for (log_n, usable) in [(1, 1), (3, 5), (9, 500), (11, 2042)] {
        let rows = RowCounts { log_n, usable };
        let n = rows.n();
        let columns: Vec<Vec<F>> = (0..40).map(|k| column(n, k)).collect();
        let [beta, gamma] = [random(1, 50)[0], random(1, 51)[0]];
        let challenges = Challenges { beta, gamma };
        let pair = |k: usize| [2 * k, 2 * k + 1];
        let sets = [
            (0, (0..3).map(pair).collect::<Vec<_>>()),
            (3, Vec::new()),
            (3, (3..6).map(pair).collect()),
            (6, (6..13).map(pair).collect()),
        ];
        let lookups = [[26, 27, 28, 29], [30, 31, 32, 33], [34, 26, 36, 37]];
        let host = {
            let column = |k: usize| columns[k].as_slice();
            let (sets, lookups) = of(&sets, &lookups, column);
            product_factors::on_cpu(rows, challenges, &sets, &lookups).expect("on the CPU")
        };
        let place = |row: usize| rows.omega::<F>().pow_vartime([row as u64]);
        let defined = |row: usize| {
            let term = |j: u64, k: usize| columns[k][row] + beta * F::DELTA.pow_vartime([j]) * place(row) + gamma;
            let expected: F = (6..13).map(|j| term(j, 2 * j as usize)).product();
            assert_eq!(host.numerators[3 * n + row], expected);
            assert_eq!(host.denominators[6 * n + row], (columns[36][row] + beta) * (columns[37][row] + gamma));
        };
        (0..usable).for_each(defined);
        let expected = products::on_cpu(rows, &host, &[4, 1, 1, 1]).expect("on the CPU");
        on_devices(|stream| {
            // All in one vector, and each in its own.
            let whole = upload(stream, &columns.concat());
            let each: Vec<DeviceVector<F>> = columns.iter().map(|column| upload(stream, column)).collect();
            let z = {
                let (sets, lookups) = of(&sets, &lookups, |k| DeviceColumn::new(&whole, k * n));
                let factors = product_factors::enqueue(stream, rows, challenges, &sets, &lookups).expect("enqueue");
                products::enqueue(stream, rows, &factors, &[4, 1, 1, 1]).expect("enqueue")
            };
            assert!(download(stream, &z) == expected, "{rows:?}");
            let (sets, lookups) = of(&sets, &lookups, |k| DeviceColumn::new(&each[k], 0));
            let factors = product_factors::enqueue(stream, rows, challenges, &sets, &lookups).expect("enqueue");
            for (there, host) in [(&factors.numerators, &host.numerators), (&factors.denominators, &host.denominators)]
            {
                assert!(download(stream, there) == *host, "{rows:?}");
            }
        });
    }
}
every_field!(factors_of_columns);

type Sets<C> = (Vec<PermutationSet<C>>, Vec<Lookup<C>>);

/// Sets and lookups by the columns' numbers.
fn of<C: Copy>(sets: &[(u64, Vec<[usize; 2]>)], lookups: &[[usize; 4]], column: impl Fn(usize) -> C) -> Sets<C> {
    let set = |(first, pairs): &(u64, Vec<[usize; 2]>)| PermutationSet {
        columns: pairs.iter().map(|pair| pair.map(&column)).collect(),
        first: *first,
    };
    let lookup = |lookup: &[usize; 4]| {
        let [input, table, permuted_input, permuted_table] = lookup.map(&column);
        Lookup { input, table, permuted_input, permuted_table }
    };
    (sets.iter().map(set).collect(), lookups.iter().map(lookup).collect())
}

#[test]
fn refuses() {
    type F = halo2curves::bn256::Fr;
    let rows = RowCounts { log_n: 3, usable: 5 };
    let [numerators, denominators] = [random::<F>(16, 1), random::<F>(8, 2)];
    on_devices(|stream| {
        let there = Factors { numerators: upload(stream, &numerators), denominators: upload(stream, &denominators) };
        refused(products::enqueue(stream, rows, &there, &[1, 1]), "16", "8");
        refused(products::enqueue(stream, rows, &there, &[3]), "24", "16");
        refused(products::enqueue(stream, rows, &there, &[usize::MAX, 2]), "fewer", "2 chains");
        let challenges = Challenges { beta: F::from(1), gamma: F::from(2) };
        let far = DeviceColumn::new(&there.denominators, 1);
        let set = PermutationSet { columns: vec![[far; 2]], first: 0 };
        refused(product_factors::enqueue(stream, rows, challenges, &[set], &[]), "within 8", "from 1 on");
        assert_eq!(stream.stats().launches, 0);
        let none = product_factors::enqueue(stream, rows, challenges, &[], &[]).expect("none");
        assert!(products::enqueue(stream, rows, &none, &[]).expect("none").is_empty());
    });
    refused(products::on_cpu(rows, &Factors { numerators, denominators }, &[2]), "16", "8");
}
