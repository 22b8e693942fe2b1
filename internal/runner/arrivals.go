package runner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
)

// Shape says how the arrivals of an open loop are spaced.
type Shape string

// Shapes of arrivals.
const (
	Constant Shape = "constant" // equal gaps at one rate
	Poisson  Shape = "poisson"  // exponential gaps at one rate, seeded
	Step     Shape = "step"     // equal gaps; each rate in turn, for equal parts of the window
	Ramp     Shape = "ramp"     // the rate grows or falls linearly from the first to the second
)

// Shapes returns the accepted shapes.
func Shapes() []Shape { return []Shape{Constant, Poisson, Step, Ramp} }

// Arrivals is the schedule of an open loop: operations arrive whether or not a
// worker is free.
type Arrivals struct {
	Shape Shape     `json:"shape"`
	Rates []float64 `json:"rates"` // arrivals per second: one; for Step one or more, for Ramp two
}

// Limits of a schedule.
const (
	MaxRate     = 1e6 // arrivals per second
	maxRates    = 1 << 10
	maxArrivals = 1 << 32 // in a window
)

// String returns a short form of the schedule, for example 100/s poisson.
func (a Arrivals) String() string { return a.Rate() + "/s " + string(a.Shape) }

// Rate returns the rates as a user types them, but without commas: for example 100 for
// one rate, 50+100 for a Step, or 50..200 for a Ramp.
func (a Arrivals) Rate() string {
	text := make([]string, len(a.Rates))
	for i, r := range a.Rates {
		text[i] = strconv.FormatFloat(r, 'f', -1, 64)
	}
	separator := "+"
	if a.Shape == Ramp {
		separator = ".."
	}
	return strings.Join(text, separator)
}

// Expected returns the mean number of arrivals within the window.
func (a Arrivals) Expected(window time.Duration) float64 {
	sum := 0.0
	for _, r := range a.Rates {
		sum += r
	}
	return sum / float64(len(a.Rates)) * window.Seconds()
}

func (a Arrivals) validate(window time.Duration) error {
	if !slices.Contains(Shapes(), a.Shape) {
		return fmt.Errorf("%w: arrivals: %q, one of %v accepted", zkbench.ErrParams, a.Shape, Shapes())
	}
	least, most := 1, 1
	switch a.Shape {
	case Step:
		most = maxRates
	case Ramp:
		least, most = 2, 2
	}
	if len(a.Rates) < least || len(a.Rates) > most {
		return fmt.Errorf("%w: rate: %d rates, %s accepts %d to %d", zkbench.ErrParams, len(a.Rates), a.Shape, least, most)
	}
	for _, r := range a.Rates {
		if !(r > 0 && r <= MaxRate) {
			return fmt.Errorf("%w: rate: %v, more than 0 up to %v per second accepted", zkbench.ErrParams, r, MaxRate)
		}
	}
	if window <= 0 && (a.Shape == Step || a.Shape == Ramp) {
		return fmt.Errorf("%w: duration: none, %s arrivals need one", zkbench.ErrParams, a.Shape)
	}
	if a.Expected(window) > maxArrivals {
		return fmt.Errorf("arrivals: %w", &zkbench.LimitError{What: "arrivals in the window", Estimate: int64(a.Expected(window)), Max: maxArrivals})
	}
	return nil
}

// never is a time later than all others.
const never = time.Duration(math.MaxInt64)

// schedule yields arrivals one after the other.
type schedule struct {
	shape  Shape
	rates  []float64
	window float64 // length in s; no arrival at or after its end
	rng    *rand.Rand
	n      float64 // arrivals so far; for Step, at this rate
	level  int     // for Step: index of the rate
	last   float64 // for Poisson: the last arrival, s
}

// schedule returns the schedule of a window. Nothing arrives after the window.
func (a Arrivals) schedule(window time.Duration, seed uint64) *schedule {
	if window <= 0 {
		window = never
	}
	return &schedule{shape: a.Shape, rates: a.Rates, window: window.Seconds(), rng: rand.New(rand.NewPCG(seed, arrivalStream))}
}

// warmup returns the endless schedule of the warm-up, which has the first rate.
func (a Arrivals) warmup(seed uint64) *schedule {
	before := Arrivals{Shape: a.Shape, Rates: a.Rates[:1]}
	if a.Shape != Poisson {
		before.Shape = Constant
	}
	return before.schedule(never, ^seed)
}

// Streams of the seed, which are independent of each other.
const (
	arrivalStream uint64 = iota
	reservoirStream
)

// next returns the time of the next arrival since the start of the schedule, or never.
func (s *schedule) next() time.Duration {
	var at float64 // s
	switch s.shape {
	case Poisson:
		s.last += s.rng.ExpFloat64() / s.rates[0]
		at = s.last
	case Ramp:
		// The n-th arrival is when the integral of the rate reaches n:
		// r0·t + a·t²/2 = n with a = (r1-r0)/window, solved without cancellation.
		r0 := s.rates[0]
		slope := (s.rates[1] - r0) / s.window
		root := r0*r0 + 2*slope*s.n
		if root < 0 {
			return never
		}
		at = 2 * s.n / (r0 + math.Sqrt(root))
		s.n++
	case Step:
		part := s.window / float64(len(s.rates))
		for s.n/s.rates[s.level] >= part {
			s.level, s.n = s.level+1, 0
			if s.level == len(s.rates) {
				s.level--
				s.n = math.Inf(1)
				return never
			}
		}
		at = part*float64(s.level) + s.n/s.rates[s.level]
		s.n++
	default:
		at = s.n / s.rates[0]
		s.n++
	}
	if at >= s.window {
		return never
	}
	return time.Duration(math.Round(at * float64(time.Second)))
}
