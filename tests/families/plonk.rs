//! `plonk_…`: the steps between transforms and multiplications.

use std::array::from_fn;

use proofwarp::field::NttField;
use proofwarp::plonk::steps::combine::LinearCombination;
use proofwarp::plonk::steps::evaluate::EvaluationQuery;
use proofwarp::plonk::steps::product_factors::{Challenges, Lookup, PermutationSet};
use proofwarp::plonk::steps::quotient_pieces::Cosets;
use proofwarp::plonk::steps::{
    DeviceColumn, RowCounts, StridedColumns, blinding, combine, divide, evaluate, lookup_permute, product_factors,
    products,
};

use crate::every_field;
use crate::shared::{column, download, on_devices, random, upload};

const ROWS: RowCounts = RowCounts { log_n: 7, usable: 120 };
const N: usize = 1 << ROWS.log_n;

fn sums<F: NttField>() {
    let polynomials: [Vec<F>; 3] = from_fn(|k| column(N, k as u64));
    let (factors, minus) = (random::<F>(3, 9), random::<F>(2, 10));
    let host = LinearCombination {
        terms: polynomials.iter().map(Vec::as_slice).zip(factors.clone()).collect(),
        minus: minus.clone(),
    };
    let expected = combine::on_cpu(N, &[host]).expect("on the CPU");
    on_devices(|stream| {
        let whole = upload(stream, &polynomials.concat());
        let terms = (0..3).map(|k| DeviceColumn::new(&whole, k * N)).zip(factors.clone()).collect();
        let found = combine::enqueue(stream, N, &[LinearCombination { terms, minus: minus.clone() }]).expect("enqueue");
        assert!(download(stream, &found) == expected);
    });
}
every_field!(sums);

fn values<F: NttField>() {
    let (polynomial, points) = (column::<F>(N + 3, 1), random::<F>(2, 2));
    let host = [0, 1].map(|point| EvaluationQuery { polynomial: &polynomial[..], point });
    let expected = evaluate::on_cpu(&host, &points).expect("on the CPU");
    on_devices(|stream| {
        let there = upload(stream, &polynomial);
        let queries = [0, 1].map(|point| EvaluationQuery { polynomial: DeviceColumn::new(&there, 0), point });
        let found = evaluate::enqueue(stream, N + 3, &queries, &points).expect("enqueue");
        assert!(download(stream, &found) == expected);
    });
}
every_field!(values);

fn permutation<F: NttField>() {
    let table: Vec<F> = (0..N).map(|row| F::from((row % 50) as u64)).collect();
    let input: Vec<F> = (0..N).map(|row| F::from((row * row % 50) as u64)).collect();
    let ([permuted, beside], missing) = lookup_permute::on_cpu(ROWS, &input, &table).expect("on the CPU");
    on_devices(|stream| {
        let (inputs, tables) = (upload(stream, &input), upload(stream, &table));
        let place = StridedColumns::packed(N, 1);
        let found = lookup_permute::enqueue(stream, ROWS, (&inputs, place), (&tables, place)).expect("enqueue");
        assert_eq!(found.download_missing_values(stream).expect("missing"), [missing]);
        assert!(download(stream, &found.columns) == [&permuted[..], &beside].concat());
    });
}
every_field!(permutation);

fn grand_products<F: NttField>() {
    let columns: [Vec<F>; 8] = from_fn(|k| column(N, k as u64));
    let challenges = Challenges { beta: random(1, 50)[0], gamma: random(1, 51)[0] };
    let host = {
        let at = |k: usize| columns[k].as_slice();
        let (set, lookup) = set_and_lookup(at);
        let factors = product_factors::on_cpu(ROWS, challenges, &[set], &[lookup]).expect("on the CPU");
        products::on_cpu(ROWS, &factors, &[1, 1]).expect("on the CPU")
    };
    on_devices(|stream| {
        let whole = upload(stream, &columns.concat());
        let (set, lookup) = set_and_lookup(|k| DeviceColumn::new(&whole, k * N));
        let factors = product_factors::enqueue(stream, ROWS, challenges, &[set], &[lookup]).expect("enqueue");
        let found = products::enqueue(stream, ROWS, &factors, &[1, 1]).expect("enqueue");
        assert!(download(stream, &found) == host);
    });
}
every_field!(grand_products);

fn set_and_lookup<C: Copy>(column: impl Fn(usize) -> C) -> (PermutationSet<C>, Lookup<C>) {
    let set = PermutationSet { columns: vec![[column(0), column(1)], [column(2), column(3)]], first: 0 };
    let [input, table, permuted_input, permuted_table] = [4, 5, 6, 7].map(&column);
    (set, Lookup { input, table, permuted_input, permuted_table })
}

fn quotients<F: NttField>() {
    let (polynomial, roots) = (random::<F>(N + 5, 1), vec![random::<F>(2, 2)]);
    let mut host = polynomial.clone();
    divide::on_cpu(&mut [&mut host], &roots).expect("on the CPU");
    on_devices(|stream| {
        let mut there = upload(stream, &polynomial);
        divide::enqueue(stream, N + 5, &mut there, StridedColumns::packed(N + 5, 1), &roots).expect("enqueue");
        assert!(download(stream, &there) == host);
    });
}
every_field!(quotients);

fn pieces<F: NttField>() {
    let cosets = Cosets::new(5, 2, random::<F>(1, 9)[0], 3).expect("cosets");
    let mut parts: [Vec<F>; 3] = from_fn(|k| column(32, k as u64));
    let before = parts.concat();
    cosets.on_cpu(&mut parts.each_mut().map(Vec::as_mut_slice)).expect("on the CPU");
    on_devices(|stream| {
        let mut there = upload(stream, &before);
        cosets.enqueue(stream, &mut there, StridedColumns::packed(32, 3)).expect("enqueue");
        assert!(download(stream, &there) == parts.concat());
    });
}
every_field!(pieces);

fn blinding_rows<F: NttField>() {
    let (mut host, values) = (column::<F>(N, 1), random::<F>(8, 2));
    let before = host.clone();
    let place = StridedColumns::packed(N, 1);
    blinding::on_cpu(N, &mut host, place, ROWS.usable..N, &values).expect("on the CPU");
    let bytes: Vec<u8> = (0..64 * 40).map(|i| (i * 91 % 251) as u8).collect();
    let uniform = blinding::uniform_on_cpu::<F>(&bytes).expect("on the CPU");
    on_devices(|stream| {
        let mut there = upload(stream, &before);
        blinding::enqueue(stream, N, &mut there, place, ROWS.usable..N, &values).expect("enqueue");
        assert!(download(stream, &there) == host);
        let found = blinding::enqueue_uniform::<F>(stream, &bytes).expect("enqueue");
        assert!(download(stream, &found) == uniform);
    });
}
every_field!(blinding_rows);
