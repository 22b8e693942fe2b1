package stat

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// exactSide is the maximum size of the larger side for which the null distribution is
// computed exactly, as in benchmath.
const exactSide = 50

// Unpaired compares processes that do not form pairs, for example those of two files. The
// sides may have different lengths.
//
// Change is the Hodges-Lehmann shift: the median of all differences log new[j] - log old[i].
// The interval is between two order statistics of these differences, chosen by the null
// distribution of the Mann-Whitney statistic (Hollander, Wolfe and Chicken, Nonparametric
// Statistical Methods, 3rd ed., sections 4.1 to 4.3). The distribution is exact for up to 50
// processes per side. P is the p-value of benchmath's Mann-Whitney test, which benchstat
// uses. With ties the closed interval has at least the requested confidence.
//
// If the processes ran interleaved while the machine drifted, their figures spread more
// widely than the ratios of pairs do. The interval is then too wide rather than too
// narrow, and Paired is the better test. If one side ran after the other, drift between
// them looks like a change, and no test can distinguish drift from a change.
//
// If both sides are constant, as for exact metrics, the interval has no width, and P is 0 if
// they differ and 1 if they do not. Unpaired returns zkbench.ErrParams if confidence is not
// between 0 and 1, and a *SampleError if a figure has no logarithm. If there are too few
// processes, it returns a *FewError together with an Effect without an interval. A
// confidence of 99 % needs 5 processes per side.
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
		// NewSample sorts its argument. Near the middle of a distribution with ties the
		// doubled tail exceeds 1.
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
		return e, &FewError{What: "values on the smaller side", N: e.N, Need: need, Confidence: confidence}
	}
	return e, nil
}

// rankSumTail returns the lower tail of the Mann-Whitney statistic for sides of m and n
// values without ties.
func rankSumTail(m, n int) func(s int) float64 {
	if max(m, n) > exactSide {
		mean := float64(m) * float64(n) / 2
		sd := math.Sqrt(float64(m) * float64(n) * float64(m+n+1) / 12)
		return func(s int) float64 { return normalTail((float64(s) + 0.5 - mean) / sd) }
	}
	return cumulative(rankSums(m, n))
}

// rankSums returns the null distribution of the Mann-Whitney statistic for m and n values.
// The largest of i+j values is on the first side with probability i/(i+j), and then exceeds
// the j values of the other side (Mann and Whitney 1947):
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
