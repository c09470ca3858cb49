//! Reads a project's `Cargo.lock`: which of its packages proofwarp replaces, and by which lines of a manifest.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use cargo_lock::{Lockfile, Package, SourceId};
use semver::VersionReq;
use serde::Serialize;

use super::finding::{Finding, Level};

/// Address of proofwarp's repository, for the lines that a project adds.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Describes how a package comes to prove on proofwarp.
enum Route {
    /// A drop-in takes its place. Holds the version by which a patch selects the drop-in among several of one name.
    Patch(Option<&'static str>),
    /// The caller imports functions of this adapter.
    Adapter(&'static str),
    /// It proves on the package with this name, if this feature of its own is on.
    Feature(&'static str, &'static str),
}

/// Describes a package that people prove with.
struct Known {
    name: &'static str,
    /// Versions that the route serves.
    versions: &'static str,
    route: Route,
    page: &'static str,
}

const KNOWN: [Known; 12] = [
    Known { name: "ec-gpu-gen", versions: "0.7", route: Route::Patch(Some("0.7")), page: "docs/bellperson.md" },
    Known { name: "ec-gpu-gen", versions: "0.4", route: Route::Patch(Some("0.4")), page: "docs/halo2-gpu-specific.md" },
    Known { name: "supraseal-c2", versions: "0.1.2", route: Route::Patch(None), page: "docs/bellperson.md" },
    Known { name: "halo2-axiom-gpu", versions: "1", route: Route::Patch(None), page: "docs/halo2.md" },
    Known { name: "risc0-groth16-sys", versions: "0.1", route: Route::Patch(Some("0.1")), page: "docs/risc0.md" },
    Known {
        name: "risc0-groth16-sys",
        versions: "=5.0.0-rc.1",
        route: Route::Patch(Some("5.0.0-rc.1")),
        page: "docs/risc0.md",
    },
    Known {
        name: "bellperson",
        versions: ">=0.26, <0.28",
        route: Route::Feature("ec-gpu-gen", "cuda"),
        page: "docs/bellperson.md",
    },
    Known {
        name: "halo2-base",
        versions: "0.5.4",
        route: Route::Feature("halo2-axiom-gpu", "cuda"),
        page: "docs/halo2.md",
    },
    Known { name: "halo2-axiom", versions: "=0.5.3", route: Route::Adapter("proofwarp-halo2"), page: "docs/halo2.md" },
    Known {
        name: "midnight-proofs",
        versions: "=0.8.3",
        route: Route::Adapter("proofwarp-midnight"),
        page: "docs/midnight.md",
    },
    Known { name: "ark-groth16", versions: "0.5", route: Route::Adapter("proofwarp-circom"), page: "docs/arkworks.md" },
    Known { name: "ark-groth16", versions: "0.6", route: Route::Adapter("proofwarp-circom"), page: "docs/arkworks.md" },
];

/// Describes what proofwarp can do for a project.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Project {
    pub packages: Vec<Row>,
    /// Lines for the manifest of the project's workspace.
    pub lines: Vec<String>,
    /// Patches by packages of the same names that the lock file lists as unused.
    pub unused: Vec<String>,
}

/// Describes one package of a project that proofwarp replaces or serves.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    pub name: String,
    pub version: String,
    pub source: String,
    /// Whether the package already is proofwarp's.
    pub replaced: bool,
    pub says: String,
}

impl Project {
    /// Reads the lock file in `folder`.
    ///
    /// # Errors
    /// Returns an error if there is no lock file, or if it is malformed.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("Cargo.lock");
        let lock = Lockfile::load(&path).with_context(|| format!("{}: cargo writes it at a build", path.display()))?;
        Ok(Self::from_lock(&lock))
    }

    fn from_lock(lock: &Lockfile) -> Self {
        let mut project = Self::default();
        let mut patches = BTreeSet::new();
        for package in &lock.packages {
            let mut named = KNOWN.iter().filter(|known| known.name == package.name.as_str()).peekable();
            if named.peek().is_none() {
                continue;
            }
            let served = named.clone().find(|known| serves(known, package));
            let replaced = package.dependencies.iter().any(|other| other.name.as_str().starts_with("proofwarp"));
            let says = match served {
                _ if replaced => "proves on proofwarp".to_owned(),
                Some(known) => {
                    patches.extend(patch(known, package));
                    advice(known, package, lock)
                }
                None => format!("no drop-in for this version: {}", versions(named)),
            };
            let (name, version) = (package.name.to_string(), package.version.to_string());
            project.packages.push(Row { name, version, source: source(package), replaced, says });
        }
        let mut table = "";
        for (key, line) in &patches {
            if key != table {
                project.lines.push(format!("[patch.{key}]"));
                table = key;
            }
            project.lines.push(line.clone());
        }
        let ours = lock.patch.unused.iter().filter(|one| KNOWN.iter().any(|known| known.name == one.name.as_str()));
        project.unused = ours.map(|one| format!("{} {}", one.name, one.version)).collect();
        project
    }

    /// Returns a warning for each patch that cargo does not use, or a note if nothing of the project is known.
    pub fn findings(&self) -> Vec<Finding> {
        let unused = self.unused.iter().map(|one| {
            let says = format!("the patch by {one} is not used: the project takes another version, or another source");
            Finding::new(
                Level::Warning,
                "unused-patch",
                says,
                "the lines below `project`, then `cargo update` of the package",
            )
        });
        let unknown = self.packages.is_empty().then(|| {
            let says = "the project has no package that proofwarp replaces";
            Finding::new(Level::Note, "unknown-project", says, "README lists what it replaces")
        });
        unused.chain(unknown).collect()
    }
}

fn serves(known: &Known, package: &Package) -> bool {
    VersionReq::parse(known.versions).is_ok_and(|versions| versions.matches(&package.version))
}

fn versions<'k>(known: impl Iterator<Item = &'k Known>) -> String {
    let all: Vec<_> = known.map(|known| known.versions.trim_start_matches('=')).collect();
    format!("expected {}", all.join(" or "))
}

/// Returns what to do with `package`, which `known` serves, in the project of `lock`.
fn advice(known: &Known, package: &Package, lock: &Lockfile) -> String {
    let page = known.page;
    match known.route {
        Route::Patch(_) => format!("patch it: {page}"),
        Route::Adapter(adapter) if package.source.as_ref().is_some_and(SourceId::is_git) => {
            format!("{adapter} takes the registry's types, not those from git")
        }
        Route::Adapter(adapter) => format!("import {adapter}: {page}"),
        Route::Feature(prover, _) if lock.packages.iter().any(|other| other.name.as_str() == prover) => {
            format!("proves by {prover}")
        }
        Route::Feature(prover, feature) => format!("its feature `{feature}` proves by {prover}: {page}"),
    }
}

/// Returns the table of a manifest and the line in it that have `package` replaced, if that takes a patch.
fn patch(known: &Known, package: &Package) -> Option<(String, String)> {
    let Route::Patch(version) = known.route else { return None };
    let version = version.map_or_else(String::new, |version| format!(", version = \"{version}\""));
    let table = package.source.as_ref().filter(|source| source.is_git()).map_or("crates-io".to_owned(), git_table);
    Some((table, format!("{} = {{ git = \"{REPOSITORY}\"{version} }}", known.name)))
}

fn git_table(source: &SourceId) -> String {
    let mut address = source.url().clone();
    address.set_query(None);
    address.set_fragment(None);
    format!("\"{address}\"")
}

fn source(package: &Package) -> String {
    match &package.source {
        None => "a path".to_owned(),
        Some(source) if source.is_git() => format!("git {}", git_table(source).trim_matches('"')),
        Some(_) => "the registry".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

    fn package(name: &str, version: &str, source: &str, depends: &str) -> String {
        let source = if source.is_empty() { String::new() } else { format!("source = \"{source}\"\n") };
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source}dependencies = [{depends}]\n\n")
    }

    fn read(packages: &[String]) -> Project {
        let text = format!("version = 4\n\n{}", packages.concat());
        Project::from_lock(&text.parse().expect("a lock file"))
    }

    #[test]
    fn lines_are_of_the_source() {
        let git =
            "git+https://github.com/axiom-crypto/halo2-gpu.git?branch=main#9ebf6979dd439b3b117273aa0704262caf041b93";
        let project = read(&[
            package("ec-gpu-gen", "0.7.1", REGISTRY, ""),
            package("halo2-axiom-gpu", "1.0.0", git, ""),
            package("serde", "1.0.0", REGISTRY, ""),
        ]);
        let line = |rest: &str| format!("{{ git = \"{REPOSITORY}\"{rest} }}");
        let expected = [
            "[patch.\"https://github.com/axiom-crypto/halo2-gpu.git\"]".to_owned(),
            format!("halo2-axiom-gpu = {}", line("")),
            "[patch.crates-io]".to_owned(),
            format!("ec-gpu-gen = {}", line(", version = \"0.7\"")),
        ];
        assert_eq!(project.lines, expected);
        assert_eq!(project.packages[1].source, "git https://github.com/axiom-crypto/halo2-gpu.git");
        assert!(project.findings().is_empty());
    }

    #[test]
    fn a_drop_in_needs_no_line() {
        let project = read(&[
            package("halo2-axiom-gpu", "1.0.1", "", "\"proofwarp-halo2\""),
            package("proofwarp-halo2", "0.1.0", "", ""),
        ]);
        assert!(project.packages[0].replaced && project.lines.is_empty());
    }

    #[test]
    fn other_versions_and_other_routes() {
        let project = read(&[
            package("ec-gpu-gen", "0.5.0", REGISTRY, ""),
            package("halo2-axiom", "0.5.3", REGISTRY, ""),
            package("halo2-base", "0.5.5", REGISTRY, ""),
        ]);
        let says: Vec<_> = project.packages.iter().map(|row| row.says.as_str()).collect();
        assert_eq!(says[0], "no drop-in for this version: expected 0.7 or 0.4");
        assert_eq!(says[1], "import proofwarp-halo2: docs/halo2.md");
        assert_eq!(says[2], "its feature `cuda` proves by halo2-axiom-gpu: docs/halo2.md");
        assert!(project.lines.is_empty());
    }

    #[test]
    fn unused_patches_are_warnings() {
        let unused = "[[patch.unused]]\nname = \"halo2-axiom-gpu\"\nversion = \"1.0.1\"\n".to_owned();
        let project = read(&[package("serde", "1.0.0", REGISTRY, ""), unused]);
        let levels: Vec<_> = project.findings().iter().map(|finding| (finding.level, finding.name)).collect();
        assert_eq!(levels, [(Level::Warning, "unused-patch"), (Level::Note, "unknown-project")]);
    }
}
