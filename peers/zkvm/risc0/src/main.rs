//! Measures RISC Zero's executor of RV32IM, `Executor` without a trace. It pages memory in and
//! out, counts what the rows of a proof would be, and cuts the run into segments, of which it
//! gives the pages that changed; the peer throws them away. A program runs as a kernel does,
//! without another one below it, so that the instructions are the program's own.

use contract::{Result, serve};
use guests::{Guest, Report, System};
use risc0_binfmt::{MemoryImage, Program};
use risc0_circuit_rv32im::execute::testutil::NullSyscall;
use risc0_circuit_rv32im::execute::{
    ExecutionLimit, Executor, KERNEL_START_ADDR, RV32IM_M3_CIRCUIT_VERSION,
};
use std::process::ExitCode;

fn prepare(guest: Guest) -> Result<impl FnMut() -> Result<Report>> {
    let program = Program::load_elf(guest.elf, KERNEL_START_ADDR.0).map_err(|e| e.to_string())?;
    let image = MemoryImage::new_kernel(program);
    Ok(move || {
        let mut executor = Executor::new(
            image.clone(),
            NullSyscall,
            None,
            Vec::new(),
            None,
            RV32IM_M3_CIRCUIT_VERSION,
        );
        let mut instructions = 0;
        let limit = ExecutionLimit::DEFAULT;
        while let Some(segment) = executor.run_segment(limit).map_err(|e| e.to_string())? {
            // The count can only be read behind this conversion, which copies nothing.
            let segment = segment.into_segment(MemoryImage::default());
            instructions += u64::from(segment.insn_counter);
        }
        let end = executor.state(limit.segment_po2 as u32).terminate_state;
        let end = end.ok_or("a program has not ended")?;
        Ok(Report {
            instructions: Some(instructions),
            exit: end.a0.into(),
        })
    })
}

fn main() -> ExitCode {
    serve(&guests::cases(System::Zkvm, &["rv32im"], prepare))
}
