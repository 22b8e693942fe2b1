//! The contract that every peer program keeps, so that one driver can run them
//! side by side: `list` prints one case name per line, `run CASE [-samples N]`
//! prints one line of the Go benchmark format per sample. An unknown case is
//! one line on stderr and exit status 2.
//!
//! Case names are shared by all programs: `RangeProve/bits=B/m=M`,
//! `RangeVerify/bits=B/m=M` and `RangeVerifyBatch/bits=B/m=M/batch=N`.

mod inputs;
mod sample;

pub use inputs::Inputs;

use sample::Sampler;
use std::io::{self, Write};
use std::process::ExitCode;

/// The bit lengths and the numbers of aggregated values that are measured.
pub const BITS: [usize; 2] = [32, 64];
pub const AGGREGATED: [usize; 2] = [1, 2];
/// Proofs in one batch of `RangeVerifyBatch`.
pub const BATCH: usize = 64;

/// A failure that the user reads; peers have no errors to tell apart.
pub type Result<T> = std::result::Result<T, String>;

/// What a case runs once its inputs stand.
pub struct Prepared {
    /// The timed operation. Its result is looked at on every call.
    pub op: Box<dyn FnMut() -> Result<()>>,
    /// How many operations one call of `op` does; a batch verifies many proofs.
    pub per_call: u64,
    /// Further columns of the benchmark line, as (value, unit).
    pub extra: Vec<(f64, &'static str)>,
}

/// A measurable case. `setup` builds the inputs and checks the results once,
/// outside every timing.
pub struct Case {
    pub name: String,
    pub setup: Box<dyn Fn() -> Result<Prepared>>,
    /// The unit of a further column, of operations a second.
    pub rate: Option<&'static str>,
}

impl Case {
    pub fn new(name: String, setup: impl Fn() -> Result<Prepared> + 'static) -> Self {
        Case {
            name,
            setup: Box::new(setup),
            rate: None,
        }
    }

    pub fn with_rate(mut self, unit: &'static str) -> Self {
        self.rate = Some(unit);
        self
    }
}

/// The greatest resident set of the process so far, in bytes; None where the system does
/// not tell.
pub fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0)
}

/// Runs the program: exit status 0, 1 where a case failed, 2 for bad usage.
pub fn serve(cases: &[Case]) -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let status = dispatch(&args, cases, &mut io::stdout().lock());
    match status {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { code, message }) => {
            eprintln!("{message}");
            ExitCode::from(code)
        }
    }
}

#[derive(Debug)]
struct Failure {
    code: u8,
    message: String,
}

fn usage(message: impl Into<String>) -> Failure {
    Failure {
        code: 2,
        message: message.into(),
    }
}

fn failed(message: impl std::fmt::Display) -> Failure {
    Failure {
        code: 1,
        message: message.to_string(),
    }
}

fn dispatch(
    args: &[String],
    cases: &[Case],
    out: &mut impl Write,
) -> std::result::Result<(), Failure> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (name, samples) = match args[..] {
        ["list"] => {
            for case in cases {
                writeln!(out, "{}", case.name).map_err(failed)?;
            }
            return Ok(());
        }
        ["run", name] => (name, 1),
        ["run", name, "-samples", n] => match n.parse::<u32>() {
            Ok(n) if n > 0 => (name, n),
            _ => {
                return Err(usage(format!(
                    "-samples {n}: want a whole number of at least 1"
                )));
            }
        },
        _ => return Err(usage("usage: list | run CASE [-samples N]")),
    };
    let case = cases.iter().find(|case| case.name == name).ok_or_else(|| {
        usage(format!(
            "unknown case {name:?}: `list` prints the known ones"
        ))
    })?;
    let mut prepared = (case.setup)().map_err(|e| failed(format!("{name}: {e}")))?;
    let sampler = Sampler::warm_up(&mut prepared.op).map_err(|e| failed(format!("{name}: {e}")))?;
    for _ in 0..samples {
        let sample = sampler
            .sample(&mut prepared.op)
            .map_err(|e| failed(format!("{name}: {e}")))?;
        let ops = sample.calls * prepared.per_call;
        let ns = sample.elapsed.as_nanos() as f64 / ops as f64;
        write!(out, "Benchmark{name}\t{ops}\t{ns:.1} ns/op").map_err(failed)?;
        if let Some(unit) = case.rate {
            write!(out, "\t{:.1} {unit}", 1e9 / ns).map_err(failed)?;
        }
        for (value, unit) in &prepared.extra {
            write!(out, "\t{value} {unit}").map_err(failed)?;
        }
        writeln!(out).and_then(|()| out.flush()).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases() -> Vec<Case> {
        vec![
            Case::new("Batch/batch=4".into(), || {
                Ok(Prepared {
                    op: Box::new(|| Ok(())),
                    per_call: 4,
                    extra: vec![(672.0, "proof-bytes")],
                })
            })
            .with_rate("proofs/s"),
            Case::new("Broken".into(), || Err("no inputs".into())),
        ]
    }

    fn run(args: &[&str]) -> (std::result::Result<(), Failure>, String) {
        let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();
        let mut out = Vec::new();
        let status = dispatch(&args, &cases(), &mut out);
        (status, String::from_utf8(out).unwrap())
    }

    #[test]
    fn list_prints_names() {
        let (status, out) = run(&["list"]);
        assert!(status.is_ok());
        assert_eq!(out, "Batch/batch=4\nBroken\n");
    }

    #[test]
    fn run_prints_one_line_per_sample() {
        let (status, out) = run(&["run", "Batch/batch=4", "-samples", "2"]);
        assert!(status.is_ok());
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 2);
        for line in lines {
            let columns: Vec<&str> = line.split('\t').collect();
            assert_eq!(columns.len(), 5);
            assert_eq!(columns[0], "BenchmarkBatch/batch=4");
            assert_eq!(columns[1].parse::<u64>().unwrap() % 4, 0);
            assert!(columns[2].ends_with(" ns/op"));
            assert!(columns[3].ends_with(" proofs/s"));
            assert_eq!(columns[4], "672 proof-bytes");
        }
    }

    #[test]
    fn bad_usage_is_status_2_and_one_line() {
        for args in [
            &[][..],
            &["run"],
            &["run", "Nope"],
            &["run", "Batch/batch=4", "-samples", "0"],
            &["run", "Batch/batch=4", "-samples", "x"],
            &["list", "more"],
        ] {
            let (status, out) = run(args);
            let failure = status.expect_err("refused");
            assert_eq!(failure.code, 2, "{args:?}");
            assert_eq!(failure.message.lines().count(), 1, "{args:?}");
            assert_eq!(out, "", "{args:?}");
        }
    }

    #[test]
    fn failed_setup_is_status_1() {
        let (status, _) = run(&["run", "Broken"]);
        assert_eq!(status.expect_err("failed").code, 1);
    }
}
