//! Chunks of the points: how long they are, and in how many bands and rounds each is done.

use std::ops::Range;

use super::super::costs::{Costs, FIRST_MATRIX, HALVED_MATRIX, MATRIX, UPLOAD};
use super::super::cut::{Band, Cut, Room};
use super::{MAX_BINS, Plan, Problem, largest_below};

/// Most shorter chunks that bases from the host begin with.
const RAMP: usize = 6;
/// Points that are uploaded while kernels wait for one another, however few points they have.
const START: usize = 3 << 16;
/// Where there are more, one part in so many is uploaded while kernels visit each bucket: the more points, the more buckets.
const VISITED: usize = 128;
/// Batched affine additions that take as long as all that a chunk's kernels do for a point.
const ADDITIONS: u64 = 15;

/// How a chunk of some length is done: sets at a time, and rounds of batched affine additions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub band: u32,
    pub levels: u32,
}

/// What all chunks are together: their number, that of their bands, each of which has a matrix, what the model says that kernels
/// wait for however little there is to do, and scalars that are looked at again, in bands after their chunk's first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Passes {
    pub chunks: u64,
    pub matrices: u64,
    pub waits: u64,
    pub again: u64,
}

/// Points that are uploaded while the kernels do a hundred.
fn uploaded(problem: &Problem) -> usize {
    let kernels = ADDITIONS * Costs::of(problem.affine_bytes).affine * u64::from(problem.vectors);
    (100 * kernels / (UPLOAD * problem.input_bytes(1)).max(1)).clamp(100, 400) as usize
}

/// Points that are uploaded in the time that a chunk takes however short it is.
pub(super) fn start(problem: &Problem) -> usize {
    START.max(problem.points / VISITED)
}

/// Chunks before the first whole one, backwards, where bases come from the host. Nothing hides the upload of what comes first, so
/// that is short; the kernels of each take as long as the upload of the next.
fn all_early(problem: &Problem, chunk: usize) -> impl Iterator<Item = usize> + use<> {
    let (uploaded, start, most) = (uploaded(problem), start(problem), if problem.resident { 0 } else { RAMP });
    let before = move |length: &usize| Some(length.saturating_sub(start) * 100 / uploaded);
    std::iter::successors(before(&chunk), before).take(most)
}

/// Those that gain more than they take, and leave half a chunk for whole ones.
fn early(problem: &Problem, chunk: usize) -> Vec<usize> {
    let left = if chunk < problem.points { problem.points - chunk / 2 } else { 0 };
    let start = start(problem);
    let running = |sum: &mut usize, length: usize| {
        *sum += length;
        (length >= start && *sum <= left).then_some(length)
    };
    all_early(problem, chunk).scan(0, running).collect()
}

impl Plan {
    /// The length of chunks of which there are so many, all of one length but for the first ones where bases come from the host:
    /// a short one at the end has all the bands of a whole one.
    pub(super) fn chunk_of(problem: &Problem, whole: usize) -> usize {
        let even = problem.points.div_ceil(whole).max(1);
        let of = |chunk: usize, most: usize| whole * chunk + all_early(problem, chunk).take(most).sum::<usize>();
        let end = u32::try_from(even).unwrap_or(u32::MAX);
        let with = |most: usize| 1 + largest_below(end, |chunk| of(chunk as usize, most) < problem.points) as usize;
        let worth_it = |(most, chunk): &(usize, usize)| early(problem, *chunk).len() >= *most;
        (1..=RAMP).rev().map(|most| (most, with(most))).find(worth_it).map_or(even, |(_, chunk)| chunk)
    }

    /// Chunks after the first, shorter ones.
    pub(super) fn whole_chunks(&self) -> usize {
        self.lengths().last().map_or(1, |(_, count)| count as usize)
    }

    /// Lengths of the chunks, in order, and how many follow one another that have it; the last one may be shorter.
    pub(super) fn lengths(&self) -> impl Iterator<Item = (usize, u64)> + use<> {
        let early = early(&self.problem, self.chunk);
        let rest = self.problem.points - early.iter().sum::<usize>();
        let whole = rest.div_ceil(self.chunk.max(1)).max(1);
        early.into_iter().rev().map(|length| (length, 1)).chain([(rest.div_ceil(whole), whole as u64)])
    }

    /// The chunks of the points.
    pub fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let points = self.problem.points;
        let each = self.lengths().flat_map(|(length, count)| (0..count).map(move |_| length));
        let next = move |start: &mut usize, length: usize| {
            let range = *start..(*start + length).min(points);
            *start = range.end;
            Some(range)
        };
        each.scan(0, next).filter(|range| !range.is_empty())
    }

    /// All chunks together.
    pub(super) fn passes(&self) -> Passes {
        let round = Costs::of(self.problem.affine_bytes).round;
        let matrix = if self.halved { MATRIX + HALVED_MATRIX } else { MATRIX };
        // The first matrix is one like any other, and takes this more.
        let first = Passes { waits: FIRST_MATRIX - matrix, ..Passes::default() };
        self.lengths().fold(first, |all, (points, count)| {
            let shape = self.shape(points);
            let bands = u64::from(self.own_sets().div_ceil(shape.band));
            Passes {
                chunks: all.chunks + count,
                matrices: all.matrices + count * bands,
                waits: all.waits + count * bands * (matrix + round * u64::from(shape.levels)),
                // A device may be left without windows.
                again: all.again + count * bands.saturating_sub(1) * points as u64,
            }
        })
    }

    /// What chunks take whose kernels alone take so long: each starts when it is uploaded and the one before is done.
    pub(super) fn behind_uploads(&self, kernels: u64) -> u64 {
        let weight = |points: usize| (points + start(&self.problem)) as u128;
        let lengths: Vec<_> = self.lengths().collect();
        let all: u128 = lengths.iter().map(|(points, count)| u128::from(*count) * weight(*points)).sum();
        let (_, done) = lengths.into_iter().fold((0, 0), |(there, done): (u64, u64), (points, count)| {
            let upload = UPLOAD * self.problem.input_bytes(points.min(self.problem.points));
            let kernels = (u128::from(kernels) * weight(points) / all) as u64;
            let last = there + count * upload;
            (last, (done.max(there + upload) + count * kernels).max(last + kernels))
        });
        done
    }

    /// How a chunk of so many points is done. A shorter one has shorter rows and does without a round for each time that it is
    /// half as long, and in as few bands as the others' memory does for.
    pub(super) fn shape(&self, points: usize) -> Shape {
        let whole = Shape { band: self.band, levels: self.levels };
        if points >= self.chunk || self.joined() > 1 {
            return whole;
        }
        let levels = self.levels.saturating_sub((self.chunk / points.max(1)).ilog2());
        if self.band == self.own_sets() {
            return Shape { levels, ..whole };
        }
        let room = Room::of(&self.widest_cut(self.chunk, whole));
        let fits = |band: u32| {
            let cut = self.widest_cut(points, Shape { band, levels });
            band <= self.band || (room.has_slots_for(&cut) && u64::from(cut.bins) <= MAX_BINS)
        };
        let bands = self.own_sets().div_ceil(largest_below(self.own_sets() + 1, fits));
        Shape { band: self.own_sets().div_ceil(bands), levels }
    }

    /// The bands of sets of a chunk of so many points, one after the other.
    pub fn bands(&self, points: usize) -> impl Iterator<Item = Band> + use<> {
        let (sets, band) = (self.first_set..self.end_set, self.shape(points).band);
        sets.clone().step_by(band as usize).map(move |from| Band { from, to: sets.end.min(from + band) })
    }

    /// The largest cut of chunks of so many points: as many sets as a band has, of which as many are wide as can be among so
    /// many, as among the first.
    fn widest_cut(&self, points: usize, Shape { band, levels }: Shape) -> Cut {
        self.cut_in(points.min(self.problem.points), Band { from: 0, to: band }, levels)
    }

    /// By what memory is allocated.
    pub fn room(&self) -> Room {
        let whole = Room::of(&self.widest_cut(self.chunk, Shape { band: self.band, levels: self.levels }));
        let cuts = self.lengths().map(|(points, _)| self.widest_cut(points, self.shape(points)));
        cuts.fold(whole, |room, cut| room.max(Room::of(&cut)))
    }
}
