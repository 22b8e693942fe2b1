package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// machine is a model of what disturbs the figures of a session.
type machine struct {
	offset float64 // standard deviation of a process from its program, relative
	drift  float64 // from the session's first process to its last, relative
	noise  float64 // standard deviation of a slot within its process, relative
	phi    float64 // autocorrelation of the slots

	disturbed float64 // share of processes that something else slows, by 10 % in the mean
}

// rough is the machine of the tests: what shared machines do on a bad day.
var rough = machine{offset: 0.015, drift: 0.05, noise: 0.02, phi: 0.8}

// session runs order on the machine. The figure of a process is the mean of its 64
// slots; that of New is by planted more.
func (m machine) session(r *rand.Rand, order []stat.Side, planted float64) map[stat.Side][]float64 {
	figures := map[stat.Side][]float64{}
	for i, side := range order {
		mean := 0.0
		for _, v := range autoregressive(r, 64, 1, m.phi) {
			mean += v / 64
		}
		figure := 1e6 * math.Exp(m.offset*r.NormFloat64()) *
			(1 + m.drift*float64(i)/float64(len(order)-1)) * (1 + m.noise*mean)
		if side == stat.New {
			figure *= 1 + planted
		}
		if r.Float64() < m.disturbed {
			figure *= math.Exp(0.1 * r.ExpFloat64())
		}
		figures[side] = append(figures[side], figure)
	}
	return figures
}

// autoregressive returns slots, each the mean of per consecutive samples of an
// AR(1) process of variance 1.
func autoregressive(r *rand.Rand, slots, per int, phi float64) []float64 {
	values := make([]float64, slots)
	x := r.NormFloat64()
	for i := range values {
		for range per {
			values[i] += x / float64(per)
			x = phi*x + math.Sqrt(1-phi*phi)*r.NormFloat64()
		}
	}
	return values
}

func seeded(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(1, stream)) }

// rates are shares of simulated sessions in which a comparison says what it ought
// not to say (false) or ought to (found, tripped).
type rates struct{ wrong, found, tripped float64 }

// busy is a machine that others use too: one process in seven is disturbed.
var busy = machine{offset: 0.008, drift: 0.03, disturbed: 0.15}

// simulate judges so many sessions without a change, with a planted 3 % and with a
// planted 6 % against a gate of 3 %.
func simulate(on machine, sessions, blocks int, compare func(map[stat.Side][]float64) (stat.Effect, float64)) rates {
	r := seeded(1)
	var count rates
	share := 1 / float64(sessions)
	for range sessions {
		e, floor := compare(on.session(r, stat.Schedule(blocks, r.Uint64()), 0))
		if stat.Judge(e, floor, record.Lower) != stat.Same {
			count.wrong += share
		}
		e, floor = compare(on.session(r, stat.Schedule(blocks, r.Uint64()), 0.03))
		if stat.Judge(e, floor, record.Lower) == stat.Slower {
			count.found += share
		}
		e, floor = compare(on.session(r, stat.Schedule(blocks, r.Uint64()), 0.06))
		if stat.Tripped(e, floor, 0.03, record.Lower) {
			count.tripped += share
		}
	}
	return count
}

func TestSessions(t *testing.T) {
	testsize.Full(t)
	paired := func(s map[stat.Side][]float64) (stat.Effect, float64) {
		e, _ := stat.Paired(s[stat.Old], s[stat.New], 0.99)
		return e, stat.Floor(s[stat.Old], s[stat.Again])
	}
	robust := func(s map[stat.Side][]float64) (stat.Effect, float64) {
		e, _ := stat.PairedRobust(s[stat.Old], s[stat.New], 0.99)
		return e, stat.Floor(s[stat.Old], s[stat.Again])
	}
	split := func(s map[stat.Side][]float64) (stat.Effect, float64) {
		e, _ := stat.Paired(s[stat.Old], s[stat.New], 0.99)
		return e, stat.SplitFloor(s[stat.Old])
	}
	unpaired := func(s map[stat.Side][]float64) (stat.Effect, float64) {
		e, _ := stat.Unpaired(s[stat.Old], s[stat.New], 0.99)
		return e, stat.SplitFloor(s[stat.Old])
	}
	// Drift of 5 % makes the sides of an unpaired comparison a third wider than the
	// processes are, so it errs less and finds less.
	for _, test := range []struct {
		name             string
		on               machine
		sessions, blocks int
		compare          func(map[stat.Side][]float64) (stat.Effect, float64)
		wrong            float64 // at most
		found, tripped   float64 // at least
	}{
		{"compare=paired/blocks=10", rough, 2000, 10, paired, 0.015, 0.65, 0.60},
		{"compare=paired/blocks=16", rough, 2000, 16, paired, 0.015, 0.90, 0.90},
		{"compare=robust/blocks=16", rough, 2000, 16, robust, 0.015, 0.85, 0.85},
		{"compare=robust/blocks=24", rough, 8000, 24, robust, 0.015, 0.95, 0.95},
		{"compare=paired/blocks=30/busy", busy, 1000, 30, paired, 0.02, 0.80, 0.80},
		{"compare=robust/blocks=30/busy", busy, 1000, 30, robust, 0.01, 0.95, 0.93},
		{"compare=robust/blocks=24/busy", busy, 8000, 24, robust, 0.01, 0.80, 0.80},
		{"compare=split floor/blocks=16", rough, 2000, 16, split, 0.015, 0.90, 0.90},
		{"compare=unpaired/blocks=10", rough, 500, 10, unpaired, 0.005, 0.40, 0.35},
		{"compare=unpaired/blocks=20", rough, 500, 20, unpaired, 0.005, 0.90, 0.85},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := simulate(test.on, test.sessions, test.blocks, test.compare)
			t.Logf("false verdicts %.4f, 3 %% found %.4f, 6 %% tripped %.4f", got.wrong, got.found, got.tripped)
			if got.wrong > test.wrong || got.found < test.found || got.tripped < test.tripped {
				t.Errorf("want at most %v, at least %v, at least %v", test.wrong, test.found, test.tripped)
			}
		})
	}
}

// The floor shows in full what replication does not see: a position in the block
// that costs 2 % makes an interval that excludes no change, and the floor alone
// keeps it from being a verdict.
func TestFloorCatchesWhatRepeats(t *testing.T) {
	r := seeded(1)
	steady := machine{offset: 0.003}
	without, with := 0, 0
	for range 500 {
		s := steady.session(r, stat.Schedule(10, r.Uint64()), 0.02) // of the harness, not of the program
		for i := range s[stat.Again] {
			s[stat.Again][i] *= 1.025
		}
		e := must.Get(stat.Paired(s[stat.Old], s[stat.New], 0.99))(t)
		if stat.Judge(e, 0, record.Lower) == stat.Slower {
			without++
		}
		if stat.Judge(e, stat.Floor(s[stat.Old], s[stat.Again]), record.Lower) == stat.Slower {
			with++
		}
	}
	if without < 490 || with > 10 {
		t.Errorf("of 500 sessions %d slower without the floor, %d with it", without, with)
	}
}
