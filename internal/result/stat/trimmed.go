package stat

import (
	"math"
	"slices"
)

// trimmedPairs is the minimum number of pairs for which PairedRobust trims. From half of
// fewer pairs the deviation would be too uncertain, and t would cost more than trimming
// saves.
const trimmedPairs = 24

// trim is the share of pairs that are left out at either end.
const trim = 0.25

// trimCost is by which factor an interval of normal noise is wider because it is trimmed.
const trimCost = 1.1

// PairedRobust compares pairs like Paired. It is for machines that disturb some processes so
// much that the figures of these processes are far off. With fewer than 24 pairs, it returns
// what Paired returns.
//
// With 24 pairs or more, Change is the mean of the middle half of the log ratios. Its
// interval is Student's, from the winsorised deviation, and the pairs that are kept give the
// degrees of freedom (Tukey and McLaughlin, Sankhya A 25, 1963; Yuen, Biometrika 61, 1974).
// The quarter of the pairs with the lowest log ratios and the quarter with the highest may
// be arbitrarily far off. For normal noise the interval is a tenth wider than one from all
// pairs.
//
// The confidence level of this interval is not exact. The level of Paired's signed-rank
// interval is exact, but each disturbed process spoils as many Walsh averages as there are
// pairs. TestRecorded, a test of this package, measures the level and the power of both
// intervals on sessions that were recorded on real machines.
func PairedRobust(old, new []float64, confidence float64) (Effect, error) {
	n := len(old)
	if n < trimmedPairs || len(new) != n {
		return Paired(old, new, confidence)
	}
	if err := check(old, new, confidence); err != nil {
		return Effect{}, err
	}
	d := make([]float64, n)
	for i := range d {
		d[i] = grain(math.Log(new[i]) - math.Log(old[i]))
	}
	slices.Sort(d)
	cut := int(trim * float64(n))
	kept := n - 2*cut
	mean := Mean(d[cut : n-cut])
	for i := range cut { // winsorised
		d[i], d[n-1-i] = d[cut], d[n-1-cut]
	}
	e := Effect{Change: math.Expm1(mean), Confidence: confidence, Old: Median(old), New: Median(new), N: n}
	// Yuen's standard error of a trimmed mean: pairs that are left out do not count.
	err := Deviation(d) * math.Sqrt(float64(n-1)/float64(kept*(kept-1)))
	width := student(confidence, kept-1) * err
	e.Low, e.High = math.Expm1(mean-width), math.Expm1(mean+width)
	switch {
	case mean == 0:
		e.P = 1
	case err > 0:
		e.P = 1 - studentWithin(math.Abs(mean/err), kept-1)
	}
	return e, nil
}
