//! Google's protoc, which the build of SP1 runs and which is not installed everywhere. The
//! package protoc-bin-vendored has it for every usual processor; this program starts it.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let path = match protoc_bin_vendored::protoc_bin_path() {
        Ok(path) => path,
        Err(e) => {
            eprintln!("protoc: {e}");
            return ExitCode::FAILURE;
        }
    };
    match Command::new(&path)
        .args(std::env::args_os().skip(1))
        .status()
    {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE, // which has said why
        Err(e) => {
            eprintln!("{}: {e}", path.display());
            ExitCode::FAILURE
        }
    }
}
