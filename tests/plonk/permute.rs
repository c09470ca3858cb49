//! The lookups' permutation.

use std::collections::HashMap;

use proofwarp::field::NttField;
use proofwarp::plonk::steps::lookup_permute::{MissingValues, enqueue, on_cpu};
use proofwarp::plonk::steps::{RowCounts, StridedColumns};
use rand::Rng;

use crate::common::rng;
use crate::shared::{download, every_field, on_devices, random, refused, spread, upload};

fn multiset<F: NttField>(values: &[F]) -> HashMap<Vec<u8>, usize> {
    let mut counts = HashMap::new();
    for value in values {
        *counts.entry(value.to_repr().as_ref().to_vec()).or_default() += 1;
    }
    counts
}

/// What the argument wants of A' and S'.
fn holds<F: NttField>(usable: usize, [input, table]: [&[F]; 2], [permuted, beside]: [&[F]; 2]) {
    assert!(multiset(&input[..usable]) == multiset(&permuted[..usable]), "A' has A's values");
    assert!(multiset(&table[..usable]) == multiset(&beside[..usable]), "S' has S's values");
    assert!(permuted[usable..].iter().chain(&beside[usable..]).all(|value| *value == F::ZERO), "rows behind are zero");
    let there = multiset(&table[..usable]);
    let (mut seen, mut missing) = (multiset::<F>(&[]), false);
    for row in 0..usable {
        let key = permuted[row].to_repr().as_ref().to_vec();
        missing |= !there.contains_key(&key);
        assert!(!missing || !there.contains_key(&key), "missing values come last");
        let first = row == 0 || permuted[row] != permuted[row - 1];
        if first && !missing {
            assert!(seen.insert(key, 0).is_none(), "equal values are adjacent");
            assert!(beside[row] == permuted[row], "S' has the value where a run starts");
        }
    }
}

/// Several lookups, at odd places, on every device.
fn agrees<F: NttField>(rows: RowCounts, lookups: &[[Vec<F>; 2]]) -> Vec<Option<MissingValues>> {
    let n = rows.n();
    let (inputs_at, tables_at) = (
        StridedColumns { first: 3, stride: n + 5, count: lookups.len() },
        StridedColumns { first: 1, stride: n + 2, count: lookups.len() },
    );
    let of = |which: usize| lookups.iter().map(|lookup| lookup[which].clone()).collect::<Vec<_>>();
    let length = 3 + lookups.len() * (n + 5);
    let (inputs, tables) = (spread(&of(0), inputs_at, length), spread(&of(1), tables_at, length));
    let mut expected = (Vec::new(), Vec::new());
    for [input, table] in lookups {
        let ([permuted, beside], missing) = on_cpu(rows, input, table).expect("on the CPU");
        holds(rows.usable, [input, table], [&permuted, &beside]);
        expected.0.extend([permuted, beside].concat());
        expected.1.push(missing);
    }
    on_devices(|stream| {
        let (inputs, tables) = (upload(stream, &inputs), upload(stream, &tables));
        let permuted = enqueue(stream, rows, (&inputs, inputs_at), (&tables, tables_at)).expect("enqueue");
        assert_eq!(permuted.download_missing_values(stream).expect("missing"), expected.1);
        assert!(download(stream, &permuted.columns) == expected.0, "{rows:?}");
    });
    expected.1
}

/// A table of `kinds` values, some of them several times, and inputs of its values.
fn lookup<F: NttField>(rows: RowCounts, kinds: usize, seed: u64) -> [Vec<F>; 2] {
    let (values, mut rng) = (random::<F>(kinds, seed), rng(seed + 1));
    let mut table: Vec<F> = (0..rows.n()).map(|row| values[row.min(kinds - 1)]).collect();
    // The first rows in any order, and what lies behind the rows that count in none of them.
    (0..rows.usable).for_each(|row| table.swap(row, rng.gen_range(0..rows.usable)));
    let input = (0..rows.n()).map(|_| table[rng.gen_range(0..rows.usable.max(1))]).collect();
    [input, table]
}

fn permutes<F: NttField>() {
    for log_n in 1..=12 {
        let n = 1usize << log_n;
        for usable in [0, 1, n / 2, n - 1, n.saturating_sub(6)] {
            let rows = RowCounts { log_n, usable: usable.min(n - 1) };
            let lookups = [1, 2, n.div_ceil(3), n].map(|kinds| lookup::<F>(rows, kinds, u64::from(log_n) << 8));
            assert!(agrees(rows, &lookups).iter().all(Option::is_none));
        }
    }
}
every_field!(permutes);

fn finds_missing<F: NttField>() {
    let rows = RowCounts { log_n: 11, usable: 2041 };
    let mut lookups = [3, 700, 2048].map(|kinds| lookup::<F>(rows, kinds, 5));
    // Some rows, among them the last that counts, and one behind; all rows; none.
    let strangers = random::<F>(2, 99);
    for row in [17, 18, 1000, 2040, 2041] {
        lookups[0][0][row] = strangers[row % 2];
    }
    lookups[1][0].fill(strangers[0]);
    let missing = agrees(rows, &lookups);
    assert_eq!(
        missing,
        [Some(MissingValues { rows: 4, first: 17 }), Some(MissingValues { rows: 2041, first: 0 }), None]
    );
}
every_field!(finds_missing);

/// Zeros of rows that are not assigned, nearly everywhere; and values that differ in one limb.
fn hot_values<F: NttField>() {
    let rows = RowCounts { log_n: 12, usable: 4089 };
    let mut sparse = [vec![F::ZERO; 4096], vec![F::ZERO; 4096]];
    (0..256).for_each(|row| sparse[1][row] = F::from(row as u64));
    (0..40).for_each(|k| sparse[0][100 * k] = F::from(6 * k as u64));
    let shifted = |k: u64, bits: u64| F::from(2).pow_vartime([bits]) * F::from(k);
    let limbs = [0, 32, 64, 200].map(|bits| {
        let table: Vec<F> = (0..4096).map(|row| shifted(row, bits)).collect();
        [table.iter().rev().copied().collect(), table]
    });
    agrees(rows, &[sparse]);
    for [mut input, table] in limbs {
        // What lies behind in S is not there.
        input[..7].fill(table[0]);
        agrees(rows, &[[input, table]]);
    }
}
every_field!(hot_values);

/// Columns of one value, in A, in S, in both; zeros everywhere; nothing of A in S.
fn one_value<F: NttField>() {
    let rows = RowCounts { log_n: 11, usable: 2042 };
    let (zeros, ones) = (vec![F::ZERO; 2048], vec![F::ONE; 2048]);
    let mut table = random::<F>(2048, 1);
    table[2041] = F::ONE;
    let all = Some(MissingValues { rows: 2042, first: 0 });
    let lookups = [[&zeros, &zeros], [&ones, &table], [&table, &ones], [&ones, &zeros], [&zeros, &ones]];
    let missing = agrees(rows, &lookups.map(|lookup| lookup.map(Clone::clone)));
    assert_eq!(missing, [None, None, Some(MissingValues { rows: 2041, first: 0 }), all, all]);
}
every_field!(one_value);

/// More tiles than a group of the scan has work-items.
#[test]
fn many_tiles() {
    type F = halo2curves::bn256::Fr;
    let rows = RowCounts { log_n: 20, usable: (1 << 20) - 6 };
    let mut rng = rng(3);
    let table: Vec<F> = (0..rows.n()).map(|row| F::from((row / 3) as u64)).collect();
    let mut input: Vec<F> = (0..rows.n()).map(|_| table[rng.gen_range(0..rows.usable)]).collect();
    input[700_000] = -F::one();
    let ([permuted, beside], missing) = on_cpu(rows, &input, &table).expect("on the CPU");
    assert_eq!(missing, Some(MissingValues { rows: 1, first: 700_000 }));
    let place = StridedColumns::packed(rows.n(), 1);
    on_devices(|stream| {
        let (inputs, tables) = (upload(stream, &input), upload(stream, &table));
        let there = enqueue(stream, rows, (&inputs, place), (&tables, place)).expect("enqueue");
        assert_eq!(there.download_missing_values(stream).expect("missing"), [missing]);
        assert!(download(stream, &there.columns) == [&permuted[..], &beside].concat());
    });
}

#[test]
fn refuses() {
    type F = halo2curves::bn256::Fr;
    let rows = RowCounts { log_n: 4, usable: 10 };
    on_devices(|stream| {
        let vector = upload::<F>(stream, &random(32, 1));
        let (two, one) = (StridedColumns::packed(16, 2), StridedColumns::packed(16, 1));
        refused(enqueue(stream, rows, (&vector, two), (&vector, one)), "2", "1");
        let far = StridedColumns { first: 17, stride: 16, count: 1 };
        refused(enqueue(stream, rows, (&vector, far), (&vector, one)), "within 32", "1 of 16 every 16 from 17 on");
        refused(enqueue(stream, RowCounts { usable: 16, ..rows }, (&vector, one), (&vector, one)), "below 16", "16");
        refused(enqueue(stream, RowCounts { log_n: 40, usable: 1 }, (&vector, one), (&vector, one)), "at most", "40");
        assert_eq!(stream.stats().launches, 0);
        let none = enqueue(
            stream,
            rows,
            (&vector, StridedColumns { count: 0, ..one }),
            (&vector, StridedColumns { count: 0, ..one }),
        );
        assert!(none.expect("no lookups").columns.is_empty());
    });
    refused(on_cpu::<F>(rows, &random(15, 1), &random(16, 1)), "16", "15");
}
