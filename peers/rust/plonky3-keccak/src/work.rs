//! From states to a proof, and from a proof to a verdict.

use crate::configs::LOG_BLOWUP;
use contract::{Inputs, Prepared, Result, peak};
use p3_challenger::GrindingChallenger;
use p3_field::PrimeField64;
use p3_keccak_air::{KeccakAir, generate_trace_rows};
use p3_uni_stark::{Proof, StarkGenericConfig, Val, prove, verify};
use serde::{Serialize, de::DeserializeOwned};
use std::time::Instant;

/// Lanes are x + 5 y.
pub type State = [u64; 25];

/// The table of the permutations of states, its proof, the encoding of that.
pub fn prove_states<SC>(config: &SC, states: &[State]) -> Result<Vec<u8>>
where
    SC: StarkGenericConfig,
    SC::Challenger: GrindingChallenger<Witness = Val<SC>>,
    Val<SC>: PrimeField64,
    Proof<SC>: Serialize,
{
    let table = generate_trace_rows(states.to_vec(), LOG_BLOWUP);
    let proof = prove(config, &KeccakAir {}, table, &[]).map_err(|e| format!("prove: {e:?}"))?;
    postcard::to_allocvec(&proof).map_err(|e| format!("encode: {e}"))
}

/// From bytes to the verdict.
pub fn check<SC>(config: &SC, proof: &[u8]) -> Result<()>
where
    SC: StarkGenericConfig,
    SC::Challenger: GrindingChallenger<Witness = Val<SC>>,
    Proof<SC>: DeserializeOwned,
{
    let proof: Proof<SC> = postcard::from_bytes(proof).map_err(|e| format!("decode: {e}"))?;
    verify(config, &KeccakAir {}, &proof, &[]).map_err(|e| format!("verify: {e:?}"))
}

/// Timed: from the states of `n` permutations to an encoded proof.
pub fn prepare<SC>(config: SC, n: usize) -> Result<Prepared>
where
    SC: StarkGenericConfig + 'static,
    SC::Challenger: GrindingChallenger<Witness = Val<SC>>,
    Val<SC>: PrimeField64,
    Proof<SC>: Serialize + DeserializeOwned,
{
    let mut inputs = Inputs::new(24);
    let states: Vec<State> = (0..n).map(|_| [(); 25].map(|()| inputs.word())).collect();
    let mut proof = prove_states(&config, &states)?;
    let mut extra = vec![(proof.len() as f64, "proof-bytes")];
    extra.extend(peak().map(|bytes| (bytes, "peak-rss-bytes")));
    let start = Instant::now();
    check(&config, &proof)?;
    extra.push((start.elapsed().as_nanos() as f64, "verify-ns"));
    let middle = proof.len() / 2;
    proof[middle] ^= 1;
    if check(&config, &proof).is_ok() {
        return Err("a proof verifies that was changed".into());
    }
    Ok(Prepared {
        op: Box::new(move || prove_states(&config, &states).map(drop)),
        per_call: 1,
        extra,
    })
}
