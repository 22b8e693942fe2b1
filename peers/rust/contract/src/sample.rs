//! Timing of one operation over samples that are long beside the clock.

use crate::Result;
use std::time::{Duration, Instant};

/// Shortest sample: long beside a scheduler's time slice.
const SAMPLE: Duration = Duration::from_millis(100);
/// Warm-up: caches, branch predictors and the clock frequency settle.
const WARM_UP: Duration = Duration::from_millis(50);
/// The clock is read about this often, so that reading it costs nothing beside
/// the operation and a sample overshoots by little.
const CHUNK: Duration = Duration::from_millis(5);

pub(crate) struct Sample {
    pub calls: u64,
    pub elapsed: Duration,
}

pub(crate) struct Sampler {
    /// Calls between two readings of the clock.
    chunk: u64,
}

impl Sampler {
    /// Runs the operation for a while and sizes the chunks by it.
    pub fn warm_up(op: &mut dyn FnMut() -> Result<()>) -> Result<Self> {
        let start = Instant::now();
        let mut calls = 0u64;
        while calls == 0 || start.elapsed() < WARM_UP {
            op()?;
            calls += 1;
        }
        let per_call = (start.elapsed().as_nanos() as u64 / calls).max(1);
        Ok(Sampler {
            chunk: (CHUNK.as_nanos() as u64 / per_call).max(1),
        })
    }

    /// Repeats the operation for at least `SAMPLE`.
    pub fn sample(&self, op: &mut dyn FnMut() -> Result<()>) -> Result<Sample> {
        let start = Instant::now();
        let mut calls = 0;
        loop {
            for _ in 0..self.chunk {
                op()?;
            }
            calls += self.chunk;
            let elapsed = start.elapsed();
            if elapsed >= SAMPLE {
                return Ok(Sample { calls, elapsed });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_every_call() {
        let mut seen = 0u64;
        let sampler = Sampler::warm_up(&mut || Ok(())).unwrap();
        let sample = sampler
            .sample(&mut || {
                seen += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(sample.calls, seen);
        assert!(sample.elapsed >= SAMPLE);
    }

    #[test]
    fn stops_at_a_failure() {
        assert!(Sampler::warm_up(&mut || Err("no".into())).is_err());
        let sampler = Sampler { chunk: 3 };
        assert!(sampler.sample(&mut || Err("no".into())).is_err());
    }
}
