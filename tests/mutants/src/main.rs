//! Draws mutants of the library, and writes a copy of it that has them all.
//!
//! usage: proofwarp-mutants draw ROOT SITES             writes the table of a new draw
//!        proofwarp-mutants list ROOT                   prints all sites that could be drawn or named
//!        proofwarp-mutants write ROOT SITES DEST IDS   rewrites the files below DEST/src with those mutants (numbers with commas)

mod candidates;
mod draw;
mod modules;
mod returns;
mod rewrite;
mod table;

use std::path::Path;
use std::{env, fs, process};

use candidates::Candidate;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn draw_to(root: &Path, sites: &Path) -> Result<()> {
    let sample = draw::draw(&modules::candidates(root)?);
    fs::write(sites, table::written(&sample))?;
    println!("{} mutants drawn", sample.len());
    Ok(())
}

fn list(root: &Path) -> Result<()> {
    for (module, found) in modules::candidates(root)? {
        let drawn = found.into_iter().map(|candidate| draw::Drawn { number: 0, module: module.name, candidate });
        print!("{}", table::written(&drawn.collect::<Vec<_>>()));
    }
    Ok(())
}

/// Prints the numbers of mutants whose site is no longer there.
fn write_to(root: &Path, sites: &Path, to: &Path, numbers: &str) -> Result<()> {
    let numbers: Vec<u32> = numbers.split(',').map(str::parse).collect::<std::result::Result<_, _>>()?;
    let all: Vec<Candidate> = modules::candidates(root)?.into_iter().flat_map(|(_, found)| found).collect();
    let (found, gone) = table::find(root, &fs::read_to_string(sites)?, &numbers, all)?;
    rewrite::files(root, to, &found)?;
    rewrite::switch(to)?;
    for number in gone {
        println!("{number}");
    }
    Ok(())
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["draw", root, sites] => draw_to(root.as_ref(), sites.as_ref()),
        ["list", root] => list(root.as_ref()),
        ["write", root, sites, to, numbers] => write_to(root.as_ref(), sites.as_ref(), to.as_ref(), numbers),
        _ => Err("usage: proofwarp-mutants draw ROOT SITES | list ROOT | write ROOT SITES DEST IDS".into()),
    };
    if let Err(error) = done {
        eprintln!("proofwarp-mutants: {error}");
        process::exit(1);
    }
}
