use ff::Field; use group::{Group,prime::PrimeCurveAffine,Curve}; use rand::SeedableRng;
use blstrs::*; use proofwarp::{*, ntt::NttDomain};
#[test] fn smoke() {
    let acc = Accelerator::from_env().unwrap(); println!("{:?}", acc.devices());
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    for k in [0u32,1,2,3,5,8,9,10,11,13,16] {
        let v: Vec<Scalar> = (0..1<<k).map(|_| Scalar::random(&mut rng)).collect();
        let d = NttDomain::<Scalar>::new(k).unwrap();
        let mut w = v.clone(); let r = d.forward(&acc, &mut w).unwrap(); println!("{r}");
        if k < 9 { for j in 0..1<<k { let mut s = Scalar::ZERO; let x = d.omega().pow_vartime([j as u64]); for i in (0..1<<k).rev() { s = s*x + v[i]; } assert_eq!(s, w[j], "k {k} j {j}"); } }
        let r = d.inverse(&acc, &mut w).unwrap(); println!("{r}"); assert_eq!(v, w, "inverse {k}");
        d.coset_forward(&acc, &mut w).unwrap(); d.coset_inverse(&acc, &mut w).unwrap(); assert_eq!(v, w, "coset {k}");
    }
    for n in [0usize,1,2,3,7,8,100,1000,5000] {
        let scalars: Vec<Scalar> = (0..n).map(|_| Scalar::random(&mut rng)).collect();
        let bytes: Vec<[u8;32]> = scalars.iter().map(|s| s.to_bytes_le()).collect();
        let bases: Vec<G1Affine> = (0..n).map(|_| G1Projective::random(&mut rng).to_affine()).collect();
        let (p, r) = msm::msm(&acc, &bases, &bytes, None).unwrap(); println!("{r}");
        let want: G1Projective = bases.iter().zip(&scalars).map(|(b,s)| b.to_curve()*s).sum(); assert_eq!(p, want, "n {n}");
        let (p, r) = msm::msm(&Accelerator::with_backend(BackendKind::Cpu).unwrap(), &bases, &bytes, None).unwrap(); println!("{r}");
        assert_eq!(p, want, "cpu n {n}");
    }
    for n in [1usize, 50, 300] {
        let scalars: Vec<Scalar> = (0..n).map(|_| Scalar::random(&mut rng)).collect();
        let bytes: Vec<[u8;32]> = scalars.iter().map(|s| s.to_bytes_le()).collect();
        let bases: Vec<G2Affine> = (0..n).map(|_| G2Projective::random(&mut rng).to_affine()).collect();
        let (p, r) = msm::msm(&acc, &bases, &bytes, None).unwrap(); println!("{r}");
        let want: G2Projective = bases.iter().zip(&scalars).map(|(b,s)| b.to_curve()*s).sum(); assert_eq!(p, want, "n {n}");
    }
}
