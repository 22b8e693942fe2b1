//! The linear layer of plonky2's Poseidon: a circulant, which Plonky3 multiplies by as by
//! its own, and one element on the diagonal.

use p3_field::PrimeCharacteristicRing;
use p3_goldilocks::{Goldilocks, SmallConvolveGoldilocks};
use p3_mds::karatsuba_convolution::Convolve;
use p3_mds::util::first_row_to_first_col;
use p3_symmetric::Permutation;

/// The first column.
pub const CIRCULANT: [i64; 12] =
    first_row_to_first_col(&[17, 15, 41, 16, 2, 28, 13, 13, 39, 18, 34, 20]);
/// What is added to the first element of the matrix.
pub const DIAGONAL: u32 = 8;

#[derive(Clone, Default)]
pub struct Matrix;

impl Permutation<[Goldilocks; 12]> for Matrix {
    fn permute(&self, input: [Goldilocks; 12]) -> [Goldilocks; 12] {
        let mut output =
            SmallConvolveGoldilocks::apply(input, CIRCULANT, SmallConvolveGoldilocks::conv12);
        output[0] += diagonal(input[0]);
        output
    }
}

fn diagonal<R: PrimeCharacteristicRing>(x: R) -> R {
    x.mul_2exp_u64(DIAGONAL.ilog2().into())
}

/// Where there are no vectors, Plonky3's packing is the element itself.
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "avx2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
mod vector {
    use super::{CIRCULANT, Goldilocks, Matrix, Permutation, diagonal};
    #[cfg(all(target_arch = "x86_64", not(target_feature = "avx512f")))]
    use p3_goldilocks::PackedGoldilocksAVX2 as Vector;
    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f"))]
    use p3_goldilocks::PackedGoldilocksAVX512 as Vector;
    #[cfg(target_arch = "aarch64")]
    use p3_goldilocks::PackedGoldilocksNeon as Vector;
    use p3_mds::karatsuba_convolution::mds_circulant_karatsuba_12;

    /// Known to the compiler, which folds sums of them.
    const COLUMN: [Goldilocks; 12] = {
        let mut column = [Goldilocks::new(0); 12];
        let mut i = 0;
        while i < 12 {
            column[i] = Goldilocks::new(CIRCULANT[i] as u64);
            i += 1;
        }
        column
    };

    impl Permutation<[Vector; 12]> for Matrix {
        fn permute(&self, input: [Vector; 12]) -> [Vector; 12] {
            let mut output = input;
            mds_circulant_karatsuba_12(&mut output, &COLUMN);
            output[0] += diagonal(input[0]);
            output
        }
    }
}
