//! Measures the crate `plonky2`: Poseidon over Goldilocks, one permutation at a time,
//! and the Merkle trees over it.

use contract::{Case, Inputs, Prepared, Result, serve};
use goldilocks::{Digest, LOGS, STATES, WIDTH, elements, permutations, root};
use plonky2::field::goldilocks_field::GoldilocksField;
use plonky2::field::types::{Field, PrimeField64};
use plonky2::hash::hashing::PlonkyPermutation;
use plonky2::hash::merkle_tree::MerkleTree;
use plonky2::hash::poseidon::{PoseidonHash, PoseidonPermutation};
use std::hint::black_box;
use std::mem;
use std::process::ExitCode;

type State = PoseidonPermutation<GoldilocksField>;
type Tree = MerkleTree<GoldilocksField, PoseidonHash>;

fn state(words: [u64; 12]) -> State {
    State::new(words.map(GoldilocksField::from_canonical_u64))
}

fn check_permutation() -> Result<()> {
    for published in permutations() {
        let mut state = state(published.input);
        state.permute();
        let output: Vec<u64> = state
            .as_ref()
            .iter()
            .map(|e| e.to_canonical_u64())
            .collect();
        if output != published.output {
            return Err(format!(
                "the permutation of {:x?} is {output:x?}",
                published.input
            ));
        }
    }
    Ok(())
}

/// Timed: each state replaced by its permutation.
fn permutation() -> Result<Prepared> {
    check_permutation()?;
    let mut inputs = Inputs::new(12);
    let mut states: Vec<State> = (0..STATES)
        .map(|_| state([(); 12].map(|()| inputs.word() % goldilocks::MODULUS)))
        .collect();
    Ok(Prepared {
        op: Box::new(move || {
            for state in &mut states {
                state.permute();
            }
            black_box(&states);
            Ok(())
        }),
        per_call: STATES as u64,
        extra: vec![],
    })
}

/// The root, and the leaves back for the next tree.
fn build(leaves: Vec<Vec<GoldilocksField>>) -> (Digest, Vec<Vec<GoldilocksField>>) {
    let mut tree = Tree::new(leaves, 0);
    let root = tree.cap.0[0].elements.map(|e| e.to_canonical_u64());
    (root, mem::take(&mut tree.leaves))
}

/// Timed: all digests of the tree, from leaves that are there already.
fn tree(log: usize) -> Result<Prepared> {
    check_permutation()?;
    let expected = root(log).ok_or("no root of this size is known")?;
    let all: Vec<GoldilocksField> = elements(WIDTH << log)
        .map(GoldilocksField::from_canonical_u64)
        .collect();
    let mut leaves: Vec<Vec<GoldilocksField>> = all.chunks(WIDTH).map(<[_]>::to_vec).collect();
    let mut op = move || {
        let (root, back) = build(mem::take(&mut leaves));
        leaves = back;
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

fn main() -> ExitCode {
    let mut cases = vec![Case::new(goldilocks::permutation_case(), permutation)];
    for log in LOGS {
        cases.push(Case::new(goldilocks::tree_case(log), move || tree(log)));
    }
    serve(&cases)
}
