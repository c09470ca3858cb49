//! Times products of sparse matrices such as an R1CS has, by every kernel.

use proofwarp::Accelerator;
use proofwarp::field::{NttField, as_bytes, as_bytes_mut};
use proofwarp::matrix::{Csr, CsrOnDevice, DeviceVectors, Kernel, SparseOptions};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::Options;
use crate::timing::median;
use crate::{Failure, inputs};

/// Bytes a second that an H200 copies at, which gives the floor of a product of a matrix.
const FLOOR_RATE: f64 = 4.29e12;

/// Makes a row of a matrix, by the row's number and the matrix's columns.
type Row<F> = fn(usize, usize) -> Vec<(usize, F)>;

/// Matrices such as an R1CS has, resident, by every kernel: the model's choice first.
pub fn all<F: NttField>(accelerator: &Accelerator, options: &Options) -> Result<(), Failure> {
    let Some(device) = accelerator.devices().first() else { return Ok(()) };
    if !options.rows.wants(&format!("csr {}", F::NAME)) {
        return Ok(());
    }
    say!("matrix times vector                              log rows   kernels ms        GB/s    of floor");
    let shapes: [(&str, Row<F>); 5] = [
        ("1 a row, near", |row, columns| near_row(row, columns, 1)),
        ("2 a row, near", |row, columns| near_row(row, columns, 2)),
        ("12 a row, near", |row, columns| near_row(row, columns, 12)),
        ("3 a row", |row, columns| r1cs_row(row, columns, 0)),
        ("3 a row, some 1000", |row, columns| r1cs_row(row, columns, 1000)),
    ];
    for (log_rows, (name, shape)) in
        options.rows.sizes().iter().flat_map(|log_rows| shapes.map(|shape| (*log_rows, shape)))
    {
        let csr = Csr::from_rows(1 << log_rows, (0..1 << log_rows).map(|row| shape(row, 1 << log_rows)))?;
        let kernels = [Kernel::Scalar, Kernel::Vector, Kernel::Balanced];
        for kernel in std::iter::once(None).chain(kernels.map(Some)) {
            let matrix_options = SparseOptions { kernel, ..Default::default() };
            let matrix = CsrOnDevice::new(device, &csr, matrix_options)?;
            if options.explain && kernel.is_none() {
                say!("{}", matrix.explain());
            }
            let seconds = product_time(options, &matrix, &csr)?;
            let (bytes, kernel_name) = (matrix.explain().least_bytes as f64, matrix.explain().kernel);
            let what =
                format!("csr {}, {name}, {kernel_name}{}", F::NAME, if kernel.is_none() { " (chosen)" } else { "" });
            let (rate, floor) = (bytes / seconds, seconds * FLOOR_RATE / bytes);
            say!("{what:56} {log_rows:>2} {:12.4} {:11.1} {floor:9.2} x", seconds * 1e3, rate / 1e9);
        }
    }
    Ok(())
}

/// Makes `length` ones next to each other, as in chains such as MiMC's.
fn near_row<F: NttField>(row: usize, columns: usize, length: usize) -> Vec<(usize, F)> {
    (row..row + length).map(|column| (column % columns, F::ONE)).collect()
}

/// Makes one to five non-zeros, three of four of them ±1 and some powers of two, some of the column of ones, half of the
/// others near; every 1024th row has `long` more.
fn r1cs_row<F: NttField>(row: usize, columns: usize, long: usize) -> Vec<(usize, F)> {
    let mut rng = ChaCha8Rng::seed_from_u64(row as u64);
    let more = if row % 1024 == 512 { long } else { 0 };
    let entry = |_| {
        let column = match rng.gen_range(0..8) {
            0 => 0,
            1..=4 => (row + rng.gen_range(0..256)) % columns,
            _ => rng.gen_range(0..columns),
        };
        let power = if rng.gen_range(0..4) == 0 { F::from(2 << rng.gen_range(0..30)) } else { F::ONE };
        (column, if rng.r#gen() { power } else { -power })
    };
    (0..1 + row % 5 + more).map(entry).collect()
}

/// Returns the seconds of the kernels of a product, the median of some.
fn product_time<F: NttField>(options: &Options, matrix: &CsrOnDevice<F>, csr: &Csr<F>) -> Result<f64, Failure> {
    let x = inputs::coefficients::<F>(csr.columns());
    let mut stream = matrix.device().stream()?;
    let buffers = [stream.allocate(size_of_val(x.as_slice()))?, stream.allocate(csr.rows() * size_of::<F>())?];
    let [from, to] = [&buffers[0], &buffers[1]].map(DeviceVectors::one);
    stream.upload(&buffers[0], as_bytes(&x))?;
    let mut times = Vec::new();
    for _ in 0..=options.rows.repeat.max(1) {
        let before = stream.stats().kernels.as_secs_f64();
        stream.begin_timing()?;
        matrix.enqueue(&mut stream, from, to, 1)?;
        stream.end_timing()?;
        stream.synchronize(None)?;
        times.push(stream.stats().kernels.as_secs_f64() - before);
    }
    if options.check {
        let mut y = vec![F::ZERO; csr.rows()];
        // SAFETY: the kernels leave reduced elements in Montgomery form.
        stream.download(unsafe { as_bytes_mut(&mut y) }, &buffers[1])?;
        let sum = |row| csr.row(row).map(|(column, value)| value * x[column]).sum::<F>();
        if !y.par_iter().enumerate().all(|(row, y)| *y == sum(row)) {
            return Err(format!("a wrong product: {}", matrix.explain()).into());
        }
    }
    // The first was to warm up.
    times.remove(0);
    Ok(median(times))
}
