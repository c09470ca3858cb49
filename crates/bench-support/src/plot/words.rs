//! Names operations, places and sizes in the field's words.

/// Prefix of an operation's name, its words, and what its size counts.
const OPERATIONS: [(&str, &str, &str); 8] = [
    ("groth16", "Groth16", "constraints"),
    ("circom", "Groth16 of circom circuits", "constraints, rounded up"),
    ("halo2", "halo2", "rows"),
    ("msm", "MSM", "points"),
    ("ntt", "NTT", "field elements"),
    ("sumcheck", "Sumcheck", "rows"),
    ("gemm", "Matrix product", "rows and columns"),
    ("gemv", "Matrix times vector", "rows and columns"),
];

/// Words of the names of curves, fields, circuits and places.
const WORDS: [(&str, &str); 12] = [
    ("bls12_381", "BLS12-381"),
    ("bn254", "BN254"),
    ("_g1", " G1"),
    ("_g2", " G2"),
    ("_fr", " Fr"),
    ("x5", "x⁵ chain"),
    ("sha", "SHA-256 chain"),
    ("_d2", ", two columns"),
    ("_d3", ", three columns"),
    ("_d4", ", four columns"),
    ("resident", "on the card"),
    ("host", "from the host"),
];

/// Returns the words for `operation`, and what its size counts.
pub(super) fn operation(name: &str) -> (String, &'static str) {
    let (prefix, rest) = name.split_once('_').unwrap_or((name, ""));
    let known = OPERATIONS.iter().find(|(known, ..)| *known == prefix);
    let (words, size) = known.map_or((prefix, "size"), |(_, words, size)| (*words, *size));
    let rest = plain(rest);
    (if rest.is_empty() { words.to_owned() } else { format!("{words}, {rest}") }, size)
}

/// Returns `name` in plain words.
pub(super) fn plain(name: &str) -> String {
    WORDS.iter().fold(name.to_owned(), |text, (word, plain)| text.replace(word, plain)).replace('_', " ")
}

/// Returns the cards that the lines of `machine` name, and the number of threads.
pub(super) fn machine(machine: &[String]) -> String {
    let card = |line: &String| {
        let name = line.rsplit(": ").next().unwrap_or(line).trim_start_matches("gpu ");
        name.trim_end_matches(" (cuda)").trim_end_matches(" (opencl)").replace("threads", "CPU threads")
    };
    let present = machine.iter().filter(|line| !line.contains(": absent: "));
    let (threads, cards): (Vec<_>, Vec<_>) = present.map(card).partition(|name| name.ends_with("CPU threads"));
    crate::results::unique(cards.into_iter().chain(threads)).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_field() {
        assert_eq!(operation("msm_bls12_381_g1"), ("MSM, BLS12-381 G1".to_owned(), "points"));
        assert_eq!(operation("groth16_x5"), ("Groth16, x⁵ chain".to_owned(), "constraints"));
        assert_eq!(operation("other"), ("other".to_owned(), "size"));
        let lines = [
            "16 threads",
            "proofwarp CUDA: NVIDIA H200",
            "stock: gpu NVIDIA H200",
            "NVIDIA H200 (cuda)",
            "x: absent: y",
        ];
        assert_eq!(machine(&lines.map(str::to_owned)), "NVIDIA H200, 16 CPU threads");
    }
}
