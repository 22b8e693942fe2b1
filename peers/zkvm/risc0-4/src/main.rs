//! Measures RISC Zero's executor of RV32IM as the last release has it, without a trace. It
//! differs from that of `peer-risc0` in its interface, in what it counts, and in that a second
//! thread makes the segments, which the peer throws away.

use contract::{Result, serve};
use guests::{Guest, Report, System};
use risc0_binfmt::{MemoryImage, Program};
use risc0_circuit_rv32im::MAX_INSN_CYCLES;
use risc0_circuit_rv32im::execute::platform::KERNEL_START_ADDR;
use risc0_circuit_rv32im::execute::testutil::NullSyscall;
use risc0_circuit_rv32im::execute::{CycleLimit, DEFAULT_SEGMENT_LIMIT_PO2, Executor};
use std::process::ExitCode;

fn prepare(guest: Guest) -> Result<impl FnMut() -> Result<Report>> {
    let program = Program::load_elf(guest.elf, KERNEL_START_ADDR.0).map_err(|e| e.to_string())?;
    let image = MemoryImage::new_kernel(program);
    Ok(move || {
        let mut executor = Executor::new(image.clone(), &NullSyscall, None, Vec::new(), None);
        let result = executor
            .run(
                DEFAULT_SEGMENT_LIMIT_PO2,
                MAX_INSN_CYCLES,
                CycleLimit::None,
                |_| Ok(()),
            )
            .map_err(|e| e.to_string())?;
        let end = result.claim.terminate_state;
        let end = end.ok_or("a program has not ended")?;
        Ok(Report {
            // It counts cycles; the call at the end takes two.
            instructions: Some(result.user_cycles - 1),
            exit: end.a0.into(),
        })
    })
}

fn main() -> ExitCode {
    serve(&guests::cases(System::Zkvm, &["rv32im"], prepare))
}
