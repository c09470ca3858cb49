//! Prints the source of a kernel module as the compiler gets it: `kernels NAME [cuda|opencl]`, or the names of all
//! modules when none is given. `kernels --write FOLDER` writes the sources of all modules to files.

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use proofwarp::kernels::{Dialect, Module, all_modules, source_text};

/// Prints the source of a kernel module as the compiler gets it, or the names of all modules.
#[derive(Parser)]
struct Options {
    /// The module
    #[arg(value_parser = known)]
    name: Option<String>,
    /// The language that it is written in
    #[arg(value_enum, default_value = "opencl")]
    language: Language,
    /// Write the sources of all modules to this folder, in both languages
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Language {
    Cuda,
    Opencl,
}

fn known(name: &str) -> Result<String, String> {
    let found = all_modules().into_iter().find(|module| module.name == name).map(|module| module.name);
    found.ok_or_else(|| "expected one of those that are printed where none is given".to_owned())
}

impl Options {
    /// What is printed of a module, if anything is.
    fn print(&self, module: &Module) -> Option<String> {
        let dialect = if self.language == Language::Cuda { Dialect::Cuda } else { Dialect::OpenCl };
        match &self.name {
            None => Some(format!("{}\n", module.name)),
            Some(name) => (*name == module.name).then(|| source_text(module, dialect)),
        }
    }
}

/// Writes the sources of all modules into `folder`, as `NAME.cl` and `NAME.cu`.
fn write_all(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for module in all_modules() {
        for (ending, dialect) in [("cl", Dialect::OpenCl), ("cu", Dialect::Cuda)] {
            std::fs::write(folder.join(format!("{}.{ending}", module.name)), source_text(&module, dialect))?;
        }
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let options = Options::parse();
    if let Some(folder) = &options.write {
        return write_all(folder);
    }
    all_modules().iter().filter_map(|module| options.print(module)).for_each(|text| print!("{text}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &[&str]) -> Result<Options, String> {
        Options::try_parse_from([&["kernels"][..], line].concat()).map_err(|error| error.to_string())
    }

    #[test]
    fn unknown_modules_and_languages_are_refused() {
        for (line, expected) in [
            (&["no_such_module"][..], "no_such_module"),
            (&["ntt_bn254_fr", "metal"], "metal"),
            (&["ntt_bn254_fr", "cuda", "more"], "more"),
        ] {
            let error = options(line).err().expect("refused");
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn names_or_one_source() {
        let modules = all_modules();
        let text = |line: &[&str]| {
            let options = options(line).expect("taken");
            modules.iter().filter_map(|module| options.print(module)).collect::<String>()
        };
        let module = &modules[0];
        assert_eq!(text(&[]).lines().count(), modules.len());
        assert_eq!(text(&[&module.name]), source_text(module, Dialect::OpenCl));
        assert_eq!(text(&[&module.name, "cuda"]), source_text(module, Dialect::Cuda));
    }

    #[test]
    fn all_sources_are_written() {
        let folder = std::env::temp_dir().join(format!("proofwarp_kernels_{}", std::process::id()));
        write_all(&folder).expect("written");
        let written = std::fs::read_dir(&folder).expect("folder").count();
        std::fs::remove_dir_all(&folder).expect("removed");
        assert_eq!(written, 2 * all_modules().len());
    }
}
