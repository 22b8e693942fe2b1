//! The RISC-V programs that peers execute or prove, and their cases: an execution is a million
//! instructions, so that programs of any length compare, and a proof is one of a run. The package `internal/study/peer/guest`
//! of the main module writes them and says what they do.

use contract::{Case, Measured, Prepared, Result};

/// A loop as a bare executable.
#[derive(Clone, Copy)]
pub struct Guest {
    /// For example `memory`.
    pub name: &'static str,
    /// `rv32im` or `rv64im`.
    pub isa: &'static str,
    pub elf: &'static [u8],
    /// That it retires, the call at its end included.
    pub instructions: u64,
    pub exit: u32,
}

impl Guest {
    /// The instructions that were counted, where the run is right.
    fn check(&self, got: Report) -> Result<Option<u64>> {
        let miscounted = got.instructions.is_some_and(|n| n != self.instructions);
        if got.exit != self.exit || miscounted {
            let (exit, n) = (self.exit, self.instructions);
            return Err(format!("{got:?}, want exit code {exit} after {n}"));
        }
        Ok(got.instructions)
    }
}

/// Whose call ends a program, and how long it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Number 93 in a7; two thousand million instructions, beside which the start of a process
    /// is little.
    Linux,
    /// Number 0 in a7, RISC Zero's; a hundred million instructions.
    Zkvm,
    /// Those that SP1's verifier wants; some 2^20 instructions, whose run is proved.
    Sp1,
}

/// What a system reports of a run.
#[derive(Debug)]
pub struct Report {
    /// Retired instructions; None where the system does not count them.
    pub instructions: Option<u64>,
    pub exit: u32,
}

const MILLION: u64 = 1_000_000;

/// Names, instructions and exit codes, one program a line.
const LIST: &str = include_str!("../programs/list.txt");

macro_rules! files {
    ($($name:literal),*) => {
        &[$(($name, include_bytes!(concat!("../programs/", $name, ".elf")) as &[u8])),*]
    };
}

const FILES: &[(&str, &[u8])] = files!(
    "integer.rv32im.linux",
    "integer.rv64im.linux",
    "integer.rv32im.zkvm",
    "integer.rv64im.zkvm",
    "memory.rv32im.linux",
    "memory.rv64im.linux",
    "memory.rv32im.zkvm",
    "memory.rv64im.zkvm",
    "multiply.rv32im.linux",
    "multiply.rv64im.linux",
    "multiply.rv32im.zkvm",
    "multiply.rv64im.zkvm",
    "sums.rv64im.sp1",
    "integer.rv64im.sp1",
    "memory.rv64im.sp1",
    "multiply.rv64im.sp1"
);

/// The programs of a system.
fn guests(system: System) -> Vec<Guest> {
    let mut all = Vec::new();
    for ((file, elf), line) in FILES.iter().zip(LIST.lines()) {
        let columns: Vec<&str> = line.split(' ').collect();
        assert_eq!(
            *file, columns[0],
            "the list has the programs in their order"
        );
        let parts: Vec<&str> = file.split('.').collect();
        let suffix = match system {
            System::Linux => "linux",
            System::Zkvm => "zkvm",
            System::Sp1 => "sp1",
        };
        if parts[2] == suffix {
            all.push(Guest {
                name: parts[0],
                isa: parts[1],
                elf,
                instructions: columns[1].parse().expect("a number"),
                exit: columns[2].parse().expect("a number"),
            });
        }
    }
    all
}

/// The cases of a system. `prepare` loads a program, and gives what runs it from its loaded
/// image to its exit; every run is held to the program's exit code and, where the system
/// counts, to its number of instructions.
pub fn cases<R>(system: System, isas: &[&str], prepare: fn(Guest) -> Result<R>) -> Vec<Case>
where
    R: FnMut() -> Result<Report> + 'static,
{
    let mut cases = Vec::new();
    for guest in guests(system) {
        if !isas.contains(&guest.isa) {
            continue;
        }
        let name = format!("GuestExecute/loop={}/isa={}", guest.name, guest.isa);
        let setup = move || {
            let mut run = prepare(guest)?;
            let mut op = move || guest.check(run()?);
            let counted = op()?.map(|n| (n as f64, "instructions"));
            Ok(Prepared {
                op: Box::new(move || op().map(|_| ())),
                per_call: guest.instructions / MILLION,
                extra: counted.into_iter().collect(),
            })
        };
        cases.push(Case::new(name, setup).with_rate("Minstr/s"));
    }
    cases
}

/// The cases of a prover. `measure` proves a run, checks the proof, and tells what that took.
pub fn proofs(system: System, measure: fn(Guest) -> Result<Measured>) -> Vec<Case> {
    let case = |guest: Guest| {
        let name = format!("GuestProve/loop={}/isa={}", guest.name, guest.isa);
        Case::once(name, move || measure(guest))
    };
    guests(system).into_iter().map(case).collect()
}
