package zkbench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/runner/resources"
	starks "github.com/zkbench/zkbench/internal/workload/stark"
)

// proofsTimed is the number of proofs that are timed; the fastest one counts.
const proofsTimed = 5

// proverSpeed is the speed of a prover, without the influence of other load as far as possible.
// Waiting for a processor does not count as processor time. The fastest of several proofs suffers
// least from what other processes do to caches and clocks.
type proverSpeed struct {
	perSecond float64 // cells per second of the fastest proof
	slower    float64 // relative additional time of the slowest proof
	wall      bool    // elapsed time, because the platform does not report processor time
	busy      string  // other load on the machine; empty: none was seen
}

// measureSpeed times proofs, each with the given number of cells.
func measureSpeed(ctx context.Context, prove func(context.Context) error, cells float64) (proverSpeed, error) {
	var s proverSpeed
	var processor, passed []time.Duration
	all := resources.Watch()
	for range proofsTimed {
		start, until := time.Now(), resources.Watch()
		if err := prove(ctx); err != nil {
			return s, err
		}
		passed = append(passed, time.Since(start))
		if m := until(); m != nil && m.CPU() > 0 {
			processor = append(processor, m.CPU())
		}
	}
	if m := all(); m != nil {
		if f, found := runner.DisturbedFinding(m); found {
			s.busy = f.Text
		}
	}
	s.count(cells, processor, passed)
	return s, nil
}

// count takes the speed from the processor time of each proof, or from the time that passed where
// the platform does not report the processor time of all.
func (s *proverSpeed) count(cells float64, processor, passed []time.Duration) {
	times := processor
	if s.wall = len(processor) < len(passed); s.wall {
		times = passed
	}
	least, most := slices.Min(times), slices.Max(times)
	s.perSecond, s.slower = cells/least.Seconds(), float64(most)/float64(least)-1
}

// ownSpeed measures the speed of this module's STARK.
func ownSpeed(ctx context.Context) (proverSpeed, error) {
	prove, cells, err := starks.SpeedProof()
	if err != nil {
		return proverSpeed{}, err
	}
	return measureSpeed(ctx, prove, cells)
}

// lines says how fast the prover was, and how that was measured.
func (s proverSpeed) lines() []string {
	time := "per second of processor time"
	if s.wall {
		time = "per second"
	}
	lines := []string{fmt.Sprintf("at %s cells %s: the fastest of %d proofs by this module's STARK of Keccak-256, on one thread; the slowest took %s more",
		format.Prefixed(s.perSecond), time, proofsTimed, format.Percent(s.slower, 1))}
	if s.busy != "" {
		lines = append(lines, "BUSY MACHINE while this was measured: "+s.busy)
	}
	return lines
}
