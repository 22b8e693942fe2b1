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

// TestMeasureSpeed: a proof that waits is as fast as its processor time, not as slow as the time that passes, and each is asked for.
func TestMeasureSpeed(t *testing.T) {
	proofs := 0
	const waits = 20 * time.Millisecond
	s := must.Get(measureSpeed(t.Context(), func(context.Context) error {
		proofs++
		time.Sleep(waits)
		return nil
	}, 1000))(t)
	golden.Equal(t, "proofs", proofsTimed, proofs)
	if byClock := 1000 / waits.Seconds(); !s.wall && s.perSecond <= byClock {
		t.Errorf("%g cells a second, of which waiting alone allows %g", s.perSecond, byClock)
	}
	broken := errors.New("broken")
	must.FailGet(measureSpeed(t.Context(), func(context.Context) error { return broken }, 1))(t, broken, "a proof that fails")
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
