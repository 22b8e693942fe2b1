package resources

import (
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestParseStat: the fields of the first line in their order, each a power of two of ticks.
func TestParseStat(t *testing.T) {
	type told struct {
		Busy, Stolen time.Duration
		Processors   int
	}
	for stat, want := range map[string]told{
		"cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 1 1\ncpu1 1 1\nintr 5\n": {(1 + 2 + 4 + 32 + 64) * tick, 128 * tick, 2},
		"cpu  1 2 4 8\ncpu0 1\n": {7 * tick, 0, 1},
		"":                       {},
		"cpu0 1 1\n":             {},
	} {
		busy, stolen, processors := parseStat([]byte(stat))
		golden.Equal(t, stat, want, told{busy, stolen, processors})
	}
}

func TestParsePressure(t *testing.T) {
	for pressure, want := range map[string]time.Duration{
		"some avg10=56.77 avg60=50.55 avg300=26.92 total=229352618\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n": 229352618 * time.Microsecond,
		"": 0, "full total=7\n": 7 * time.Microsecond, "some total=\n": 0,
	} {
		golden.Equal(t, pressure, want, parsePressure([]byte(pressure)))
	}
}

// TestCounted: a window in which a thread works shows its processor time.
func TestCounted(t *testing.T) {
	before := counted()
	for begin := time.Now(); time.Since(begin) < 30*time.Millisecond; {
	}
	m := counted().since(before)
	if m == nil || m.CPU() < 10*time.Millisecond || m.Wall < 30*time.Millisecond || m.Processors < 1 || m.Load < 0 {
		t.Errorf("%+v", m)
	}
}
