//! Measures the crate `tari_bulletproofs_plus`: Bulletproofs+ (Chung et al.
//! 2020/735) over Ristretto, with its batch verification.

use contract::{AGGREGATED, BATCH, BITS, Case, Inputs, Prepared, Result, serve};
use curve25519_dalek::{
    ristretto::{CompressedRistretto, RistrettoPoint},
    scalar::Scalar,
};
use std::process::ExitCode;
use tari_bulletproofs_plus::{
    commitment_opening::CommitmentOpening,
    generators::pedersen_gens::ExtensionDegree,
    range_parameters::RangeParameters,
    range_proof::VerifyAction,
    range_statement::RangeStatement,
    range_witness::RangeWitness,
    ristretto::{RistrettoRangeProof, create_pedersen_gens_with_extension_degree},
};
use tari_merlin::Transcript;

type Parameters = RangeParameters<RistrettoPoint>;
type Statement = RangeStatement<RistrettoPoint>;

/// Generators and verification tables, made once per process.
fn parameters(bits: usize, m: usize) -> Result<Parameters> {
    let bases = create_pedersen_gens_with_extension_degree(ExtensionDegree::DefaultPedersen);
    RangeParameters::init(bits, m, bases).map_err(|e| e.to_string())
}

/// The values and blindings of one statement of m values.
struct Opening {
    values: Vec<u64>,
    blindings: Vec<Scalar>,
}

impl Opening {
    fn draw(inputs: &mut Inputs, bits: usize, m: usize) -> Self {
        Opening {
            values: (0..m).map(|_| inputs.value(bits)).collect(),
            blindings: (0..m)
                .map(|_| Scalar::from_bytes_mod_order_wide(&inputs.wide()))
                .collect(),
        }
    }

    /// Proof and commitments, both encoded.
    fn prove(&self, parameters: &Parameters) -> Result<Encoded> {
        let mut commitments = Vec::with_capacity(self.values.len());
        let mut openings = Vec::with_capacity(self.values.len());
        for (value, blinding) in self.values.iter().zip(&self.blindings) {
            let commitment = parameters
                .pc_gens()
                .commit(&Scalar::from(*value), &[*blinding])
                .map_err(|e| e.to_string())?;
            commitments.push(commitment);
            openings.push(CommitmentOpening::new(*value, vec![*blinding]));
        }
        let statement = RangeStatement::init(
            parameters.clone(),
            commitments,
            vec![None; self.values.len()],
            None,
        )
        .map_err(|e| e.to_string())?;
        let witness = RangeWitness::init(openings).map_err(|e| e.to_string())?;
        let proof = RistrettoRangeProof::prove(&mut transcript(), &statement, &witness)
            .map_err(|e| e.to_string())?;
        Ok(Encoded {
            proof: proof.to_bytes(),
            commitments: statement
                .commitments_compressed
                .iter()
                .map(CompressedRistretto::to_bytes)
                .collect(),
        })
    }
}

/// What a verifier receives.
struct Encoded {
    proof: Vec<u8>,
    commitments: Vec<[u8; 32]>,
}

/// Verifies encoded proofs in one batch. The statements are kept between calls,
/// so that the copies of the generators that each of them owns are not timed.
struct Verifier {
    statements: Vec<Statement>,
}

impl Verifier {
    fn new(parameters: &Parameters, m: usize, proofs: usize) -> Result<Self> {
        let empty = RangeStatement::init(
            parameters.clone(),
            vec![RistrettoPoint::default(); m],
            vec![None; m],
            None,
        )
        .map_err(|e| e.to_string())?;
        Ok(Verifier {
            statements: vec![empty; proofs],
        })
    }

    fn verify(&mut self, encoded: &[Encoded]) -> Result<()> {
        let mut proofs = Vec::with_capacity(encoded.len());
        for (statement, one) in self.statements.iter_mut().zip(encoded) {
            proofs.push(RistrettoRangeProof::from_bytes(&one.proof).map_err(|e| e.to_string())?);
            for (i, bytes) in one.commitments.iter().enumerate() {
                let compressed = CompressedRistretto(*bytes);
                statement.commitments[i] = compressed
                    .decompress()
                    .ok_or_else(|| format!("commitment {i} is not a point"))?;
                statement.commitments_compressed[i] = compressed;
            }
        }
        let mut transcripts = vec![transcript(); encoded.len()];
        RistrettoRangeProof::verify_batch(
            &mut transcripts,
            &self.statements,
            &proofs,
            VerifyAction::VerifyOnly,
        )
        .map(|_| ())
        .map_err(|e| e.to_string())
    }
}

fn transcript() -> Transcript {
    Transcript::new(b"zkbench/peer")
}

/// Timed: commitments to the values, the proof, the encoding of both.
fn range_prove(bits: usize, m: usize) -> Result<Prepared> {
    let parameters = parameters(bits, m)?;
    let opening = Opening::draw(&mut Inputs::new(bits as u64), bits, m);
    let encoded = opening.prove(&parameters)?;
    let size = encoded.proof.len() as f64;
    Verifier::new(&parameters, m, 1)?.verify(&[encoded])?;
    Ok(Prepared {
        op: Box::new(move || {
            std::hint::black_box(opening.prove(&parameters)?);
            Ok(())
        }),
        per_call: 1,
        extra: vec![(size, "proof-bytes")],
    })
}

/// Timed: decoding of proofs and commitments from bytes, verification of all of
/// them in one batch. A single proof is a batch of one, as in the crate's API.
fn range_verify(bits: usize, m: usize, batch: usize) -> Result<Prepared> {
    let parameters = parameters(bits, m)?;
    let mut inputs = Inputs::new(bits as u64);
    let mut encoded = (0..batch)
        .map(|_| Opening::draw(&mut inputs, bits, m).prove(&parameters))
        .collect::<Result<Vec<_>>>()?;
    let mut verifier = Verifier::new(&parameters, m, batch)?;

    let other = parameters.h_base_compressed().to_bytes();
    let genuine = std::mem::replace(&mut encoded[batch - 1].commitments[0], other);
    if verifier.verify(&encoded).is_ok() {
        return Err("a proof for another commitment was accepted".into());
    }
    encoded[batch - 1].commitments[0] = genuine;
    verifier.verify(&encoded)?;

    let size = encoded[0].proof.len() as f64;
    Ok(Prepared {
        op: Box::new(move || verifier.verify(&encoded)),
        per_call: batch as u64,
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
                move || range_verify(bits, m, 1),
            ));
            cases.push(Case::new(
                format!("RangeVerifyBatch/bits={bits}/m={m}/batch={BATCH}"),
                move || range_verify(bits, m, BATCH),
            ));
        }
    }
    serve(&cases)
}
