package stat_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

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

// TestRecorded compares the intervals on sessions drawn from blocks of real machines, with a
// third side for the floor, as they are and with one pair in five disturbed by 30 % in the
// mean: how often a session errs of nothing, finds a planted 3 %, and how wide its interval
// is. The trimmed mean errs no more than it may anywhere, and has the narrower interval
// wherever some processes are far off. It says so of sessions that go on until they can see
// 3 %, too, although when they end depends on what they saw.
func TestRecorded(t *testing.T) {
	testsize.Full(t)
	const sessions, few, many = 300, 30, 300
	blocks := recorded(t)
	for _, test := range []struct {
		where     string
		disturbed float64
		until     bool // blocks are added until the interval is 3 % wide
		found     [len(recordedMetrics)]float64
	}{
		{"quiet", 0, false, [...]float64{0.88, 0.62, 0.48, 0.48}},
		{"quiet", 0.2, false, [...]float64{0.55, 0.28, 0.24, 0.20}},
		{"loaded", 0, false, [...]float64{0.80, 0.38, 0, 0.20}},
		{"loaded", 0.2, false, [...]float64{0.45, 0.18, 0, 0.08}},
		{"quiet", 0, true, [...]float64{0.98, 0.98, 0.98, 0.98}},
		{"loaded", 0, true, [...]float64{0.98, 0.98, 0.60, 0.98}},
	} {
		for m, metric := range recordedMetrics {
			var wrong, found, wrongRanks, foundRanks float64
			var widths, widthsRanks []float64
			r := seeded(uint64(m))
			for range sessions {
				var old, recent, again []float64
				add := func(n int) {
					for range n {
						b := blocks[test.where][r.IntN(len(blocks[test.where]))]
						order := r.Perm(len(b))
						if r.Float64() < test.disturbed {
							b[order[r.IntN(2)]][m] *= math.Exp(0.3 * r.ExpFloat64())
						}
						old, recent, again = append(old, b[order[0]][m]), append(recent, b[order[1]][m]), append(again, b[order[2]][m])
					}
				}
				add(few)
				e := must.Get(stat.PairedRobust(old, recent, 0.99))(t)
				for test.until && len(old) < many && e.Detectable(0) > 0.03 {
					add(10)
					e = must.Get(stat.PairedRobust(old, recent, 0.99))(t)
				}
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
				if !test.until {
					w, f, width = judge(must.Get(stat.Paired(old, recent, 0.99))(t))
					wrongRanks, foundRanks, widthsRanks = wrongRanks+w, foundRanks+f, append(widthsRanks, width)
				}
			}
			name := fmt.Sprintf("%s, disturbed %.0f %%, until seen %v, %s", test.where, 100*test.disturbed, test.until, metric)
			t.Logf("%s: wrong %.3f, 3 %% found %.2f, width %.1f %%; ranks: wrong %.3f, found %.2f, width %.1f %%",
				name, wrong, found, 100*stat.Median(widths), wrongRanks, foundRanks, 100*stat.Median(widthsRanks))
			if !test.until && stat.Median(widths) > stat.Median(widthsRanks) {
				t.Errorf("%s: the interval is wider than that of the ranks", name)
			}
			golden.Within(t, name+": wrong", 0, wrong, 0.02)
			golden.Within(t, name+": found", test.found[m], found, 1)
		}
	}
}
