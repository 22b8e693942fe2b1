package zkbench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestMeasureSpeed: each proof is asked for, and one that fails fails the measurement.
func TestMeasureSpeed(t *testing.T) {
	proofs := 0
	s := must.Get(measureSpeed(t.Context(), func(context.Context) error {
		proofs++
		time.Sleep(time.Millisecond)
		return nil
	}, 1000))(t)
	golden.Equal(t, "proofs", proofsTimed, proofs)
	if !(s.perSecond > 0) || s.slower < 0 {
		t.Errorf("%g cells a second, the slowest %g slower", s.perSecond, s.slower)
	}
	broken := errors.New("broken")
	must.FailGet(measureSpeed(t.Context(), func(context.Context) error { return broken }, 1))(t, broken, "a proof that fails")
}

// TestSpeedCount: a proof that waits is as fast as its processor time, not as slow as the time that passes.
func TestSpeedCount(t *testing.T) {
	ms := func(each ...time.Duration) []time.Duration {
		for i := range each {
			each[i] *= time.Millisecond
		}
		return each
	}
	for name, test := range map[string]struct {
		processor, passed []time.Duration
		want              proverSpeed
	}{
		"processor time":          {ms(5, 4, 6), ms(50, 40, 20), proverSpeed{perSecond: 250_000, slower: 0.5}},
		"not reported":            {nil, ms(50, 40, 20), proverSpeed{perSecond: 50_000, slower: 1.5, wall: true}},
		"reported of some proofs": {ms(5, 4), ms(50, 40, 20), proverSpeed{perSecond: 50_000, slower: 1.5, wall: true}},
	} {
		var s proverSpeed
		s.count(1000, test.processor, test.passed)
		if s != test.want {
			t.Errorf("%s: %+v, want %+v", name, s, test.want)
		}
	}
}

// TestSpeedLines: a speed says how it was measured, its spread, and that the machine was busy if it was.
func TestSpeedLines(t *testing.T) {
	const fastest = ": the fastest of 5 proofs by this module's STARK of Keccak-256, on one thread; the slowest took "
	for name, test := range map[string]struct {
		speed proverSpeed
		want  string
	}{
		"quiet":             {proverSpeed{perSecond: 5e7, slower: 0.031}, "at 50.00M cells per second of processor time" + fastest + "3.1 % more"},
		"no processor time": {proverSpeed{perSecond: 5e7, wall: true}, "at 50.00M cells per second" + fastest + "0.0 % more"},
		"busy": {
			proverSpeed{perSecond: 5e7, slower: 0.5, busy: "other processes used 91.0 % of the processors' time"},
			"at 50.00M cells per second of processor time" + fastest + "50.0 % more\nBUSY MACHINE while this was measured: other processes used 91.0 % of the processors' time",
		},
	} {
		golden.Equal(t, name, test.want, strings.Join(test.speed.lines(), "\n"))
	}
}
