//! Implements BN254 by the types of halo2curves.

use halo2curves::bn256::{Fq, Fq2, G1, G1Affine, G2, G2Affine};

use crate::curve::halo2curves_points::halo2curves_curve;
use crate::kernels::bn254;

halo2curves_curve!(G1Affine, G1, Fq, 64, 254, bn254::G1.name);
halo2curves_curve!(G2Affine, G2, Fq2, 128, 254, bn254::G2.name);
