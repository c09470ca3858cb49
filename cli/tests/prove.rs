//! `proofwarp prove` and `prover` as a user runs them.

mod common;

use std::fs;
use std::process::Output;

use common::{Files, PROOFWARP, PROVER, PUBLIC, command, verifies};

/// Exit codes of the two programs if there is no proof.
const PROGRAMS: [(&str, &[&str], i32); 2] = [(PROOFWARP, &["prove", "--quiet"], 2), (PROVER, &[], 1)];

fn run(files: &Files, program: &str, arguments: &[&str], names: &[&str]) -> Output {
    command(program).args(arguments).args(names).current_dir(files.folder()).output().expect("the program runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn both_programs_write_a_valid_proof_in_silence() {
    for (program, arguments, _) in PROGRAMS {
        let files = Files::new();
        let names = ["multiplier.zkey", "witness.wtns", "proof.json", "public.json"];
        let output = run(&files, program, arguments, &names);
        assert_eq!((output.status.code(), text(&output)), (Some(0), String::new()), "{program}");
        assert!(output.stdout.is_empty(), "{program}");
        let [proof, public] = ["proof.json", "public.json"].map(|name| files.read(name));
        assert_eq!(serde_json::from_str::<Vec<String>>(&public).expect("signals"), PUBLIC);
        assert!(verifies(&proof, &public), "{program}");
        assert_eq!(fs::read_dir(files.folder()).expect("a folder").count(), 5, "{program}: no temporary file is left");
    }
}

/// Each step has a line before it where standard error is no terminal.
#[test]
fn steps_are_said() {
    let files = Files::new();
    let names = ["multiplier.zkey", "witness.wtns", "proof.json", "public.json"];
    let output = run(&files, PROOFWARP, &["prove"], &names);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    let steps = ["reading the files\n", "preparing the key\n", "proving\n", "writing the files\n"];
    let places = steps.map(|line| said.find(line));
    assert!(places[0].is_some() && places.is_sorted(), "{places:?}: {said}");
}

#[test]
fn errors_name_the_file_and_leave_outputs_as_they_are() {
    let files = Files::new();
    files.write("short.wtns", &common::WTNS[..100]);
    files.write("proof.json", b"before");
    for (program, arguments, code) in PROGRAMS {
        for (names, fault) in [
            (["none.zkey", "witness.wtns", "proof.json", "public.json"], "none.zkey: cannot be read: "),
            (
                ["witness.wtns", "witness.wtns", "proof.json", "public.json"],
                "witness.wtns: header of the file: magic: ",
            ),
            (
                ["multiplier.zkey", "short.wtns", "proof.json", "public.json"],
                "short.wtns: section 2 (values): length: ",
            ),
            (
                ["multiplier.zkey", "broken.wtns", "proof.json", "public.json"],
                "broken.wtns: the proof does not verify: ",
            ),
            (
                ["multiplier.zkey", "witness.wtns", "proof.json", "none/public.json"],
                "none/public.json: expected a file",
            ),
            (["multiplier.zkey", "witness.wtns", "proof.json", "./witness.wtns"], "./witness.wtns: expected four "),
        ] {
            let output = run(&files, program, arguments, &names);
            let text = text(&output);
            assert_eq!(output.status.code(), Some(code), "{program} {fault}: {text}");
            let prefix = if program == PROOFWARP { "proofwarp: " } else { "" };
            assert!(text.starts_with(&format!("{prefix}{fault}")) && text.lines().count() == 1, "{fault}: {text}");
            assert_eq!(files.read("proof.json"), "before", "{fault}");
            assert!(!files.path("public.json").exists(), "{fault}");
        }
    }
    assert_eq!(fs::read(files.path("witness.wtns")).expect("the witness"), common::WTNS);
}

#[test]
fn verification_can_be_left_out() {
    let files = Files::new();
    let names = ["multiplier.zkey", "broken.wtns", "proof.json", "public.json"];
    let output = run(&files, PROOFWARP, &["prove", "--no-verify"], &names);
    assert!(output.status.success(), "{}", text(&output));
    assert!(!verifies(&files.read("proof.json"), &files.read("public.json")));
}

#[test]
fn prover_takes_four_arguments() {
    let files = Files::new();
    for names in [&[][..], &["multiplier.zkey", "witness.wtns", "proof.json"], &["--help"], &["a", "b", "c", "d", "e"]]
    {
        let output = run(&files, PROVER, &[], names);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(1), "{names:?}: {text}");
        let usage = "usage: prover <circuit.zkey> <witness.wtns> <proof.json> <public.json>\n";
        assert!(text.ends_with(usage), "{names:?}: {text}");
    }
}

/// A pipe is written to, and stays.
#[cfg(target_os = "linux")]
#[test]
fn outputs_may_be_pipes() {
    let files = Files::new();
    let names = ["multiplier.zkey", "witness.wtns", "proof.json", "/dev/stdout"];
    let output = run(&files, PROVER, &[], &names);
    assert!(output.status.success(), "{}", text(&output));
    let public = String::from_utf8(output.stdout).expect("a text");
    assert!(verifies(&files.read("proof.json"), &public), "{public}");
}
