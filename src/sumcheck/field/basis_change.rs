//! Converts elements of the tower to the basis of GHASH's field, and back.

use std::sync::Arc;

use crate::Result;
use crate::backend::{Buffer, Stream};
use crate::field::isomorphism;
use crate::field::linear::LinearMap;
use crate::kernel_arguments::{In, Out};
use crate::kernels::sumcheck::{Convert, PLACE_BITS, PLACES};
use crate::module_launcher::KernelModule;
use crate::sumcheck::field::ComputeField;

/// Describes a change of basis: `items` work-items convert the first `count` elements of `from` and write them to `to`.
#[derive(Clone, Copy)]
pub(crate) struct BasisChange<'a> {
    pub count: u64,
    pub items: u64,
    pub from: &'a Buffer,
    pub to: &'a Buffer,
}

/// Returns the look-up table by which [`enqueue_basis_change`] changes tower elements to the basis of GHASH's field. The caller must
/// keep it until queued conversions have run.
pub(crate) fn to_ghash_table(stream: &mut Stream) -> Result<Arc<Buffer>> {
    cached_basis_table(stream, "to GHASH", isomorphism::to_ghash())
}

/// Returns the look-up table by which [`enqueue_basis_change`] changes elements of GHASH's field to the tower's basis. The caller
/// must keep it until queued conversions have run.
pub(crate) fn to_tower_table(stream: &mut Stream) -> Result<Arc<Buffer>> {
    cached_basis_table(stream, "to the tower", isomorphism::to_tower())
}

/// Queues the change of basis that `all` describes, by `table`, which [`to_ghash_table`] or [`to_tower_table`] returned.
/// Both buffers have `all.count` elements of the binary field W, and `program` is one of its modules.
pub(crate) fn enqueue_basis_change<W: ComputeField>(
    stream: &mut Stream,
    program: KernelModule,
    table: &Buffer,
    all: BasisChange<'_>,
) -> Result<()> {
    let BasisChange { count, items, from, to } = all;
    let convert = Convert::<W> { count, table: In::new(table), from: In::new(from), to: Out::new(to) };
    program.run(stream, items, convert)
}

/// Returns a device buffer with the images under `map` of all values of each 5-bit digit of an element. The device
/// caches the buffer under `name`. Its layout is `[digit][word of the image][value of the digit]`, in 32-bit words.
fn cached_basis_table(stream: &mut Stream, name: &str, map: &LinearMap) -> Result<Arc<Buffer>> {
    let device = stream.device().clone();
    device.get_or_create_table(format!("sumcheck {name}").into_bytes(), || {
        let word =
            |place: u32, number: u32, value: u128| (map.apply(value << (PLACE_BITS * place)) >> (32 * number)) as u32;
        let mut images = Vec::new();
        for (place, number) in (0..PLACES).flat_map(|place| (0..4).map(move |number| (place, number))) {
            images.extend((0..1 << PLACE_BITS).map(|value| word(place, number, value)));
        }
        let buffer = stream.allocate(size_of_val(&images[..]))?;
        stream.upload(&buffer, bytemuck::cast_slice(&images))?;
        stream.synchronize(None)?;
        Ok(buffer)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Accelerator;
    use crate::field::DeviceVector;
    use crate::field::ghash::Ghash;
    use crate::field::tower::Tower;
    use crate::kernels;

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
            let program = KernelModule::find(&kernels::sumcheck::FAMILY, kernels::binary::GHASH.name).expect("there");
            let there = DeviceVector::<Ghash>::allocate_uninit(&stream, tower.len()).expect("memory");
            let all = BasisChange { count: tower.len() as u64, items: 256, from: from.buffer(), to: there.buffer() };
            let images = to_ghash_table(&mut stream).expect("memory");
            enqueue_basis_change::<Ghash>(&mut stream, program, &images, all).expect("launched");
            let mut result = vec![Ghash(0); tower.len()];
            there.download(&mut stream, &mut result).expect("download");
            assert!(result == expected);
            ran += 1;
        }
        println!("changes of basis on {ran} backends");
    }
}
