package stat

import (
	"math"
	"slices"
)

// Median returns the median of values, which are not changed; 0 of none.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(n-1)/2]/2 + sorted[n/2]/2 // halved first: the sum may be infinite
}

// Quantile interpolates linearly between order statistics (type 7 of Hyndman and Fan, The
// American Statistician 50, 1996). The values, at least one, are not changed.
func Quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// Mean of none is 0.
func Mean(values []float64) (mean float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	return mean
}

// Deviation is the sample's standard deviation; of fewer than two values it is 0.
func Deviation(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	mean, squares := Mean(values), 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(values)-1))
}

// robustPairs is the number of pairs from which PairedRobust has two intervals to
// choose from. It is fixed beforehand, so that the choice costs no confidence.
const robustPairs = 16

// PairedRobust is Paired for machines on which some processes are disturbed: their
// figures are far off, always for the worse. Each disturbed process spoils as many
// Walsh averages as there are pairs, so the signed-rank interval stands only a few;
// that of the sign test, between order statistics of the log ratios themselves
// (Hollander, Wolfe and Chicken, section 3.6), stands a third of the pairs, but
// is a quarter wider where none is disturbed.
//
// From 16 pairs on both are made, each with half the error allowed, and the
// narrower one is returned, with its estimate: Hodges and Lehmann's or the median.
// Both hold the change together with the confidence asked, so either may be
// chosen; Confidence is that of both. P is twice that of the chosen one's test. Of fewer pairs it is Paired.
func PairedRobust(old, new []float64, confidence float64) (Effect, error) {
	n := len(old)
	if n < robustPairs {
		return Paired(old, new, confidence)
	}
	each := (1 + confidence) / 2
	ranks, err := Paired(old, new, each)
	if err != nil {
		return ranks, err
	}
	d := make([]float64, n)
	positive, negative := 0, 0
	for i := range d {
		d[i] = grain(math.Log(new[i]) - math.Log(old[i]))
		switch {
		case d[i] > 0:
			positive++
		case d[i] < 0:
			negative++
		}
	}
	k, attained := cut(signTail(n), n, each)
	signs := effect(old, new, d, k, attained)
	signs.P = min(1, 2*signTail(positive+negative)(min(positive, negative)))
	chosen := ranks
	if signs.width() < ranks.width() {
		chosen = signs
	}
	chosen.P = min(1, 2*chosen.P)
	chosen.Confidence = ranks.Confidence + signs.Confidence - 1
	return chosen, nil
}

// width is the length of the interval, in logarithms.
func (e Effect) width() float64 { return math.Log1p(e.High) - math.Log1p(e.Low) }

// signTail returns the lower tail of the number of heads among n fair coins.
func signTail(n int) func(s int) float64 {
	return cumulative(signSums(slices.Repeat([]int{1}, n)))
}
