package stat

import (
	"fmt"
	"math"

	"github.com/zkbench/zkbench"
)

// Share is a count of some among all, seen at x: of operations those that were late, at a
// rate.
type Share struct{ X, Count, All float64 }

// Rise is where a share reaches a level, by how much x must grow for e times the share, and
// how many independent counts it is as sure as.
type Rise struct {
	Estimate
	Fold      float64
	Effective float64
}

// Crossing estimates where a share that grows with x reaches level, and its interval: counts
// are quasi-Poisson with the logarithm of their share linear in x (McCullagh and Nelder,
// Generalized Linear Models, 2nd ed., chapter 9), fitted by iterated least squares, since the
// share of a queue's customers that wait longer than a limit is exponential in the rate, or
// nearly (of M/M/1 it is e^((x-mu) limit)). Dispersion is estimated from the residuals, at
// least Poisson's own: who waits, waits with others. The interval is Fieller's, by Student's
// t; -Inf or +Inf where x could lie anywhere on that side.
//
// Errors are zkbench.ErrParams: fewer than 4 shares, a level not between 0 and 1, a confidence
// that is none, shares that do not grow with x; then no x can be told.
func Crossing(shares []Share, level, confidence float64) (Rise, error) {
	if len(shares) < 4 || !(level > 0 && level < 1) {
		return Rise{}, fmt.Errorf("%w: %d shares, level %v; accepted: 4 or more, between 0 and 1", zkbench.ErrParams, len(shares), level)
	}
	if err := checkConfidence(confidence); err != nil {
		return Rise{}, err
	}
	var count, all, center float64
	for _, s := range shares {
		count, all, center = count+s.Count, all+s.All, center+s.X/float64(len(shares))
	}
	// log(share) = a + b z, z = x/center - 1, around which the coefficients hardly correlate.
	a, b := math.Log((count+0.5)/all), 0.0
	var saa, sab, sbb float64
	for range 50 {
		var ra, rb float64
		saa, sab, sbb = 0, 0, 0
		for _, s := range shares {
			z := s.X/center - 1
			mean := s.All * math.Exp(min(a+b*z, 0))
			saa, sab, sbb = saa+mean, sab+mean*z, sbb+mean*z*z
			ra, rb = ra+s.Count-mean, rb+(s.Count-mean)*z
		}
		det := saa*sbb - sab*sab
		da, db := (sbb*ra-sab*rb)/det, (saa*rb-sab*ra)/det
		a, b = a+max(-2, min(da, 2)), b+max(-20, min(db, 20))
		if !(math.Abs(da)+math.Abs(db) > 1e-9) {
			break
		}
	}
	if !(b > 0) || math.IsNaN(a) || math.IsInf(b, 0) {
		return Rise{}, fmt.Errorf("%w: shares that do not grow with x", zkbench.ErrParams)
	}
	pearson := 0.0
	for _, s := range shares {
		mean := s.All * math.Exp(min(a+b*(s.X/center-1), 0))
		pearson += (s.Count - mean) * (s.Count - mean) / mean
	}
	freedom := len(shares) - 2
	dispersion := max(pearson/float64(freedom), 1)
	det := saa*sbb - sab*sab
	vaa, vab, vbb := dispersion*sbb/det, -dispersion*sab/det, dispersion*saa/det
	above := math.Log(level) - a
	t := student(confidence, freedom)
	at := func(z float64) float64 { return center * (1 + z) }
	// The z for which a + b z differs from log(level) by no more than t standard errors.
	e := Rise{Estimate{Value: at(above / b), Low: math.Inf(-1), High: math.Inf(1)}, center / b, count / dispersion}
	square, half, constant := b*b-t*t*vbb, -b*above-t*t*vab, above*above-t*t*vaa
	if root := half*half - square*constant; square > 0 && root >= 0 {
		e.Low, e.High = at((-half-math.Sqrt(root))/square), at((-half+math.Sqrt(root))/square)
	}
	return e, nil
}
