//! Merkle trees: a padding-free sponge for the leaves, a truncated permutation for
//! two digests, which is how plonky2 hashes leaves of one block.

use crate::poseidon::{Hermez, Packing, check};
use contract::{Prepared, Result};
use goldilocks::{DIGEST, Digest, WIDTH, elements, root};
use p3_commit::Mmcs;
use p3_field::PrimeField64;
use p3_goldilocks::Goldilocks;
use p3_matrix::dense::RowMajorMatrixView;
use p3_merkle_tree::MerkleTreeMmcs;
use p3_symmetric::{PaddingFreeSponge, TruncatedPermutation};
use std::hint::black_box;

type Hash = PaddingFreeSponge<Hermez, 12, WIDTH, DIGEST>;
type Compress = TruncatedPermutation<Hermez, 2, DIGEST, 12>;
type Tree = MerkleTreeMmcs<Packing, Packing, Hash, Compress, 2, DIGEST>;

/// Timed: all digests of the tree, from rows that are there already.
pub fn tree(log: usize) -> Result<Prepared> {
    let permutation = Hermez::new();
    check(&permutation)?;
    let expected = root(log).ok_or("no root of this size is known")?;
    let tree = Tree::new(
        Hash::new(permutation.clone()),
        Compress::new(permutation),
        0,
    );
    let rows: Vec<Goldilocks> = elements(WIDTH << log).map(Goldilocks::new).collect();
    let op = move || {
        let (cap, data) = tree.commit(vec![RowMajorMatrixView::new(&rows, WIDTH)]);
        black_box(&data);
        let root: Digest = cap[0].map(|e| e.as_canonical_u64());
        if root != expected {
            return Err(format!("the root is {root:x?}, not {expected:x?}"));
        }
        Ok(())
    };
    op()?;
    Ok(Prepared {
        op: Box::new(op),
        per_call: 1,
        extra: vec![],
    })
}
