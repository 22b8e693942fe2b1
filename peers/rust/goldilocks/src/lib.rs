//! What the peers over the Goldilocks field share: the sizes, the inputs, and the
//! published results that a peer must reproduce before it is timed.
//!
//! Case names: `PoseidonPermutation/states=N`, `MerkleBuild/leaves=N/width=8`,
//! `NTT/n=N/columns=1`, `LDE/n=N/columns=8/blowup=2/order=bitrev`.

mod field;
mod published;

pub use field::{MODULUS, multiply, power, value_at};
pub use published::{Permutation, permutations, root};

/// Binary logarithms of the sizes that are measured.
pub const LOGS: [usize; 6] = [10, 12, 14, 16, 18, 20];
/// Binary logarithm of the factor by which an extension is longer than its columns.
pub const BLOWUP: usize = 1;
/// An extension is to the coset of this generator of the multiplicative group.
pub const SHIFT: u64 = 7;
/// States that are permuted in one call of a `PoseidonPermutation` case.
pub const STATES: usize = 1024;
/// Elements of a leaf.
pub const WIDTH: usize = 8;
/// Elements of a digest.
pub const DIGEST: usize = 4;

pub type Digest = [u64; DIGEST];

pub fn permutation_case() -> String {
    format!("PoseidonPermutation/states={STATES}")
}

pub fn tree_case(log: usize) -> String {
    format!("MerkleBuild/leaves={}/width={WIDTH}", 1usize << log)
}

pub fn transform_case(log: usize) -> String {
    format!("NTT/n={}/columns=1", 1usize << log)
}

pub fn extension_case(log: usize) -> String {
    let (columns, blowup) = (WIDTH, 1 << BLOWUP);
    format!(
        "LDE/n={}/columns={columns}/blowup={blowup}/order=bitrev",
        1usize << log
    )
}

/// The `n` elements that the published roots are over.
pub fn elements(n: usize) -> impl Iterator<Item = u64> {
    (1..=n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % MODULUS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_canonical() {
        let first: Vec<u64> = elements(3).collect();
        assert_eq!(first[0], 0x9e37_79b9_7f4a_7c15);
        assert_eq!(first[1], 0x3c6e_f372_fe94_f82a);
        assert!(elements(1 << 12).all(|e| e < MODULUS));
    }
}
