//! Lists the kernel modules: every kernel family for its fields or curves.

use super::registry;
use super::spec::{CurveSpec, Domain, FieldSpec, KernelFamily, Module, Target};

/// Returns every module of this build, in the order of the registry.
pub fn all_modules() -> Vec<Module> {
    registry::families().flat_map(family_modules).collect()
}

/// Returns the modules that both OpenCL and CUDA compile.
pub fn modules() -> Vec<Module> {
    modules_for(Target::All)
}

/// Returns the modules that only `target` gets.
pub fn modules_for(target: Target) -> Vec<Module> {
    all_modules().into_iter().filter(|module| module.target == target).collect()
}

/// Returns the modules of `family`: those of its domain, and their variants.
fn family_modules(family: &'static KernelFamily) -> Vec<Module> {
    let plain: Vec<Module> = match family.domain {
        Domain::Fields(fields) => {
            let named = registry::fields().filter(|field| field.families.contains(&family.name));
            named.chain(fields.iter().copied()).map(|field| field_module(family, field)).collect()
        }
        Domain::Curves => registry::curves().map(|curve| curve_module(family, curve)).collect(),
        Domain::Nothing => Vec::new(),
    };
    let variants = match family.domain {
        Domain::Nothing => variants_of(&new_module(family, family.name.to_owned())),
        _ => plain.iter().flat_map(variants_of).collect(),
    };
    [plain, variants].concat()
}

/// Returns the variants of `module`.
fn variants_of(module: &Module) -> Vec<Module> {
    let variants = module.family.variants.iter().filter(|variant| (variant.condition)(module));
    variants
        .map(|variant| Module {
            name: format!("{}_{}", module.name, variant.suffix),
            define: variant.define,
            target: variant.target,
            ..module.clone()
        })
        .collect()
}

fn field_module(family: &'static KernelFamily, field: &'static FieldSpec) -> Module {
    Module { field: Some(field), ..new_module(family, format!("{}_{}", family.name, field.name)) }
}

fn curve_module(family: &'static KernelFamily, curve: &'static CurveSpec) -> Module {
    let module = new_module(family, format!("{}_{}", family.name, curve.name));
    Module { field: Some(curve.coordinates), curve: Some(curve), ..module }
}

fn new_module(family: &'static KernelFamily, name: String) -> Module {
    Module { name, family, field: None, curve: None, define: "", target: Target::All }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique() {
        let modules = all_modules();
        let names: HashSet<&str> = modules.iter().map(|module| module.name.as_str()).collect();
        assert_eq!(names.len(), modules.len());
    }

    #[test]
    fn fields_name_families_that_exist() {
        let families: HashSet<&str> = registry::all_families().map(|family| family.name).collect();
        for field in registry::fields() {
            for family in field.families {
                assert!(families.contains(family), "{} names {family}", field.name);
            }
        }
    }
}
