//! What the cases time, and what is checked before.

use crate::aggregate::Aggregate;
use crate::expr::{C, D, F};
use crate::keccak::{State, blocks};
use crate::permutations::{self, Permutations};
use crate::system::System;
use contract::{Inputs, Prepared, Result, peak};
use plonky2::fri::FriConfig;
use plonky2::util::timing::TimingTree;
use starky::config::StarkConfig;
use starky::proof::StarkProofWithPublicInputs;
use starky::prover::prove;
use starky::verifier::verify_stark_proof;
use std::time::Instant;

const ALONE: Permutations = Permutations { linked: false };

/// starky's own: rate 1/2, 84 queries, 16 bits of grinding.
fn alone() -> StarkConfig {
    StarkConfig::standard_fast_config()
}

/// As many bits at rate 1/4. Half the queries make the first circuit half as high, which
/// saves far more than the taller trees cost; at 1/8 it is as high again, and at 1/32,
/// where it is halved once more, only the short message would not lose by it.
fn aggregated() -> StarkConfig {
    let alone = alone();
    StarkConfig {
        fri_config: FriConfig {
            rate_bits: 2,
            num_query_rounds: 42,
            ..alone.fri_config
        },
        ..alone
    }
}

/// The table of the permutations of states, its proof, the encoding of that.
fn prove_states(states: &[State]) -> Result<Vec<u8>> {
    let proof: StarkProofWithPublicInputs<F, C, D> = prove(
        ALONE,
        &alone(),
        permutations::trace(states),
        &[],
        None,
        &mut TimingTree::default(),
    )
    .map_err(|e| format!("prove: {e}"))?;
    postcard::to_allocvec(&proof).map_err(|e| format!("encode: {e}"))
}

/// From bytes to the verdict.
fn check(proof: &[u8]) -> Result<()> {
    let proof: StarkProofWithPublicInputs<F, C, D> =
        postcard::from_bytes(proof).map_err(|e| format!("decode: {e}"))?;
    verify_stark_proof(ALONE, proof, &alone(), None).map_err(|e| format!("verify: {e}"))
}

/// Timed: from the states of `n` permutations to an encoded proof.
pub fn permutations(n: usize) -> Result<Prepared> {
    let mut inputs = Inputs::new(24);
    let states: Vec<State> = (0..n).map(|_| [(); 25].map(|()| inputs.word())).collect();
    let mut proof = prove_states(&states)?;
    let mut extra = vec![(proof.len() as f64, "proof-bytes")];
    extra.extend(peak().map(|bytes| (bytes, "peak-rss-bytes")));
    let start = Instant::now();
    check(&proof)?;
    extra.push((start.elapsed().as_nanos() as f64, "verify-ns"));
    let middle = proof.len() / 2;
    proof[middle] ^= 1;
    if check(&proof).is_ok() {
        return Err("a proof verifies that was changed".into());
    }
    Ok(Prepared {
        op: Box::new(move || prove_states(&states).map(drop)),
        per_call: 1,
        extra,
    })
}

/// Timed: from a message of `n` bytes to the encoding of the last proof. Circuits are built
/// before.
pub fn aggregate(n: usize) -> Result<Prepared> {
    let mut inputs = Inputs::new(256);
    let message: Vec<u8> = (0..n).map(|_| inputs.value(8) as u8).collect();
    let start = Instant::now();
    let aggregate = Aggregate::new(System::new(aggregated(), blocks(n)));
    let mut extra = vec![(start.elapsed().as_nanos() as f64, "build-ns")];
    let prove =
        move |aggregate: &Aggregate| aggregate.prove(&message).map_err(|e| format!("prove: {e}"));
    let (claim, proof) = prove(&aggregate)?;
    extra.push((proof.len() as f64, "proof-bytes"));
    extra.extend(peak().map(|bytes| (bytes, "peak-rss-bytes")));
    let start = Instant::now();
    aggregate
        .verify(&claim, &proof)
        .map_err(|e| format!("verify: {e}"))?;
    extra.push((start.elapsed().as_nanos() as f64, "verify-ns"));
    let mut wrong = claim;
    wrong.digest[0] ^= 1;
    if aggregate.verify(&wrong, &proof).is_ok() {
        return Err("a proof verifies for another digest".into());
    }
    wrong = claim;
    wrong.length -= 1;
    if aggregate.verify(&wrong, &proof).is_ok() {
        return Err("a proof verifies for another length".into());
    }
    Ok(Prepared {
        op: Box::new(move || prove(&aggregate).map(drop)),
        per_call: 1,
        extra,
    })
}
