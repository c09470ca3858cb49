//! Values that a function can return in place of its body.

use syn::{GenericArgument, PathArguments, ReturnType, Type};

/// The last segment's name and its first argument.
fn head(path: &syn::TypePath) -> Option<(String, Option<&Type>)> {
    let last = path.path.segments.last()?;
    let argument = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().find_map(|one| match one {
            GenericArgument::Type(of) => Some(of),
            _ => None,
        }),
        _ => None,
    };
    Some((last.ident.to_string(), argument))
}

fn of_type(of: &Type) -> Vec<String> {
    let text = |words: &[&str]| words.iter().map(|word| (*word).to_string()).collect();
    match of {
        Type::Tuple(tuple) if tuple.elems.is_empty() => text(&["()"]),
        Type::Tuple(tuple) => {
            let parts: Vec<_> = tuple.elems.iter().map_while(|one| of_type(one).into_iter().next()).collect();
            if parts.len() == tuple.elems.len() { vec![format!("({})", parts.join(", "))] } else { Vec::new() }
        }
        Type::Path(path) => match head(path) {
            Some((name, argument)) => match (name.as_str(), argument) {
                ("bool", _) => text(&["true", "false"]),
                ("usize" | "u64" | "u32" | "u16" | "u8" | "u128" | "i32" | "i64", _) => text(&["0", "1"]),
                ("f64" | "f32", _) => text(&["0.0"]),
                ("Result", Some(inner)) => of_type(inner).iter().map(|value| format!("Ok({value})")).collect(),
                ("Option", Some(_)) => text(&["None"]),
                ("Vec", _) => text(&["Vec::new()"]),
                ("String", _) => text(&["String::new()"]),
                ("Self" | "Arc" | "Box", _) => Vec::new(),
                _ => text(&["Default::default()"]),
            },
            None => Vec::new(),
        },
        Type::Reference(reference) if reference.mutability.is_none() => match &*reference.elem {
            Type::Slice(_) => text(&["&[]"]),
            Type::Path(path) if path.path.is_ident("str") => text(&["\"\""]),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Returns what a mutant's `return` says, nothing for types without a value that is known here.
pub fn values(output: &ReturnType) -> Vec<String> {
    match output {
        ReturnType::Default => vec![String::new()],
        ReturnType::Type(_, of) => of_type(of),
    }
}
