package stat

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// exactSide is the greatest size of both sides up to which the null distribution
// is computed exactly, as benchmath does.
const exactSide = 50

// Unpaired compares processes of which nothing is known to belong together, for
// example those of two files. The sides may have different lengths.
//
// Change is the Hodges-Lehmann shift, the median of all differences
// log new[j] - log old[i]; the interval lies between the order statistics of those
// differences that the null distribution of the Mann-Whitney statistic picks
// (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd ed.,
// sections 4.1 to 4.3), exact up to 50 processes a side. P is benchmath's
// Mann-Whitney test, benchstat's own. With ties the closed interval keeps at least
// its confidence.
//
// Processes that ran interleaved while the machine drifted spread wider than they
// do next to each other: the interval is then too wide rather than too narrow,
// and Paired is the better test. Sides that ran one after the other take the drift
// between them for a change, which no test can tell apart.
//
// Two constant sides, as of exact metrics, have an interval of no width; P is then
// 0 where they differ, 1 where not. Errors: zkbench.ErrParams for a confidence not
// between 0 and 1, *SampleError for a figure without a logarithm, and *FewError,
// with Change computed, for too few processes; 99 % needs 5 a side.
func Unpaired(old, new []float64, confidence float64) (Effect, error) {
	if err := check(old, new, confidence); err != nil {
		return Effect{}, err
	}
	m, n := len(old), len(new)
	differences := make([]float64, 0, m*n)
	for _, a := range old {
		for _, b := range new {
			differences = append(differences, grain(math.Log(b)-math.Log(a)))
		}
	}
	k, attained := cut(rankSumTail(m, n), len(differences), confidence)
	e := effect(old, new, differences, k, attained)
	switch {
	case differences[0] != differences[len(differences)-1]:
		thresholds := benchmath.Thresholds{CompareAlpha: 1 - confidence}
		// NewSample sorts what it is given. Near the middle of a distribution with
		// ties the doubled tail exceeds 1.
		e.P = min(1, benchmath.AssumeNothing.Compare(
			benchmath.NewSample(slices.Clone(old), &thresholds),
			benchmath.NewSample(slices.Clone(new), &thresholds),
		).P)
	case differences[0] == 0:
		e.P = 1
	}
	if k == 0 {
		need := 1
		for 2*rankSumTail(need, need)(0) > 1-confidence+slack {
			need++
		}
		return e, &FewError{What: "processes on the smaller side", N: e.N, Need: need, Confidence: confidence}
	}
	return e, nil
}

// rankSumTail returns the lower tail of the Mann-Whitney statistic of sides of m
// and n values without ties.
func rankSumTail(m, n int) func(s int) float64 {
	if max(m, n) > exactSide {
		mean := float64(m) * float64(n) / 2
		sd := math.Sqrt(float64(m) * float64(n) * float64(m+n+1) / 12)
		return func(s int) float64 { return normalTail((float64(s) + 0.5 - mean) / sd) }
	}
	return cumulative(rankSums(m, n))
}

// rankSums returns the null distribution of the Mann-Whitney statistic of i and n
// values for i = m. The greatest of i+j values belongs to the first side with
// probability i/(i+j), and then exceeds the j of the other side (Mann and Whitney
// 1947):
//
//	p(i, j, u) = i/(i+j) p(i-1, j, u-j) + j/(i+j) p(i, j-1, u)
func rankSums(m, n int) []float64 {
	rows := make([][]float64, n+1) // rows[j] is p(i, j, .)
	for j := range rows {
		rows[j] = []float64{1}
	}
	for i := 1; i <= m; i++ {
		for j := 1; j <= n; j++ {
			p := make([]float64, i*j+1)
			first := float64(i) / float64(i+j)
			for u, q := range rows[j] {
				p[u+j] += first * q
			}
			for u, q := range rows[j-1] {
				p[u] += (1 - first) * q
			}
			rows[j] = p
		}
	}
	return rows[n]
}
