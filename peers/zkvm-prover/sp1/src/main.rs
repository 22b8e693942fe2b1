//! Measures SP1's prover on the processor: core proofs, one for each shard of a run, which
//! are not joined to one by recursion. Its client also prepares that recursion when it is
//! made, which is a part of `setup-ns` and not of the proof.

use contract::{Measured, Result, peak, processor_time, reset_peak, serve};
use guests::{Guest, System};
use sp1_sdk::blocking::{ProveRequest, Prover, ProverClient};
use sp1_sdk::{Elf, ProvingKey, SP1ProofWithPublicValues, SP1Stdin};
use std::fmt::Display;
use std::process::ExitCode;
use std::time::Instant;

/// How often a proof is verified. The column `verify-ns` is the median.
const VERIFICATIONS: usize = 5;

/// What SP1's makers claim of this version, by soundcalc.
const CLAIMED_BITS: f64 = 100.0;

fn text(e: impl Display) -> String {
    e.to_string()
}

fn measure(guest: Guest) -> Result<Measured> {
    let begun = Instant::now();
    let client = ProverClient::builder().cpu().build();
    let key = client.setup(Elf::Static(guest.elf)).map_err(text)?;
    let setup = begun.elapsed();

    // SP1 counts instructions only where it calculates their gas.
    let execution = client.execute(Elf::Static(guest.elf), SP1Stdin::new());
    let (_, report) = execution.calculate_gas(true).run().map_err(text)?;
    let instructions = report.total_instruction_count();
    if instructions != guest.instructions {
        let want = guest.instructions;
        return Err(format!("{instructions} instructions, want {want}"));
    }

    reset_peak();
    let (used, begun) = (processor_time(), Instant::now());
    let proof = client.prove(&key, SP1Stdin::new()).core().run();
    let proof = proof.map_err(text)?;
    let elapsed = begun.elapsed();
    let used = processor_time()
        .zip(used)
        .map(|(after, before)| after - before);
    let peak = peak();

    let mut bytes = bincode::serialize(&proof).map_err(text)?;
    drop(proof);
    let verify = |bytes: &[u8]| {
        let proof: SP1ProofWithPublicValues = bincode::deserialize(bytes).map_err(text)?;
        client
            .verify(&proof, key.verifying_key(), None)
            .map_err(text)
    };
    let mut times = Vec::new();
    for _ in 0..VERIFICATIONS {
        let begun = Instant::now();
        verify(&bytes)?;
        times.push(begun.elapsed().as_nanos() as f64);
    }
    times.sort_by(f64::total_cmp);
    let proof_bytes = bytes.len();
    bytes[proof_bytes / 2] ^= 1;
    if verify(&bytes).is_ok() {
        return Err("the verifier accepts a proof with another byte".into());
    }

    let cycles = instructions as f64;
    let mut extra = vec![
        (cycles, "instructions"),
        (setup.as_nanos() as f64, "setup-ns"),
        (cycles / elapsed.as_secs_f64(), "cycles/s"),
        (proof_bytes as f64, "proof-bytes"),
        (times[VERIFICATIONS / 2], "verify-ns"),
        (CLAIMED_BITS, "claimed-bits"),
    ];
    if let Some(used) = used {
        extra.push((used.as_nanos() as f64, "cpu-ns"));
        extra.push((cycles / used.as_secs_f64(), "cycles/cpu-s"));
    }
    if let Some(bytes) = peak {
        extra.push((bytes, "peak-rss-bytes"));
    }
    Ok(Measured { elapsed, extra })
}

fn main() -> ExitCode {
    serve(&guests::proofs(System::Sp1, measure))
}
