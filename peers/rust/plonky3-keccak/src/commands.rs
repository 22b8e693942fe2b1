//! `prove FIELD INPUT PROOF` and `verify FIELD INPUT PROOF`, for `zkbench exec`: the permutations
//! of the Keccak-256 of a file. As the AIR has it, the proof says that each is one, and neither that
//! one goes on where another ended nor of which message they are.

use crate::{configs, work};
use contract::Result;
use p3_keccak::KeccakF;
use p3_symmetric::Permutation;
use std::fs;

const RATE: usize = 136;

/// The states before each permutation.
fn states(message: &[u8]) -> Vec<work::State> {
    let mut padded = message.to_vec();
    padded.resize((message.len() / RATE + 1) * RATE, 0);
    padded[message.len()] ^= 1;
    *padded.last_mut().expect("not empty") ^= 0x80;
    let mut state = [0u64; 25];
    padded
        .chunks(RATE)
        .map(|block| {
            for (lane, word) in state.iter_mut().zip(block.chunks(8)) {
                *lane ^= u64::from_le_bytes(word.try_into().expect("8 bytes"));
            }
            let before = state;
            KeccakF.permute_mut(&mut state);
            before
        })
        .collect()
}

/// None where the arguments are none of these commands.
pub fn run(args: &[String]) -> Option<Result<()>> {
    let [what, field, input, proof] = args else {
        return None;
    };
    let done = match (what.as_str(), field.as_str()) {
        ("prove", "koalabear") => prove(input, proof, |s| {
            work::prove_states(&configs::koalabear_keccak(), s)
        }),
        ("prove", "goldilocks") => prove(input, proof, |s| {
            work::prove_states(&configs::goldilocks_keccak(), s)
        }),
        ("verify", "koalabear") => {
            verify(proof, |p| work::check(&configs::koalabear_keccak(), p))
        }
        ("verify", "goldilocks") => {
            verify(proof, |p| work::check(&configs::goldilocks_keccak(), p))
        }
        ("prove" | "verify", _) => Err(format!(
            "field {field:?} is not accepted; accepted: koalabear, goldilocks"
        )),
        _ => return None,
    };
    Some(done)
}

fn prove(
    input: &str,
    proof: &str,
    prove: impl Fn(&[work::State]) -> Result<Vec<u8>>,
) -> Result<()> {
    let message = fs::read(input).map_err(|e| format!("{input}: {e}"))?;
    let states = states(&message);
    println!("permutations: {}", states.len());
    fs::write(proof, prove(&states)?).map_err(|e| format!("{proof}: {e}"))
}

fn verify(proof: &str, check: impl Fn(&[u8]) -> Result<()>) -> Result<()> {
    check(&fs::read(proof).map_err(|e| format!("{proof}: {e}"))?)
}
