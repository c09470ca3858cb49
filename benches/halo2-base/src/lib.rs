//! A circuit of halo2-base's: range checks, additions of points and Poseidon, as often as its columns have room.

use bench_support::halo2::Circuits;
use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::halo2curves::group::Curve;
use halo2_axiom::halo2curves::group::prime::PrimeCurveAffine;
use halo2_base::gates::circuit::CircuitBuilderStage;
use halo2_base::gates::circuit::builder::BaseCircuitBuilder;
use halo2_base::gates::{RangeChip, RangeInstructions};
use halo2_base::poseidon::hasher::PoseidonHasher;
use halo2_base::poseidon::hasher::spec::OptimizedPoseidonSpec;
use halo2_base::{AssignedValue, Context};
use halo2_ecc::bn254::{FpChip, FpPoint};
use halo2_ecc::ecc::{EcPoint, EccChip};

/// A circuit of halo2-base's.
pub type Base = BaseCircuitBuilder<Fr>;
type Chip<'a> = FpChip<'a, Fr>;
type Point = EcPoint<Fr, FpPoint<Fr>>;
type Hasher = PoseidonHasher<Fr, 3, 2>;

/// Columns of gates that are about filled.
const COLUMNS: usize = 4;
/// Rows for blinding, and a few more.
const UNUSABLE: usize = 20;
/// Coordinates of points are three limbs of so many bits.
const LIMB_BITS: usize = 88;
/// Bits of the numbers that are checked.
const BITS: usize = 64;

/// The circuit that keys are made of.
fn for_keys(k: u32) -> Base {
    let builder = Base::from_stage(CircuitBuilderStage::Keygen);
    let mut builder = builder.use_k(k as usize).use_lookup_bits(k as usize - 1).use_instance_columns(1);
    fill(&mut builder);
    builder.calculate_params(Some(UNUSABLE));
    builder
}

/// The circuit of a proof: a witness alone, laid out as in the circuit of the key, which has to have been synthesized.
fn for_proofs(keys: &Base) -> Base {
    let mut builder = Base::prover(keys.config_params.clone(), keys.break_points());
    fill(&mut builder);
    builder
}

/// What is public: the last hash.
fn instances(circuit: &Base) -> Vec<Vec<Fr>> {
    circuit.assigned_instances.iter().map(|column| column.iter().map(|cell| *cell.value()).collect()).collect()
}

/// Makes a circuit for keys, and one for proofs that goes by where the synthesis for the keys broke columns.
pub fn circuits(k: u32) -> Circuits<Base> {
    let for_keys = for_keys(k);
    let instances = instances(&for_keys);
    Circuits { for_keys, for_proofs, instances }
}

/// Rounds until the columns have no room for another one, at least one.
fn fill(builder: &mut Base) {
    let (range, room) = (builder.range_chip(), COLUMNS * ((1 << builder.config_params.k) - UNUSABLE));
    let field = Chip::new(&range, LIMB_BITS, 3);
    let context = builder.main(0);
    let mut hasher = Hasher::new(OptimizedPoseidonSpec::new::<8, 57, 0>());
    hasher.initialize_consts(context, &range.gate);
    let chips = Chips { range: &range, points: EccChip::new(&field), hasher };
    let mut state = chips.start(context);
    for round in 0.. {
        let before = context.advice.len();
        state = chips.round(context, round, state);
        let taken = context.advice.len() - before;
        if context.advice.len() + taken > room {
            break;
        }
    }
    let hash = state.hash;
    builder.assigned_instances[0].push(hash);
}

struct Chips<'a> {
    range: &'a RangeChip<Fr>,
    points: EccChip<'a, Fr, Chip<'a>>,
    hasher: Hasher,
}

/// What rounds hand on.
struct State {
    sum: Point,
    /// What the next round adds, beside a number that depends on the round.
    next: G1Affine,
    hash: AssignedValue<Fr>,
}

impl Chips<'_> {
    fn start(&self, context: &mut Context<Fr>) -> State {
        let first = G1Affine::generator();
        let sum = self.points.load_private::<G1Affine>(context, (first.x, first.y));
        State { sum, next: triple(first), hash: context.load_zero() }
    }

    /// Two numbers of 64 bits, the first less than the second, a point more in the sum, and a hash of them and of the last one.
    fn round(&self, context: &mut Context<Fr>, round: u64, state: State) -> State {
        let State { sum, next, hash } = state;
        let [less, greater] = [round, u64::MAX - round].map(|number| context.load_witness(Fr::from(number)));
        for number in [less, greater] {
            self.range.range_check(context, number, BITS);
        }
        self.range.check_less_than(context, less, greater, BITS);
        let point = self.points.load_private::<G1Affine>(context, (next.x, next.y));
        let sum = self.points.add_unequal(context, sum, point, true);
        let inputs = [hash, less, greater, sum.x().limbs()[0]];
        let hash = self.hasher.hash_fix_len_array(context, &self.range.gate, &inputs);
        State { sum, next: triple(next), hash }
    }
}

/// Points that no sum of the ones before is equal to: 1 + 3 + … + 3^i is less than 3^(i+1).
fn triple(point: G1Affine) -> G1Affine {
    (point.to_curve() + point + point).to_affine()
}

#[cfg(test)]
mod tests {
    use halo2_axiom::dev::MockProver;

    use super::*;

    #[test]
    fn holds_for_its_instance_alone_and_fills_its_columns() {
        for k in [10, 12] {
            let circuit = for_keys(k).unknown(false);
            let mut instances = instances(&circuit);
            let run =
                |instances: &Vec<Vec<Fr>>| MockProver::run(k, &circuit, instances.clone()).expect("a run").verify();
            assert_eq!(run(&instances), Ok(()));
            instances[0][0] += Fr::one();
            assert!(run(&instances).is_err());
        }
        let columns = &for_keys(14).config_params;
        assert_eq!(columns.num_advice_per_phase, [COLUMNS]);
        assert!(columns.num_lookup_advice_per_phase[0] > 0);
    }
}
