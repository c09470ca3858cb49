//! Compiles the stock crate's kernels when a GPU framework is chosen.

fn main() {
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    ec_gpu_gen::generate(
        &ec_gpu_gen::SourceBuilder::new()
            .add_fft::<blstrs::Scalar>()
            .add_multiexp::<blstrs::G1Affine, blstrs::Fp>()
            .add_multiexp::<blstrs::G2Affine, blstrs::Fp2>(),
    );
}
