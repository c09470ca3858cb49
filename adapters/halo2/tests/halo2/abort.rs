//! A question whether to stop, answered with yes at any time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use proofwarp::plonk::AbortHook;
use proofwarp_halo2::Options;

use crate::described::Shape;
use crate::devices::{Expected, reason, stride};

#[test]
fn stops_at_any_question() {
    let expected = Expected::new(&Shape::base(), 6, 1);
    let mut stops = 0;
    for questions in (0_u32..).step_by(stride(31, 13)) {
        let left = AtomicU32::new(questions);
        let says_stop =
            move || left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err();
        let options = Options { abort: Some(AbortHook::new(says_stop)), ..Options::default() };
        match expected.prove(&options) {
            Ok(proof) => {
                assert!(proof == expected.proof);
                break;
            }
            Err(error) => assert!(matches!(reason(&error), proofwarp::Error::Aborted), "{error}"),
        }
        stops += 1;
        assert!(expected.prove(&Options::default()).expect("a retry") == expected.proof);
    }
    assert!(stops > 2, "{stops} stops");
}

#[test]
fn a_panic_is_the_callers() {
    let expected = Expected::new(&Shape::base(), 6, 1);
    let options = Options { abort: Some(AbortHook::new(|| panic!("the hook's own words"))), ..Options::default() };
    let panic = catch_unwind(AssertUnwindSafe(|| expected.prove(&options))).expect_err("a panic");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the hook's own words"));
}
