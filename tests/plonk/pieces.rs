//! Pieces of a quotient.

use ff::{PrimeField, WithSmallOrderMulGroup};
use proofwarp::Accelerator;
use proofwarp::BackendKind;
use proofwarp::field::NttField;
use proofwarp::ntt::{Direction, ExtendedDomain, NttDomain};
use proofwarp::plonk::steps::StridedColumns;
use proofwarp::plonk::steps::quotient_pieces::Cosets;

use crate::common::accelerators_with_devices;
use crate::common::ntt::power;
use crate::shared::{column, download, every_field, random, refused, upload};

fn evaluate<F: NttField>(polynomial: &[F], x: F) -> F {
    polynomial.iter().rfold(F::ZERO, |sum, c| sum * x + c)
}

/// What inverse transforms give of the values of (X^n − 1)·Σ h_i·X^(n·i) on the first q cosets.
fn parts<F: NttField>(log_n: u32, log_factor: u32, zeta: F, pieces: &[Vec<F>]) -> Vec<Vec<F>> {
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    let (n, domain) = (1usize << log_n, NttDomain::<F>::new(&cpu, log_n).expect("domain"));
    let omega = (log_n + log_factor..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square());
    let part = |j: usize| {
        let value = |i: usize| {
            let x = zeta * power(omega, j) * power(domain.omega(), i);
            (power(x, n) - F::ONE) * evaluate(&pieces.concat(), x)
        };
        let mut values: Vec<F> = (0..n).map(value).collect();
        domain.inverse(&mut values).expect("on the CPU");
        values
    };
    (0..pieces.len()).map(part).collect()
}

fn gives_pieces<F: NttField>() {
    let zeta = random::<F>(1, 9)[0];
    for (log_n, log_factor, q) in [
        (1, 0, 1),
        (1, 1, 2),
        (3, 2, 3),
        (2, 2, 4),
        (5, 3, 5),
        (6, 3, 8),
        (4, 4, 9),
        (2, 4, 16),
        (2, 5, 17),
        (3, 6, 40),
        (1, 8, 256),
    ] {
        let n = 1usize << log_n;
        let pieces: Vec<Vec<F>> = (0..q).map(|k| column(n, k as u64)).collect();
        let parts = parts(log_n, log_factor, zeta, &pieces);
        let cosets = Cosets::new(log_n, log_factor, zeta, q).expect("cosets");
        let mut host = parts.clone();
        cosets.on_cpu(&mut host.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>()).expect("on the CPU");
        assert!(host == pieces, "{log_n} {q}");
        let place = StridedColumns { first: 1, stride: n + 3, count: q };
        crate::shared::on_devices(|stream| {
            let spread = |columns: &[Vec<F>]| crate::shared::spread(columns, place, 1 + q * (n + 3));
            let mut there = upload(stream, &spread(&parts));
            cosets.enqueue(stream, &mut there, place).expect("enqueue");
            assert!(download(stream, &there) == spread(&pieces), "{log_n} {q}");
        });
    }
}
every_field!(gives_pieces);

/// From polynomials to a quotient's pieces on the device: a·b − c = (X^n − 1)·h, part by part, with ζ the cube root of
/// unity that halo2 takes.
#[test]
fn quotient_of_polynomials() {
    type F = halo2curves::bn256::Fr;
    let (log_n, log_factor, q) = (10, 2, 3);
    let n = 1usize << log_n;
    let [a, b] = [random::<F>(n, 1), random::<F>(n, 2)];
    for accelerator in accelerators_with_devices() {
        let zeta = <F as WithSmallOrderMulGroup<3>>::ZETA;
        let extended = ExtendedDomain::with_coset(&accelerator, log_n, log_factor, zeta).expect("domain");
        let cosets = Cosets::new(log_n, log_factor, zeta, q).expect("cosets");
        let mut stream = accelerator.devices()[0].stream().expect("stream");
        // c has the same values on the subgroup.
        let mut values = [a.clone(), b.clone()];
        for polynomial in &mut values {
            extended.base_domain().forward(polynomial).expect("forward");
        }
        let mut c: Vec<F> = values[0].iter().zip(&values[1]).map(|(a, b)| a * b).collect();
        extended.base_domain().inverse(&mut c).expect("inverse");
        let columns = upload(&mut stream, &[&a[..], &b, &c].concat());
        let mut all = Vec::new();
        for coset in 0..q {
            let on_coset = extended.enqueue_coset_batch(&mut stream, &columns, coset).expect("coset");
            let values = download(&mut stream, &on_coset);
            all.extend((0..n).map(|i| values[i] * values[n + i] - values[2 * n + i]));
        }
        let mut parts = upload(&mut stream, &all);
        extended.base_domain().enqueue(Direction::Inverse, &mut stream, &mut parts).expect("inverse");
        cosets.enqueue(&mut stream, &mut parts, StridedColumns::packed(n, q)).expect("pieces");
        let h = download(&mut stream, &parts);
        let x = random::<F>(1, 3)[0];
        let [a, b, c, h] = [&a[..], &b, &c, &h].map(|polynomial| evaluate(polynomial, x));
        assert_eq!(a * b - c, (power(x, n) - F::one()) * h);
        assert!(
            extended
                .enqueue_coset_batch(&mut stream, &upload(&mut stream_of(&accelerator), &random::<F>(n + 1, 4)), 0)
                .is_err()
        );
    }
}

fn stream_of(accelerator: &Accelerator) -> proofwarp::backend::Stream {
    accelerator.devices()[0].stream().expect("stream")
}

#[test]
fn refuses() {
    type F = halo2curves::bn256::Fr;
    let zeta = F::from(5);
    refused(Cosets::new(20, 9, zeta, 1), "at most the two-adicity 28", "29");
    refused(Cosets::new(4, 1, zeta, 3), "1 to 2", "3");
    refused(Cosets::new(4, 5, zeta, 33), "1 to 32", "33");
    refused(Cosets::new(4, 9, zeta, 257), "1 to 256", "257");
    refused(Cosets::new(4, 1, zeta, 0), "1 to 2", "0");
    refused(Cosets::new(4, 1, F::one(), 1), "outside", "another");
    refused(Cosets::new(4, 1, F::zero(), 1), "nonzero", "another");
    assert_eq!(F::S, 28);
    let cosets = Cosets::new(3, 1, zeta, 2).expect("cosets");
    crate::shared::on_devices(|stream| {
        let mut vector = upload::<F>(stream, &random(16, 1));
        refused(cosets.enqueue(stream, &mut vector, StridedColumns::packed(8, 1)), "2", "1");
        refused(cosets.enqueue(stream, &mut vector, StridedColumns::packed(7, 2)), "at least 8", "7");
        refused(cosets.enqueue(stream, &mut vector, StridedColumns::packed(9, 2)), "within 16", "2 of 8 every 9");
        assert_eq!(stream.stats().launches, 0);
    });
    refused(cosets.on_cpu(&mut [&mut [F::one(); 8][..], &mut [F::one(); 7]]), "8", "7");
}
