package stat

import (
	"math"
	"slices"
)

// trimmedPairs is the number of pairs from which PairedRobust trims: of the half of fewer
// the deviation would be too much of a guess, and t would cost more than trimming saves.
const trimmedPairs = 24

// trim is the share of pairs that are left out at either end.
const trim = 0.25

// PairedRobust is Paired for machines on which some processes are disturbed, whose figures
// are far off. From 24 pairs on Change is the mean of the middle half of the log ratios,
// and its interval Student's t of the winsorised deviation, of which the pairs that are kept
// give the freedom (Tukey and McLaughlin, Sankhya A 25, 1963; Yuen, Biometrika 61, 1974). A
// quarter of the pairs may be anywhere on either side; of normal noise the interval is a
// tenth wider than one of all pairs. Unlike the signed-rank interval, in which each disturbed
// process spoils as many Walsh averages as there are pairs, its level is not exact: TestRecorded
// has level and power of both on sessions of real machines. Of fewer pairs it is Paired.
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
	// The pairs that are kept are as many less as those left out are correlated with them.
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
