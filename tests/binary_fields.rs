//! The binary fields of 128 bits against published vectors, against other crates, and against their definitions.

mod common;

use ff::Field;
use ghash::universal_hash::{KeyInit, UniversalHash};
use polyval::Polyval;
use proofwarp::field::bitslice;
use proofwarp::field::ghash::Ghash;
use proofwarp::field::isomorphism;
use proofwarp::field::tower::{self, LEVELS, Tower};
use proptest::prelude::*;

use common::rng;

/// X_k² = X_k·X_(k−1) + 1.
#[test]
fn the_tower_is_what_it_is_defined_as() {
    for k in 0..LEVELS {
        let (x, below) = (Tower::generator(k), if k == 0 { Tower::ONE } else { Tower::generator(k - 1) });
        assert_eq!(x.square(), x * below + Tower::ONE, "X_{k}");
        assert_eq!((x.level(), x.0.ilog2()), (k + 1, 1 << k));
    }
    assert_eq!((Tower::ZERO.level(), Tower::ONE.level()), (0, 0));
}

/// Smaller fields are closed, and their products are those of the larger ones.
#[test]
fn smaller_fields_lie_in_larger_ones() {
    let mut rng = rng(1);
    for level in 0..LEVELS {
        let mask = (1u128 << (1 << level)) - 1;
        for _ in 0..50 {
            let [a, b] = [(); 2].map(|()| Tower::random(&mut rng).0 & mask);
            let product = tower::product(level, a, b);
            assert!((level..=LEVELS).all(|above| tower::product(above, a, b) == product), "{a:#x}·{b:#x}");
            assert!(Tower(product).level() <= level);
            let inverse = tower::inverse(level, a);
            assert!(a == 0 || tower::product(level, a, inverse) == 1, "1/{a:#x}");
            let frobenius = (0..1 << level).fold(Tower(a), |power, _| power.square());
            assert_eq!(frobenius, Tower(a), "the 2^{level}th square");
        }
    }
}

/// From `crates/field/src/binary_field.rs` of binius.
#[test]
fn products_of_binius() {
    let vectors: [(u32, u128, u128, u128); 26] = [
        (1, 0x1, 0x3, 0x3),
        (1, 0x2, 0x2, 0x3),
        (2, 0x9, 0x4, 0xa),
        (2, 0x6, 0x7, 0xc),
        (2, 0x2, 0xa, 0xf),
        (2, 0x9, 0xb, 0x8),
        (3, 0x1b, 0xa8, 0x09),
        (3, 0x76, 0x51, 0x84),
        (3, 0xe4, 0x8f, 0x0e),
        (3, 0x42, 0x66, 0xea),
        (3, 0x68, 0xd0, 0xc5),
        (4, 0x48a8, 0xf8a4, 0x3656),
        (4, 0xf8a4, 0xf8a4, 0xe7e6),
        (4, 0x448b, 0x0585, 0x47d3),
        (4, 0x0585, 0x0585, 0x8057),
        (4, 0x0001, 0x6a57, 0x6a57),
        (4, 0xf62c, 0x0dbd, 0xa9da),
        (4, 0xf62c, 0xf62c, 0x37bb),
        (6, 0xc84d_6191_1083_1cef, 0xa14f, 0x3565_086d_6b9e_f595),
        (6, 0xa14f_5801_0703_0300, 0xf404, 0x83e7_239e_b819_a6ac),
        (6, 0xf404_2107_0607_0403, 0x6b44, 0x7905_41c5_4ffa_2ede),
        (6, 0x6b44_0004_0400_6b44, 0x13, 0x7018_004c_4c00_7018),
        (6, 0x6b44_0004_0400_6b44, 0x6b44_0004_0400_6b44, 0xc597_51e6_f176_9000),
        (6, 0xeb, 0xfba1, 0x7689),
        (5, 0xeb, 0xfba1, 0x7689),
        (7, 0xeb, 0xfba1, 0x7689),
    ];
    for (level, a, b, product) in vectors {
        assert_eq!(tower::product(level, a, b), product, "{a:#x}·{b:#x} in T{level}");
        assert_eq!(tower::product(level, b, a), product);
    }
}

/// Prime factors of 2^(2^k) − 1 are those of Fermat numbers.
const FACTORS: [u128; 9] = [3, 5, 17, 257, 65537, 641, 6_700_417, 274_177, 67_280_421_310_721];

/// binius' generators of all units, T1 to T7: their powers by the order over a prime factor are not 1.
#[test]
fn generators_of_binius() {
    let generators =
        [0x2, 0x5, 0x2d, 0xe2de, 0x03e2_1cea, 0x070f_870d_cd9c_1d88, 0x2e89_5399_af44_9ace_4995_96f6_e5fc_cafa_u128];
    for (level, generator) in (1..).zip(generators) {
        let power = |exponent: u128| Tower(generator).pow_vartime([exponent as u64, (exponent >> 64) as u64]);
        let order = u128::MAX >> (128 - (1 << level));
        assert_eq!(Tower(generator).level(), level);
        assert_eq!(power(order), Tower::ONE, "T{level}");
        for factor in FACTORS.iter().filter(|factor| order % *factor == 0) {
            assert_ne!(power(order / factor), Tower::ONE, "T{level}, {factor}");
        }
    }
}

/// Neighbouring columns of binius' map from POLYVAL's basis to T7 (`polyval.rs`) have the same quotient: the image of x.
#[test]
fn columns_of_binius() {
    let columns = [
        0x66e1_d645_d7eb_87dc_a8fc_4d30_a32d_adcc_u128,
        0x53ca_87ba_7717_2fd8_c567_5d78_c59c_1901,
        0x1a9c_f63d_3182_7dcd_a15a_cb75_5a94_8567,
        0xa8f2_8bdf_6d29_cee2_474b_0401_a99f_6c0a,
    ]
    .map(Tower);
    let quotient = columns[1] * columns[0].invert().expect("not zero");
    for pair in columns.windows(2) {
        assert_eq!(pair[0] * quotient, pair[1]);
    }
    // x is a root of POLYVAL's modulus.
    let powers = [128, 127, 126, 121, 0].map(|exponent| quotient.pow_vartime([exponent]));
    assert_eq!(powers.iter().sum::<Tower>(), Tower::ZERO);
}

/// From `src/ulvt/finite_fields/tests/test_ghash.cu` of binius-gpu.
#[test]
fn products_of_binius_gpu() {
    let vectors = [
        (
            0x31fa_7e9d_d709_6a70_e649_0494_0290_9f71_u128,
            0x1357_17be_d0bf_8766_8640_8372_fb9b_fa3e_u128,
            0x0c1d_ee0c_3190_52eb_28ab_6f2e_1a7a_e3a5_u128,
        ),
        (
            0xbbc0_196e_c2f2_d27a_3bfb_1f08_78a5_8bc4,
            0xf6b8_6e91_6df9_7d39_f526_1955_2644_dc6b,
            0xd2d2_bdda_17e0_1ef2_ea24_1168_b4d4_23bc,
        ),
        (
            0xd129_240f_dcf2_ae27_90fb_5da0_a2fb_8ac1,
            0xf541_227f_84e0_a3cc_fa55_9c98_6072_2198,
            0x2fe6_0c7b_82a4_732b_d607_2a57_a400_2043,
        ),
        (
            0x1afb_bd6c_50f3_455e_9705_103e_fbb9_839e,
            0x1dcb_2dc4_95f2_6af4_d56c_7f15_0466_3cf6,
            0xfe44_34b4_42d4_da48_5ed0_930d_2ca9_cd15,
        ),
        (
            0xdd45_adff_4e81_daf2_6f6e_21a6_7bdf_e17b,
            0x9eb8_62b7_ba4e_8055_80b8_16da_ba1e_2ead,
            0xb5af_3cd0_5201_82d2_75cc_f4b5_c650_9d5f,
        ),
    ];
    for (a, b, product) in vectors {
        assert_eq!(Ghash(a) * Ghash(b), Ghash(product));
    }
}

/// Test case 2 of the specification of GCM: H, one block of ciphertext, the lengths.
#[test]
fn the_hash_of_gcm() {
    let block = |bits: u128| Ghash::from_gcm(bits.to_be_bytes());
    let key = block(0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e);
    let blocks = [0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78, 0x80];
    let hash = blocks.iter().fold(Ghash::ZERO, |hash, bits| (hash + block(*bits)) * key);
    assert_eq!(hash.to_gcm(), 0xf38c_bb1a_d692_23dc_c345_7ae5_b6b0_f885_u128.to_be_bytes());
}

/// Known images: of both roots the smaller one, from X_0 on.
#[test]
fn images_in_the_basis_of_ghash() {
    let images = [
        0x295a_c0b1_f473_1af9_676a_ac9f_a4b2_0b08_u128,
        0x5003_17bd_159d_73bb_34d2_f7fb_a603_e341,
        0x8724_30dc_df13_5bcc_433f_5364_0b5a_b39a,
        0x08ee_6d05_a2af_a6e5_f848_729a_9637_483a,
        0x6167_c15a_e3f2_5159_51c6_5cff_fdd0_9b94,
        0x11bf_2ae0_0eef_b745_8f19_90f8_ffd4_b9bc,
        0x8845_a6b7_8c9f_ffc3_6a2a_7460_0cfa_98de,
    ];
    for (k, image) in (0..).zip(images) {
        assert_eq!(Ghash::from(Tower::generator(k)), Ghash(image), "X_{k}");
    }
    let ones: u32 = isomorphism::to_ghash().columns().iter().map(|column| column.count_ones()).sum();
    assert_eq!(ones, 8024);
}

fn element() -> impl Strategy<Value = u128> {
    prop_oneof![any::<u128>(), (0..128u32).prop_map(|bit| 1 << bit), Just(0), Just(u128::MAX), (0..256u128)]
}

proptest! {
    #[test]
    fn ghash_is_that_of_the_crate(a in element(), b in element()) {
        let (key, block) = (Ghash(a).to_gcm(), Ghash(b).to_gcm());
        let mut hash = ghash::GHash::new(&key.into());
        hash.update(&[block.into()]);
        prop_assert_eq!(Ghash::from_gcm(hash.finalize().into()), Ghash(a) * Ghash(b));
    }

    /// POLYVAL's product is a·b·x^(−128), in the reverse order of bits (RFC 8452, appendix A).
    #[test]
    fn products_are_those_of_polyval(a in element(), b in element()) {
        let mut hash = Polyval::new(&a.to_le_bytes().into());
        hash.update(&[b.to_le_bytes().into()]);
        let product = Ghash(u128::from_le_bytes(hash.finalize().into()).reverse_bits());
        let [a, b] = [a, b].map(|bits| Ghash(bits.reverse_bits()));
        prop_assert_eq!(product, a * b * Ghash(2));
    }

    /// The tower's products against the crate's, through the isomorphism.
    #[test]
    fn the_isomorphism_takes_products_to_products(a in element(), b in element()) {
        let [x, y] = [a, b].map(|bits| Ghash::from(Tower(bits)));
        let mut hash = ghash::GHash::new(&x.to_gcm().into());
        hash.update(&[y.to_gcm().into()]);
        prop_assert_eq!(Ghash::from_gcm(hash.finalize().into()), Ghash::from(Tower(a) * Tower(b)));
        prop_assert_eq!(Ghash::from(Tower(a) + Tower(b)), x + y);
        prop_assert_eq!(Tower::from(x), Tower(a));
    }

    #[test]
    fn products_obey_the_laws(a in element(), b in element(), c in element()) {
        let [a, b, c] = [a, b, c].map(Tower);
        prop_assert_eq!(a * b, b * a);
        prop_assert_eq!(a * (b * c), (a * b) * c);
        prop_assert_eq!(a * (b + c), a * b + a * c);
        prop_assert_eq!(bool::from(a.is_zero()), bool::from(a.invert().is_none()));
        prop_assert!(bool::from(a.is_zero()) || a * a.invert().unwrap_or(Tower::ZERO) == Tower::ONE);
        let root = a.sqrt().unwrap_or(Tower::ZERO);
        prop_assert_eq!(root.square(), a);
    }

    #[test]
    fn slices_have_the_bits(elements in prop::collection::vec(element(), 0..2100)) {
        let words = bitslice::to_tiles(&elements);
        for (number, element) in elements.iter().enumerate().step_by(37) {
            let (tile, rest) = (number / bitslice::TILE, number % bitslice::TILE);
            let (lane, place) = (rest / bitslice::SLICED, rest % bitslice::SLICED);
            for bit in 0..128 {
                let word = words[tile * bitslice::TILE_WORDS + bit * bitslice::LANES + lane];
                prop_assert_eq!(u128::from(word >> place & 1), element >> bit & 1);
            }
        }
        prop_assert_eq!(bitslice::from_tiles(&words, elements.len() + bitslice::TILE), None);
        prop_assert_eq!(bitslice::from_tiles(&words, elements.len()), Some(elements));
    }
}
