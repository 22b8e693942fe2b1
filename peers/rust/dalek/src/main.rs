//! Measures the crate `bulletproofs`: Bulletproofs (Bünz et al. 2017/1066) over
//! Ristretto. It has no batch verification, so there is no such case.

use bulletproofs::{BulletproofGens, PedersenGens, RangeProof};
use contract::{AGGREGATED, BITS, Case, Inputs, Prepared, Result, serve};
use curve25519_dalek::{ristretto::CompressedRistretto, scalar::Scalar};
use merlin::Transcript;
use std::process::ExitCode;

/// One statement with its witness, and the generators that are made once per
/// process by every user of the crate.
struct Fixture {
    bits: usize,
    bases: PedersenGens,
    generators: BulletproofGens,
    values: Vec<u64>,
    blindings: Vec<Scalar>,
}

impl Fixture {
    fn new(bits: usize, m: usize) -> Self {
        let mut inputs = Inputs::new(bits as u64);
        Fixture {
            bits,
            bases: PedersenGens::default(),
            generators: BulletproofGens::new(bits, m),
            values: (0..m).map(|_| inputs.value(bits)).collect(),
            blindings: (0..m)
                .map(|_| Scalar::from_bytes_mod_order_wide(&inputs.wide()))
                .collect(),
        }
    }

    /// Proof and commitments, both encoded.
    fn prove(&self) -> Result<(Vec<u8>, Vec<[u8; 32]>)> {
        let (proof, commitments) = RangeProof::prove_multiple(
            &self.generators,
            &self.bases,
            &mut transcript(),
            &self.values,
            &self.blindings,
            self.bits,
        )
        .map_err(|e| e.to_string())?;
        let commitments = commitments.iter().map(CompressedRistretto::to_bytes);
        Ok((proof.to_bytes(), commitments.collect()))
    }

    fn verify(&self, proof: &[u8], commitments: &[[u8; 32]]) -> Result<()> {
        let proof = RangeProof::from_bytes(proof).map_err(|e| e.to_string())?;
        // The verifier takes compressed commitments and decompresses them.
        let commitments: Vec<CompressedRistretto> = commitments
            .iter()
            .map(|c| CompressedRistretto(*c))
            .collect();
        proof
            .verify_multiple(
                &self.generators,
                &self.bases,
                &mut transcript(),
                &commitments,
                self.bits,
            )
            .map_err(|e| e.to_string())
    }
}

fn transcript() -> Transcript {
    Transcript::new(b"zkbench/peer")
}

/// Timed: commitments to the values, the proof, the encoding of both.
fn range_prove(bits: usize, m: usize) -> Result<Prepared> {
    let fixture = Fixture::new(bits, m);
    let (proof, commitments) = fixture.prove()?;
    fixture.verify(&proof, &commitments)?;
    Ok(Prepared {
        op: Box::new(move || {
            std::hint::black_box(fixture.prove()?);
            Ok(())
        }),
        per_call: 1,
        extra: vec![(proof.len() as f64, "proof-bytes")],
    })
}

/// Timed: decoding of proof and commitments from bytes, verification.
fn range_verify(bits: usize, m: usize) -> Result<Prepared> {
    let fixture = Fixture::new(bits, m);
    let (proof, commitments) = fixture.prove()?;
    let mut other = commitments.clone();
    other[0] = fixture.bases.B.compress().to_bytes();
    if fixture.verify(&proof, &other).is_ok() {
        return Err("a proof for another commitment was accepted".into());
    }
    fixture.verify(&proof, &commitments)?;
    let size = proof.len() as f64;
    Ok(Prepared {
        op: Box::new(move || fixture.verify(&proof, &commitments)),
        per_call: 1,
        extra: vec![(size, "proof-bytes")],
    })
}

fn main() -> ExitCode {
    let mut cases = Vec::new();
    for bits in BITS {
        for m in AGGREGATED {
            cases.push(Case::new(
                format!("RangeProve/bits={bits}/m={m}"),
                move || range_prove(bits, m),
            ));
            cases.push(Case::new(
                format!("RangeVerify/bits={bits}/m={m}"),
                move || range_verify(bits, m),
            ));
        }
    }
    serve(&cases)
}
