package stat

import "math"

// MeanSE returns the mean of one run, and its standard error with autocorrelation taken
// into account. The result effective is the number of independent slots that would give the
// same standard error.
//
// A slot is a part of the window. The window is divided into 16 to 256 slots of the same
// length, for all workers together. weights[i] is the number of operations that ended in
// slot i. means[i] is the mean of the figures of these operations, and is ignored if
// weights[i] is 0. The result mean is the mean over all operations.
//
// The mean is a ratio of two random sums, so its error is that of the residuals weights[i]
// (means[i] - mean) / mean weight (Cochran, Sampling Techniques, 3rd ed., chapter 6). Their
// long-run variance is estimated by Geyer's initial monotone sequence ("Practical Markov
// Chain Monte Carlo", Statistical Science 7, 1992). Because the mean is estimated from the
// same slots, each autocovariance is too small by about the variance of the mean. MeanSE
// adds this variance to each of them, and repeats this until the result hardly changes. The
// variance is never below that of independent slots, although Geyer's sequence gives a
// smaller one if high and low slots alternate.
//
// A 95 % interval is mean ± t·se, with Student's t at effective-1 degrees of freedom. In
// 2000 simulated runs it contained the mean this often (in parentheses: how often mean ±
// 1.96 se contained it):
//
//   - 128 slots of white noise: 97 % (mean ± 1.96 se: 97 %)
//   - 128 slots, means of 4 or 10 samples with autocorrelation 0.9: 94 to 96 % (93 to 95 %)
//   - 128 slots with autocorrelation 0.9: 93 % (89 %)
//   - 16 slots, means of 10 samples with autocorrelation 0.9: 92 %
//   - 16 slots with autocorrelation 0.9: 83 %
//
// If fewer than two slots have operations, se and effective are NaN. All results are NaN if
// no slot has operations, if the slices have different lengths, or if a weight is negative.
func MeanSE(means, weights []float64) (mean, se, effective float64) {
	nan := math.NaN()
	if len(means) != len(weights) {
		return nan, nan, nan
	}
	total, sum := 0.0, 0.0
	slots := 0
	for i, w := range weights {
		switch {
		case w > 0:
			total += w
			sum += w * means[i]
			slots++
		case w < 0:
			return nan, nan, nan
		}
	}
	mean = sum / total
	if slots < 2 {
		return mean, nan, nan
	}
	n := float64(len(means))
	residuals := make([]float64, len(means))
	for i, w := range weights {
		if w > 0 {
			residuals[i] = w * (means[i] - mean) / (total / n)
		}
	}
	variance, inflation := longRun(residuals, 1)
	return mean, math.Sqrt(variance * inflation / n), float64(slots) / inflation
}

// longRun returns the variance of residuals, and the factor, at least 1, by which
// autocorrelation multiplies the variance of their mean. fitted is how many coefficients
// were fitted: 1 for a mean, 2 for a line.
func longRun(residuals []float64, fitted int) (variance, inflation float64) {
	n := len(residuals)
	covariance := make([]float64, n)
	for lag := range covariance {
		for i := lag; i < n; i++ {
			covariance[lag] += residuals[i] * residuals[i-lag]
		}
		covariance[lag] /= float64(n - lag)
	}
	variance = covariance[0] * float64(n) / float64(n-fitted)
	if !(variance > 0) {
		return variance, 1
	}
	// Beyond this lag the sum would grow from its own corrections alone.
	last := n / (2 * fitted)
	const rounds = 8 // after these the change is below 1 %, unless last limits the sum
	long := variance
	for range rounds {
		raise := float64(fitted) * long / float64(n)
		sum, least := -(covariance[0] + raise), math.Inf(1)
		for lag := 0; lag+1 <= max(last, 1); lag += 2 {
			pair := covariance[lag] + covariance[lag+1] + 2*raise
			if pair <= 0 {
				break
			}
			least = min(least, pair)
			sum += 2 * least
		}
		long = max(sum, variance)
	}
	return variance, long / variance
}
