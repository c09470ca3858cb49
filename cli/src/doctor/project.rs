//! Reads a project's `Cargo.lock`: which of its packages proofwarp replaces, and by which lines of a manifest.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use cargo_lock::{Dependency, Lockfile, Package, SourceId};
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

/// Describes a proving package that proofwarp replaces or serves.
struct ProvingPackage {
    name: &'static str,
    /// Versions that the route serves.
    versions: &'static str,
    route: Route,
    page: &'static str,
}

const PROVING_PACKAGES: [ProvingPackage; 14] = [
    package("ec-gpu-gen", "0.7", Route::Patch(Some("0.7")), "docs/bellperson.md"),
    package("ec-gpu-gen", "0.6", Route::Patch(Some("0.6")), "docs/filecoin.md"),
    package("ec-gpu-gen", "0.4", Route::Patch(Some("0.4")), "docs/halo2-gpu-specific.md"),
    package("supraseal-c2", "=0.1.2", Route::Patch(Some("=0.1.2")), "docs/bellperson.md"),
    package("supraseal-c2", "=0.1.3", Route::Patch(Some("0.1.3")), "docs/filecoin.md"),
    package("halo2-axiom-gpu", "1", Route::Patch(None), "docs/halo2.md"),
    package("risc0-groth16-sys", "0.1", Route::Patch(Some("0.1")), "docs/risc0.md"),
    package("risc0-groth16-sys", "=5.0.0-rc.1", Route::Patch(Some("5.0.0-rc.1")), "docs/risc0.md"),
    package("bellperson", ">=0.26, <0.28", Route::Feature("ec-gpu-gen", "cuda"), "docs/bellperson.md"),
    package("halo2-base", "0.5.4", Route::Feature("halo2-axiom-gpu", "cuda"), "docs/halo2.md"),
    package("halo2-axiom", "=0.5.3", Route::Adapter("proofwarp-halo2"), "docs/halo2.md"),
    package("midnight-proofs", "=0.8.3", Route::Adapter("proofwarp-midnight"), "docs/midnight.md"),
    package("ark-groth16", "0.5", Route::Adapter("proofwarp-circom"), "docs/arkworks.md"),
    package("ark-groth16", "0.6", Route::Adapter("proofwarp-circom"), "docs/arkworks.md"),
];

const fn package(name: &'static str, versions: &'static str, route: Route, page: &'static str) -> ProvingPackage {
    ProvingPackage { name, versions, route, page }
}

/// Names the adapters whose functions a project calls.
const ADAPTERS: [&str; 4] = ["proofwarp-bellperson", "proofwarp-circom", "proofwarp-halo2", "proofwarp-midnight"];

/// Lists packages whose drop-in replaces one version only: the name, the versions that an update brings to it, and it.
const DROP_IN_VERSIONS: [(&str, &str, &str); 3] =
    [("ec-gpu-gen", "0.7", "0.7.1"), ("halo2-axiom-gpu", "1", "1.0.1"), ("supraseal-c2", "<0.1.2", "0.1.2")];

/// Versions of blst that proofwarp cannot use. A lock file that has one needs an update of it first.
const OLD_BLST: &str = "<0.3.16";

/// Describes what proofwarp can do for a project.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Project {
    pub packages: Vec<ProjectPackage>,
    /// Lines for the manifest of the project's workspace.
    pub lines: Vec<String>,
    /// Patches by packages of the same names that the lock file lists as unused.
    pub unused: Vec<String>,
}

/// Describes one package of a project that proofwarp replaces or serves.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct ProjectPackage {
    pub name: String,
    pub version: String,
    pub source: String,
    /// Whether the package already is proofwarp's.
    pub replaced: bool,
    /// How it proves, or what to change.
    pub advice: String,
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
            let mut named = PROVING_PACKAGES.iter().filter(|known| known.name == package.name.as_str()).peekable();
            let is_adapter = ADAPTERS.contains(&package.name.as_str());
            if named.peek().is_none() && !is_adapter {
                continue;
            }
            let served = named.clone().find(|known| matches(known.versions, package));
            let replaced = is_adapter || is_drop_in(package, lock);
            let advice = match served {
                _ if replaced => "proves on proofwarp".to_owned(),
                Some(known) => {
                    patches.extend(patch(known, package).filter(|_| !is_optional(known, lock)));
                    advise(known, package, lock)
                }
                None => match update(package, lock) {
                    Some(update) => format!("{update}, then look again"),
                    None => format!("no drop-in for this version: {}", versions(named)),
                },
            };
            let (name, version) = (package.name.to_string(), package.version.to_string());
            project.packages.push(ProjectPackage { name, version, source: source(package), replaced, advice });
        }
        project.lines = patch_lines(&patches);
        project.unused = lock
            .patch
            .unused
            .iter()
            .filter(|one| is_unused_drop_in(one))
            .map(|one| format!("{} {}", one.name, one.version))
            .collect();
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
                "the lines below `project`, and the update that its row names",
            )
        });
        let unknown = self.packages.is_empty().then(|| {
            let says = "the project has no package that proofwarp replaces";
            Finding::new(Level::Note, "unknown-project", says, "README lists what it replaces")
        });
        unused.chain(unknown).collect()
    }
}

fn matches(versions: &str, package: &Package) -> bool {
    VersionReq::parse(versions).is_ok_and(|versions| versions.matches(&package.version))
}

/// Returns whether `package` of `lock` is a drop-in: whether it depends on proofwarp, or on a drop-in of its own name.
fn is_drop_in(package: &Package, lock: &Lockfile) -> bool {
    let is_ours = |other: &Dependency| other.name.as_str().starts_with("proofwarp");
    let uses_ours = |package: &Package| package.dependencies.iter().any(is_ours);
    let is = |other: &Dependency, same: &Package| {
        other.matches(same) && (other.source.is_none() || other.source == same.source)
    };
    let uses = |same: &Package| package.dependencies.iter().any(|other| is(other, same));
    let mut same_name = lock.packages.iter().filter(|same| same.name == package.name);
    uses_ours(package) || same_name.any(|same| uses(same) && uses_ours(same))
}

/// Returns whether the project of `lock` proves without a patch of `known`, which only bellperson's own functions use.
fn is_optional(known: &ProvingPackage, lock: &Lockfile) -> bool {
    known.name == "ec-gpu-gen" && has(lock, "proofwarp-bellperson")
}

fn has(lock: &Lockfile, name: &str) -> bool {
    lock.packages.iter().any(|package| package.name.as_str() == name)
}

/// Returns the commands that `package` needs before a patch can replace it.
fn update(package: &Package, lock: &Lockfile) -> Option<String> {
    let is_known = |known: &&(&str, &str, &str)| known.0 == package.name.as_str() && matches(known.1, package);
    let (name, _, version) = DROP_IN_VERSIONS.iter().find(is_known)?;
    let locked = &package.version;
    if locked.to_string() == *version {
        return None;
    }
    let is_old = |other: &Package| other.name.as_str() == "blst" && matches(OLD_BLST, other);
    let blst = if lock.packages.iter().any(is_old) { "`cargo update -p blst`, then " } else { "" };
    // Of a package from git `--precise` would be a revision.
    let is_git = package.source.as_ref().is_some_and(SourceId::is_git);
    let precise = if is_git { String::new() } else { format!(" --precise {version}") };
    Some(format!("{blst}`cargo update -p {name}@{locked}{precise}`"))
}

fn versions<'k>(known: impl Iterator<Item = &'k ProvingPackage>) -> String {
    let all: Vec<_> = known.map(|known| known.versions.trim_start_matches('=')).collect();
    format!("expected {}", all.join(" or "))
}

/// Returns how `package`, which `known` serves, proves in the project of `lock`, or what to change.
fn advise(known: &ProvingPackage, package: &Package, lock: &Lockfile) -> String {
    let (page, has) = (known.page, |name| has(lock, name));
    match known.route {
        Route::Patch(_) if patch_table(package).is_none() => {
            "a patch replaces neither a path nor this registry".to_owned()
        }
        Route::Patch(_) if is_optional(known, lock) => {
            format!("serves bellperson's own functions only; a patch is optional: {page}")
        }
        Route::Patch(_) => match update(package, lock) {
            Some(update) => format!("patch it, and {update}: {page}"),
            None => format!("patch it: {page}"),
        },
        Route::Adapter(adapter) if has(adapter) => format!("proves by {adapter}"),
        Route::Adapter(adapter) if package.source.as_ref().is_some_and(SourceId::is_git) => {
            format!("{adapter} takes the registry's types, not those from git")
        }
        Route::Adapter(adapter) => format!("import {adapter}: {page}"),
        Route::Feature(prover, _) if has(prover) => format!("proves by {prover}"),
        Route::Feature(prover, feature) => format!("its feature `{feature}` proves by {prover}: {page}"),
    }
}

/// Describes a line of a manifest that has a package replaced.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Patch {
    table: String,
    name: &'static str,
    /// The version without `=`. The greatest comes first, and has the plain key.
    bare: Reverse<&'static str>,
    version: Option<&'static str>,
}

/// Returns the patch that has `package` replaced, if a patch can replace it.
fn patch(known: &ProvingPackage, package: &Package) -> Option<Patch> {
    let Route::Patch(version) = known.route else { return None };
    let bare = Reverse(version.unwrap_or_default().trim_start_matches('='));
    Some(Patch { table: patch_table(package)?, name: known.name, bare, version })
}

/// Returns the name of the table in `[patch]` for the source of `package`. A patch replaces packages of git and of
/// crates.io.
fn patch_table(package: &Package) -> Option<String> {
    let source = package.source.as_ref()?;
    if source.is_git() {
        return Some(git_address(source));
    }
    source.is_default_registry().then(|| "crates-io".to_owned())
}

/// Returns the lines of `patches`, each under the name of its table. A further line for a package of one name gets a
/// key of its own.
fn patch_lines(patches: &BTreeSet<Patch>) -> Vec<String> {
    let (mut lines, mut last) = (Vec::new(), ("", ""));
    for Patch { table, name, bare, version } in patches {
        if table != last.0 {
            let quote = if table == "crates-io" { "" } else { "\"" };
            lines.push(format!("[patch.{quote}{table}{quote}]"));
        }
        let (suffix, package) = match (*table == last.0 && *name == last.1, version) {
            (true, Some(_)) => (format!("-{}", bare.0.replace('.', "_")), format!(", package = \"{name}\"")),
            _ => (String::new(), String::new()),
        };
        let version = version.map_or_else(String::new, |version| format!(", version = \"{version}\""));
        lines.push(format!("{name}{suffix} = {{ git = \"{REPOSITORY}\"{version}{package} }}"));
        last = (table, name);
    }
    lines
}

/// Returns whether an unused patch is by a drop-in of proofwarp's: from a path, or from proofwarp's repository.
fn is_unused_drop_in(unused: &Dependency) -> bool {
    let is_ours = |source: &SourceId| source.url().as_str().starts_with(REPOSITORY);
    let mut drop_ins = PROVING_PACKAGES.iter().filter(|known| matches!(known.route, Route::Patch(_)));
    drop_ins.any(|known| known.name == unused.name.as_str()) && unused.source.as_ref().is_none_or(is_ours)
}

fn git_address(source: &SourceId) -> String {
    let mut address = source.url().clone();
    address.set_query(None);
    address.set_fragment(None);
    address.to_string()
}

fn source(package: &Package) -> String {
    match &package.source {
        None => "a path".to_owned(),
        Some(source) if source.is_git() => format!("git {}", git_address(source)),
        Some(_) => "the registry".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

    fn locked(name: &str, version: &str, source: &str, depends: &str) -> String {
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
            locked("ec-gpu-gen", "0.7.1", REGISTRY, ""),
            locked("halo2-axiom-gpu", "1.0.0", git, ""),
            locked("serde", "1.0.0", REGISTRY, ""),
        ]);
        let line = |rest: &str| format!("{{ git = \"{REPOSITORY}\"{rest} }}");
        let expected = [
            "[patch.crates-io]".to_owned(),
            format!("ec-gpu-gen = {}", line(", version = \"0.7\"")),
            "[patch.\"https://github.com/axiom-crypto/halo2-gpu.git\"]".to_owned(),
            format!("halo2-axiom-gpu = {}", line("")),
        ];
        assert_eq!(project.lines, expected);
        assert_eq!(project.packages[1].source, "git https://github.com/axiom-crypto/halo2-gpu.git");
        assert!(project.packages[1].advice.contains("`cargo update -p halo2-axiom-gpu@1.0.0`"), "no revision");
        assert!(project.findings().is_empty());
    }

    #[test]
    fn two_versions_have_two_keys() {
        let project = read(&[
            locked("risc0-groth16-sys", "0.1.0", REGISTRY, ""),
            locked("risc0-groth16-sys", "5.0.0-rc.1", REGISTRY, ""),
        ]);
        let keys: Vec<_> = project.lines.iter().map(|line| line.split(" = ").next().unwrap_or_default()).collect();
        assert_eq!(keys, ["[patch.crates-io]", "risc0-groth16-sys", "risc0-groth16-sys-0_1"]);
        assert!(project.lines[2].ends_with(", package = \"risc0-groth16-sys\" }"));
        let project =
            read(&[locked("supraseal-c2", "0.1.2", REGISTRY, ""), locked("supraseal-c2", "0.1.3", REGISTRY, "")]);
        assert!(project.lines[2].starts_with("supraseal-c2-0_1_2 = "), "{:?}", project.lines);
        // As docs/filecoin.md has them.
        let project = read(&[locked("ec-gpu-gen", "0.6.0", REGISTRY, ""), locked("ec-gpu-gen", "0.7.1", REGISTRY, "")]);
        assert!(project.lines[2].starts_with("ec-gpu-gen-0_6 = "), "{:?}", project.lines);
    }

    #[test]
    fn a_path_cannot_be_patched() {
        let project = read(&[locked("halo2-axiom-gpu", "1.0.1", "", "")]);
        assert!(!project.packages[0].replaced && project.lines.is_empty());
    }

    #[test]
    fn a_drop_in_needs_no_line() {
        let project = read(&[
            locked("halo2-axiom-gpu", "1.0.1", "", "\"proofwarp-halo2\""),
            locked("proofwarp-halo2", "0.1.0", "", ""),
        ]);
        assert!(project.packages[0].replaced && project.lines.is_empty());
    }

    #[test]
    fn a_drop_in_on_another_of_its_name_needs_no_line() {
        let project = read(&[
            locked("ec-gpu-gen", "0.6.0", "", "\"ec-gpu-gen 0.7.1\""),
            locked("ec-gpu-gen", "0.7.1", "", "\"proofwarp\""),
            locked("proofwarp", "0.1.0", "", ""),
        ]);
        assert!(project.packages.iter().all(|row| row.replaced) && project.lines.is_empty(), "{project:?}");
    }

    #[test]
    fn adapters_and_older_versions_are_told() {
        let project = read(&[
            locked("ec-gpu-gen", "0.7.1", REGISTRY, ""),
            locked("halo2-axiom-gpu", "1.0.0", REGISTRY, ""),
            locked("proofwarp-bellperson", "0.1.0", "", ""),
            locked("blst", "0.3.14", REGISTRY, ""),
            locked("supraseal-c2", "0.1.1", REGISTRY, ""),
        ]);
        let says: Vec<_> = project.packages.iter().map(|row| row.advice.as_str()).collect();
        assert_eq!(says[0], "serves bellperson's own functions only; a patch is optional: docs/bellperson.md");
        let update = "`cargo update -p blst`, then `cargo update -p halo2-axiom-gpu@1.0.0 --precise 1.0.1`";
        assert_eq!(says[1], format!("patch it, and {update}: docs/halo2.md"));
        assert_eq!(says[2], "proves on proofwarp");
        assert!(says[3].ends_with("`cargo update -p supraseal-c2@0.1.1 --precise 0.1.2`, then look again"), "{says:?}");
        assert_eq!(project.lines.len(), 2, "{:?}", project.lines);
    }

    #[test]
    fn other_versions_and_other_routes() {
        let project = read(&[
            locked("ec-gpu-gen", "0.5.0", REGISTRY, ""),
            locked("halo2-axiom", "0.5.3", REGISTRY, ""),
            locked("halo2-base", "0.5.5", REGISTRY, ""),
        ]);
        let says: Vec<_> = project.packages.iter().map(|row| row.advice.as_str()).collect();
        assert_eq!(says[0], "no drop-in for this version: expected 0.7 or 0.6 or 0.4");
        assert_eq!(says[1], "import proofwarp-halo2: docs/halo2.md");
        assert_eq!(says[2], "its feature `cuda` proves by halo2-axiom-gpu: docs/halo2.md");
        assert!(project.lines.is_empty());
    }

    #[test]
    fn unused_patches_are_warnings() {
        let unused = "[[patch.unused]]\nname = \"halo2-axiom-gpu\"\nversion = \"1.0.1\"\n".to_owned();
        let project = read(&[locked("serde", "1.0.0", REGISTRY, ""), unused]);
        let levels: Vec<_> = project.findings().iter().map(|finding| (finding.level, finding.name)).collect();
        assert_eq!(levels, [(Level::Warning, "unused-patch"), (Level::Note, "unknown-project")]);
    }
}
