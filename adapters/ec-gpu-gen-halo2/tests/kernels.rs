//! Kernels by name, with the arguments that the fork gives them. What they do is tested in proofwarp; here it is that each name
//! leads to the right one.

#![allow(missing_docs, clippy::cast_possible_wrap)]

mod common;

use common::bn254::Fr;
use common::{first, on, random};
use ec_gpu_gen::EcResult;
use ec_gpu_gen::rust_gpu_tools::LocalBuffer;
use ec_gpu_gen::rust_gpu_tools::cuda::{Buffer, Kernel, Program};
use ff::Field;
use rayon::prelude::*;

const SIZES: [usize; 4] = [2, 64, 128, 1024];

/// Columns on a device, and what is launched over them.
struct Columns<'a> {
    program: &'a Program,
    size: usize,
    values: Vec<Vec<Fr>>,
    buffers: Vec<Buffer<Fr>>,
}

impl<'a> Columns<'a> {
    fn new(program: &'a Program, size: usize, count: u8) -> EcResult<Self> {
        let values: Vec<_> = (0..count).map(|seed| random(size, seed)).collect();
        let buffers = values.iter().map(|values| program.create_buffer_from_slice(values)).collect::<Result<_, _>>()?;
        Ok(Self { program, size, values, buffers })
    }

    fn kernel(&self, name: &str) -> EcResult<Kernel<'a>> {
        Ok(self.program.create_kernel(&format!("Bn256_Fr_{name}"), self.size / 128, 128)?)
    }

    /// That a column is now as a function says row by row.
    fn is(&self, column: usize, name: &str, row: impl Fn(usize) -> Fr) -> EcResult<()> {
        let mut values = vec![Fr::zero(); self.size];
        self.program.read_into_buffer(&self.buffers[column], &mut values)?;
        assert!((0..self.size).all(|i| values[i] == row(i)), "{name} of {} rows", self.size);
        Ok(())
    }

    fn at(&self, column: usize, row: usize) -> Fr {
        self.values[column][row]
    }

    fn turned(&self, column: usize, row: usize, rotation: i32) -> Fr {
        self.values[column][(row as i64 + i64::from(rotation)).rem_euclid(self.size as i64) as usize]
    }
}

/// A body on columns of every size.
fn every_size(count: u8, body: impl Fn(&Columns<'_>) -> EcResult<()>) {
    for size in SIZES {
        on(&first(), |program| body(&Columns::new(program, size, count)?)).expect("kernels");
    }
}

#[test]
fn sums_and_products() {
    for name in ["eval_sum", "eval_mul", "eval_lctheta", "eval_lcbeta"] {
        every_size(3, |columns| {
            let [to, l, r] = [0, 1, 2].map(|i| &columns.buffers[i]);
            let c = random(1, 50)[0];
            let constant = columns.program.create_buffer_from_slice(&[c])?;
            let kernel = columns.kernel(name)?.arg(to).arg(l).arg(r).arg(&3i32).arg(&-5i32);
            let size = columns.size as u32;
            let has_constant = name.starts_with("eval_lc");
            if has_constant {
                kernel.arg(&size).arg(&constant).run()?;
            } else {
                kernel.arg(&size).run()?;
            }
            columns.is(0, name, |i| {
                let (l, r) = (columns.turned(1, i, 3), columns.turned(2, i, -5));
                match name {
                    "eval_sum" => l + r,
                    "eval_mul" => l * r,
                    "eval_lctheta" => l * c + r,
                    _ => (l + c) * r,
                }
            })
        });
    }
}

#[test]
fn one_column_and_a_constant() {
    for name in ["eval_sum_c", "eval_mul_c", "eval_scale", "eval_addgamma"] {
        every_size(2, |columns| {
            let [to, l] = [0, 1].map(|i| &columns.buffers[i]);
            let c = random(1, 50)[0];
            let constant = columns.program.create_buffer_from_slice(&[c])?;
            let kernel = columns.kernel(name)?.arg(to).arg(l).arg(&-1i32);
            let size = columns.size as u32;
            if name.ends_with("_c") {
                kernel.arg(&constant).arg(&size).run()?;
            } else {
                kernel.arg(&size).arg(&constant).run()?;
            }
            let adds = matches!(name, "eval_sum_c" | "eval_addgamma");
            columns.is(0, name, |i| if adds { columns.turned(1, i, -1) + c } else { columns.turned(1, i, -1) * c })
        });
    }
}

/// In place, with the rotation as the fork writes it there.
#[test]
fn in_place() {
    every_size(2, |columns| {
        let constant = columns.program.create_buffer_from_slice(&[Fr::from(7)])?;
        let [res, tmp] = [0, 1].map(|i| &columns.buffers[i]);
        columns.kernel("eval_mul_c")?.arg(res).arg(res).arg(&0).arg(&constant).arg(&(columns.size as u32)).run()?;
        columns.kernel("eval_sum")?.arg(res).arg(res).arg(tmp).arg(&0).arg(&0u32).arg(&(columns.size as u32)).run()?;
        columns.is(0, "in place", |i| columns.at(0, i) * Fr::from(7) + columns.at(1, i))
    });
}

#[test]
fn what_comes_before_a_transform() {
    every_size(2, |columns| {
        let powers = random(2, 60);
        let buffer = columns.program.create_buffer_from_slice(&powers)?;
        let [from, to] = [0, 1].map(|i| &columns.buffers[i]);
        columns.kernel("distribute_powers_zeta")?.arg(from).arg(&buffer).arg(&3).run()?;
        let zeta = |i: usize| columns.at(0, i) * [Fr::one(), powers[0], powers[1]][i % 3];
        columns.is(0, "distribute_powers_zeta", zeta)?;
        let length = columns.size as u32 / 2;
        columns.kernel("eval_fft_prepare")?.arg(from).arg(to).arg(&length).run()?;
        columns.is(1, "eval_fft_prepare", |i| if i < length as usize { zeta(i) } else { Fr::zero() })?;
        columns.kernel("eval_constant")?.arg(to).arg(&buffer).run()?;
        columns.is(1, "eval_constant", |_| powers[0])
    });
}

#[test]
fn terms_of_permutations() {
    every_size(6, |columns| {
        let c = random(4, 70);
        let challenges = columns.program.create_buffer_from_slice(&c)?;
        let b: Vec<_> = columns.buffers.iter().collect();
        let size = columns.size as u32;
        let rotation = columns.size as i32 - 1;
        let at = |column, i| columns.at(column, i);
        columns.kernel("eval_h_permutation_left_prepare")?.arg(b[5]).arg(b[1]).arg(&1i32).arg(&size).run()?;
        columns.is(5, "left_prepare", |i| columns.turned(1, i, 1))?;
        let part1 = columns.kernel("eval_h_permutation_part1")?;
        part1.arg(b[0]).arg(b[1]).arg(b[2]).arg(b[3]).arg(b[4]).arg(b[5]).arg(&challenges).run()?;
        let first = |i| {
            (at(0, i) * c[0] + (Fr::one() - at(1, i)) * at(3, i)) * c[0] + (at(2, i).square() - at(2, i)) * at(4, i)
        };
        columns.is(0, "part1", first)?;
        let part2 = columns.kernel("eval_h_permutation_part2")?;
        part2.arg(b[0]).arg(b[1]).arg(b[2]).arg(b[3]).arg(&challenges).arg(&rotation).arg(&size).run()?;
        let second = |i| first(i) * c[0] + (at(1, i) - columns.turned(2, i, rotation)) * at(3, i);
        columns.is(0, "part2", second)?;
        let part3 = columns.kernel("eval_h_permutation_part3")?;
        part3.arg(b[0]).arg(b[1]).arg(b[2]).arg(b[3]).arg(&challenges).run()?;
        columns.is(0, "part3", |i| second(i) * c[0] + (at(1, i) - at(2, i)) * at(3, i))?;
        let left_right = columns.kernel("eval_h_permutation_left_right")?;
        left_right.arg(b[1]).arg(b[2]).arg(b[3]).arg(b[4]).arg(b[5]).arg(&challenges).run()?;
        columns.is(1, "left", |i| at(1, i) * (c[1] * at(4, i) + c[2] + at(3, i)))?;
        columns.is(2, "right", |i| at(2, i) * (columns.turned(1, i, 1) + c[2] + at(3, i)))?;
        columns.is(5, "places", |i| columns.turned(1, i, 1) * c[3])
    });
}

#[test]
fn terms_of_lookups_and_shuffles() {
    every_size(10, |columns| {
        let c = random(3, 80);
        let (y, challenges) = (c[0], columns.program.create_buffer_from_slice(&c)?);
        // SAFETY: it is zero, as the fork takes it to be.
        let h = unsafe { columns.program.create_buffer(columns.size)? };
        let b: Vec<_> = std::iter::once(&h).chain(&columns.buffers[1..]).collect();
        let (one, size) = (Fr::one(), columns.size as u32);
        let at = |column, i| columns.at(column, i);
        let next = |column, i| columns.turned(column, i, 2);
        let is = |name: &str, row: &dyn Fn(usize) -> Fr| -> EcResult<()> {
            let mut values = vec![Fr::zero(); columns.size];
            columns.program.read_into_buffer(&h, &mut values)?;
            assert!((0..columns.size).all(|i| values[i] == row(i)), "{name} of {size}");
            Ok(())
        };
        let kernel = columns.kernel("eval_h_logup")?;
        let kernel = kernel.arg(b[0]).arg(b[1]).arg(b[2]).arg(b[3]).arg(b[4]).arg(b[5]).arg(b[6]).arg(b[7]).arg(b[8]);
        kernel.arg(b[9]).arg(&challenges).arg(&2u32).arg(&size).run()?;
        let first = |i| {
            let term = ((next(5, i) - at(5, i)) * at(1, i) + at(4, i)) * at(2, i) - at(1, i) * at(3, i);
            (at(5, i) * at(7, i) * y + at(6, i) * at(8, i)) * y + term * at(9, i)
        };
        is("logup", &first)?;
        let kernel = columns.kernel("eval_h_logup_z")?;
        kernel.arg(b[0]).arg(b[1]).arg(b[2]).arg(b[3]).arg(&challenges).arg(&-3i32).arg(&size).run()?;
        let second = |i| first(i) * y + (at(1, i) - columns.turned(2, i, -3)) * at(3, i);
        is("logup_z", &second)?;
        let kernel = columns.kernel("eval_h_logup_extra")?;
        kernel.arg(b[0]).arg(b[1]).arg(b[2]).arg(b[3]).arg(b[4]).arg(&challenges).arg(&2u32).arg(&size).run()?;
        let third = |i| second(i) * y + ((next(3, i) - at(3, i)) * at(1, i) - at(2, i)) * at(4, i);
        is("logup_extra", &third)?;
        let kernel = columns.kernel("eval_h_shuffles")?;
        let kernel = kernel.arg(b[0]).arg(b[1]).arg(b[2]).arg(b[3]).arg(b[4]).arg(b[5]).arg(b[6]);
        kernel.arg(&challenges).arg(&2u32).arg(&size).run()?;
        is("shuffles", &|i| {
            let z = at(3, i);
            let h = (third(i) * y + (one - z) * at(4, i)) * y + (z.square() - z) * at(5, i);
            h * y + (at(2, i) * next(3, i) - at(1, i) * z) * at(6, i)
        })
    });
}

/// What the fork's older lookups and its sort call.
#[test]
fn slots_and_forms() {
    every_size(4, |columns| {
        let c = random(2, 90);
        let challenges = columns.program.create_buffer_from_slice(&c)?;
        let b: Vec<_> = columns.buffers.iter().collect();
        let slot = 3u32;
        let kernel = columns.kernel("calc_lookup_z")?.arg(b[0]).arg(b[1]).arg(b[2]).arg(b[3]);
        kernel.arg(&challenges).arg(&(columns.size as u32)).arg(&slot).run()?;
        let mut inverse = vec![Fr::zero(); columns.size];
        columns.program.read_into_buffer(b[1], &mut inverse)?;
        let factors = |l, i| (columns.at(l, i) + c[0]) * (columns.at(l + 1, i) + c[1]);
        columns.is(0, "calc_lookup_z", |i| {
            factors(2, i) * factors(0, i).invert().expect("not zero") * inverse[i / slot as usize * slot as usize]
        })?;
        columns.kernel("batch_unmont")?.arg(b[2]).run()?;
        columns.kernel("batch_mont")?.arg(b[2]).run()?;
        columns.is(2, "batch_mont after batch_unmont", |i| columns.at(2, i))
    });
}

/// As the fork sorts: numbers instead of elements, all steps of all rounds, elements again.
#[test]
fn a_sort() {
    every_size(1, |columns| {
        let (buffer, log_n) = (&columns.buffers[0], columns.size.ilog2());
        columns.kernel("batch_unmont")?.arg(buffer).run()?;
        for i in 0..log_n {
            for j in 0..=i {
                let groups = (1usize << (log_n - 1)) / 128;
                columns.program.create_kernel("Bn256_Fr_sort", groups, 128)?.arg(buffer).arg(&i).arg(&j).run()?;
            }
        }
        columns.kernel("batch_mont")?.arg(buffer).run()?;
        let mut sorted = columns.values[0].clone();
        sorted.sort();
        columns.is(0, "sort", |i| sorted[i])
    });
}

#[test]
fn unknown_kernels_and_wrong_arguments_are_named() {
    every_size(2, |columns| {
        for name in ["Bn256_Fr_eval_nothing", "eval_sum", "Bls12_Fr_eval_sum", "Bn256_Fr_"] {
            let text = columns.program.create_kernel(name, 1, 128).expect_err("unknown").to_string();
            assert!(text.contains(name), "{text}");
        }
        let [to, from] = [0, 1].map(|i| &columns.buffers[i]);
        let size = columns.size as u32;
        let wrong = [
            columns.kernel("eval_sum")?.arg(to).arg(from).run(),
            columns.kernel("eval_sum")?.arg(to).arg(from).arg(from).arg(&0).arg(&0).arg(&(size + 1)).run(),
            columns.kernel("eval_sum")?.arg(to).arg(to).arg(from).arg(&1).arg(&0).arg(&size).run(),
            columns
                .kernel("eval_sum")?
                .arg(to)
                .arg(from)
                .arg(from)
                .arg(&0)
                .arg(&0)
                .arg(&LocalBuffer::<Fr>::new(1))
                .run(),
        ];
        for error in wrong {
            let text = error.expect_err("refused").to_string();
            assert!(text.starts_with("Bn256_Fr_eval_sum: "), "{text}");
        }
        columns.is(0, "untouched", |i| columns.at(0, i))
    });
}

#[test]
fn buffers_are_zero_and_ranges_are_checked() {
    on(&first(), |program| {
        for _ in 0..3 {
            // SAFETY: it is zero.
            let mut buffer = unsafe { program.create_buffer::<Fr>(1000)? };
            let mut values = random(1000, 1);
            program.read_into_buffer(&buffer, &mut values)?;
            assert!(values.iter().all(|value| *value == Fr::zero()));
            program.write_from_buffer(&mut buffer, &random(10, 2))?;
            program.read_into_buffer(&buffer, &mut values[..20])?;
            assert!(values[..10] == random(10, 2) && values[10..20].iter().all(|value| *value == Fr::zero()));
            program.read_into_buffer(&buffer, &mut random(1001, 1)).expect_err("longer");
            program.write_from_buffer(&mut buffer, &random(1001, 1)).expect_err("longer");
        }
        Ok(())
    })
    .expect("buffers");
}

/// Threads with programs of their own, on one device.
#[test]
fn several_threads() {
    (0..8u8).into_par_iter().for_each(|seed| {
        let values = random(500, seed);
        let mut result = vec![Fr::zero(); 500];
        on(&first(), |program| {
            let [a, b] = [&values, &values].map(|values| program.create_buffer_from_slice(values));
            let (a, b) = (a?, b?);
            for _ in 0..10 {
                let kernel = program.create_kernel("Bn256_Fr_eval_sum", 0, 128)?;
                kernel.arg(&a).arg(&a).arg(&b).arg(&0).arg(&0).arg(&500u32).run()?;
            }
            Ok(program.read_into_buffer(&a, &mut result)?)
        })
        .expect("kernels");
        assert!(result.iter().zip(&values).all(|(result, value)| *result == *value * Fr::from(11)), "{seed}");
    });
}
