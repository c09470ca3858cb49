//! Compares the kernels that Rust declares with those that compilers get: names, sizes of work-groups, and parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

use proofwarp::kernels::spec::KernelSignature;
use proofwarp::kernels::{Dialect, Module, Target, all_modules, registry, source_text};

/// A kernel's size of work-groups, and its parameters by name and type of Rust.
type Declaration = (u32, Vec<(String, String)>);

/// The text of a module after the preprocessor.
fn preprocessed(module: &Module) -> String {
    let dialect = if module.target == Target::All { Dialect::OpenCl } else { Dialect::Cuda };
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut child = Command::new(compiler)
        .args(["-E", "-P", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a C preprocessor");
    let text = source_text(module, dialect);
    let mut input = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("output");
    writer.join().expect("no panic").expect("written");
    String::from_utf8(output.stdout).expect("text")
}

/// The kernels of a preprocessed text.
fn kernels_of(module: &Module, text: &str) -> BTreeMap<String, Declaration> {
    let text =
        text.replace("extern \"C\" __global__ __launch_bounds__(", "__kernel __attribute__((reqd_work_group_size(");
    let kernels = text.split("__kernel __attribute__((reqd_work_group_size(").skip(1);
    kernels
        .map(|rest| {
            let (group, rest) = rest.split_once("void ").expect("a kernel returns nothing");
            let (name, rest) = rest.split_once('(').expect("parameters");
            let (parameters, _) = rest.split_once(')').expect("the end of parameters");
            let parameters = parameters.split(',').map(|parameter| rust_parameter(module, parameter)).collect();
            (name.trim().to_owned(), (group_size(group), parameters))
        })
        .collect()
}

/// The value of the first expression of a declaration's end, such as `(1u << 7), 1, 1)))`, by the shell's arithmetic.
fn group_size(text: &str) -> u32 {
    let (expression, _) = text.split_once(',').or_else(|| text.rsplit_once(')')).expect("the end of the size");
    let expression: String = expression.replace("u ", " ").replace("u)", ")");
    let program = format!("echo $(({}))", expression.trim_end_matches('u'));
    let output = Command::new("bash").args(["-c", &program]).output().expect("a shell");
    let value = String::from_utf8(output.stdout).expect("text");
    value.trim().parse().unwrap_or_else(|_| panic!("a number of work-items, not {expression}"))
}

/// The name and the type of Rust of a parameter of C.
fn rust_parameter(module: &Module, text: &str) -> (String, String) {
    let text = text.replace('*', " * ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let (name, words) = words.split_last().expect("a name");
    let has = |word: &str| words.contains(&word);
    let qualifiers = ["__global", "__local", "const", "*", "volatile", "restrict", "__restrict__", "__grid_constant__"];
    let kind = words.iter().find(|word| !qualifiers.contains(word)).expect("a type");
    let element = rust_type(module, kind);
    let class = match (has("*"), has("const")) {
        // CUDA has no qualifier for a pointer to local memory, so it points to void.
        (true, _) if has("__local") || *kind == "void" => "Local".to_owned(),
        (true, true) => format!("In<{element}>"),
        (true, false) => format!("Out<{element}>"),
        _ if kind.ends_with("_t") => format!("Value<{element}>"),
        _ => element,
    };
    ((*name).to_owned(), class)
}

/// The type of Rust for a type of C, in camel case. F or Element stands for elements of the module's field, B for those
/// of the field that it extends, Scalar for scalars. Other types that the field's arithmetic defines lose its name.
fn rust_type(module: &Module, kind: &str) -> String {
    let Some(name) = kind.strip_suffix("_t").or_else(|| kind.contains('_').then_some(kind)) else {
        return kind.to_owned();
    };
    let field = module.field.map_or("", |field| field.name);
    let camel = |name: &str| name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    match name.strip_prefix(field) {
        Some("") if !field.is_empty() => "F".to_owned(),
        Some(rest) if !field.is_empty() => camel(rest.trim_start_matches('_')),
        _ if module.field.is_some_and(|field| field.base().name == name) => "B".to_owned(),
        _ if module.curve.is_some_and(|curve| curve.scalars.name == name) => "Scalar".to_owned(),
        _ => camel(name),
    }
}

fn declared(signature: &KernelSignature) -> Declaration {
    let kind = |kind: &str| kind.replace(' ', "").replace("<Element>", "<F>");
    let text = |(name, rust_type): &(&str, &str)| ((*name).to_owned(), kind(rust_type));
    (signature.group_size, signature.parameters.iter().map(text).collect())
}

/// What differs between a kernel's text and its declaration, if anything does.
fn difference(module: &Module, name: &str, kernel: &Declaration) -> Option<String> {
    let signature = module.family.kernels.iter().copied().flatten().find(|signature| signature.name == name);
    let Some(signature) = signature else { return Some(format!("{name} of {} is not declared", module.name)) };
    let declared = declared(signature);
    (declared != *kernel).then(|| format!("{name} of {}: declared {declared:?}, but it is {kernel:?}", module.name))
}

#[test]
fn declarations_match_kernels() {
    let mut found = BTreeSet::new();
    let mut differences = Vec::new();
    for module in all_modules().iter().filter(|module| !module.family.is_for_tests) {
        let kernels = kernels_of(module, &preprocessed(module));
        assert!(!kernels.is_empty(), "{} has no kernels", module.name);
        for (name, kernel) in kernels {
            differences.extend(difference(module, &name, &kernel));
            found.insert(name);
        }
    }
    for signature in registry::all_families().flat_map(|family| family.kernels.iter().copied().flatten()) {
        if !found.contains(signature.name) {
            differences.push(format!("{} is declared, but no module has it", signature.name));
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}
