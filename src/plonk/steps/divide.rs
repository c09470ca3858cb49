//! Divides polynomials by X − z, for one root after another.

use rayon::prelude::*;

use super::column_places_and_checks::{StridedColumns, check_disjoint, check_length};
use super::step_launches::{launch_groups, upload_params};
use crate::{Error, Result};
use crate::backend::{Buffer, Stream};
use crate::field::{DeviceVector, NttField};
use crate::kernel_arguments::{In, Out};
use crate::kernels::plonk::{
    DIVIDE_CHAIN, DIVIDE_GROUP, DIVIDE_LOG, DIVIDE_TILE, Divide, DivideCarries, DivideTiles,
};

const STEP: &str = "divide";

/// Returns `base` and its repeated squares, [`DIVIDE_LOG`] elements in all: one for each bit of a work-item's index in
/// its group.
fn repeated_squares<F: NttField>(base: F) -> impl Iterator<Item = F> {
    std::iter::successors(Some(base), |power| Some(power.square())).take(DIVIDE_LOG as usize)
}

/// Returns the powers of `root` that the kernels take as parameters. `share` is the number of tiles for each work-item
/// of the kernel `plonk_divide_carries`.
fn kernel_root_powers<F: NttField>(root: F, share: u32) -> impl Iterator<Item = F> {
    let step = root.pow_vartime([u64::from(DIVIDE_TILE)]);
    let tile = std::iter::once(step).chain(repeated_squares(step.pow_vartime([u64::from(share)])));
    std::iter::once(root).chain(repeated_squares(root.pow_vartime([u64::from(DIVIDE_CHAIN)]))).chain(tile)
}

/// Queues the division of each polynomial at `place`, of `n` coefficients, by ∏ (X − z) over its list of `roots`, in
/// place. Remainders are dropped. The quotient has `n` coefficients too, of which the highest are 0.
///
/// Each coefficient takes some five multiplications and 96 bytes of memory traffic per root. Three launches divide by
/// the first roots of all polynomials, three by the second ones, and so on.
///
/// # Errors
/// - [`Error::Invalid`](crate::Error::Invalid): `n` is 0, or above 2^30.
/// - [`Error::Invalid`](crate::Error::Invalid): polynomials overlap, exceed the vector, or are on another device.
/// - [`Error::Invalid`](crate::Error::Invalid): there are not as many lists of roots as polynomials.
/// - [`Error::OutOfMemory`](crate::Error::OutOfMemory): the device has too little memory.
/// - [`Error::Device`](crate::Error::Device): the driver failed.
///
/// After [`Error::Invalid`](crate::Error::Invalid) and [`Error::OutOfMemory`](crate::Error::OutOfMemory) coefficients
/// are as they were. After another error they are undefined.
pub fn enqueue<F: NttField>(
    stream: &mut Stream,
    n: usize,
    polynomials: &mut DeviceVector<F>,
    place: StridedColumns,
    roots: &[Vec<F>],
) -> Result<()> {
    let length = check_length(STEP, n)?;
    polynomials.wait_before_write(stream)?;
    check_disjoint(STEP, polynomials.len(), place, n)?;
    Error::check_eq(STEP, "lists of roots", place.count, roots.len())?;
    let tiles = length.div_ceil(DIVIDE_TILE);
    let most = roots.iter().map(Vec::len).max().unwrap_or(0);
    let rounds =
        (0..most).map(|round| DivisionRound::new(stream, (place, roots), round, tiles)).collect::<Result<Vec<_>>>()?;
    // All memory is allocated before a coefficient changes; the first round needs most.
    let count = rounds.first().map_or(0, |round| round.polynomials);
    let carries = DeviceVector::scratch(stream, count as usize * tiles as usize)?;
    rounds.iter().try_for_each(|round| round.launch(stream, (length, tiles), polynomials, &carries))
}

/// Describes one round of divisions: each polynomial that has a root left is divided by its next one.
struct DivisionRound {
    polynomials: u64,
    share: u32,
    params: Buffer,
    words_at: u32,
}

impl DivisionRound {
    fn new<F: NttField>(
        stream: &mut Stream,
        (place, roots): (StridedColumns, &[Vec<F>]),
        round: usize,
        tiles: u32,
    ) -> Result<Self> {
        let of_round = |(k, roots): (usize, &Vec<F>)| Some((place.start(k) as u64, *roots.get(round)?));
        let (starts, roots): (Vec<u64>, Vec<F>) = roots.iter().enumerate().filter_map(of_round).unzip();
        let share = tiles.div_ceil(DIVIDE_GROUP);
        let elements: Vec<F> = roots.iter().flat_map(|root| kernel_root_powers(*root, share)).collect();
        let (params, words_at) = upload_params(stream, &elements, &starts)?;
        Ok(Self { polynomials: starts.len() as u64, share, params, words_at })
    }

    fn launch<F: NttField>(
        &self,
        stream: &mut Stream,
        (n, tiles): (u32, u32),
        polynomials: &DeviceVector<F>,
        carries: &DeviceVector<F>,
    ) -> Result<()> {
        let &Self { polynomials: count, share, ref params, words_at } = self;
        let (params, groups) = (In::<F>::new(params), count * u64::from(tiles));
        let (data, carries) = (polynomials.buffer(), carries.buffer());
        let sums = DivideTiles { n, tiles, params, words_at, data: In::new(data), carries: Out::new(carries) };
        launch_groups::<F, _>(stream, groups, sums)?;
        let behind = DivideCarries { tiles, share, params, carries: Out::new(carries) };
        launch_groups::<F, _>(stream, count, behind)?;
        let divide = Divide { n, tiles, params, words_at, data: Out::new(data), carries: In::new(carries) };
        launch_groups::<F, _>(stream, groups, divide)
    }
}

/// Divides each of `polynomials`, which may be of any lengths, by ∏ (X − z) over its list of `roots`, in place.
/// Remainders are dropped. A quotient has as many coefficients as its polynomial, of which the highest are 0.
///
/// # Errors
/// - [`Error::Invalid`](crate::Error::Invalid): there are not as many lists of roots as polynomials.
pub fn on_cpu<F: NttField>(polynomials: &mut [&mut [F]], roots: &[Vec<F>]) -> Result<()> {
    Error::check_eq(STEP, "lists of roots", polynomials.len(), roots.len())?;
    let divide_by = |polynomial: &mut [F], root: F| {
        polynomial.iter_mut().rev().fold(F::ZERO, |carry, coefficient| {
            let next = *coefficient + carry * root;
            *coefficient = carry;
            next
        });
    };
    polynomials.par_iter_mut().zip(roots).for_each(|(polynomial, roots)| {
        for root in roots {
            divide_by(polynomial, *root);
        }
    });
    Ok(())
}
