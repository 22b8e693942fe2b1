//! Measures STARKs of Keccak-f permutations of Plonky3: `p3-keccak-air` proved by
//! `p3-uni-stark`, over KoalaBear and Goldilocks, on one thread.
//!
//! Case names: `KeccakStark/permutations=N/field=F/hash=H`. The hash is that of the
//! trees: Keccak, or the system's own over the field, which is Poseidon2 here.

mod commands;
mod configs;
mod work;

use contract::{Case, serve};
use std::process::ExitCode;

/// They fill tables of 2^12 and 2^15 rows.
const PERMUTATIONS: [usize; 2] = [170, 1365];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(done) = commands::run(&args) {
        return done.map_or_else(
            |e| {
                eprintln!("{e}");
                ExitCode::FAILURE
            },
            |()| ExitCode::SUCCESS,
        );
    }
    let mut cases = Vec::new();
    for n in PERMUTATIONS {
        let name = |system| format!("KeccakStark/permutations={n}/{system}");
        cases.push(Case::new(name("field=koalabear/hash=keccak"), move || {
            work::prepare(configs::koalabear_keccak(), n)
        }));
        cases.push(Case::new(name("field=goldilocks/hash=keccak"), move || {
            work::prepare(configs::goldilocks_keccak(), n)
        }));
        cases.push(Case::new(
            name("field=goldilocks/hash=algebraic"),
            move || work::prepare(configs::goldilocks_poseidon2(), n),
        ));
    }
    serve(&cases)
}
