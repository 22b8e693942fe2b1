package stat

import (
	"math"
	"slices"
)

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
