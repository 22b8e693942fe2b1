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

// proofsTimed is of how many proofs the fastest says how fast a prover is.
const proofsTimed = 5

// proverSpeed is how fast a prover was, as far as other load on the machine lets it be seen. What waits for a processor
// takes none of its time, and what others do to caches and clocks the least of several feels least.
type proverSpeed struct {
	perSecond float64 // cells, of the fastest proof
	slower    float64 // how much more the slowest took, relative
	wall      bool    // it is time that passed: the platform does not tell the processor's
	busy      string  // what kept the process from having the machine to itself; empty: nothing that is seen
}

// measureSpeed times proofs of so many cells each.
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
	if s.wall = len(processor) < proofsTimed; s.wall {
		processor = passed
	}
	least, most := slices.Min(processor), slices.Max(processor)
	s.perSecond, s.slower = cells/least.Seconds(), float64(most)/float64(least)-1
	return s, nil
}

// ownSpeed is that of this module's STARK.
func ownSpeed(ctx context.Context) (proverSpeed, error) {
	prove, cells, err := starks.SpeedProof()
	if err != nil {
		return proverSpeed{}, err
	}
	return measureSpeed(ctx, prove, cells)
}

// lines say how fast the prover was, and how that was measured.
func (s proverSpeed) lines() []string {
	time := "a second of processor time"
	if s.wall {
		time = "a second"
	}
	lines := []string{fmt.Sprintf("at %s cells %s: the fastest of %d proofs by this module's STARK of Keccak-256, on one thread; the slowest took %s more",
		format.Prefixed(s.perSecond), time, proofsTimed, format.Percent(s.slower, 1))}
	if s.busy != "" {
		lines = append(lines, "BUSY MACHINE while this was measured: "+s.busy)
	}
	return lines
}
