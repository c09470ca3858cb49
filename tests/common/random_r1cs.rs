//! Satisfied constraint systems drawn at random: every kind of row, and variables that occur in A only, in B only, in both
//! or in neither.

use std::sync::Arc;

use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;
use rand::Rng;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What a system is drawn from.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// Inputs whose values are free.
    pub inputs: usize,
    /// Auxiliary variables whose values are free.
    pub secrets: usize,
    /// Constraints, but for those that variables which occur nowhere need.
    pub constraints: usize,
    /// Whether the constant one occurs; else a witness of zeros satisfies all constraints.
    pub constants: bool,
    /// Whether inputs occur in rows at all.
    pub inputs_in_rows: bool,
    /// Of everything else.
    pub seed: u64,
}

/// A sum of coefficients times variables. These are numbered as they are allocated, after the constant one.
type Terms = Vec<(Scalar, usize)>;

/// A constraint A·B = C, where C may have a new variable, which takes the value that satisfies it.
#[derive(Debug, Default)]
struct Row {
    terms: [Terms; 3],
    output: Option<Output>,
}

#[derive(Debug, Clone, Copy)]
struct Output {
    coefficient: Scalar,
    is_input: bool,
}

/// A system.
#[derive(Debug, Default)]
struct System {
    /// Free variables that are inputs, and those that are not.
    free: [usize; 2],
    rows: Vec<Row>,
}

/// A system with values of its free variables.
#[derive(Debug, Clone)]
pub struct Random {
    system: Arc<System>,
    values: Vec<Scalar>,
}

impl Recipe {
    /// Systems of the same constraints, the first of which has a witness of zeros if `zeros`, others one that is random.
    pub fn circuits(self, count: usize, zeros: bool) -> Vec<Random> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let system = Arc::new(Builder::new(self, &mut rng).build());
        let free = self.inputs + self.secrets;
        let mut value = |zero| if zero { Scalar::ZERO } else { scalar(&mut rng) };
        let mut values = |number| (0..free).map(|_| value(zeros && number == 0)).collect();
        (0..count).map(|number| Random { system: system.clone(), values: values(number) }).collect()
    }
}

/// Zero, small ones, their negatives, and any.
fn scalar(rng: &mut ChaCha8Rng) -> Scalar {
    match rng.gen_range(0..6) {
        0 => Scalar::ZERO,
        1 => Scalar::ONE,
        2 => -Scalar::ONE,
        3 => Scalar::from(rng.gen_range(0..256)),
        _ => Scalar::random(rng),
    }
}

fn not_zero(rng: &mut ChaCha8Rng) -> Scalar {
    let scalar = scalar(rng);
    if scalar.is_zero_vartime() { Scalar::ONE } else { scalar }
}

/// A system being drawn.
struct Builder<'a> {
    recipe: Recipe,
    rng: &'a mut ChaCha8Rng,
    system: System,
    /// Variables that may occur in A, in B and in C.
    pools: [Vec<usize>; 3],
    variables: usize,
    /// Free auxiliary variables that occur nowhere yet. Setups refuse such.
    unused: Vec<usize>,
}

impl<'a> Builder<'a> {
    fn new(recipe: Recipe, rng: &'a mut ChaCha8Rng) -> Self {
        let (free, pools) = ([recipe.inputs, recipe.secrets], [const { Vec::new() }; 3]);
        let system = System { free, ..System::default() };
        let mut builder = Self { recipe, rng, system, pools, variables: 0, unused: Vec::new() };
        builder.add(true, recipe.constants);
        (0..recipe.inputs).for_each(|_| builder.add(true, recipe.inputs_in_rows));
        (0..recipe.secrets).for_each(|_| builder.add(false, true));
        builder.unused = (1 + recipe.inputs..builder.variables).collect();
        builder
    }

    /// Numbers a new variable, and chooses where it may occur.
    fn add(&mut self, is_input: bool, occurs: bool) {
        let occurs = occurs && (!is_input || self.recipe.inputs_in_rows);
        let in_a_and_b: u32 = self.rng.gen_range(0..4);
        for (place, pool) in self.pools.iter_mut().enumerate() {
            if occurs && (place == 2 || in_a_and_b >> place & 1 == 1) {
                pool.push(self.variables);
            }
        }
        self.variables += 1;
    }

    fn build(mut self) -> System {
        for _ in 0..self.recipe.constraints {
            let row = self.row();
            self.push(row);
        }
        while !self.unused.is_empty() {
            let mut row = self.product();
            row.terms[2] = self.unused.iter().take(3).map(|variable| (Scalar::ONE, *variable)).collect();
            self.push(row);
        }
        self.system
    }

    fn push(&mut self, row: Row) {
        let coefficient = |terms: &Terms, variable| -> Scalar {
            terms.iter().filter(|(_, other)| *other == variable).map(|(coefficient, _)| coefficient).sum()
        };
        let occurs = |variable| row.terms.iter().any(|terms| coefficient(terms, variable) != Scalar::ZERO);
        self.unused.retain(|variable| !occurs(*variable));
        if let Some(output) = row.output {
            self.add(output.is_input, true);
        }
        self.system.rows.push(row);
    }

    fn row(&mut self) -> Row {
        let nothing = Terms::new();
        match self.rng.gen_range(0..10) {
            0 => Row::default(),
            // One factor is zero, and so is C.
            1 => Row { terms: [self.terms(0), nothing.clone(), nothing], output: None },
            2 => Row { terms: [nothing.clone(), self.terms(1), nothing], output: None },
            // Terms that are there, with coefficients of zero.
            3 => {
                let zeros = [0, 1, 2].map(|place| self.terms(place).iter().map(|(_, v)| (Scalar::ZERO, *v)).collect());
                Row { terms: zeros, output: None }
            }
            _ => self.product(),
        }
    }

    fn product(&mut self) -> Row {
        let terms = [0, 1, 2].map(|place| self.terms(place));
        let output = Output { coefficient: not_zero(self.rng), is_input: self.rng.gen_bool(0.05) };
        Row { terms, output: Some(output) }
    }

    /// Up to four terms, or now and then many; a variable may occur twice.
    fn terms(&mut self, place: usize) -> Terms {
        let pool = &self.pools[place];
        let most = if self.rng.gen_bool(0.02) { 60 } else { 5 };
        let count = if pool.is_empty() { 0 } else { self.rng.gen_range(0..most) };
        (0..count).map(|_| (scalar(self.rng), pool[self.rng.gen_range(0..pool.len())])).collect()
    }
}

impl Random {
    /// The inputs' values behind the constant one.
    pub fn inputs(&self) -> Vec<Scalar> {
        let mut inputs = Vec::new();
        let free = self.values[..self.system.free[0]].iter().copied();
        inputs.extend(free);
        let mut values = self.free_values();
        for row in &self.system.rows {
            if let Some(output) = row.output {
                let value = row.output_value(output, &values);
                values.push(value);
                inputs.extend(output.is_input.then_some(value));
            }
        }
        inputs
    }

    fn free_values(&self) -> Vec<Scalar> {
        std::iter::once(Scalar::ONE).chain(self.values.iter().copied()).collect()
    }
}

impl Row {
    fn output_value(&self, output: Output, values: &[Scalar]) -> Scalar {
        let sum = |terms: &Terms| terms.iter().map(|(coefficient, variable)| coefficient * values[*variable]).sum();
        let [a, b, c]: [Scalar; 3] = self.terms.each_ref().map(sum);
        (a * b - c) * output.coefficient.invert().expect("not zero")
    }
}

fn combination(terms: &Terms, variables: &[Variable]) -> LinearCombination<Scalar> {
    let add = |sum: LinearCombination<Scalar>, (coefficient, variable): &(Scalar, usize)| {
        sum + (*coefficient, variables[*variable])
    };
    terms.iter().fold(LinearCombination::zero(), add)
}

impl Circuit<Scalar> for Random {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut values = self.free_values();
        let mut variables = vec![CS::one()];
        for (number, value) in self.values.iter().enumerate() {
            let is_input = number < self.system.free[0];
            variables.push(allocate(cs, is_input, *value)?);
        }
        for row in &self.system.rows {
            let [a, b, mut c] = row.terms.each_ref().map(|terms| combination(terms, &variables));
            if let Some(output) = row.output {
                let value = row.output_value(output, &values);
                let variable = allocate(cs, output.is_input, value)?;
                values.push(value);
                variables.push(variable);
                c = c + (output.coefficient, variable);
            }
            cs.enforce(|| "row", |_| a, |_| b, |_| c);
        }
        Ok(())
    }
}

fn allocate<CS: ConstraintSystem<Scalar>>(
    cs: &mut CS,
    is_input: bool,
    value: Scalar,
) -> Result<Variable, SynthesisError> {
    if is_input { cs.alloc_input(|| "input", || Ok(value)) } else { cs.alloc(|| "auxiliary", || Ok(value)) }
}
