package stat

import (
	"math"
	"slices"
)

// Median returns the median of values, or 0 if there are none. It does not modify values.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(n-1)/2]/2 + sorted[n/2]/2 // halved first: the sum may be infinite
}

// Quantile returns the quantile q of values. The number q is from 0 to 1, and there must be at
// least one value. Quantile interpolates linearly between order statistics (type 7 of Hyndman
// and Fan, The American Statistician 50, 1996) and does not modify values.
func Quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// Mean returns the mean of values, or 0 if there are none.
func Mean(values []float64) (mean float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	return mean
}

// Deviation returns the sample standard deviation of values, or 0 if there are fewer than two.
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
