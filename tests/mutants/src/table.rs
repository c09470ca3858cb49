//! The table of mutants: tabs between columns, a line each.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::Result;
use crate::candidates::{Candidate, Piece};
use crate::draw::Drawn;

const HEAD: &str = "id\tmodule\tfile\tline\tfunction\tkind\toccurrence\tbefore\tafter";

pub fn written(sample: &[Drawn]) -> String {
    let mut text = format!("{HEAD}\n");
    for Drawn { number, module, candidate: one } in sample {
        let (line, occurrence) = (one.line.to_string(), one.occurrence.to_string());
        let place = [&number.to_string(), *module, &one.file, &line, &one.function].join("\t");
        let change = [one.kind, &occurrence, &one.before, &one.after].join("\t");
        text += &[&place, "\t", &change, "\n"].concat();
    }
    text
}

/// Candidates with their mutants' numbers.
pub type Numbered = Vec<(u32, Candidate)>;

/// What finds a site again once lines have moved: all columns but the line.
fn key(one: &Candidate) -> String {
    format!("{}\t{}\t{}\t{}\t{}\t{}", one.file, one.function, one.kind, one.occurrence, one.before, one.after)
}

/// An expression that the table gives another for, as the file has it.
fn expression(root: &Path, row: &[&str]) -> Option<Candidate> {
    let &[file, function, kind, occurrence, before, after] = row else { return None };
    let source = fs::read_to_string(root.join(file)).ok()?;
    let occurrence = occurrence.parse().ok()?;
    let (start, _) = source.match_indices(before).nth(occurrence)?;
    let line = source[..start].lines().count();
    let (file, function) = (file.to_string(), function.to_string());
    let pieces = vec![Piece::Text(format!("(if @ {{ {after} }} else {{ {before} }})"))];
    let (before, after, range) = (before.to_string(), after.to_string(), (start, start + before.len()));
    (kind == "expression").then_some(Candidate {
        file,
        line,
        function,
        kind: "expression",
        occurrence,
        before,
        after,
        range,
        pieces,
    })
}

/// Returns the candidates with those numbers, and the numbers whose site is no longer there.
///
/// # Errors
/// A line of the table has too few columns.
pub fn find(root: &Path, table: &str, numbers: &[u32], all: Vec<Candidate>) -> Result<(Numbered, Vec<u32>)> {
    let mut by_key: HashMap<String, Candidate> = all.into_iter().map(|one| (key(&one), one)).collect();
    let (mut found, mut gone) = (Vec::new(), Vec::new());
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [number, _, file, _, rest @ ..] = &columns[..] else { return Err(format!("sites: {line}").into()) };
        let number = number.parse()?;
        if !numbers.contains(&number) {
            continue;
        }
        let found_in = || expression(root, &[&[*file], rest].concat());
        match by_key.remove(&format!("{file}\t{}", rest.join("\t"))).or_else(found_in) {
            Some(one) => found.push((number, one)),
            None => gone.push(number),
        }
    }
    Ok((found, gone))
}
