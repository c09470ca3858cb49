//! Quotients by roots.

use proofwarp::field::NttField;
use proofwarp::plonk::steps::StridedColumns;
use proofwarp::plonk::steps::divide::{enqueue, on_cpu};

use crate::shared::{column, download, every_field, on_devices, random, refused, spread, upload};

/// The polynomial times Π (X − root), and the quotient with zeros above.
fn multiple<F: NttField>(n: usize, roots: &[F], seed: u64) -> [Vec<F>; 2] {
    let mut quotient = column::<F>(n.saturating_sub(roots.len()), seed);
    let mut product = quotient.clone();
    for root in roots {
        let shifted = std::iter::once(F::ZERO).chain(product.iter().copied());
        product = shifted.zip(product.iter().copied().chain([F::ZERO])).map(|(a, b)| a - b * root).collect();
    }
    product.resize(n, F::ZERO);
    quotient.resize(n, F::ZERO);
    [product, quotient]
}

fn divides<F: NttField>() {
    for n in [1, 2, 7, 8, 9, 1000, 1023, 1024, 1025, 2048, 4096, 5001] {
        let roots: Vec<Vec<F>> =
            [0, 1, 4, 2, 3].iter().enumerate().map(|(k, count)| random((*count).min(n), k as u64)).collect();
        let roots = [roots, vec![vec![F::ZERO], vec![F::ONE; n.min(2)]]].concat();
        let pairs: Vec<[Vec<F>; 2]> = roots.iter().zip(0..).map(|(roots, seed)| multiple(n, roots, seed)).collect();
        let place = StridedColumns { first: 2, stride: n + 3, count: roots.len() };
        let length = 2 + roots.len() * (n + 3);
        let of = |which: usize| pairs.iter().map(|pair| pair[which].clone()).collect::<Vec<_>>();
        let mut host = of(0);
        on_cpu(&mut host.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>(), &roots).expect("on the CPU");
        assert!(host == of(1), "{n}");
        on_devices(|stream| {
            let mut there = upload(stream, &spread(&of(0), place, length));
            enqueue(stream, n, &mut there, place, &roots).expect("enqueue");
            assert!(download(stream, &there) == spread(&of(1), place, length), "{n}");
        });
    }
}
every_field!(divides);

/// What is no multiple: the remainder is dropped.
fn drops_remainders<F: NttField>() {
    let (polynomial, roots) = (random::<F>(3000, 1), vec![random::<F>(3, 2)]);
    let mut host = polynomial.clone();
    on_cpu(&mut [&mut host], &roots).expect("on the CPU");
    on_devices(|stream| {
        let mut there = upload(stream, &polynomial);
        enqueue(stream, 3000, &mut there, StridedColumns::packed(3000, 1), &roots).expect("enqueue");
        assert!(download(stream, &there) == host);
    });
}
every_field!(drops_remainders);

/// More tiles than a group has work-items, so that each takes several.
#[test]
fn many_tiles() {
    type F = halo2curves::bn256::Fr;
    let (n, roots) = (300_001, vec![random::<F>(2, 1), vec![F::one()], Vec::new()]);
    let place = StridedColumns::packed(n, 3);
    let polynomials: Vec<Vec<F>> = (2..5).map(|seed| random(n, seed)).collect();
    let mut host = polynomials.clone();
    on_cpu(&mut host.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>(), &roots).expect("on the CPU");
    assert!(host[2] == polynomials[2]);
    on_devices(|stream| {
        let mut there = upload(stream, &polynomials.concat());
        enqueue(stream, n, &mut there, place, &roots).expect("enqueue");
        assert!(download(stream, &there) == host.concat());
    });
}

#[test]
fn refuses() {
    type F = halo2curves::bn256::Fr;
    on_devices(|stream| {
        let mut vector = upload::<F>(stream, &random(10, 1));
        let roots = vec![vec![F::one()]; 2];
        refused(enqueue(stream, 5, &mut vector, StridedColumns::packed(4, 2), &roots), "at least 5", "4");
        refused(enqueue(stream, 5, &mut vector, StridedColumns::packed(6, 2), &roots), "within 10", "2 of 5 every 6");
        refused(enqueue(stream, 5, &mut vector, StridedColumns::packed(5, 1), &roots), "1", "2");
        assert_eq!(stream.stats().launches, 0);
    });
    refused(on_cpu::<F>(&mut [], &[Vec::new()]), "0", "1");
}
