//! Implements Grumpkin by the types of halo2curves.

use halo2curves::grumpkin::{Fq, G1, G1Affine};

use super::halo2curves_points::halo2curves_curve;
use crate::kernels::grumpkin;

halo2curves_curve!(G1Affine, G1, Fq, 64, 254, grumpkin::GRUMPKIN.name);
