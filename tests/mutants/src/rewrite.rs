//! Copies of files with all mutants in them, each switched by its number.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::Result;
use crate::candidates::{Candidate, Piece};

/// The switch, which also notes which mutants a test comes by.
const SWITCH: &str = include_str!("switch.rs.txt");

/// Rewrites the range, whose mutants lie in each other or side by side, the outer ones first. A condition is outside what else
/// has its range.
fn range(source: &str, (start, end): (usize, usize), mutants: &[&(u32, Candidate)]) -> String {
    let (mut text, mut at, mut rest) = (String::new(), start, mutants);
    while let Some((first, others)) = rest.split_first() {
        let (number, one) = *first;
        let inside =
            others.iter().take_while(|(_, other)| other.range.1 <= one.range.1 && one.range.0 < one.range.1).count();
        let (inside, after) = others.split_at(inside);
        text += &source[at..one.range.0];
        for piece in &one.pieces {
            match piece {
                Piece::Text(words) => text += &words.replace('@', &format!("crate::mutant::on({number})")),
                Piece::Source(from, to) => {
                    let own: Vec<_> =
                        inside.iter().copied().filter(|(_, one)| *from <= one.range.0 && one.range.1 <= *to).collect();
                    text += &range(source, (*from, *to), &own);
                }
            }
        }
        (at, rest) = (one.range.1, after);
    }
    text + &source[at..end]
}

/// Writes those of the files below `to` that have mutants.
///
/// # Errors
/// A file cannot be read or written.
pub fn files(root: &Path, to: &Path, mutants: &[(u32, Candidate)]) -> Result<()> {
    let mut by_file: BTreeMap<&str, Vec<&(u32, Candidate)>> = BTreeMap::new();
    for one in mutants {
        by_file.entry(&one.1.file).or_default().push(one);
    }
    for (file, mut mutants) in by_file {
        mutants.sort_by_key(|(number, one)| (one.range.0, Reverse(one.range.1), one.kind != "condition", *number));
        let source = fs::read_to_string(root.join(file))?;
        fs::write(to.join(file), range(&source, (0, source.len()), &mutants))?;
    }
    Ok(())
}

/// Adds the module `mutant` to the copy.
///
/// # Errors
/// A file cannot be read or written.
pub fn switch(to: &Path) -> Result<()> {
    let library = to.join("src/lib.rs");
    let text = fs::read_to_string(&library)?;
    fs::write(to.join("src/mutant.rs"), SWITCH)?;
    Ok(fs::write(library, text + "\npub(crate) mod mutant;\n")?)
}
