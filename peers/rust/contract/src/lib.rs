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
use std::time::Duration;

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

/// What one operation took, where it takes so long that it is neither warmed up nor repeated.
pub struct Measured {
    pub elapsed: Duration,
    /// As those of `Prepared`.
    pub extra: Vec<(f64, &'static str)>,
}

/// A measurable case.
pub struct Case {
    pub name: String,
    work: Work,
    /// The unit of a further column, of operations a second.
    pub rate: Option<&'static str>,
}

enum Work {
    /// Builds the inputs and checks the results once, outside every timing.
    Repeated(Box<dyn Fn() -> Result<Prepared>>),
    /// All the work of a sample.
    Once(Box<dyn Fn() -> Result<Measured>>),
}

impl Case {
    pub fn new(name: String, setup: impl Fn() -> Result<Prepared> + 'static) -> Self {
        Case {
            name,
            work: Work::Repeated(Box::new(setup)),
            rate: None,
        }
    }

    /// A case of an operation that takes minutes, which `measure` times itself.
    pub fn once(name: String, measure: impl Fn() -> Result<Measured> + 'static) -> Self {
        Case {
            name,
            work: Work::Once(Box::new(measure)),
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

/// The resident set becomes the greatest one so far, where the system can do that.
pub fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Processor time of the process and of its children that have ended; None where the system does not tell.
pub fn processor_time() -> Option<Duration> {
    // The name of the program, which may have blanks, ends with the last parenthesis. The
    // times are columns 14 to 17, in hundredths of a second (proc(5)).
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut ticks = 0u64;
    for column in stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4) {
        ticks += column.parse::<u64>().ok()?;
    }
    Some(Duration::from_millis(10 * ticks))
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
    let of_case = |e: String| failed(format!("{name}: {e}"));
    match &case.work {
        Work::Repeated(setup) => {
            let mut prepared = setup().map_err(of_case)?;
            let sampler = Sampler::warm_up(&mut prepared.op).map_err(of_case)?;
            for _ in 0..samples {
                let sample = sampler.sample(&mut prepared.op).map_err(of_case)?;
                let ops = sample.calls * prepared.per_call;
                write_line(out, case, ops, sample.elapsed, &prepared.extra)?;
            }
        }
        Work::Once(measure) => {
            for _ in 0..samples {
                let sample = measure().map_err(of_case)?;
                write_line(out, case, 1, sample.elapsed, &sample.extra)?;
            }
        }
    }
    Ok(())
}

fn write_line(
    out: &mut impl Write,
    case: &Case,
    ops: u64,
    elapsed: Duration,
    extra: &[(f64, &'static str)],
) -> std::result::Result<(), Failure> {
    let ns = elapsed.as_nanos() as f64 / ops as f64;
    write!(out, "Benchmark{}\t{ops}\t{ns:.1} ns/op", case.name).map_err(failed)?;
    if let Some(unit) = case.rate {
        write!(out, "\t{:.1} {unit}", 1e9 / ns).map_err(failed)?;
    }
    for (value, unit) in extra {
        write!(out, "\t{value} {unit}").map_err(failed)?;
    }
    writeln!(out).and_then(|()| out.flush()).map_err(failed)
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
            Case::once("Long/m=1".into(), || {
                Ok(Measured {
                    elapsed: Duration::from_secs(2),
                    extra: vec![(7.0, "proof-bytes")],
                })
            }),
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
        assert_eq!(out, "Batch/batch=4\nBroken\nLong/m=1\n");
    }

    #[test]
    fn run_measures_once() {
        let (status, out) = run(&["run", "Long/m=1", "-samples", "2"]);
        assert!(status.is_ok());
        let line = "BenchmarkLong/m=1\t1\t2000000000.0 ns/op\t7 proof-bytes\n";
        assert_eq!(out, line.repeat(2));
    }

    #[test]
    fn processor_time_passes() {
        let Some(before) = processor_time() else {
            return;
        };
        let mut spun = 0u64;
        while processor_time().expect("as before") < before + Duration::from_millis(20) {
            spun = std::hint::black_box(spun + 1);
        }
        reset_peak();
        assert!(peak().is_some_and(|bytes| bytes > 0.0) && spun > 0);
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
