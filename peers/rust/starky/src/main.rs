//! Measures STARKs of Keccak of starky, alone and proved again by plonky2, on one thread:
//! both over Goldilocks, with Poseidon in trees and transcripts.
//!
//! `KeccakStark/permutations=N/field=goldilocks/hash=algebraic` is the table of N
//! permutations Keccak-f of any states, of which its proof says nothing: as Plonky3's.
//!
//! `KeccakAggregate/bytes=N` is one proof that somebody knows a message of N bytes whose
//! Keccak-256 is a digest, both of which the proof says: a table of permutations and one of
//! the sponge, linked; their proofs verified in a circuit, and its proof in circuits until
//! none is smaller. That is all constrained: rounds, bits, the capacity and the state from
//! block to block, where the padding begins and what it is, the order of bytes. What the
//! sponge has no columns for is the message. Each block of it is the exclusive or of two
//! states, so that there is one whatever these are; but another table could not look it up,
//! as it could in ours. Proofs hide nothing. The bits are those that plonky2 names, 100 that
//! are conjectured.
//!
//! No crate of a registry has such tables that others can use: those of evm_arithmetization
//! are private to it. These are written for this program. A permutation has 24 rows of
//! 2,372 columns, a block a row of 190.

mod aggregate;
mod expr;
mod keccak;
mod permutations;
mod sponge;
mod system;
mod work;

use contract::{Case, serve};
use std::process::ExitCode;

/// They fill tables of 2^12 and 2^15 rows.
const PERMUTATIONS: [usize; 2] = [170, 1365];
/// Messages of 11 and 101 blocks.
const BYTES: [usize; 2] = [1360, 13600];

fn main() -> ExitCode {
    let mut cases = Vec::new();
    for n in PERMUTATIONS {
        cases.push(Case::new(
            format!("KeccakStark/permutations={n}/field=goldilocks/hash=algebraic"),
            move || work::permutations(n),
        ));
    }
    for n in BYTES {
        cases.push(Case::new(format!("KeccakAggregate/bytes={n}"), move || {
            work::aggregate(n)
        }));
    }
    serve(&cases)
}
