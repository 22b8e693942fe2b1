package stat

import (
	"fmt"
	"math"

	"github.com/zkbench/zkbench"
)

// Share is a share that was measured at X: Count out of All. For example, at a rate of X
// operations per second, Count out of All operations were late.
type Share struct{ X, Count, All float64 }

// Rise is the result of Crossing. Its Estimate is the x at which the share of counted operations
// reaches the level that was given to Crossing.
type Rise struct {
	Estimate
	Fold      float64 // by how much x must grow for the share to grow by a factor of e
	Effective float64 // how many independent counts the estimate is worth
}

// Crossing considers a share that grows with x. It estimates the x at which the share reaches the
// given level, with a confidence interval.
//
// Counts are modelled as quasi-Poisson, with the logarithm of their share linear in x (McCullagh
// and Nelder, Generalized Linear Models, 2nd ed., chapter 9), and fitted by iterated least
// squares. The share of a queue's customers that wait longer than a limit is exponential in the
// rate, or nearly so. Therefore the model fits. For example, in an M/M/1 queue with the service
// rate mu, this share is e^((x-mu)·limit). Dispersion is estimated from the residuals, because
// late operations come in clusters, and is at least that of a Poisson distribution. The interval
// is Fieller's, by Student's t. An end of the interval is infinite if the counts do not bound x
// on that side.
//
// Crossing returns zkbench.ErrParams if there are fewer than 4 shares, if level or confidence is
// not between 0 and 1, or if the shares do not grow with x.
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
		return Rise{}, fmt.Errorf("%w: the shares do not grow with x", zkbench.ErrParams)
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
