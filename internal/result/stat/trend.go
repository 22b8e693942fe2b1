package stat

import (
	"math"
	"slices"
)

// Trend returns the change of a series from its start to its end, relative to its median.
// The result p is the two-sided probability that a series without a trend shows a trend at
// least as clear. The parameters means and weights have the same meaning as in MeanSE.
//
// The change is the Theil-Sen slope times the length (Sen 1968). The probability is
// computed from the Mann-Kendall statistic (Kendall 1975, with ties). The variance of this
// statistic is multiplied by a factor for the autocorrelation of the residuals around the
// slope, as Yue and Wang (Water Resources Management 18, 2004) do. All slots count equally,
// whatever their weight, except that slots of weight 0 do not count. Trend returns NaN and
// 1 if there are fewer than 4 slots, if the slices have different lengths, or if a mean is
// not finite.
//
// At p < 0.01, Trend finds a trend in 1 % of simulated runs with 128 slots of white noise.
// With an autocorrelation of 0.9, it finds one in 2 % of runs with 128 slots, and in 4 % of
// runs with 16 slots.
func Trend(means, weights []float64) (change, p float64) {
	var at, values []float64
	for i, w := range weights {
		if w > 0 && i < len(means) {
			at, values = append(at, float64(i)), append(values, means[i])
		}
	}
	if len(values) < 4 || len(means) != len(weights) || !finite(values) {
		return math.NaN(), 1
	}
	slope, score, variance := kendall(at, values)
	residuals := make([]float64, len(values))
	for i, v := range values {
		residuals[i] = v - slope*at[i]
	}
	level := Mean(residuals)
	for i := range residuals {
		residuals[i] -= level
	}
	_, inflation := longRun(residuals, 2)
	return relative(slope, values, len(means)), scoreP(score, variance*inflation)
}

// Stationary reports whether a warm-up may end. The parameter recent has the means of the
// warm-up's last 8 to 16 slots. These means must show no trend (Mann-Kendall, p at least
// 0.05), or a trend of less than 1 % in all. Stationary returns false if there are fewer
// than 8 slots or if a mean is not finite.
//
// In such a short series autocorrelation looks like a trend. The test takes autocorrelation
// for a trend, so it errs on the side of a longer warm-up. In simulated series of 8 slots
// with noise of 2 %, Stationary returned false for 4 % of 2000 series if the noise was
// white, and for 13 % if the noise had an autocorrelation of 0.5. With 16 slots these
// shares are 5 % and 21 %. For a series that falls by five times the noise of a slot,
// Stationary returns true with a probability of 21 % if the series has 8 slots, and of less
// than 1 % if it has 16. For a series that falls by ten times the noise, this probability
// is less than 1 % if the series has 8 slots. These figures are for one call. If Stationary
// is called after every slot, the warm-up ends at the first call that returns true.
func Stationary(recent []float64) bool {
	if len(recent) < 8 || !finite(recent) {
		return false
	}
	at := make([]float64, len(recent))
	for i := range at {
		at[i] = float64(i)
	}
	slope, score, variance := kendall(at, recent)
	return scoreP(score, variance) >= 0.05 || math.Abs(relative(slope, recent, len(recent))) < 0.01
}

// kendall returns the median slope over all pairs of points, the number of rising minus
// that of falling slopes, and the variance of this score for values in random order.
func kendall(at, values []float64) (slope, score, variance float64) {
	n := len(values)
	slopes := make([]float64, 0, n*(n-1)/2)
	for j := range values {
		for i := range j {
			s := (values[j] - values[i]) / (at[j] - at[i])
			slopes = append(slopes, s)
			switch {
			case s > 0:
				score++
			case s < 0:
				score--
			}
		}
	}
	term := func(t int) float64 { return float64(t) * float64(t-1) * float64(2*t+5) / 18 }
	variance = term(n)
	sorted := slices.Sorted(slices.Values(values))
	for i := 0; i < n; {
		ties := 1
		for i+ties < n && sorted[i+ties] == sorted[i] {
			ties++
		}
		variance -= term(ties)
		i += ties
	}
	return Median(slopes), score, variance
}

func finite(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// scoreP returns the two-sided probability of a Mann-Kendall score, by the normal
// approximation with its continuity correction.
func scoreP(score, variance float64) float64 {
	if score == 0 {
		return 1
	}
	return 2 * normalTail((1-math.Abs(score))/math.Sqrt(variance))
}

// relative returns the change that slope makes over the given number of slots, relative to
// the median.
func relative(slope float64, values []float64, slots int) float64 {
	if slope == 0 {
		return 0
	}
	return slope * float64(slots) / Median(values)
}
