//! Elements of the tower to the basis of GHASH's field, and back.

use std::sync::Arc;

use super::plan::GROUP;
use crate::Result;
use crate::backend::{Arg, Buffer, Stream};
use crate::field::ghash::Ghash;
use crate::field::isomorphism;
use crate::field::linear::LinearMap;
use crate::field::tower::Tower;
use crate::program::{Program, mem};

/// Places of `sumcheck_convert`, and the bits of each; the same of a word, for `sumcheck_convert_words`.
const PLACES: (u32, u32) = (32, 4);
const PLACES_OF_A_WORD: (u32, u32) = (7, 5);

/// Elements, one after the other, and the work-items for them.
#[derive(Clone, Copy)]
pub(super) struct Elements<'a> {
    pub count: u64,
    pub items: u64,
    pub from: &'a Buffer,
    pub to: &'a Buffer,
}

/// The table for [`convert`] to GHASH's basis. It is to be kept until what is queued with it has run.
pub(super) fn to_ghash(stream: &mut Stream) -> Result<Arc<Buffer>> {
    table(stream, PLACES, "to GHASH", isomorphism::to_ghash())
}

/// The same the other way.
pub(super) fn to_tower(stream: &mut Stream) -> Result<Arc<Buffer>> {
    table(stream, PLACES, "to the tower", isomorphism::to_tower())
}

/// Queues a change of basis by a table.
///
/// # Safety
/// Both buffers have so many elements, and the program is one of a binary field.
pub(super) unsafe fn convert(stream: &mut Stream, program: Program, table: &Buffer, all: Elements<'_>) -> Result<()> {
    let args = [Arg::U64(all.count), mem(table), mem(all.from), mem(all.to)];
    // SAFETY: the arguments are those of the kernel, and the caller says what buffers have.
    unsafe { program.launch(stream, "sumcheck_convert", all.items, GROUP, &args) }
}

/// Queues a change of basis out of the tower by a table for one of four words, and products; that table, which is to be kept until
/// this has run.
///
/// # Safety
/// As [`convert`].
pub(super) unsafe fn convert_words(stream: &mut Stream, program: Program, all: Elements<'_>) -> Result<Arc<Buffer>> {
    let table = table(stream, PLACES_OF_A_WORD, "word to GHASH", isomorphism::to_ghash())?;
    let factors = [32, 64, 96].map(|place| Ghash::from(Tower(1 << place)));
    let mut args = vec![Arg::U64(all.count)];
    args.extend(factors.each_ref().map(|factor| Arg::Value(std::ptr::from_ref(factor).cast(), size_of::<Ghash>())));
    args.extend([&*table, all.from, all.to].map(mem));
    // SAFETY: the arguments are those of the kernel, and the caller says what buffers have.
    unsafe { program.launch(stream, "sumcheck_convert_words", all.items, GROUP, &args)? };
    Ok(table)
}

/// A map's images of all bits at places of so many each, kept on the device between proofs.
fn table(stream: &mut Stream, (places, bits): (u32, u32), name: &str, map: &LinearMap) -> Result<Arc<Buffer>> {
    let device = stream.device().clone();
    device.table(format!("sumcheck {name}").into_bytes(), || {
        let image = |place: u32, value: u128| map.apply(value << (bits * place)).to_le_bytes();
        let of_place = |place: u32| (0..1 << bits).map(move |value| image(place, value));
        let images: Vec<[u8; 16]> = (0..places).flat_map(of_place).collect();
        let buffer = stream.allocate(images.as_flattened().len())?;
        stream.upload(&buffer, images.as_flattened())?;
        stream.wait(None)?;
        Ok(buffer)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Accelerator;
    use crate::field::DeviceVector;
    use crate::kernels::{Family, name};

    #[test]
    fn both_ways_are_the_isomorphism() {
        let bits = (0..128).map(|bit| Tower(1 << bit));
        let tower: Vec<Tower> = bits
            .chain((0..500).map(|i| Tower(0x1234_5678_9abc_def1_0fed_cba9_8765_4321_u128.wrapping_mul(i))))
            .collect();
        let expected: Vec<Ghash> = tower.iter().map(|element| Ghash::from(*element)).collect();
        let mut ran = 0;
        for accelerator in [crate::BackendKind::Cuda, crate::BackendKind::OpenCl].map(Accelerator::with_backend) {
            let Some(device) = accelerator.ok().and_then(|accelerator| accelerator.devices().first().cloned()) else {
                eprintln!("left out: changes of basis on a backend that is not there");
                continue;
            };
            let mut stream = device.stream().expect("stream");
            let from = DeviceVector::upload(&mut stream, &tower).expect("memory");
            let program = Program::of(Family::Sumcheck, name::GHASH).expect("there");
            let results = [0, 1].map(|_| DeviceVector::<Ghash>::allocate(&stream, tower.len()).expect("memory"));
            let all = |to| Elements { count: tower.len() as u64, items: 256, from: from.buffer(), to };
            let by_places = to_ghash(&mut stream).expect("memory");
            // SAFETY: all vectors are of the same length.
            let by_words = unsafe {
                convert(&mut stream, program, &by_places, all(results[0].buffer())).expect("launched");
                convert_words(&mut stream, program, all(results[1].buffer())).expect("launched")
            };
            for result in &results {
                let mut there = vec![Ghash(0); tower.len()];
                result.download(&mut stream, &mut there).expect("download");
                assert!(there == expected);
            }
            drop(by_words);
            ran += 1;
        }
        println!("changes of basis on {ran} backends");
    }
}
