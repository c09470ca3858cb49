//! Chunks of the points: how long they are, and in how many bands and rounds each is done.

use std::ops::Range;

use super::super::costs::{BAND, Costs};
use super::super::cut::{Band, Cut, Room};
use super::{MAX_BINS, Plan, Problem, largest_below};

/// A chunk smaller than this costs more in launches than its overlap with the next upload gains.
pub(super) const MIN_STREAMED: usize = 1 << 17;
/// Most shorter chunks that bases from the host begin with.
const RAMP: u32 = 4;

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

/// The k-th chunk before the first whole one. Nothing hides the upload of what comes first, so it is short; kernels take one and
/// a half times as long as uploads, so each chunk is that much longer than the one before.
fn early(chunk: usize, k: u32) -> usize {
    chunk * 2usize.pow(k) / 3usize.pow(k)
}

/// The points of the last so many of these.
fn all_early(chunk: usize, count: u32) -> usize {
    (1..=count).map(|k| early(chunk, k)).sum()
}

/// How many such chunks there are before so many whole ones.
fn ramp(problem: &Problem, chunk: usize, whole: usize) -> u32 {
    let streamed = !problem.resident && chunk < problem.points;
    let long = |k: u32| early(chunk, k) >= MIN_STREAMED;
    let most = if streamed { (1..=RAMP).take_while(|k| long(*k)).count() as u32 } else { 0 };
    let fits = |most: u32| whole * chunk + all_early(chunk, most) <= problem.points;
    (1..=most).rev().find(|most| fits(*most)).unwrap_or(0)
}

impl Plan {
    /// The length of chunks of which there are so many, all of one length but for the first ones where bases come from the host:
    /// a short one at the end has all the bands of a whole one.
    pub(super) fn chunk_of(problem: &Problem, whole: usize) -> usize {
        let even = problem.points.div_ceil(whole).max(1);
        let most = ramp(problem, even, 0);
        // In 3^RAMP-ths of a whole one.
        let of = |k: u32| 2usize.pow(k) * 3usize.pow(RAMP - k);
        let with = |most: u32| {
            let all = whole * 3usize.pow(RAMP) + (1..=most).map(of).sum::<usize>();
            (problem.points * 3usize.pow(RAMP)).div_ceil(all)
        };
        (1..=most).rev().find(|k| early(with(*k), *k) >= MIN_STREAMED).map_or(even, with)
    }

    /// Chunks after the first, shorter ones.
    pub(super) fn whole_chunks(&self) -> usize {
        let early = all_early(self.chunk, self.ramp());
        (self.problem.points - early).div_ceil(self.chunk.max(1)).max(1)
    }

    fn ramp(&self) -> u32 {
        ramp(&self.problem, self.chunk, 1)
    }

    /// Lengths of the chunks, in order, and how many follow one another that have it; the last one may be shorter.
    pub(super) fn lengths(&self) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (chunk, ramp, whole) = (self.chunk, self.ramp(), self.whole_chunks());
        let rest = (self.problem.points - all_early(chunk, ramp)).div_ceil(whole);
        (1..=ramp).rev().map(move |k| (early(chunk, k), 1)).chain([(rest, whole as u64)])
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
        self.lengths().fold(Passes::default(), |all, (points, count)| {
            let shape = self.shape(points);
            let bands = u64::from(self.own_sets().div_ceil(shape.band));
            Passes {
                chunks: all.chunks + count,
                matrices: all.matrices + count * bands,
                waits: all.waits + count * bands * (BAND + round * u64::from(shape.levels)),
                // A device may be left without windows.
                again: all.again + count * bands.saturating_sub(1) * points as u64,
            }
        })
    }

    /// Bytes that kernels wait for before they start.
    pub(super) fn first_upload(&self) -> u64 {
        self.lengths().next().map_or(0, |(points, _)| self.input_bytes(points.min(self.problem.points)))
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
