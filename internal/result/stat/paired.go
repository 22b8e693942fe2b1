package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/zkbench/zkbench"
)

// exactPairs is the maximum number of pairs for which the null distribution is computed
// exactly. For more pairs the normal approximation is good to four decimals.
const exactPairs = 100

// Paired compares processes that ran next to each other: old[i] and new[i] are figures of
// one block. Effects that the processes of a block share, above all drift, cancel.
//
// Change is the Hodges-Lehmann estimate: the median of the Walsh averages (d[i] + d[j])/2,
// i <= j, of the log ratios d. The interval is between two order statistics of these
// averages, chosen by the null distribution of Wilcoxon's signed-rank statistic (Hollander,
// Wolfe and Chicken, Nonparametric Statistical Methods, 3rd ed., sections 3.1 to 3.3). The
// distribution is exact for up to 100 pairs. If log ratios are zero or equal, the closed
// interval has at least the requested confidence. Zeros are ranked and then left out (Pratt
// 1959), and equal log ratios share their mean rank. P is exact for these ranks, because
// all assignments of signs are counted.
//
// Paired returns zkbench.ErrParams if the lengths differ or confidence is not between 0 and
// 1, and a *SampleError if a figure has no logarithm. If there are too few pairs, it returns
// a *FewError together with an Effect without an interval. A confidence of 99 % needs 8
// pairs.
func Paired(old, new []float64, confidence float64) (Effect, error) {
	if len(old) != len(new) {
		return Effect{}, fmt.Errorf("%w: %d processes of old, %d of new; accepted: equal numbers", zkbench.ErrParams, len(old), len(new))
	}
	if err := check(old, new, confidence); err != nil {
		return Effect{}, err
	}
	n := len(old)
	d := make([]float64, n)
	for i := range d {
		d[i] = grain(math.Log(new[i]) - math.Log(old[i]))
	}
	walsh := make([]float64, 0, n*(n+1)/2)
	for i := range d {
		for j := range i + 1 {
			walsh = append(walsh, (d[i]+d[j])/2)
		}
	}
	k, attained := cut(signedRankTail(n), len(walsh), confidence)
	e := effect(old, new, walsh, k, attained)
	e.P = signedRankP(d)
	if k == 0 {
		need := n + 1
		for 2*math.Pow(0.5, float64(need)) > 1-confidence+slack {
			need++
		}
		return e, &FewError{What: "pairs of processes", N: n, Need: need, Confidence: confidence}
	}
	return e, nil
}

// grain rounds a log ratio to 1e-12, so that ratios which differ only by rounding are ties.
func grain(d float64) float64 { return math.Round(d*1e12) / 1e12 }

// slack lets a probability pass that exceeds its bound only by rounding.
const slack = 1e-12

// effect returns an Effect with the given log differences. The k-th difference from each end
// bounds the interval; with k = 0 there is none. effect sorts differences.
func effect(old, new, differences []float64, k int, attained float64) Effect {
	slices.Sort(differences)
	last := len(differences) - 1
	e := Effect{
		Change: math.Expm1(Median(differences)),
		Low:    -1, High: math.Inf(1),
		Old: Median(old), New: Median(new),
		N: min(len(old), len(new)),
	}
	switch {
	case k > 0:
		e.Low, e.High = math.Expm1(differences[k-1]), math.Expm1(differences[last-k+1])
		e.Confidence = attained
	case differences[0] == differences[last]:
		e.Low, e.High = e.Change, e.Change
	}
	return e
}

// cut returns the largest k for which the k-th smallest and the k-th largest of total
// differences bound an interval with at least the given confidence, and the confidence that
// it has. If there is none, it returns 0. tail(s) is the null probability that the
// statistic, which ranges from 0 to total, is at most s.
func cut(tail func(s int) float64, total int, confidence float64) (k int, attained float64) {
	for 2*(k+1) <= total+1 {
		outside := 2 * tail(k)
		if outside > 1-confidence+slack {
			break
		}
		k, attained = k+1, max(1-outside, confidence) // a confidence within slack counts as reached
	}
	return k, attained
}

// signedRankTail returns the lower tail of the signed-rank statistic for n pairs without
// ties.
func signedRankTail(n int) func(s int) float64 {
	if n > exactPairs {
		mean := float64(n*(n+1)) / 4
		sd := math.Sqrt(float64(n*(n+1)*(2*n+1)) / 24)
		return func(s int) float64 { return normalTail((float64(s) + 0.5 - mean) / sd) }
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return cumulative(signSums(ranks))
}

// signedRankP returns the two-sided probability, with random signs, of a signed-rank
// statistic that is at least as far from its mean as that of d.
func signedRankP(d []float64) float64 {
	byRank := slices.Clone(d)
	slices.SortFunc(byRank, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	// Ranks are doubled, which makes the mean rank of ties whole.
	var ranks []int
	positive, all := 0, 0
	squares := 0.0
	for i := 0; i < len(byRank); {
		j := i + 1
		for j < len(byRank) && math.Abs(byRank[j]) == math.Abs(byRank[i]) {
			j++
		}
		rank := i + 1 + j
		for ; i < j; i++ {
			if byRank[i] == 0 {
				continue
			}
			ranks = append(ranks, rank)
			all += rank
			squares += float64(rank * rank)
			if byRank[i] > 0 {
				positive += rank
			}
		}
	}
	least := min(positive, all-positive)
	if 2*least >= all {
		return 1
	}
	if len(ranks) > exactPairs {
		// One step of the statistic is 2 in doubled ranks, so half a step is 1.
		return min(1, 2*normalTail((float64(least)+1-float64(all)/2)/(math.Sqrt(squares)/2)))
	}
	return min(1, 2*cumulative(signSums(ranks))(least))
}

// signSums returns, for every s, the probability that the sum of the ranks is s if each
// rank is included with probability 1/2.
func signSums(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	p := make([]float64, total+1)
	p[0] = 1
	reach := 0
	for _, r := range ranks {
		reach += r
		for s := reach; s >= 0; s-- {
			p[s] /= 2
			if s >= r {
				p[s] += p[s-r] / 2
			}
		}
	}
	return p
}

// cumulative returns the distribution function for the probabilities p.
func cumulative(p []float64) func(s int) float64 {
	return func(s int) float64 {
		sum := 0.0
		for _, q := range p[:min(s+1, len(p))] {
			sum += q
		}
		return sum
	}
}

func normalTail(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
