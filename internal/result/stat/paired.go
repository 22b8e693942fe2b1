package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/zkbench/zkbench"
)

// exactPairs is the greatest number of pairs whose null distribution is computed
// exactly; beyond it the normal approximation is good to four places.
const exactPairs = 100

// Paired compares processes that ran next to each other: old[i] and new[i] are
// figures of one block. What a block's processes share, drift above all, cancels.
//
// Change is the Hodges-Lehmann estimate, the median of the Walsh averages
// (d[i] + d[j])/2, i <= j, of the log ratios d; the interval lies between the
// order statistics of those averages that the null distribution of Wilcoxon's
// signed-rank statistic picks (Hollander, Wolfe and Chicken, Nonparametric
// Statistical Methods, 3rd ed., sections 3.1 to 3.3). The distribution is exact
// up to 100 pairs. Where log ratios are zero or equal, the closed interval keeps
// at least its confidence, and P is exact for these very ranks: zeros are ranked
// and then left out (Pratt 1959), equal ones share their mean rank, and the signs
// are dealt out in all ways.
//
// Errors: zkbench.ErrParams for unlike lengths and for a confidence not between 0
// and 1, *SampleError for a figure without a logarithm, and *FewError, with Change
// computed, for too few pairs; 99 % needs 8.
func Paired(old, new []float64, confidence float64) (Effect, error) {
	if len(old) != len(new) {
		return Effect{}, fmt.Errorf("%w: %d processes of old, %d of new; accepted: as many", zkbench.ErrParams, len(old), len(new))
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

// grain rounds a log ratio to 1e-12, so that ratios which are equal but for
// rounding are ties.
func grain(d float64) float64 { return math.Round(d*1e12) / 1e12 }

// slack lets a probability that equals its bound but for rounding pass.
const slack = 1e-12

// effect makes an effect of the log differences of which the k-th from each end
// bound the interval; k = 0: there is none. It sorts differences.
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

// cut returns the greatest k for which the k-th least and the k-th greatest of
// total differences bound an interval of at least the confidence, and the
// confidence that it attains; 0 where no two do. tail(s) is the null probability
// that the statistic, whose range is 0 to total, is at most s.
func cut(tail func(s int) float64, total int, confidence float64) (k int, attained float64) {
	for 2*(k+1) <= total+1 {
		outside := 2 * tail(k)
		if outside > 1-confidence+slack {
			break
		}
		k, attained = k+1, max(1-outside, confidence) // within slack of it is as asked
	}
	return k, attained
}

// signedRankTail returns the lower tail of the signed-rank statistic of n pairs
// without ties.
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

// signedRankP returns the two-sided probability, under signs dealt out at random,
// of a signed-rank statistic as far from its mean as that of d.
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

// signSums returns, for every s, the probability that the sum of those ranks
// whose fair coin shows heads is s.
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

// cumulative returns the distribution function of the probabilities p.
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
