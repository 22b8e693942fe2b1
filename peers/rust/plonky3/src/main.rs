//! Measures Plonky3: Poseidon over Goldilocks, packed, the Merkle trees over it, and
//! transforms.

mod constants;
mod matrix;
mod poseidon;
mod transform;
mod tree;

use contract::{Case, serve};
use goldilocks::LOGS;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut cases = vec![Case::new(
        goldilocks::permutation_case(),
        poseidon::permutation,
    )];
    for log in LOGS {
        cases.push(Case::new(goldilocks::tree_case(log), move || {
            tree::tree(log)
        }));
    }
    for log in LOGS {
        cases.push(Case::new(goldilocks::transform_case(log), move || {
            transform::transform(log)
        }));
    }
    for log in LOGS {
        cases.push(Case::new(goldilocks::extension_case(log), move || {
            transform::extension(log)
        }));
    }
    serve(&cases)
}
