//! Results that others have published of Poseidon with the constants of Polygon's
//! Hermez prover and plonky2.

use crate::{DIGEST, Digest, WIDTH};

/// The vectors that the tests of zkbench check its own results with; the file says
/// where they are from.
const VECTORS: &str =
    include_str!("../../../../goldilocks/poseidon/testdata/poseidon_goldilocks.txt");

/// Roots of sizes that the file does not have, by the binary logarithm of the number of
/// rows: plonky2 1.1.0 and Plonky3 0.9.0-rc.2 agree on them.
#[rustfmt::skip]
const ROOTS: [(usize, Digest); 5] = [
    (10, [0x818f_a4aa_7a13_5b79, 0x6ace_3baf_b721_d613, 0x5c65_5f29_9c4e_b007, 0x3aca_e72a_5963_0e4a]),
    (14, [0x0c0c_afce_6830_1044, 0x5beb_6f44_6b7d_1f59, 0xa494_cf8f_4547_4c8e, 0x5493_8bdb_96db_d95b]),
    (16, [0x7979_6443_f2f2_4137, 0x43cc_6c9f_d877_f519, 0x08b2_fcef_1896_46f0, 0x124a_e261_42e5_1104]),
    (18, [0xfe17_55f7_9ee0_5868, 0x1ff9_2955_4b20_fcfb, 0xdcd1_5a61_81f5_709d, 0x4afd_47b4_3754_958b]),
    (20, [0x6109_94f1_7bd3_1968, 0x24fd_bce7_f55e_0e1e, 0x4509_d7c3_2f1d_7157, 0x1182_3a2d_cc85_ef40]),
];

/// A state before and after the permutation.
#[derive(Debug, PartialEq)]
pub struct Permutation {
    pub input: [u64; 12],
    pub output: [u64; 12],
}

/// The published permutations.
pub fn permutations() -> Vec<Permutation> {
    lines("perm.in")
        .zip(lines("perm.out"))
        .map(|(input, output)| Permutation {
            input: words(input),
            output: words(output),
        })
        .collect()
}

/// The root of the tree over the first 2^`log` rows of [`crate::elements`], of the sizes
/// in [`crate::LOGS`].
pub fn root(log: usize) -> Option<Digest> {
    let name = format!("root rows={} cols={WIDTH}", 1usize << log);
    lines(&name).next().map(words::<DIGEST>).or_else(|| {
        let known = ROOTS.iter().find(|(l, _)| *l == log);
        known.map(|(_, root)| *root)
    })
}

/// The rest of every line that begins with a name.
fn lines(name: &str) -> impl Iterator<Item = &'static str> {
    VECTORS
        .lines()
        .filter_map(move |line| line.strip_prefix(name)?.strip_prefix(' '))
}

fn words<const N: usize>(text: &str) -> [u64; N] {
    let words: Vec<u64> = text
        .split_whitespace()
        .map(|word| u64::from_str_radix(word, 16).expect("a hexadecimal word"))
        .collect();
    words.try_into().expect("the length of the vector")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LOGS;

    #[test]
    fn vectors_are_read() {
        let all = permutations();
        assert_eq!(all.len(), 3);
        assert_eq!(all[1].input[11], 11);
        assert_eq!(all[1].output[0], 0xd64e_1e3e_fc5b_8e9e);
        assert_eq!(root(12).unwrap()[3], 0xe8c8_a5d2_9113_97fd);
        assert_eq!(root(11), None);
    }

    #[test]
    fn every_size_has_a_root() {
        for log in LOGS {
            assert!(root(log).is_some(), "2^{log}");
        }
    }
}
