package stat_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// recordedMetrics are the figures of each process in testdata/sessions.csv, in ns.
var recordedMetrics = [4]string{"min", "p50", "mean", "cpu"}

// block holds the figures of three processes of one program that ran next to each other.
type block [3][len(recordedMetrics)]float64

// recorded reads the blocks of zkbench selfcheck on a virtual machine of two processors
// (AMD EPYC with AVX-512, shared by its host), windows of 80 ms: quiet, and with each
// processor kept busy half of the time.
func recorded(t *testing.T) map[string][]block {
	t.Helper()
	file := must.Get(os.Open("testdata/sessions.csv"))(t)
	defer file.Close()
	blocks := make(map[string][]block)
	for i, line := range must.Get(csv.NewReader(file).ReadAll())(t) {
		if i == 0 {
			continue
		}
		var b block
		for j, cell := range line[1:] {
			b[j/len(recordedMetrics)][j%len(recordedMetrics)] = must.Get(strconv.ParseFloat(cell, 64))(t)
		}
		blocks[line[0]] = append(blocks[line[0]], b)
	}
	return blocks
}

// TestRecorded compares the intervals on sessions drawn from blocks of real machines, as they are and with one pair in five disturbed by 30 % in the
// mean: how often a session errs of nothing, finds a planted 3 %, and how wide its interval
// is. The trimmed mean errs no more than it may anywhere, and has the narrower interval
// wherever some processes are far off.
func TestRecorded(t *testing.T) {
	testsize.Full(t)
	const sessions, few = 300, 30
	blocks := recorded(t)
	for _, test := range []struct {
		where     string
		disturbed float64
		found     [len(recordedMetrics)]float64
	}{
		{"quiet", 0, [...]float64{0.88, 0.62, 0.48, 0.48}},
		{"quiet", 0.2, [...]float64{0.55, 0.28, 0.24, 0.20}},
		{"loaded", 0, [...]float64{0.80, 0.38, 0, 0.20}},
		{"loaded", 0.2, [...]float64{0.45, 0.18, 0, 0.08}},
	} {
		for m, metric := range recordedMetrics {
			var wrong, found, wrongRanks, foundRanks float64
			var widths, widthsRanks []float64
			r := seeded(uint64(m))
			for range sessions {
				var old, recent []float64
				for range few {
					b := blocks[test.where][r.IntN(len(blocks[test.where]))]
					order := r.Perm(len(b))
					if r.Float64() < test.disturbed {
						b[order[r.IntN(2)]][m] *= math.Exp(0.3 * r.ExpFloat64())
					}
					old, recent = append(old, b[order[0]][m]), append(recent, b[order[1]][m])
				}
				e := must.Get(stat.PairedRobust(old, recent, 0.99))(t)
				judge := func(e stat.Effect) (wrong, found float64, width float64) {
					if e.Low > 0 || e.High < 0 {
						wrong = 1.0 / sessions
					}
					if (1+e.Low)*1.03 > 1 {
						found = 1.0 / sessions
					}
					return wrong, found, e.Detectable(0)
				}
				w, f, width := judge(e)
				wrong, found, widths = wrong+w, found+f, append(widths, width)
				w, f, width = judge(must.Get(stat.Paired(old, recent, 0.99))(t))
				wrongRanks, foundRanks, widthsRanks = wrongRanks+w, foundRanks+f, append(widthsRanks, width)
			}
			name := fmt.Sprintf("%s, disturbed %.0f %%, %s", test.where, 100*test.disturbed, metric)
			t.Logf("%s: wrong %.3f, 3 %% found %.2f, width %.1f %%; ranks: wrong %.3f, found %.2f, width %.1f %%",
				name, wrong, found, 100*stat.Median(widths), wrongRanks, foundRanks, 100*stat.Median(widthsRanks))
			if stat.Median(widths) > stat.Median(widthsRanks) {
				t.Errorf("%s: the interval is wider than that of the ranks", name)
			}
			golden.Within(t, name+": wrong", 0, wrong, 0.02)
			golden.Within(t, name+": found", test.found[m], found, 1)
		}
	}
}

// TestRecordedGate judges sessions drawn from blocks of real machines as a gate of 3 % does, of at most 300 pairs: how
// many err where nothing has changed, and how many find 3 %, or fail with 6 %.
func TestRecordedGate(t *testing.T) {
	testsize.Full(t)
	const sessions, most, gate = 300, 300, 0.03
	blocks := recorded(t)
	for _, test := range []struct {
		where                string
		passes, found, fails [len(recordedMetrics)]float64 // at least
	}{
		{"quiet", [...]float64{0.99, 0.99, 0.99, 0.99}, [...]float64{0.98, 0.98, 0.98, 0.98}, [...]float64{0.99, 0.99, 0.99, 0.99}},
		// The mean under load differs so much that half of the sessions need more pairs.
		{"loaded", [...]float64{0.99, 0.99, 0.5, 0.99}, [...]float64{0.98, 0.98, 0.50, 0.98}, [...]float64{0.99, 0.99, 0.5, 0.99}},
	} {
		for m, metric := range recordedMetrics {
			r := seeded(uint64(m))
			session := func(planted float64) (e stat.Effect, pairs float64) {
				e, n := gated(t, gate, 24, most, func() (float64, float64) {
					b := blocks[test.where][r.IntN(len(blocks[test.where]))]
					order := r.Perm(len(b))
					return b[order[0]][m], b[order[1]][m] * (1 + planted)
				})
				return e, float64(n)
			}
			var wrong, passes, found, fails, pairs float64
			for range sessions {
				e, n := session(0)
				pairs += n / sessions
				if stat.Judge(e, 0, record.Lower) != stat.Same {
					wrong += 1.0 / sessions
				}
				if !stat.Tripped(e, 0, gate, record.Lower) && !stat.Underpowered(e, 0, gate, record.Lower) {
					passes += 1.0 / sessions
				}
				if e, _ = session(gate); stat.Judge(e, 0, record.Lower) == stat.Slower {
					found += 1.0 / sessions
				}
				if e, _ = session(2 * gate); stat.Tripped(e, 0, gate, record.Lower) {
					fails += 1.0 / sessions
				}
			}
			name := test.where + ", " + metric
			t.Logf("%s: wrong %.3f, passes %.3f in %.0f pairs, 3 %% found %.3f, 6 %% fails %.3f", name, wrong, passes, pairs, found, fails)
			golden.Within(t, name+": wrong", 0, wrong, 0.02)
			golden.Within(t, name+": passes", test.passes[m], passes, 1.001)
			golden.Within(t, name+": found", test.found[m], found, 1.001)
			golden.Within(t, name+": fails", test.fails[m], fails, 1.001)
		}
	}
}
