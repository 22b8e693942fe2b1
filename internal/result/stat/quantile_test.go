package stat

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// The critical values are those of the published tables: the signed-rank statistic
// after Wilcoxon and Wilcox (1964), the Mann-Whitney statistic after Milton
// (JASA 59, 1964). The greatest statistic that is significant is one below the
// order of the difference that bounds the interval.
func TestCriticalValues(t *testing.T) {
	for _, test := range []struct {
		m, n       int // m = 0: n pairs
		confidence float64
		critical   int // -1: none is significant
	}{
		{0, 5, 0.95, -1},
		{0, 6, 0.95, 0},
		{0, 7, 0.95, 2},
		{0, 8, 0.95, 3},
		{0, 9, 0.95, 5},
		{0, 10, 0.95, 8},
		{0, 12, 0.95, 13},
		{0, 15, 0.95, 25},
		{0, 20, 0.95, 52},
		{0, 25, 0.95, 89},
		{0, 30, 0.95, 137},
		{0, 7, 0.99, -1},
		{0, 8, 0.99, 0},
		{0, 9, 0.99, 1},
		{0, 10, 0.99, 3},
		{0, 11, 0.99, 5},
		{0, 12, 0.99, 7},
		{0, 15, 0.99, 15},
		{0, 20, 0.99, 37},
		{0, 25, 0.99, 68},
		{0, 30, 0.99, 109},

		{3, 3, 0.95, -1},
		{4, 4, 0.95, 0},
		{5, 5, 0.95, 2},
		{5, 10, 0.95, 8},
		{8, 8, 0.95, 13},
		{8, 12, 0.95, 22},
		{10, 10, 0.95, 23},
		{15, 15, 0.95, 64},
		{20, 20, 0.95, 127},
		{4, 4, 0.99, -1},
		{5, 5, 0.99, 0},
		{6, 6, 0.99, 2},
		{8, 8, 0.99, 7},
		{10, 10, 0.99, 16},
		{15, 15, 0.99, 51},
		{20, 20, 0.99, 105},
	} {
		t.Run(fmt.Sprintf("m=%d/n=%d/confidence=%v", test.m, test.n, test.confidence), func(t *testing.T) {
			tail, total := signedRankTail(test.n), test.n*(test.n+1)/2
			if test.m > 0 {
				tail, total = rankSumTail(test.m, test.n), test.m*test.n
			}
			k, attained := cut(tail, total, test.confidence)
			golden.Equal(t, "critical value", test.critical, k-1)
			if k > 0 && attained < test.confidence {
				t.Errorf("confidence %v attained", attained)
			}
		})
	}
}

// Where the exact distribution gives way to the normal one, both say the same.
func TestApproximationMeetsExact(t *testing.T) {
	ranks := make([]int, exactPairs+1)
	for i := range ranks {
		ranks[i] = i + 1
	}
	for _, test := range []struct {
		name          string
		exact, normal func(s int) float64
		total         int
	}{
		{"test=signed-rank", cumulative(signSums(ranks)), signedRankTail(exactPairs + 1), len(ranks) * (len(ranks) + 1) / 2},
		{"test=rank-sum", cumulative(rankSums(exactSide+1, exactSide+1)), rankSumTail(exactSide+1, exactSide+1), (exactSide + 1) * (exactSide + 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, confidence := range []float64{0.9, 0.95, 0.99} {
				exact, _ := cut(test.exact, test.total, confidence)
				normal, _ := cut(test.normal, test.total, confidence)
				golden.Within(t, fmt.Sprintf("confidence=%v: exact order less the normal one", confidence), -5, exact-normal, 5)
			}
		})
	}
}
