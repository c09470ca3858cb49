//! `xtask kernels NAME [cuda|opencl]` prints the source of a kernel module as the compiler gets it, or the names of all
//! modules. `--write FOLDER` writes the sources of all modules to files, and `--tables` prints the tables of docs/architecture.md.

use std::path::{Path, PathBuf};

use bench_support::Failure;
use clap::{Args, ValueEnum};
use proofwarp::kernels::spec::{CurveSpec, Domain, FieldKind, FieldSpec, KernelFamily, Target};
use proofwarp::kernels::{Dialect, FieldDescription, Module, all_modules, registry, source_text};

/// Options of `kernels`.
#[derive(Args)]
pub struct Options {
    /// The module
    #[arg(value_parser = known)]
    name: Option<String>,
    /// The language that it is written in
    #[arg(value_enum, default_value = "opencl")]
    language: Language,
    /// Write the sources of all modules to this folder, in the languages that they are compiled in
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
    /// Print the tables of fields, curves and kernel families
    #[arg(long)]
    tables: bool,
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
    /// Returns the text to print of a module, if there is one.
    fn print(&self, module: &Module) -> Option<String> {
        let dialect = if self.language == Language::Cuda { Dialect::Cuda } else { Dialect::OpenCl };
        match &self.name {
            None => Some(format!("{}\n", module.name)),
            Some(name) => (*name == module.name).then(|| source_text(module, dialect)),
        }
    }
}

/// Tells clangd the languages of the sources, and that no CUDA tool kit is there.
const CLANGD: &str = "If: {PathMatch: '.*\\.cl'}
CompileFlags: {Add: [-xcl, -cl-std=CL1.2, -Xclang, -finclude-default-header]}
---
If: {PathMatch: '.*\\.cu'}
CompileFlags: {Add: [-xcuda, --cuda-device-only, --cuda-gpu-arch=sm_90]}
";

/// Writes the sources of all modules into `folder`, and `.clangd` beside them: `NAME.cu` for each module, `NAME.cl` for those
/// that OpenCL's compilers get.
fn write_all(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(".clangd"), CLANGD)?;
    for module in all_modules() {
        let write = |ending: &str, dialect| {
            std::fs::write(folder.join(format!("{}.{ending}", module.name)), source_text(&module, dialect))
        };
        write("cu", Dialect::Cuda)?;
        if module.target == Target::All {
            write("cl", Dialect::OpenCl)?;
        }
    }
    Ok(())
}

/// Returns the table's row of a field.
fn field_row(field: &'static FieldSpec) -> String {
    let limbs = FieldDescription::new(field).limb_count();
    let (kind, limbs) = match field.kind {
        FieldKind::Prime { .. } => ("prime".to_owned(), limbs),
        FieldKind::Quadratic { base, nonresidue } => (format!("{}\\[u\\]/(u² + {nonresidue})", base.name), 2 * limbs),
        FieldKind::Binomial { base, degree, residue } => {
            (format!("{}\\[X\\]/(X^{degree} − {residue})", base.name), degree * limbs)
        }
        FieldKind::Ghash => ("binary, in the basis of GHASH".to_owned(), limbs),
        FieldKind::Tower => ("binary tower, bit-sliced".to_owned(), limbs),
    };
    format!("| `{}` | {kind} | {limbs} |\n", field.name)
}

/// Returns the table's row of a kernel family: its modules, and the files that any of them contains.
fn family_row(family: &'static KernelFamily, modules: &[Module]) -> String {
    let own: Vec<&Module> = modules.iter().filter(|module| module.family == family).collect();
    let names = own.iter().map(|module| module.name.trim_start_matches(family.name).trim_start_matches('_'));
    let names = match family.domain {
        Domain::Curves => "all curves".to_owned(),
        _ => names.collect::<Vec<_>>().join(", "),
    };
    let is_used = |part: &&proofwarp::kernels::spec::Part| own.iter().any(|module| (part.condition)(module));
    let parts = family.field_sources.iter().chain(family.sources).filter(is_used);
    let files: Vec<&str> =
        parts.map(|part| part.source.path.trim_end_matches(".cl").trim_start_matches("cl/")).collect();
    let users = if family.is_for_tests { "tests and benches" } else { "" };
    format!("| `{}` | {names} | {} | {users} |\n", family.name, files.join(", "))
}

fn curve_row(curve: &CurveSpec) -> String {
    format!("| `{}` | `{}` | `{}` |\n", curve.name, curve.coordinates.name, curve.scalars.name)
}

/// Returns the tables of fields, curves and kernel families.
fn tables() -> String {
    let modules = all_modules();
    let fields: String = registry::fields().map(field_row).collect();
    let curves: String = registry::curves().map(curve_row).collect();
    let families: String = registry::all_families().map(|family| family_row(family, &modules)).collect();
    format!(
        "| field | kind | 32-bit limbs |\n|---|---|---|\n{fields}\n| curve | coordinates | scalars |\n|---|---|---|\n{curves}\n\
         | family | modules | files | only for |\n|---|---|---|---|\n{families}"
    )
}

/// Prints or writes what `options` ask for.
///
/// # Errors
/// Returns an error if a file cannot be written.
pub fn run(options: &Options) -> Result<(), Failure> {
    if options.tables {
        print!("{}", tables());
        return Ok(());
    }
    if let Some(folder) = &options.write {
        return Ok(write_all(folder)?);
    }
    all_modules().iter().filter_map(|module| options.print(module)).for_each(|text| print!("{text}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use proofwarp::kernels::modules;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn options(line: &[&str]) -> Result<Options, String> {
        let line = Line::try_parse_from([&["kernels"][..], line].concat()).map_err(|error| error.to_string())?;
        Ok(line.options)
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
    fn the_page_has_the_tables() {
        let page = include_str!("../../docs/architecture.md");
        let (_, rest) = page.split_once("<!-- kernels --tables -->\n\n").expect("a mark before the tables");
        let (printed, _) = rest.split_once("\n<!-- end -->").expect("a mark behind the tables");
        assert_eq!(
            printed,
            tables(),
            "docs/architecture.md has other tables than `cargo run -p xtask -- kernels --tables`"
        );
    }

    #[test]
    fn all_sources_are_written() {
        let folder = std::env::temp_dir().join(format!("proofwarp_kernels_{}", std::process::id()));
        write_all(&folder).expect("written");
        let written = std::fs::read_dir(&folder).expect("folder").count();
        std::fs::remove_dir_all(&folder).expect("removed");
        assert_eq!(written, all_modules().len() + modules().len() + 1);
    }
}
