//! Transforms of columns. Of Plonky3's implementations two are the fastest at some size:
//! both are checked and tried, and the faster one is measured. Its name is a column of
//! the result.

use contract::{Prepared, Result};
use goldilocks::{BLOWUP, SHIFT, WIDTH, elements, value_at};
use p3_dft::{Radix2DFTSmallBatch, Radix2Dit, Radix2DitParallel, TwoAdicSubgroupDft};
use p3_field::PrimeField64;
use p3_goldilocks::Goldilocks;
use p3_matrix::Matrix;
use p3_matrix::bitrev::BitReversibleMatrix;
use p3_matrix::dense::RowMajorMatrix;
use std::mem;
use std::time::{Duration, Instant};

/// Each implementation is tried for this long, and at least twice.
const TRIAL: Duration = Duration::from_millis(20);

type Columns = RowMajorMatrix<Goldilocks>;

/// An operation that is measured.
#[derive(Clone, Copy)]
enum Work {
    /// Values in natural order.
    Transform,
    /// Values in bit-reversed order, as commitments take them.
    Extension,
}

impl Work {
    fn run<D: TwoAdicSubgroupDft<Goldilocks>>(self, dft: &D, m: Columns) -> Columns {
        match self {
            Work::Transform => dft.dft_batch(m).to_row_major_matrix(),
            Work::Extension => dft
                .coset_lde_batch(m, BLOWUP, Goldilocks::new(SHIFT))
                .bit_reverse_rows()
                .to_row_major_matrix(),
        }
    }

    /// Where the value of an index is, of 2^log.
    fn place(self, index: usize, log: usize) -> usize {
        match self {
            Work::Transform => index,
            Work::Extension => index.reverse_bits() >> (usize::BITS as usize - log),
        }
    }

    /// By each implementation, which keeps its roots of unity from call to call.
    fn candidates(self) -> [Candidate; 2] {
        [
            Candidate::new::<Radix2DFTSmallBatch<Goldilocks>>("Radix2DFTSmallBatch", self),
            Candidate::new::<Radix2DitParallel<Goldilocks>>("Radix2DitParallel", self),
        ]
    }
}

struct Candidate {
    name: &'static str,
    run: Box<dyn Fn(Columns) -> Columns>,
}

impl Candidate {
    fn new<D: TwoAdicSubgroupDft<Goldilocks> + 'static>(name: &'static str, work: Work) -> Self {
        let dft = D::default();
        Candidate {
            name,
            run: Box::new(move |m| work.run(&dft, m)),
        }
    }

    /// Replaces the columns by as many rows of the result: any elements are as good,
    /// and nothing is copied.
    fn call(&self, m: &mut Columns) {
        let (width, len) = (m.width, m.values.len());
        let input = Columns::new(mem::take(&mut m.values), width);
        *m = (self.run)(input);
        m.values.truncate(len);
    }

    fn fastest_call(&self, m: &mut Columns) -> Duration {
        let start = Instant::now();
        let mut fastest = Duration::MAX;
        let mut calls = 0;
        while calls < 2 || start.elapsed() < TRIAL {
            let start = Instant::now();
            self.call(m);
            fastest = fastest.min(start.elapsed());
            calls += 1;
        }
        fastest
    }
}

fn prepare(work: Work, input: Columns, check: impl Fn(&Columns) -> Result<()>) -> Result<Prepared> {
    let mut tried = Vec::new();
    for candidate in work.candidates() {
        let output = (candidate.run)(input.clone());
        check(&output).map_err(|e| format!("{}: {e}", candidate.name))?;
        let time = candidate.fastest_call(&mut input.clone());
        tried.push((time, candidate));
    }
    let (_, fastest) = tried
        .into_iter()
        .min_by_key(|(time, _)| *time)
        .expect("there are candidates");
    let name = fastest.name;
    let mut m = input;
    Ok(Prepared {
        op: Box::new(move || {
            fastest.call(&mut m);
            Ok(())
        }),
        per_call: 1,
        extra: vec![(1.0, name)],
    })
}

/// A few indices of 2^log, the outermost among them.
fn places(log: usize) -> [usize; 4] {
    let last = (1 << log) - 1;
    [0, 1, last / 3, last]
}

/// Fails where the first column is not the values of a polynomial on the coset; all
/// columns are treated alike.
fn check_values(m: &Columns, work: Work, coefficients: &[u64], shift: u64) -> Result<()> {
    let log = m.height().ilog2() as usize;
    for index in places(log) {
        let got = m.values[work.place(index, log) * m.width].as_canonical_u64();
        let want = value_at(coefficients, shift, log, index);
        if got != want {
            return Err(format!("value {index} is {got:x}, not {want:x}"));
        }
    }
    Ok(())
}

/// Timed: one column of coefficients replaced by its values.
pub fn transform(log: usize) -> Result<Prepared> {
    let coefficients: Vec<u64> = elements(1 << log).collect();
    let input = coefficients.iter().copied().map(Goldilocks::new).collect();
    prepare(Work::Transform, Columns::new_col(input), |m| {
        check_values(m, Work::Transform, &coefficients, 1)
    })
}

/// Timed: columns of values on the subgroup replaced by those on a longer coset.
pub fn extension(log: usize) -> Result<Prepared> {
    let coefficients: Vec<u64> = elements(WIDTH << log).collect();
    let input = coefficients.iter().copied().map(Goldilocks::new).collect();
    let input = Radix2Dit::default().dft_batch(Columns::new(input, WIDTH));
    let first: Vec<u64> = coefficients.into_iter().step_by(WIDTH).collect();
    check_values(&input, Work::Transform, &first, 1)?;
    prepare(Work::Extension, input, |m| {
        check_values(m, Work::Extension, &first, SHIFT)
    })
}
