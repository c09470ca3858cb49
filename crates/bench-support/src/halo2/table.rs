//! Results as tables.

use comfy_table::Table;
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{Circuit, ConstraintSystem};

use super::outcome::{Outcome, Step};
use crate::table::new;

/// Describes `circuit` with 2^`k` rows by its columns, lookups, gates and degree.
pub fn shape<C: Circuit<Fr>>(circuit: &C, k: u32) -> String {
    let mut system = ConstraintSystem::default();
    C::configure_with_params(&mut system, circuit.params());
    format!(
        "2^{k} rows; {} advice, {} fixed and {} instance columns, {} selectors; {} columns in the permutation, {} lookups, {} \
         gates, degree {}",
        system.num_advice_columns(),
        system.num_fixed_columns(),
        system.num_instance_columns(),
        system.num_selectors(),
        system.permutation().get_columns().len(),
        system.lookups().len(),
        system.gates().len(),
        system.degree(),
    )
}

/// Returns a line for each step, a column for each prover, and ratios to the first.
pub fn times(outcomes: &[Outcome]) -> Table {
    let mut header = vec!["step".to_owned()];
    for (number, outcome) in outcomes.iter().enumerate() {
        header.push(format!("{} (ms)", outcome.prover));
        header.extend((number > 0).then(|| "ratio".to_owned()));
    }
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let columns: Vec<_> = outcomes.iter().map(|outcome| lines(&outcomes[0], outcome)).collect();
    let row = |number: usize| {
        let (step, first) = &columns[0][number];
        let mut row = vec![step.clone(), text(*first, |time| format!("{time:.2}"))];
        for (_, time) in columns[1..].iter().map(|column| &column[number]) {
            let ratio = time.zip(*first).map(|(time, first)| time / first);
            row.extend([text(*time, |time| format!("{time:.2}")), text(ratio, |ratio| format!("{ratio:.2}×"))]);
        }
        row
    };
    new(&header, 1..header.len(), (0..columns.first().map_or(0, Vec::len)).map(row))
}

fn text(value: Option<f64>, format: impl FnOnce(f64) -> String) -> String {
    value.map_or_else(String::new, format)
}

/// Returns the lines of `outcome`, which have the names of the lines of `first`. A step that `outcome` lacks has no
/// time: only the first prover reports the steps of keys.
fn lines(first: &Outcome, outcome: &Outcome) -> Vec<(String, Option<f64>)> {
    let whole = |name: &str, time| std::iter::once((name.to_owned(), Some(time)));
    let steps = |all: &[Step], known: &[Step]| {
        let step = |(number, step): (usize, &Step)| (format!("  {}", step.name), known.get(number).map(|step| step.ms));
        all.iter().enumerate().map(step).collect::<Vec<_>>()
    };
    whole("keygen_vk", outcome.keygen_vk_ms)
        .chain(steps(&first.keygen_vk_steps, &outcome.keygen_vk_steps))
        .chain(whole("keygen_pk", outcome.keygen_pk_ms))
        .chain(steps(&first.keygen_pk_steps, &outcome.keygen_pk_steps))
        .chain(whole("first proof", outcome.first_ms))
        .chain(whole("proof, median of the others", outcome.proof_ms))
        .chain(steps(&first.steps, &outcome.steps))
        .chain(whole("verification", outcome.verify_ms))
        .collect()
}

/// Says how many proofs of `outcome` were verified, and which devices made them.
pub fn verified(outcome: &Outcome) -> String {
    let Outcome { prover, verified, proof_bytes, ran_on, .. } = outcome;
    let memory = outcome.device_bytes.map_or_else(String::new, |bytes| {
        format!(", with at most {:.1} MB of the device's memory", bytes as f64 / 1e6)
    });
    let places = ran_on.join(", ");
    format!("{prover}: {verified} proofs of {proof_bytes} bytes verified by halo2-axiom; made on {places}{memory}")
}
