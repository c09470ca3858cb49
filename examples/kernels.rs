//! Prints the source of a kernel module as the compiler gets it: `kernels NAME [cuda|opencl]`, or the
//! names of all modules when none is given.

use proofwarp::kernels::{Dialect, modules};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let dialect = if arguments.get(1).is_some_and(|d| d == "cuda") { Dialect::Cuda } else { Dialect::OpenCl };
    for module in modules() {
        match arguments.first() {
            None => println!("{}", module.name),
            Some(name) if *name == module.name => print!("{}", module.source(dialect)),
            Some(_) => {}
        }
    }
}
