//! The names and type parameters that halo2-base and snark-verifier-sdk use, as they use them.

use halo2_axiom_gpu::SerdeFormat;
use halo2_axiom_gpu::circuit::{Layouter, SimpleFloorPlanner, Value};
use halo2_axiom_gpu::dev::MockProver;
use halo2_axiom_gpu::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom_gpu::plonk::{
    Advice, AdviceColumns, Circuit, Column, ConstraintSystem, Error, Instance, ProvingKey, Selector,
    create_constraint_system, create_proof, create_proof_from_advice, keygen_pk, keygen_pk2, keygen_vk, verify_proof,
};
use halo2_axiom_gpu::poly::Rotation;
use halo2_axiom_gpu::poly::VerificationStrategy;
use halo2_axiom_gpu::poly::commitment::{ParamsProver, Prover, Verifier};
use halo2_axiom_gpu::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom_gpu::poly::kzg::msm::DualMSM;
use halo2_axiom_gpu::poly::kzg::multiopen::{ProverGWC, ProverSHPLONK, VerifierGWC, VerifierSHPLONK};
use halo2_axiom_gpu::poly::kzg::strategy::{AccumulatorStrategy, GuardKZG};
use halo2_axiom_gpu::transcript::{
    Blake2bRead, Blake2bWrite, Challenge255, TranscriptReadBuffer, TranscriptWriterBuffer,
};
use rand_core::OsRng;

/// b is a², and public.
#[derive(Clone, Default)]
struct Square(u64);

impl Circuit<Fr> for Square {
    type Config = (Selector, [Column<Advice>; 2], Column<Instance>);
    type FloorPlanner = SimpleFloorPlanner;
    type Params = ();

    fn without_witnesses(&self) -> Self {
        Self::default()
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> Self::Config {
        let (on, columns, public) = (meta.selector(), [(); 2].map(|()| meta.advice_column()), meta.instance_column());
        meta.enable_equality(columns[1]);
        meta.enable_equality(public);
        meta.create_gate("square", |meta| {
            let [a, b] = columns.map(|column| meta.query_advice(column, Rotation::cur()));
            vec![meta.query_selector(on) * (a.square() - b)]
        });
        (on, columns, public)
    }

    fn synthesize(&self, (on, columns, public): Self::Config, mut layouter: impl Layouter<Fr>) -> Result<(), Error> {
        let cell = layouter.assign_region(
            || "",
            |mut region| {
                on.enable(&mut region, 0)?;
                region.assign_advice(columns[0], 0, Value::known(Fr::from(self.0)));
                Ok(region.assign_advice(columns[1], 0, Value::known(Fr::from(self.0 * self.0))).cell())
            },
        )?;
        layouter.constrain_instance(cell, public, 0);
        Ok(())
    }
}

type Kzg = KZGCommitmentScheme<Bn256>;

/// As the SDK's: generic in prover and verifier.
fn gen_proof<'params, P, V>(
    params: &'params ParamsKZG<Bn256>,
    pk: &'params ProvingKey<G1Affine>,
    circuit: Result<Square, AdviceColumns<Fr>>,
    instances: &[Vec<Fr>],
) -> Vec<u8>
where
    P: Prover<'params, Kzg>,
    V: Verifier<'params, Kzg, Guard = GuardKZG<'params, Bn256>, MSMAccumulator = DualMSM<'params, Bn256>>,
{
    let instances: Vec<_> = instances.iter().map(Vec::as_slice).collect();
    let mut transcript = Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new());
    match circuit {
        Ok(circuit) => {
            create_proof::<_, P, _, _, _, _>(params, pk, &[circuit], &[&instances], OsRng, &mut transcript)
                .expect("a proof");
        }
        Err(columns) => {
            create_proof_from_advice::<_, P, _, _, _>(params, pk, &instances, columns, OsRng, &mut transcript)
                .expect("a proof");
        }
    }
    let proof = transcript.finalize();
    let mut transcript = Blake2bRead::<_, G1Affine, Challenge255<_>>::init(proof.as_slice());
    let verified = VerificationStrategy::<_, V>::finalize(
        verify_proof::<_, V, _, _, _>(
            params.verifier_params(),
            pk.get_vk(),
            AccumulatorStrategy::new(params.verifier_params()),
            &[&instances],
            &mut transcript,
        )
        .expect("a proof of this form"),
    );
    assert!(verified);
    proof
}

/// Returns `columns` as the feature's advice columns.
#[cfg(feature = "device-advice")]
fn upload(columns: &[Vec<Fr>]) -> AdviceColumns<Fr> {
    use halo2_axiom_gpu::cuda::utils::HALO2_GPU_CTX;
    use openvm_cuda_common::copy::MemCopyH2D;

    columns.iter().map(|column| column.to_device_on(&HALO2_GPU_CTX).expect("a column")).collect()
}

#[test]
fn proofs_verify() {
    let params = ParamsKZG::<Bn256>::setup(4, OsRng);
    let circuit = Square(3);
    let public = vec![vec![Fr::from(9)]];
    MockProver::run(4, &circuit, public.clone()).expect("a run").assert_satisfied();
    let vk = keygen_vk(&params, &circuit).expect("a key");
    let pk = keygen_pk(&params, vk, &circuit).expect("a key");
    let both = keygen_pk2(&params, &circuit, false).expect("a key");
    assert_eq!(pk.to_bytes(SerdeFormat::RawBytes), both.to_bytes(SerdeFormat::RawBytes));
    gen_proof::<ProverSHPLONK<'_, _>, VerifierSHPLONK<'_, _>>(&params, &pk, Ok(circuit.clone()), &public);
    gen_proof::<ProverGWC<'_, _>, VerifierGWC<'_, _>>(&params, &pk, Ok(circuit), &public);
    let mut columns = vec![vec![Fr::zero(); 16]; 2];
    (columns[0][0], columns[1][0]) = (-Fr::from(3), Fr::from(9));
    #[cfg(feature = "device-advice")]
    let columns = upload(&columns);
    gen_proof::<ProverGWC<'_, _>, VerifierGWC<'_, _>>(&params, &pk, Err(columns), &public);
}

/// As openvm-static-verifier's tests call it.
#[test]
#[cfg(feature = "circuit-params")]
fn a_circuit_is_configured_by_its_params() {
    let (system, (_, columns, _)) = create_constraint_system::<G1Affine, Square>(());
    assert_eq!((system.num_advice_columns(), system.num_instance_columns()), (2, 1));
    assert_eq!(columns.map(|column| column.index()), [0, 1]);
}
