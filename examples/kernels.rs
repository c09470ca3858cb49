//! Prints the source of a kernel module as the compiler gets it: `kernels NAME [cuda|opencl]`, or the
//! names of all modules when none is given.

use clap::{Parser, ValueEnum};
use proofwarp::kernels::{Dialect, Module, modules};

/// Prints the source of a kernel module as the compiler gets it, or the names of all modules.
#[derive(Parser)]
struct Options {
    /// The module
    #[arg(value_parser = known)]
    name: Option<String>,
    /// The language that it is written in
    #[arg(value_enum, default_value = "opencl")]
    language: Language,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Language {
    Cuda,
    Opencl,
}

fn known(name: &str) -> Result<String, String> {
    let found = modules().into_iter().find(|module| module.name == name).map(|module| module.name);
    found.ok_or_else(|| "expected one of those that are printed where none is given".to_owned())
}

impl Options {
    /// What is printed of a module, if anything is.
    fn print(&self, module: &Module) -> Option<String> {
        let dialect = if self.language == Language::Cuda { Dialect::Cuda } else { Dialect::OpenCl };
        match &self.name {
            None => Some(format!("{}\n", module.name)),
            Some(name) => (*name == module.name).then(|| module.source(dialect)),
        }
    }
}

fn main() {
    let options = Options::parse();
    modules().iter().filter_map(|module| options.print(module)).for_each(|text| print!("{text}"));
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
    fn a_module_is_printed_in_its_language() {
        let text = |line: &[&str]| {
            let options = options(line).expect("options");
            modules().iter().filter_map(|module| options.print(module)).collect::<String>()
        };
        let module = &modules()[0];
        assert_eq!(text(&[&module.name]), module.source(Dialect::OpenCl));
        assert_eq!(text(&[&module.name, "cuda"]), module.source(Dialect::Cuda));
        assert_eq!(text(&[]).lines().count(), modules().len());
    }
}
