//! Measures QEMU's translator: `qemu-riscv32` and `qemu-riscv64` of the search path, which
//! execute programs for Linux. An operation has a share of the start of the process, so that
//! programs are long. QEMU does not count instructions as it runs at this speed.

use contract::{Result, serve};
use guests::{Guest, Report, System};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// A file that goes with its owner.
struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

const EMULATORS: [(&str, &str); 2] = [("rv32im", "qemu-riscv32"), ("rv64im", "qemu-riscv64")];

fn prepare(guest: Guest) -> Result<impl FnMut() -> Result<Report>> {
    let emulator = EMULATORS.iter().find(|e| e.0 == guest.isa);
    let emulator = emulator.ok_or("no emulator")?.1;
    let name = format!(
        "zkbench-{}-{}-{}",
        guest.name,
        guest.isa,
        std::process::id()
    );
    let file = File(std::env::temp_dir().join(name));
    fs::write(&file.0, guest.elf).map_err(|e| e.to_string())?;
    fs::set_permissions(&file.0, fs::Permissions::from_mode(0o700)).map_err(|e| e.to_string())?;
    Ok(move || {
        let status = Command::new(emulator)
            .arg(&file.0)
            .stdin(Stdio::null())
            .status()
            .map_err(|e| format!("{emulator}: {e}"))?;
        let exit = status
            .code()
            .ok_or_else(|| format!("{emulator}: {status}"))?;
        Ok(Report {
            instructions: None,
            exit: exit as u32,
        })
    })
}

fn main() -> ExitCode {
    for (_, emulator) in EMULATORS {
        if let Err(e) = Command::new(emulator).arg("--version").output() {
            eprintln!("{emulator}: {e}");
            return ExitCode::FAILURE;
        }
    }
    let isas = EMULATORS.map(|e| e.0);
    serve(&guests::cases(System::Linux, &isas, prepare))
}
