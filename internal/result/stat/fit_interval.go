package stat

import (
	"fmt"
	"math"

	"github.com/zkbench/zkbench"
)

// Estimate is a value and its confidence interval.
type Estimate struct{ Value, Low, High float64 }

// Coefficient returns the coefficient of the given power of x with its confidence interval, by
// Student's t. It returns zkbench.ErrParams if the curve does not have that power, or if
// confidence is not between 0 and 1.
func (f Fit) Coefficient(power int, confidence float64) (Estimate, error) {
	if power < 0 || power >= len(f.Coefficients) {
		return Estimate{}, fmt.Errorf("%w: power %d; accepted: 0 to %d", zkbench.ErrParams, power, len(f.Coefficients)-1)
	}
	if err := checkConfidence(confidence); err != nil {
		return Estimate{}, err
	}
	c, width := f.Coefficients[power], student(confidence, f.Freedom)*f.Errors[power]
	return Estimate{c, c - width, c + width}, nil
}

// Crossover returns the x at which a straight line meets a constant. A rising line is above
// the constant beyond that x. If that x is below 0, a rising line is above the constant at
// every x from 0 on. The parameter samples has two or more measurements of the constant, in
// y's unit. The measurements must be independent of each other and of the line's points. If
// measurements differ from process to process, take one sample per process.
//
// The interval is Fieller's for the ratio of two correlated quantities, (constant - intercept)
// and slope ("Some problems in interval estimation", JRSS B 16, 1954). It uses Student's t
// with Welch and Satterthwaite's degrees of freedom for the variances of the line and the
// constant. The interval is not symmetric, and it is from -Inf to +Inf if the slope's own
// interval contains 0.
//
// In 4000 simulated sets of 10 points and 5 samples, a 95 % interval contained the crossover
// in 94 to 96 % of the sets. With 5 points and 3 samples, the interval contained the crossover
// in 97 % of the sets.
//
// Crossover returns zkbench.ErrParams if the curve is not a straight line, if there are fewer
// than 2 samples or one is not finite, or if confidence is not between 0 and 1.
func (f Fit) Crossover(samples []float64, confidence float64) (Estimate, error) {
	if len(f.Coefficients) != 2 {
		return Estimate{}, fmt.Errorf("%w: a curve of %d coefficients; accepted: a straight line's 2", zkbench.ErrParams, len(f.Coefficients))
	}
	if len(samples) < 2 || !finite(samples) {
		return Estimate{}, fmt.Errorf("%w: samples %v of the constant; accepted: 2 or more, finite", zkbench.ErrParams, samples)
	}
	if err := checkConfidence(confidence); err != nil {
		return Estimate{}, err
	}
	m, mean, squares := float64(len(samples)), Mean(samples), 0.0
	for _, s := range samples {
		squares += (s - mean) * (s - mean)
	}
	ofMean := squares / (m - 1) / m

	above, slope := mean-f.Coefficients[0], f.Coefficients[1]
	at := above / slope
	varAbove, varSlope, both := ofMean+f.covariance[0][0], f.covariance[1][1], -f.covariance[0][1]
	freedom := float64(f.Freedom)
	ofLine := f.covariance[0][0] + at*(2*f.covariance[0][1]+at*varSlope)
	if all := ofLine + ofMean; all > 0 && finite([]float64{all}) {
		freedom = all * all / (ofLine*ofLine/freedom + ofMean*ofMean/(m-1))
	}
	t := student(confidence, int(freedom+slack))

	// The x with (above - x·slope)² <= t²·(varAbove - 2x·both + x²·varSlope).
	a := slope*slope - t*t*varSlope
	if !(a > 0) {
		return Estimate{at, math.Inf(-1), math.Inf(1)}, nil
	}
	b := above*slope - t*t*both
	root := t * math.Sqrt(max(0, slope*slope*varAbove-2*above*slope*both+above*above*varSlope-t*t*(varAbove*varSlope-both*both)))
	return Estimate{at, (b - root) / a, (b + root) / a}, nil
}

func checkConfidence(confidence float64) error {
	if !(confidence > 0 && confidence < 1) {
		return fmt.Errorf("%w: confidence %v; accepted: between 0 and 1", zkbench.ErrParams, confidence)
	}
	return nil
}

// manyFreedom is a number of degrees of freedom at which t, for 95 %, is within about a
// thousandth of the normal distribution's quantile.
const manyFreedom = 1000

// studentWithin returns the probability of -t to t under Student's distribution. It is a
// finite sum in the angle atan(t/√freedom) (Abramowitz and Stegun, 26.7.3 and 26.7.4).
func studentWithin(t float64, freedom int) float64 {
	freedom = min(freedom, manyFreedom)
	angle := math.Atan(t / math.Sqrt(float64(freedom)))
	sin, cos := math.Sincos(angle)
	odd := freedom%2 == 1
	sum, term, k := 0.0, 1.0, 1
	if odd {
		term, k = cos, 2
	}
	for ; k < freedom; k += 2 {
		sum += term
		term *= cos * cos * float64(k) / float64(k+1)
	}
	if odd {
		return (angle + sin*sum) * 2 / math.Pi
	}
	return sin * sum
}

// student returns the t for which -t to t has the given probability under Student's
// distribution, by bisection of the angle.
func student(probability float64, freedom int) float64 {
	scale := math.Sqrt(float64(min(freedom, manyFreedom)))
	low, high := 0.0, math.Pi/2
	for range 60 {
		if mid := (low + high) / 2; studentWithin(scale*math.Tan(mid), freedom) < probability {
			low = mid
		} else {
			high = mid
		}
	}
	return scale * math.Tan(low)
}
