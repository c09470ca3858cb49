//! Values of polynomials.

use proofwarp::field::{DeviceVector, NttField};
use proofwarp::plonk::steps::DeviceColumn;
use proofwarp::plonk::steps::evaluate::{EvaluationQuery, enqueue, on_cpu};

use crate::shared::{column, download, every_field, on_devices, random, refused, upload};

fn evaluates<F: NttField>() {
    let mut points = random::<F>(2, 1);
    points.extend([F::ZERO, F::ONE]);
    for n in [1, 2, 3, 127, 128, 129, 1000, 2047, 2048, 2049, 4096, 5000] {
        let polynomials: Vec<Vec<F>> = (0..11).map(|k| column(n, k)).collect();
        let queries: Vec<_> =
            (0..11).flat_map(|k| (0..4).map(move |point| (k, point))).filter(|(k, p)| k % 3 != *p).collect();
        let expected: Vec<F> = queries
            .iter()
            .map(|(k, point)| {
                let powers = std::iter::successors(Some(F::ONE), |power| Some(*power * points[*point]));
                polynomials[*k].iter().zip(powers).map(|(c, power)| *c * power).sum()
            })
            .collect();
        let host =
            queries.iter().map(|(k, point)| EvaluationQuery { polynomial: polynomials[*k].as_slice(), point: *point });
        assert!(on_cpu(&host.collect::<Vec<_>>(), &points).expect("on the CPU") == expected);
        on_devices(|stream| {
            let each: Vec<DeviceVector<F>> = polynomials.iter().map(|p| upload(stream, p)).collect();
            let whole = upload(stream, &[&[F::ONE; 3][..], &polynomials.concat()].concat());
            let apart: Vec<_> = each.iter().map(|vector| DeviceColumn::new(vector, 0)).collect();
            let together: Vec<_> = (0..11).map(|k| DeviceColumn::new(&whole, 3 + k * n)).collect();
            for places in [apart, together] {
                let queries =
                    queries.iter().map(|(k, point)| EvaluationQuery { polynomial: places[*k], point: *point });
                let values = enqueue(stream, n, &queries.collect::<Vec<_>>(), &points).expect("enqueue");
                assert!(download(stream, &values) == expected, "{n}");
            }
        });
    }
}
every_field!(evaluates);

/// More sums of tiles than a group has work-items.
#[test]
fn many_tiles() {
    type F = halo2curves::bn256::Fr;
    let (polynomial, points) = (random::<F>(600_001, 1), random::<F>(2, 2));
    let host = [0, 1].map(|point| EvaluationQuery { polynomial: &polynomial[..], point });
    let expected = on_cpu(&host, &points).expect("on the CPU");
    assert!(expected[1] == polynomial.iter().rfold(F::zero(), |sum, c| sum * points[1] + c));
    on_devices(|stream| {
        let there = upload(stream, &polynomial);
        let queries = [0, 1].map(|point| EvaluationQuery { polynomial: DeviceColumn::new(&there, 0), point });
        let values = enqueue(stream, polynomial.len(), &queries, &points).expect("enqueue");
        assert!(download(stream, &values) == expected);
    });
}

#[test]
fn refuses() {
    type F = halo2curves::bn256::Fr;
    on_devices(|stream| {
        let vector = upload::<F>(stream, &random(10, 1));
        let query =
            |first: usize, point: usize| [EvaluationQuery { polynomial: DeviceColumn::new(&vector, first), point }];
        refused(enqueue(stream, 0, &query(0, 0), &[F::one()]), "1 to", "0");
        refused(enqueue(stream, 10, &query(1, 0), &[F::one()]), "within 10", "1 of 10 every 0 from 1 on");
        refused(enqueue(stream, 10, &query(usize::MAX, 0), &[F::one()]), "within 10", "1 of 10");
        refused(enqueue(stream, 10, &query(0, 1), &[F::one()]), "below 1", "1");
        assert_eq!(stream.stats().launches, 0);
        assert!(enqueue(stream, 10, &[], &[F::one()]).expect("none").is_empty());
    });
    refused(on_cpu(&[EvaluationQuery { polynomial: &[F::one()][..], point: 3 }], &[F::one()]), "below 1", "3");
}
