package stat

import (
	"math"
	"slices"
	"sort"

	"github.com/zkbench/zkbench/internal/result/record"
)

// The looks of a session: after how many pairs it is judged.
const (
	mostLooks = 5
	lookPairs = 6 // pairs between two looks at least, if there are several: a whole round of Schedule
	mostPairs = 1 << 20
)

// power is the probability with which a session of all planned pairs would show a change of Aim times
// the gate to be beyond the gate if the spread were known. As it is estimated from few pairs, the
// probability is near 90 % (TestGateRule).
const power = 0.95

// Aim says for which change a session is planned, in multiples of the gate.
const Aim = 1.5

// Looks returns after how many pairs a session with the plan is judged: after the first ones, and then
// in equal steps up to the most. There are at most five looks, and at least six pairs between two
// of them if there are more than two looks. Looks returns nil without a plan, and for one that no session can have.
func Looks(p record.Plan) []int {
	if p.First < 1 || p.Most <= p.First || p.Most > mostPairs {
		return nil
	}
	steps := min(mostLooks-1, max(1, (p.Most-p.First)/lookPairs))
	looks := []int{p.First}
	for i := 1; i < steps; i++ {
		at := p.First + (p.Most-p.First)*i/steps
		looks = append(looks, at-(at-p.First)%2)
	}
	return append(looks, p.Most)
}

// LookConfidence returns the confidence of the interval that a session with the plan is judged by
// after the given number of pairs, so that all its looks together have the given confidence: the
// probability that each of these intervals contains the true change. Such intervals are repeated
// confidence intervals (Jennison and Turnbull, Group Sequential Methods with Applications to
// Clinical Trials, 2000, chapter 9). They are valid whatever the reason is to stop at a look.
//
// The looks share the error by the spending function of Lan and DeMets (Biometrika 70, 1983) that is
// close to Pocock's boundary: up to the share t of the pairs, the error is α·ln(1 + (e - 1)·t). Pairs
// between two looks have the interval of the later one. Without a plan, the result is the confidence
// itself.
func LookConfidence(p record.Plan, pairs int, confidence float64) float64 {
	looks := Looks(p)
	if looks == nil {
		return confidence
	}
	at, _ := slices.BinarySearch(looks, pairs)
	shares := make([]float64, len(looks))
	for i, pairs := range looks {
		shares[i] = float64(pairs) / float64(p.Most)
	}
	bounds := boundary(shares[:min(at, len(looks)-1)+1], func(t float64) float64 { return (1 - confidence) * math.Log1p((math.E-1)*t) })
	return 1 - 2*normalTail(-bounds[len(bounds)-1])
}

// NewPlan plans a session from its first pairs, which the effects compare with the old side. The
// session is to be judged after first pairs at the earliest and after most pairs at the latest, by
// intervals with the given confidence. For each effect there are as many pairs as its spread
// requires, so that a change of Aim times the gate is shown to be beyond the gate with a probability
// of about 90 %, and at most most pairs. hopeless has the indices of the effects that do not count,
// because they spread so much that most pairs would not even show a figure that doubled. The plan
// depends on the spread of the pairs alone, and not on the changes that they show, so it does not
// bias the session.
//
// NewPlan returns no plan if first pairs suffice.
func NewPlan(effects []Effect, first, most int, gate, confidence float64) (p record.Plan, hopeless []int) {
	first = max(first, 1)
	last := LookConfidence(record.Plan{First: lookPairs, Most: mostLooks * lookPairs}, math.MaxInt, confidence) // of five looks
	need := first
	for i, e := range effects {
		if !(e.Confidence > 0) {
			continue
		}
		// The interval of few pairs is that of ranks, whose level is nearly that of t.
		spread := e.width() / 2 / student(e.Confidence, freedom(e.N)) * math.Sqrt(float64(e.N))
		if e.N < trimmedPairs && most >= trimmedPairs {
			spread *= trimCost
		}
		// enough reports whether n pairs show a distance with the probability whose normal quantile is z.
		enough := func(n int, distance, z float64) bool {
			return (student(last, freedom(n))+z)*spread <= distance*math.Sqrt(float64(n))
		}
		if !enough(max(first, most), math.Ln2-math.Log1p(gate), normalQuantile(1-power)) {
			hopeless = append(hopeless, i)
			continue
		}
		need = max(need, first+sort.Search(max(most-first, 0), func(more int) bool {
			return enough(first+more, math.Log1p(Aim*gate)-math.Log1p(gate), normalQuantile(power))
		}))
	}
	if need = min(need+(need-first)%2, most); need <= first {
		return record.Plan{}, hopeless
	}
	return record.Plan{First: first, Most: need}, hopeless
}

// freedom returns the degrees of freedom of an interval from PairedRobust.
func freedom(pairs int) int {
	if pairs < trimmedPairs {
		return max(pairs-1, 1)
	}
	return pairs - 2*int(trim*float64(pairs)) - 1
}

// normalQuantile returns the number that a standard normal variable is below with the given probability.
func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// boundary returns the critical values of looks at the given shares of all pairs, in ascending order: if nothing has changed, the
// standardised change exceeds one of the first k values, in either direction, with the probability spent(shares[k-1]).
//
// The density of the sum of the pairs, over the sessions that have not exceeded a value, is
// computed from look to look by numerical integration (Armitage, McPherson and Rowe, Journal of the
// Royal Statistical Society A 132, 1969).
func boundary(shares []float64, spent func(share float64) float64) []float64 {
	var values []float64
	density := walk{}
	before := 0.0
	for i, share := range shares {
		low, high := 0.0, 10.0
		for range 30 {
			if c := (low + high) / 2; density.beyond(c, share) > spent(share)-before {
				low = c
			} else {
				high = c
			}
		}
		values, before = append(values, high), spent(share)
		if i < len(shares)-1 {
			density = density.step(high, share)
		}
	}
	return values
}

// walk is the distribution of a Brownian motion at a time, over the paths that are still within bounds. The zero walk is at
// 0, at time 0.
type walk struct {
	time    float64
	points  []float64 // in ascending order
	weights []float64 // the density at each point, times the weight of Simpson's rule
}

// intervals is the number of intervals of Simpson's rule.
const intervals = 64

// beyond returns the probability of a path that has been within the bounds so far and at a later time is further from 0 than c standard deviations.
func (w walk) beyond(c, time float64) (p float64) {
	end, scale := c*math.Sqrt(time), math.Sqrt(time-w.time)
	if w.points == nil {
		return 2 * normalTail(-end/scale)
	}
	for i, at := range w.points {
		p += 2 * w.weights[i] * normalTail((at-end)/scale) // the walk is symmetric
	}
	return p
}

// step returns the walk at a later time, over the paths that are then within c standard deviations.
func (w walk) step(c, time float64) walk {
	end, scale := c*math.Sqrt(time), math.Sqrt(time-w.time)
	next := walk{time: time}
	normal := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / scale }
	for i := range intervals + 1 {
		at := end * (2*float64(i)/intervals - 1)
		density := 0.0
		if w.points == nil {
			density = normal(at / scale)
		}
		for j, from := range w.points {
			density += w.weights[j] * normal((at-from)/scale)
		}
		weight := 2 * end / intervals / 3
		switch {
		case i == 0 || i == intervals:
		case i%2 == 1:
			weight *= 4
		default:
			weight *= 2
		}
		next.points, next.weights = append(next.points, at), append(next.weights, weight*density)
	}
	return next
}
