//! Keccak-256 proved with halo2 over Pasta, without a trusted set-up, as a resident prover of
//! `zkbench exec` (docs/provers.md).

mod circuit;

use circuit::{Keccak256, RATE, instance};
use halo2_proofs::pasta::EqAffine;
use halo2_proofs::plonk::{
    ProvingKey, SingleVerifier, create_proof, keygen_pk, keygen_vk, verify_proof,
};
use halo2_proofs::poly::commitment::Params;
use halo2_proofs::transcript::{Blake2bRead, Blake2bWrite, Challenge255};
use getrandom::SysRng;
use rand_core::UnwrapErr;
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

/// 117,000 rows and the blinding ones.
const LOG_ROWS: u32 = 17;

type Result<T> = std::result::Result<T, String>;

struct Prover {
    length: usize,
    params: Params<EqAffine>,
    key: ProvingKey<EqAffine>,
}

fn text<'a>(question: &'a Value, field: &str) -> Result<&'a str> {
    question[field].as_str().ok_or(format!("{field}: no text"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Result<Vec<u8>> {
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(text.get(2 * i..2 * i + 2).unwrap_or(""), 16))
        .collect::<std::result::Result<_, _>>()
        .map_err(|e| format!("proof: {e}"))
}

impl Prover {
    fn start(question: &Value) -> Result<Self> {
        let bytes = text(&question["axes"], "bytes")?;
        let length = bytes.parse().ok().filter(|n| *n < RATE);
        let length = length.ok_or(format!("bytes {bytes}: accepted: 0 to {}", RATE - 1))?;
        let shape = Keccak256 {
            length,
            message: None,
        };
        let params = Params::new(LOG_ROWS);
        let verifying = keygen_vk(&params, &shape).map_err(|e| format!("keys: {e:?}"))?;
        let key = keygen_pk(&params, verifying, &shape).map_err(|e| format!("keys: {e:?}"))?;
        Ok(Self {
            length,
            params,
            key,
        })
    }

    fn message(&self, question: &Value) -> Result<Vec<u8>> {
        let path = text(question, "input")?;
        let message = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
        match message.len() == self.length {
            true => Ok(message),
            false => Err(format!("{path}: {} bytes", message.len())),
        }
    }

    fn prove(&self, question: &Value) -> Result<Vec<u8>> {
        let message = self.message(question)?;
        let public = instance(&keccak256(&message));
        let circuit = Keccak256 {
            length: self.length,
            message: Some(message),
        };
        let mut transcript = Blake2bWrite::<_, EqAffine, Challenge255<_>>::init(vec![]);
        create_proof(
            &self.params,
            &self.key,
            &[circuit],
            &[&[&public]],
            UnwrapErr(SysRng),
            &mut transcript,
        )
        .map_err(|e| format!("{e:?}"))?;
        Ok(transcript.finalize())
    }

    fn verify(&self, question: &Value) -> Result<()> {
        let public = instance(&keccak256(&self.message(question)?));
        let proof = unhex(text(question, "result")?)?;
        let mut transcript = Blake2bRead::<_, EqAffine, Challenge255<_>>::init(&proof[..]);
        verify_proof(
            &self.params,
            self.key.get_vk(),
            SingleVerifier::new(&self.params),
            &[&[&public]],
            &mut transcript,
        )
        .map_err(|e| format!("{e:?}"))
    }
}

/// The hash itself, by p3-keccak's permutation.
fn keccak256(message: &[u8]) -> [u8; 32] {
    use p3_symmetric::Permutation;
    let mut block = message.to_vec();
    block.resize(RATE, 0);
    block[message.len()] ^= 1;
    block[RATE - 1] ^= 0x80;
    let mut state = [0u64; 25];
    for (lane, word) in state.iter_mut().zip(block.chunks(8)) {
        *lane = u64::from_le_bytes(word.try_into().expect("8 bytes"));
    }
    p3_keccak::KeccakF.permute_mut(&mut state);
    let mut digest = [0; 32];
    for (bytes, lane) in digest.chunks_mut(8).zip(state) {
        bytes.copy_from_slice(&lane.to_le_bytes());
    }
    digest
}

fn main() -> io::Result<()> {
    let mut prover = None;
    for line in io::stdin().lock().lines() {
        let question: Value = serde_json::from_str(&line?)?;
        let answer = match (question["do"].as_str(), &prover) {
            (Some("start"), _) => Prover::start(&question).map(|p| {
                prover = Some(p);
                json!({"result": "ready", "protocol": 1, "figures": {"rows": 1 << LOG_ROWS}})
            }),
            (Some("prove"), Some(p)) => p
                .prove(&question)
                .map(|proof| json!({"result": hex(&proof), "bytes": proof.len()})),
            (Some("verify"), Some(p)) => p.verify(&question).map(|()| json!({"result": "ok"})),
            _ => Err("accepted: start, then prove and verify".into()),
        };
        let answer = answer.unwrap_or_else(|error| json!({"error": error}));
        writeln!(io::stdout(), "{answer}")?;
    }
    Ok(())
}
