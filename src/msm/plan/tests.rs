//! Tests of plans.

use std::time::Duration;

use super::chunk_lengths::min_upload_points;
use super::cost_constants::UPLOAD;
use super::mesh::WindowWidths;
use super::search::MIN_WINDOW;
use super::window_bands_and_rounds::MAX_PIECE;
use super::{MsmPlan, PlanInput, WindowAssignment, WindowRange};
use crate::msm::options::MAX_WINDOW;

pub(crate) fn sample_plan_input(points: usize, resident: bool) -> PlanInput {
    let (scalar_bits, full_bits, affine_bytes, copies) = (255, 255, 96, 1);
    let (window, rounds, compute_units, scalars_resident) = (0, None, 132, resident);
    let (half_bits, halved) = (127, None);
    PlanInput {
        points,
        scalar_bits,
        full_bits,
        half_bits,
        halved,
        affine_bytes,
        resident,
        scalars_resident,
        copies,
        window,
        rounds,
        compute_units,
        vectors: 1,
        joined: 1,
        lanes: 1,
        at_once: 1,
        abortable: false,
        own: WindowAssignment::WindowGroup(1),
    }
}

/// Returns plans of up to 2^27 points of three curves, each with the number of groups (1 to 5) that its windows form.
pub(super) fn grouped_plans() -> impl Iterator<Item = (u32, MsmPlan)> {
    let sizes = (1..=27).step_by(2).flat_map(|log_n| [64, 96, 192].map(|affine_bytes| (log_n, affine_bytes)));
    let problems = sizes.flat_map(|size| (1..=5).map(move |groups| (size, groups)));
    problems.map(|((log_n, affine_bytes), groups)| {
        let own = WindowAssignment::WindowGroup(groups);
        (groups, MsmPlan::new(PlanInput { affine_bytes, own, ..sample_plan_input(1 << log_n, true) }))
    })
}

#[test]
fn plans_hold_what_they_promise() {
    for points in (0..28).flat_map(|k| [(1usize << k) - 1, 1 << k, (1 << k) + 1]) {
        for (scalar_bits, resident) in [(64, true), (254, false), (255, true), (255, false)] {
            let plan = MsmPlan::new(PlanInput { scalar_bits, ..sample_plan_input(points.max(1), resident) });
            let bits = if plan.glv { 128 } else { scalar_bits };
            assert!(plan.first_bit(plan.windows) >= bits, "the carry of the top digit has room");
            for band in plan.bands(plan.chunk) {
                let cut = plan.matrix_sizes(plan.chunk.min(points), band);
                assert!(cut.piece <= MAX_PIECE && plan.bucket_count(0).is_multiple_of(plan.segment));
                assert!(u32::try_from(cut.slots(0)).is_ok(), "entries are counted with 32 bits");
            }
            assert!((0..plan.reduced_point_count()).all(|sum| plan.weight_exponent(sum) < plan.first_bit(plan.sets)));
        }
    }
}

/// Returns a plan for each window width, in ascending order, for scalars of `scalar_bits` bits and `copies` copies of
/// each base. The carry takes one more bit.
fn of_every_width(scalar_bits: u32, copies: u32) -> impl Iterator<Item = MsmPlan> {
    let problem = PlanInput { scalar_bits, copies, ..sample_plan_input(1 << 12, true) };
    (MIN_WINDOW..=MAX_WINDOW)
        .map(move |c| MsmPlan::with_widths(problem, 1 << 12, WindowWidths { c, narrow: true }, 0, false))
}

/// Checks that windows are narrow for many points only: few points are not worth the wait for longer rows.
#[test]
fn windows_of_many_points_are_narrow() {
    let narrow = |log_n: u32| {
        let plan = MsmPlan::new(PlanInput { window: 19, halved: Some(false), ..sample_plan_input(1 << log_n, true) });
        plan.sets - plan.wide_windows
    };
    assert_eq!((narrow(24), narrow(26)), (11, 11));
    let few = MsmPlan::new(PlanInput { window: 10, ..sample_plan_input(1 << 14, true) });
    assert_eq!(few.wide_windows, few.sets, "{few:?}");
}

#[test]
fn no_more_windows_are_wide_than_needed() {
    for bits in 0..=254 {
        for plan in of_every_width(bits, 1) {
            let (narrow, held) = (plan.sets - plan.wide_windows, plan.first_bit(plan.windows));
            assert_eq!(held, plan.wide_windows * plan.c + narrow * (plan.c - 1), "{plan:?}");
            assert!(held > bits && (plan.wide_windows == 1 || held == bits + 1), "{bits} bits: {plan:?}");
        }
        assert!(of_every_width(bits, 3).all(|plan| plan.wide_windows == plan.sets), "multiples are of equal windows");
    }
    let plan = of_every_width(255, 1).last().expect("20 bits");
    assert_eq!((plan.wide_windows, plan.sets, plan.own_bucket_count()), (8, 13, (8 << 19) + (5 << 18)));
}

#[test]
fn rows_and_bits_of_windows_follow_one_another() {
    for plan in [8, 64, 254].into_iter().flat_map(|bits| of_every_width(bits, 1).chain(of_every_width(bits, 4))) {
        for set in 0..plan.sets {
            let (rows, low) = (plan.global_first_bucket(set)..plan.global_first_bucket(set + 1), plan.low_bit_count());
            assert_eq!(
                (rows.start >> low << low, rows.len()),
                (rows.start, plan.bucket_count(set) as usize),
                "{plan:?}"
            );
            assert_eq!(plan.first_bit(set + 1), plan.first_bit(set) + plan.window_bits(set), "{plan:?}");
        }
        assert_eq!(
            plan.bands(plan.chunk).map(|band| plan.matrix_sizes(1, band).rows).sum::<u32>(),
            plan.own_bucket_count()
        );
    }
}

/// Checks the weights: a bucket's number in its window follows from its place in a segment and the bits of the
/// segment's index.
#[test]
fn weights_are_those_of_the_buckets() {
    for plan in of_every_width(254, 1).chain(of_every_width(64, 1)).chain(of_every_width(254, 3)) {
        let (sums, last) = (plan.segment_index_bits() + 1, plan.segment_count() - 1);
        for set in 0..plan.sets {
            let weight = |bit: u32| 1u32 << (plan.weight_exponent(set * sums + bit) - plan.first_bit(set));
            let segment = plan.bucket_count(set) / plan.segment_count();
            assert!(segment >= 1 && weight(plan.segment_index_bits()) == 1, "{plan:?}");
            let before = (0..plan.segment_index_bits()).filter(|bit| last >> bit & 1 == 1).map(weight).sum::<u32>();
            assert_eq!(before + segment, plan.bucket_count(set), "{plan:?}");
        }
    }
}

#[test]
fn windows_grow_with_the_number_of_points() {
    let width = |&log_n: &u32| MsmPlan::new(sample_plan_input(1 << log_n, true)).c;
    let widths: Vec<u32> = [10, 16, 20, 24].iter().map(width).collect();
    assert!(widths.is_sorted(), "{widths:?}");
}

#[test]
fn chunks_follow_one_another() {
    for points in [1, 1000, (1 << 20) + 1, 1 << 22, (1 << 24) - 1] {
        for plan in [true, false].map(|resident| MsmPlan::new(sample_plan_input(points, resident))) {
            let ends: Vec<usize> = plan.chunks().map(|range| range.end).collect();
            let starts: Vec<usize> = plan.chunks().map(|range| range.start).collect();
            assert_eq!((starts[0], ends.last()), (0, Some(&points)));
            assert_eq!(starts[1..], ends[..ends.len() - 1], "{points} points");
            assert!(plan.chunks().all(|range| !range.is_empty() && range.len() <= plan.chunk));
        }
    }
}

/// Checks that chunks of streamed bases grow from a short first one, since nothing hides its upload.
#[test]
fn bases_from_the_host_come_in_growing_chunks() {
    let plan = |log_n: u32, resident: bool| MsmPlan::new(sample_plan_input(1 << log_n, resident));
    for log_n in [20, 22, 24, 26] {
        let lengths: Vec<usize> = plan(log_n, false).chunks().map(|range| range.len()).collect();
        let start = min_upload_points(&sample_plan_input(1 << log_n, false));
        assert!(log_n == 20 || lengths[0] < (1 << log_n) / 8, "{lengths:?}");
        assert!(lengths.windows(2).all(|two| 2 * two[1] <= 3 * two[0] + 2 * start), "{lengths:?}");
    }
    assert_eq!([17, 18].map(|log_n| plan(log_n, false).chunks().count()), [1, 1]);
    assert_eq!(plan(24, true).chunks().count(), 1);
}

/// Checks that chunks grow faster if kernels take more time per uploaded point.
#[test]
fn chunks_grow_as_kernels_hide_uploads() {
    let of = |affine_bytes, vectors| {
        let lengths = MsmPlan::new(PlanInput { affine_bytes, vectors, ..sample_plan_input(1 << 24, false) });
        let lengths: Vec<usize> = lengths.chunks().map(|range| range.len()).collect();
        lengths[2] - lengths[1]
    };
    let [bn254, g1, g2, four] = [(64, 1), (96, 1), (192, 1), (96, 4)].map(|(bytes, vectors)| of(bytes, vectors));
    assert_eq!(bn254, min_upload_points(&sample_plan_input(1 << 24, false)));
    assert!(bn254 < g1 && g1 < g2 && g1 < four, "{bn254} {g1} {g2} {four}");
}

/// Checks the time with uploads: a chunk starts once it is uploaded, and hides the next chunk's upload.
#[test]
fn kernels_wait_for_uploads() {
    for log_n in [17, 20, 24] {
        let plan = MsmPlan::new(sample_plan_input(1 << log_n, false));
        let upload = |points: usize| UPLOAD * 128 * points as u64;
        let (first, all) = (upload(plan.chunks().next().expect("a chunk").len()), upload(1 << log_n));
        assert_eq!(plan.overlapped_time(0), all, "{plan:?}");
        assert!(plan.overlapped_time(100 * all).abs_diff(100 * all + first) < 100, "{plan:?}");
        assert!(plan.overlapped_time(all / 100) <= all + all / 100, "{plan:?}");
        let resident = MsmPlan::new(sample_plan_input(1 << log_n, true));
        assert_eq!(resident.overlapped_time(all), all, "{resident:?}");
    }
}

/// Checks that streamed plans have the window bits, rounds and chunks that were fastest on an H200
/// (benches/notes/streams.md, section 33).
#[test]
fn streams_take_the_fastest_of_the_plans_that_were_forced() {
    for (log_n, gib, expected) in [(23, 1, (16, 3, 14)), (24, 4, (17, 4, 8)), (24, 8, (19, 4, 7)), (25, 8, (19, 4, 9))]
    {
        let plan = MsmPlan::fit(sample_plan_input(1 << log_n, false), crate::backend::plannable_bytes(gib << 30))
            .expect("chunks fit");
        assert!(!plan.glv, "{plan:?}");
        assert_eq!((plan.c, plan.levels, plan.chunks().count()), expected, "{plan:?}");
    }
}

/// Checks that a short chunk takes fewer affine rounds, since its rows are short. Its bands must fit into the memory of
/// the bands of full-length chunks.
#[test]
fn short_chunks_take_fewer_rounds_and_bands() {
    let all = MsmPlan::new(sample_plan_input(1 << 24, false));
    for part in [1, 2, 3, 4] {
        let plan = MsmPlan::fit(sample_plan_input(1 << 24, false), all.workspace_bytes() / part).expect("chunks fit");
        let shapes: Vec<_> = plan.chunks().map(|range| plan.chunk_shape(range.len())).collect();
        assert!(shapes.is_sorted_by_key(|shape| shape.levels) && shapes[0].levels < plan.levels, "{shapes:?}");
        assert!(shapes.iter().all(|shape| shape.band >= plan.band), "{shapes:?} of {plan:?}");
        let whole = plan.matrix_sizes(plan.chunk, WindowRange { from: 0, to: plan.band });
        assert!(
            plan.buffer_sizes().entries_or_sums_bytes == whole.entries_or_sums_bytes(),
            "{:?} for {whole:?}",
            plan.buffer_sizes()
        );
    }
}

#[test]
fn what_may_be_aborted_comes_in_short_chunks() {
    for affine_bytes in [64, 96, 128, 192] {
        let problem = PlanInput { affine_bytes, abortable: true, ..sample_plan_input(1 << 26, true) };
        for plan in [1, 3].map(|vectors| MsmPlan::new(join_vectors(vectors, problem))) {
            assert!(
                plan.estimate_chunk_time(plan.chunk) < Duration::from_millis(40),
                "{:?} of {plan:?}",
                plan.estimate_chunk_time(plan.chunk)
            );
        }
    }
}

/// Checks that further vectors over streamed bases add memory only for buckets, and for scalars if these come from the
/// host too.
#[test]
fn several_vectors_share_bases_and_scratch() {
    let of = |vectors, scalars_resident| PlanInput { scalars_resident, vectors, ..sample_plan_input(1 << 20, false) };
    let both = |scalars_resident| {
        let one = MsmPlan::new(of(1, scalars_resident));
        [one, MsmPlan { problem: of(4, scalars_resident), ..one }]
    };
    let [one, four] = both(true);
    assert_eq!(four.workspace_bytes() - one.workspace_bytes(), 3 * 192 * u64::from(one.own_bucket_count()));
    let [one, four] = both(false);
    assert_eq!(
        four.workspace_bytes() - one.workspace_bytes(),
        3 * (192 * u64::from(one.own_bucket_count()) + 2 * 32 * one.chunk as u64)
    );
}

#[test]
fn chunks_shrink_until_they_fit() {
    let all = MsmPlan::new(sample_plan_input(1 << 20, false));
    let half =
        MsmPlan::fit(sample_plan_input(1 << 20, false), all.workspace_bytes() / 8).expect("a smaller chunk fits");
    assert!(half.chunk < all.chunk && half.workspace_bytes() <= all.workspace_bytes() / 8);
    assert!(MsmPlan::fit(sample_plan_input(1 << 20, false), 1000).is_err());
    assert!(MsmPlan::fit(sample_plan_input(1, true), 1 << 30).is_ok());
}

#[test]
fn a_plan_fits_or_says_what_it_needs() {
    for (log_n, resident) in [(12, true), (16, true), (16, false), (20, false)] {
        let all = MsmPlan::new(sample_plan_input(1 << log_n, resident)).workspace_bytes();
        for part in 1..64 {
            let free = all * part / 64;
            match MsmPlan::fit(sample_plan_input(1 << log_n, resident), free) {
                Ok(plan) => assert!(plan.workspace_bytes() <= free, "{} of {free}: {plan:?}", plan.workspace_bytes()),
                Err(needed) => assert!(needed > free, "{needed} of {free}"),
            }
        }
    }
}

/// Checks that bands and full-length chunks are even if memory is short, and that one band less would not fit.
#[test]
fn chunks_and_bands_are_even() {
    for (log_n, resident) in [(20, false), (22, false), (22, true), (24, false)] {
        let all = MsmPlan::new(sample_plan_input(1 << log_n, resident));
        for part in [2, 3, 4, 6, 8] {
            let Ok(plan) = MsmPlan::fit(sample_plan_input(1 << log_n, resident), all.workspace_bytes() / part) else {
                continue;
            };
            let bands = plan.own_set_count().div_ceil(plan.band);
            assert!(plan.own_set_count() > (plan.band - 1) * bands, "even bands: {plan:?}");
            let last: Vec<_> = plan.chunks().skip(plan.chunks().count() - plan.whole_chunk_count()).collect();
            assert!(
                last.iter().all(|range| last[0].len() - range.len() < last.len()),
                "even chunks: {last:?} of {plan:?}"
            );
            let wider = MsmPlan { band: plan.own_set_count().div_ceil((bands - 1).max(1)), ..plan };
            assert!(bands == 1 || wider.workspace_bytes() > all.workspace_bytes() / part, "a band too many: {plan:?}");
        }
    }
}

fn join_vectors(vectors: u32, problem: PlanInput) -> PlanInput {
    PlanInput { vectors, joined: vectors, ..problem }
}

/// Checks that several scalar vectors planned together are one sparse matrix with all bucket sets in one band. It has
/// `vectors` times the rows, bins and entries of one vector's.
#[test]
fn joined_vectors_are_one_matrix() {
    for (log_n, vectors, copies) in [(0, 2, 1), (8, 16, 1), (12, 3, 4), (16, 6, 1), (18, 16, 1), (20, 6, 3), (22, 3, 1)]
    {
        let plan = MsmPlan::new(join_vectors(vectors, PlanInput { copies, ..sample_plan_input(1 << log_n, true) }));
        assert_eq!(
            (plan.band, plan.joined_bucket_count()),
            (plan.own_set_count(), vectors * plan.own_bucket_count()),
            "{plan:?}"
        );
        let (room, one) =
            (plan.buffer_sizes(), MsmPlan { problem: PlanInput { joined: 1, ..plan.problem }, ..plan }.buffer_sizes());
        assert_eq!((room.rows, room.bins), (u64::from(vectors) * one.rows, u64::from(vectors) * one.bins));
        assert_eq!(room.entries, u64::from(vectors) * one.entries);
        assert_eq!(room.bins << plan.low_bit_count(), room.rows, "a vector starts with a bin: {plan:?}");
        assert!(room.slots[0] < 1 << 31 && one.bins <= 4096, "{plan:?}");
        assert!(plan.bucket_count(0).is_multiple_of(plan.segment) && plan.window_bits(plan.sets - 1) > 1, "{plan:?}");
    }
}

/// Checks that the fixed costs of a matrix do not grow with the number of its vectors.
#[test]
fn joined_vectors_wait_once() {
    for log_n in [14, 16, 18, 20] {
        let alone = MsmPlan::new(sample_plan_input(1 << log_n, true));
        let mut least = alone.cost();
        for vectors in [2, 4, 8] {
            let plan = MsmPlan::new(join_vectors(vectors, sample_plan_input(1 << log_n, true)));
            let same = MsmPlan { problem: PlanInput { vectors: 1, joined: 1, ..plan.problem }, ..plan };
            assert_eq!(plan.pass_totals(), same.pass_totals());
            assert!(plan.cost() < u64::from(vectors) * alone.cost(), "{plan:?}");
            assert!(plan.cost() / u64::from(vectors) < least, "{plan:?}");
            least = plan.cost() / u64::from(vectors);
        }
    }
}

/// Checks that vectors of one matrix are divided into chunks of points if memory is short, still with all bucket sets
/// in one band. Too little memory is an error.
#[test]
fn joined_vectors_fit_in_chunks() {
    let all = MsmPlan::new(join_vectors(6, sample_plan_input(1 << 18, true)));
    let mut chunks = Vec::new();
    for part in [2, 4, 8, 16] {
        let plan = MsmPlan::fit(join_vectors(6, sample_plan_input(1 << 18, true)), all.workspace_bytes() / part)
            .expect("chunks fit");
        assert!(
            plan.workspace_bytes() <= all.workspace_bytes() / part && plan.band == plan.own_set_count(),
            "{plan:?}"
        );
        chunks.push(plan.chunk);
    }
    assert!(chunks[3] < all.chunk, "{chunks:?}");
    let requested = MsmPlan::fit(join_vectors(6, sample_plan_input(1 << 18, true)), 1000).expect_err("too little");
    assert!(MsmPlan::fit(join_vectors(6, sample_plan_input(1 << 18, true)), requested).is_ok());
}
