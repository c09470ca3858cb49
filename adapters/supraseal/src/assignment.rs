//! Holds a circuit's assignment as bellperson passes it, and its parts as slices.

use blstrs::Scalar;
use proofwarp::groth16::Witness;

use crate::error::{Error, check_equal};

/// Points to a circuit's assignment with its evaluated constraints, all in the caller's memory.
///
/// Densities say which variables occur in A or B, one bit each, from the lowest bit of the first word on. Scalars are
/// in Montgomery form.
#[derive(Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "names of the stock crate; the groups are described")]
pub struct Assignment<Scalar> {
    /// Density of the auxiliary variables in A: the bits, their number, and the number of ones.
    pub a_aux_density: *const usize,
    pub a_aux_bit_len: usize,
    pub a_aux_popcount: usize,

    /// Density of the inputs in B: the bits, their number, and the number of ones.
    pub b_inp_density: *const usize,
    pub b_inp_bit_len: usize,
    pub b_inp_popcount: usize,

    /// Density of the auxiliary variables in B: the bits, their number, and the number of ones.
    pub b_aux_density: *const usize,
    pub b_aux_bit_len: usize,
    pub b_aux_popcount: usize,

    /// Values of A, B and C in each constraint, and the number of constraints.
    pub a: *const Scalar,
    pub b: *const Scalar,
    pub c: *const Scalar,
    pub abc_size: usize,

    /// Values of the inputs, and their number. The first input is one.
    pub inp_assignment_data: *const Scalar,
    pub inp_assignment_size: usize,

    /// Values of the auxiliary variables, and their number.
    pub aux_assignment_data: *const Scalar,
    pub aux_assignment_size: usize,
}

/// Points to the assignments of circuits that share their densities, in the caller's memory. Words of a density have
/// type `D`, scalars have type `S`.
#[derive(Debug)]
#[allow(missing_docs, reason = "not for callers: the parameters of the stock crate's function, in groups")]
pub struct SharedDensities<'a, S, D> {
    /// Values of A, B and C, a vector for each circuit.
    pub evaluations: [&'a [*const S]; 3],
    /// Length of such a vector.
    pub constraints: usize,
    /// Values of the inputs, a vector for each circuit, and the length of one.
    pub inputs: (&'a [*const S], usize),
    /// Values of the auxiliary variables, a vector for each circuit, and the length of one.
    pub aux: (&'a [*const S], usize),
    /// Densities of the auxiliary variables in A, the inputs in B, and the auxiliary variables in B.
    pub densities: [&'a [D]; 3],
    /// Number of ones in each density.
    pub ones: [usize; 3],
}

impl<S, D> SharedDensities<'_, S, D> {
    /// Returns the assignments of `circuits` circuits.
    ///
    /// # Panics
    /// Panics if `D` does not have the size of a `usize`, or if the numbers of vectors or words are wrong.
    pub fn assignments(&self, circuits: usize) -> Vec<Assignment<S>> {
        assert_eq!(size_of::<D>(), size_of::<usize>(), "bits come in words of {} bytes", size_of::<usize>());
        let Self { evaluations, inputs: (inputs, input_count), aux: (aux, aux_count), ones, .. } = *self;
        for vectors in evaluations.into_iter().chain([inputs, aux]) {
            assert_eq!(vectors.len(), circuits, "number of vectors");
        }
        let words = |number: usize, length: usize| {
            let (expected, actual) = (length.div_ceil(usize::BITS as usize), self.densities[number].len());
            assert!(actual >= expected, "words of a density: expected {expected}, got {actual}");
            self.densities[number].as_ptr().cast::<usize>()
        };
        let assignment = |number: usize| Assignment {
            a_aux_density: words(0, aux_count),
            a_aux_bit_len: aux_count,
            a_aux_popcount: ones[0],
            b_inp_density: words(1, input_count),
            b_inp_bit_len: input_count,
            b_inp_popcount: ones[1],
            b_aux_density: words(2, aux_count),
            b_aux_bit_len: aux_count,
            b_aux_popcount: ones[2],
            a: evaluations[0][number],
            b: evaluations[1][number],
            c: evaluations[2][number],
            abc_size: self.constraints,
            inp_assignment_data: inputs[number],
            inp_assignment_size: input_count,
            aux_assignment_data: aux[number],
            aux_assignment_size: aux_count,
        };
        (0..circuits).map(assignment).collect()
    }
}

/// Holds the vectors of one assignment as slices, whose lengths were checked against each other.
#[derive(Debug)]
pub(crate) struct AssignmentSlices<'a> {
    pub densities: [Bits<'a>; 3],
    pub witness: Witness<'a, Scalar>,
    pub constraints: usize,
}

/// Borrows `len` bits, stored in words from the lowest bit on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bits<'a> {
    words: &'a [usize],
    len: usize,
}

impl<'a> AssignmentSlices<'a> {
    /// Converts `assignment`, whose scalars have type `S`, to slices. `number` is its index in the batch, for error
    /// messages.
    pub(crate) fn new<S>(number: usize, assignment: &'a Assignment<S>) -> Result<Self, Error> {
        let of = |what: &str| format!("{what} of assignment {number}");
        let it = assignment;
        let bits = |what, words, len, ones| Bits::new(of(what), words, len, ones);
        let scalars = |what, data: *const S, len| checked_slice(of(what), data.cast::<Scalar>(), len);
        let densities = [
            bits("a_aux_density", it.a_aux_density, it.a_aux_bit_len, it.a_aux_popcount)?,
            bits("b_inp_density", it.b_inp_density, it.b_inp_bit_len, it.b_inp_popcount)?,
            bits("b_aux_density", it.b_aux_density, it.b_aux_bit_len, it.b_aux_popcount)?,
        ];
        let inputs = scalars("inp_assignment", it.inp_assignment_data, it.inp_assignment_size)?;
        let aux = scalars("aux_assignment", it.aux_assignment_data, it.aux_assignment_size)?;
        for (density, expected) in densities.iter().zip([aux.len(), inputs.len(), aux.len()]) {
            check_equal(of("bits of a density"), expected, density.len)?;
        }
        let vector = |what, data| scalars(what, data, it.abc_size);
        let evaluations = Some([vector("a", it.a)?, vector("b", it.b)?, vector("c", it.c)?]);
        Ok(Self { densities, witness: Witness { inputs, aux: aux.into(), evaluations }, constraints: it.abc_size })
    }
}

impl<'a> Bits<'a> {
    fn new(what: String, words: *const usize, len: usize, ones: usize) -> Result<Self, Error> {
        let bits = Self { words: checked_slice(what.clone(), words, len.div_ceil(usize::BITS as usize))?, len };
        let actual = bits.words().map(|word| word.count_ones() as usize).sum();
        check_equal(format!("ones in {what}"), ones, actual)?;
        Ok(bits)
    }

    /// Iterates over the words. In the last one, bits behind the first `len` are cleared, whatever the caller has
    /// there.
    pub(crate) fn words(self) -> impl Iterator<Item = usize> + 'a {
        let kept = move |number: usize| (self.len - number * usize::BITS as usize).min(usize::BITS as usize) as u32;
        let mask = move |number| usize::MAX >> (usize::BITS - kept(number));
        self.words.iter().enumerate().map(move |(number, word)| word & mask(number))
    }

    /// Returns the bits as a vector of booleans.
    pub(crate) fn to_vec(self) -> Vec<bool> {
        let bit = |i: usize| self.words[i / usize::BITS as usize] >> (i % usize::BITS as usize) & 1 == 1;
        (0..self.len).map(bit).collect()
    }

    /// Returns the number of bits.
    pub(crate) fn len(self) -> usize {
        self.len
    }
}

/// Returns the caller's `len` elements at `data` as a slice. `what` names them in the error of an invalid pointer or
/// length.
fn checked_slice<'a, T>(what: String, data: *const T, len: usize) -> Result<&'a [T], Error> {
    if len == 0 {
        return Ok(&[]);
    }
    let most = isize::MAX.unsigned_abs() / size_of::<T>().max(1);
    if len > most {
        return Err(Error::invalid(what, format!("at most {most} elements"), len));
    }
    if data.is_null() || !data.is_aligned() {
        return Err(Error::invalid(what, format!("an aligned pointer to {len} elements"), format!("{data:p}")));
    }
    // SAFETY: the pointer is neither null nor misaligned. The interface requires its caller to have `len` elements
    // there, unchanged as long as the assignment is borrowed; the types were checked before.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}
