//! Measures SP1's executor of RV64IM, which translates a program to code of x86-64; with the
//! feature `portable`, and on other processors, it interprets. `MinimalExecutor` without
//! tracing does nothing but execute and count. SP1 halts where t0 is zero, as it is behind
//! every loop.

use contract::{Result, serve};
use guests::{Guest, Report, System};
use sp1_core_executor::{MinimalExecutor, Program, SupervisorMode};
use std::process::ExitCode;
use std::sync::Arc;

fn prepare(guest: Guest) -> Result<impl FnMut() -> Result<Report>> {
    let program = Arc::new(Program::from(guest.elf).map_err(|e| e.to_string())?);
    Ok(move || {
        let mut machine = MinimalExecutor::<SupervisorMode>::simple(program.clone());
        while machine.execute_chunk().is_some() {}
        if !machine.is_done() {
            return Err("a program has not ended".into());
        }
        Ok(Report {
            instructions: Some(machine.global_clk()),
            exit: machine.exit_code(),
        })
    })
}

fn main() -> ExitCode {
    serve(&guests::cases(System::Zkvm, &["rv64im"], prepare))
}
