package stat

import (
	"fmt"
	"math"
	"slices"

	"github.com/zkbench/zkbench"
)

// Scatter says how measured values scatter around the curve that is fitted to them.
type Scatter int

// The models of scatter.
const (
	// Constant is for values with the same standard deviation at every x. The fit is plain
	// least squares, as in numpy's polyfit.
	Constant Scatter = iota

	// Relative is for values whose standard deviation is proportional to the curve. Times
	// are such values, because disturbances multiply a time. Each point has the weight
	// 1/curve². If times span orders of magnitude, plain least squares would fit only the
	// longest times. The error of the intercept would then be as large as the error of the
	// longest time, far above the shortest times themselves. The standard errors would be
	// wrong too, because they would be computed for the scatter that Constant describes.
	Relative
)

// Fit is a polynomial y = c[0] + c[1]·x + ... fitted to points by least squares.
type Fit struct {
	Coefficients []float64 // of 1, x, x², in units of y, y/x, y/x²
	Errors       []float64 // their standard errors
	Residual     float64   // residual standard deviation: in the unit of y, or with Relative as a share of the curve
	R2           float64   // share of the variance of y, weighted as in the fit, that the curve explains; NaN if y is constant
	Freedom      int       // degrees of freedom: points minus coefficients
	covariance   [][]float64
}

// Line fits a straight line to three or more points (x[i], y[i]).
//
// Standard errors and intervals are valid for independent points whose mean is on the
// curve. If the mean is not on the curve, for example because times rise in steps, Residual
// includes the misfit.
//
// Line returns zkbench.ErrParams if x and y have different lengths, if there are too few
// points or too few different x, or if a value is not finite. With Relative, it returns
// zkbench.ErrParams too if y or the fitted curve is not above 0 at every point.
func Line(x, y []float64, scatter Scatter) (Fit, error) { return polynomial(x, y, 1, scatter) }

// Quadratic fits a parabola to four or more points. Otherwise it works like Line.
func Quadratic(x, y []float64, scatter Scatter) (Fit, error) { return polynomial(x, y, 2, scatter) }

// Evaluate returns the curve's value at x.
func (f Fit) Evaluate(x float64) float64 {
	y := 0.0
	for _, c := range slices.Backward(f.Coefficients) {
		y = y*x + c
	}
	return y
}

// A fit with Relative takes rounds, until one changes the curve by less than the share
// settled. A round shrinks the change by about the square of the relative scatter, so
// points near a curve take few rounds.
const (
	reweightings = 200
	settled      = 1e-10
)

func polynomial(x, y []float64, degree int, scatter Scatter) (Fit, error) {
	if err := checkPoints(x, y, degree, scatter); err != nil {
		return Fit{}, err
	}
	weights := slices.Repeat([]float64{1}, len(y))
	if scatter == Constant {
		return weighted(x, y, weights, degree)
	}
	// The curve that determines the weights is not known: it is first y, then the last fit.
	// Weights from y alone would favour points that are too low by chance.
	curve := slices.Clone(y)
	for range reweightings {
		for i, c := range curve {
			weights[i] = 1 / (c * c)
		}
		f, err := weighted(x, y, weights, degree)
		if err != nil {
			return Fit{}, err
		}
		change := 0.0
		for i := range curve {
			at := f.Evaluate(x[i])
			if !(at > 0) {
				return Fit{}, fmt.Errorf("%w: the curve is %v at x[%d]; accepted with relative scatter: above 0", zkbench.ErrParams, at, i)
			}
			change = max(change, math.Abs(at/curve[i]-1))
			curve[i] = at
		}
		if change < settled {
			return f, nil
		}
	}
	return Fit{}, fmt.Errorf("%w: no curve with relative scatter fits the points", zkbench.ErrParams)
}

func checkPoints(x, y []float64, degree int, scatter Scatter) error {
	if len(x) != len(y) {
		return fmt.Errorf("%w: %d values of x, %d of y; accepted: equal numbers", zkbench.ErrParams, len(x), len(y))
	}
	for i := range x {
		if !finite([]float64{x[i], y[i]}) {
			return fmt.Errorf("%w: point %d is (%v, %v); accepted: finite", zkbench.ErrParams, i, x[i], y[i])
		}
		if scatter == Relative && !(y[i] > 0) {
			return fmt.Errorf("%w: y[%d] is %v; accepted with relative scatter: above 0", zkbench.ErrParams, i, y[i])
		}
	}
	different := len(slices.Compact(slices.Sorted(slices.Values(x))))
	if len(x) < degree+2 || different < degree+1 {
		return fmt.Errorf("%w: %d points at %d different x; accepted: %d or more at %d or more", zkbench.ErrParams, len(x), different, degree+2, degree+1)
	}
	return nil
}

// weighted fits with weights w, by polynomials that are orthogonal on the points (Forsythe,
// "Generation and use of orthogonal polynomials for data-fitting with a digital computer",
// J. SIAM 5, 1957):
//
//	p[0] = 1,  p[k+1] = (x - a[k])·p[k] - b[k]·p[k-1]
//
// The recurrence centres x, and no system of equations is solved. The coefficients of the
// p[k] are uncorrelated, with variances Residual²/Σw·p[k]².
func weighted(x, y, w []float64, degree int) (Fit, error) {
	n, terms := len(x), degree+1
	f := Fit{Coefficients: make([]float64, terms), Errors: make([]float64, terms), Freedom: n - terms}
	residuals := slices.Clone(y)
	p, before := slices.Repeat([]float64{1}, n), make([]float64, n)
	norms := make([]float64, terms)
	powers := [][]float64{{1}} // each p[k] by powers of x
	total := 0.0
	for k := range terms {
		norms[k] = dot(w, p, p)
		c := dot(w, p, residuals) / norms[k]
		a, b := 0.0, 0.0
		for i := range p {
			residuals[i] -= c * p[i]
			a += w[i] * p[i] * p[i] * x[i] / norms[k]
		}
		for j, v := range powers[k] {
			f.Coefficients[j] += c * v
		}
		next := make([]float64, k+2)
		for j, v := range powers[k] {
			next[j+1] += v
			next[j] -= a * v
		}
		if k == 0 {
			total = dot(w, residuals, residuals)
		} else {
			b = norms[k] / norms[k-1]
			for j, v := range powers[k-1] {
				next[j] -= b * v
			}
		}
		powers = append(powers, next)
		for i := range p {
			p[i], before[i] = (x[i]-a)*p[i]-b*before[i], p[i]
		}
	}
	left := dot(w, residuals, residuals)
	variance := left / float64(f.Freedom)
	f.Residual, f.R2 = math.Sqrt(variance), 1-left/total
	f.covariance = make([][]float64, terms)
	for i := range terms {
		f.covariance[i] = make([]float64, terms)
		for j := range terms {
			for k := max(i, j); k < terms; k++ {
				f.covariance[i][j] += powers[k][i] * powers[k][j] * variance / norms[k]
			}
		}
		f.Errors[i] = math.Sqrt(f.covariance[i][i])
	}
	if !finite(f.Coefficients) || !finite(f.Errors) {
		return Fit{}, fmt.Errorf("%w: x from %v to %v; accepted: values far enough apart to fit a curve", zkbench.ErrParams, slices.Min(x), slices.Max(x))
	}
	return f, nil
}

func dot(w, a, b []float64) float64 {
	sum := 0.0
	for i := range w {
		sum += w[i] * a[i] * b[i]
	}
	return sum
}
