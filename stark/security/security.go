// Package security computes what is proved of the soundness of a STARK over FRI: the error of
// every round of the interactive protocol, in bits, and the least of them. By the round-by-round
// argument of Ben-Sasson, Chiesa and Spooner the least is what the proof has when the challenges
// come from a hash.
//
// Errors of proximity are those of Theorems 1.3 (unique decoding) and 4.2 (up to the Johnson
// radius) of Ben-Sasson, Carmon, Haböck, Kopparty, Saraf, ePrint 2025/2055; those of constraints
// and of the point of evaluation are Theorem 8 of Haböck, ePrint 2022/1216; that of look-ups is
// Haböck, ePrint 2022/1530. Figures agree with ethereum/soundcalc on the systems that it
// publishes (the package's test).
package security

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/zkbench/zkbench"
)

// Batching is how functions are made one by a challenge.
type Batching int

const (
	// Powers weighs function i by the i-th power of one challenge.
	Powers Batching = iota
	// Equality weighs it by a product of a factor for each bit of i, r or 1 - r, each bit with
	// a challenge r of its own.
	Equality
)

func (b Batching) String() string {
	switch b {
	case Powers:
		return "powers"
	case Equality:
		return "equality"
	}
	return fmt.Sprintf("Batching(%d)", int(b))
}

// factor is by how much an error of two functions is multiplied for n.
func (b Batching) factor(n int) float64 {
	if b == Equality {
		return math.Ceil(math.Log2(float64(n)))
	}
	return float64(n - 1)
}

// Protocol is what decides the soundness of a proof.
type Protocol struct {
	Field float64 // the logarithm of the order of the field of challenges, in bits
	// Excluded is the logarithm of the number of elements that the point of evaluation never
	// is, beside those of rows and Domain, in bits. The one that 0 counts is none too many to count.
	Excluded float64

	// The code: polynomials of degree below Dimension, which need not be a whole power of two,
	// on Domain points.
	Dimension, Domain float64
	// Rows is the height of the highest table. 0: Dimension.
	Rows float64

	Constraints int // of all tables
	Degree      int // of the constraints in the columns
	Points      int // the rows of a column that one constraint reads, at most
	Lookups     []Lookup

	Functions int // that FRI batches
	Batching  Batching
	// Folds are the arities of FRI's rounds; Folding is how a round's functions are batched.
	Folds   []int
	Folding Batching
	Queries int

	// Grinding is bits of work before challenges: a cheat pays for each attempt.
	Grinding Grinding

	// Hash is the security of the trees' hash against collisions, in bits: who finds one can open a
	// tree twice. 0: it is left out.
	Hash float64
}

// Grinding is bits of work before the challenges of a round.
type Grinding struct {
	Lookup, Point, Batching, Fold, Queries int
}

// Lookup is a sum of fractions over tables: so many in all, the denominator of each a polynomial of
// such a degree in the challenges: the number of a tuple's values where powers of one weigh them.
type Lookup struct {
	Name      string
	Fractions float64
	Degree    int
}

// Regime is how far from the code a word may be, up to which a theorem holds.
type Regime interface {
	String() string
	// radius is that share of a word's values, and list the number of codewords so near, at
	// most.
	radius(rate float64) float64
	list(rate float64) float64
	// linear is the logarithm, in bits, of the error for two functions on a domain, times the
	// field's order.
	linear(rate, dimension float64) float64
}

// UniqueDecoding is half of the code's distance.
type UniqueDecoding struct{}

func (UniqueDecoding) String() string              { return "unique decoding" }
func (UniqueDecoding) radius(rate float64) float64 { return (1 - rate) / 2 }
func (UniqueDecoding) list(float64) float64        { return 1 }

// Theorem 1.3: (δ n + 1) / |F|.
func (u UniqueDecoding) linear(rate, dimension float64) float64 {
	return math.Log2(u.radius(rate)*dimension/rate + 1)
}

// Johnson is 1 - √ρ - η. With Gap 0 η is √ρ / 2M, M at least 3; otherwise η is Gap and M
// follows.
type Johnson struct {
	M   int
	Gap float64
}

func (j Johnson) String() string {
	if j.Gap != 0 {
		return fmt.Sprintf("Johnson radius less %.4f", j.Gap)
	}
	return fmt.Sprintf("Johnson radius, m = %d", j.M)
}

func (j Johnson) gap(rate float64) float64 {
	if j.Gap != 0 {
		return j.Gap
	}
	return math.Sqrt(rate) / (2 * float64(j.M))
}

// m is the multiplicity: max(⌈√ρ / 2η⌉, 3). The factor 2 is not in the theorem as it was first
// printed; soundcalc has it from the authors.
func (j Johnson) m(rate float64) float64 {
	if j.Gap == 0 {
		return float64(j.M)
	}
	return max(math.Ceil(math.Sqrt(rate)/(2*j.Gap)), 3)
}

func (j Johnson) radius(rate float64) float64 { return 1 - math.Sqrt(rate) - j.gap(rate) }

func (j Johnson) list(rate float64) float64 {
	if j.Gap == 0 {
		return (float64(j.M) + 0.5) / math.Sqrt(rate)
	}
	return 1 / (2 * j.Gap * math.Sqrt(rate))
}

// Theorem 4.2: ((2 (m+½)^5 + 3 (m+½) δ ρ) n / 3ρ^1.5 + (m+½)/√ρ) / |F|.
func (j Johnson) linear(rate, dimension float64) float64 {
	h, n := j.m(rate)+0.5, dimension/rate
	first := (2*math.Pow(h, 5) + 3*h*j.radius(rate)*rate) * n / (3 * rate * math.Sqrt(rate))
	return math.Log2(first + h/math.Sqrt(rate))
}

// Round is a round's error, in bits: it is at most 2^-Bits.
type Round struct {
	Name string
	Bits float64
}

// Report is what is proved in a regime.
type Report struct {
	Regime Regime
	Rounds []Round
}

// Least is the round of the greatest error.
func (r Report) Least() Round {
	return slices.MinFunc(r.Rounds, func(a, b Round) int { return cmp.Compare(a.Bits, b.Bits) })
}

// Bits is what is proved, in whole bits.
func (r Report) Bits() int { return int(math.Floor(r.Least().Bits)) }

// Best is the report of the most bits, of unique decoding and the Johnson radius for m from 3 to
// 64. What check refuses is a zkbench.ErrParams.
func (p Protocol) Best() (best Report, err error) {
	best, err = p.Report(UniqueDecoding{})
	for m := 3; m <= 64 && err == nil; m++ {
		// Near the capacity of small codes there is nothing left between the two.
		r, refused := p.Report(Johnson{M: m})
		if refused == nil && r.Least().Bits > best.Least().Bits {
			best = r
		}
	}
	return best, err
}

// Report returns every round's bits in a regime. A protocol that is none, or of a rate for which
// the regime has no radius, is a zkbench.ErrParams.
func (p Protocol) Report(regime Regime) (Report, error) {
	if err := p.check(regime); err != nil {
		return Report{}, err
	}
	rate := p.Dimension / p.Domain
	list := math.Log2(regime.list(rate))
	rows := p.Rows
	if rows == 0 {
		rows = p.Dimension
	}
	r := Report{Regime: regime}
	add := func(name string, bits float64) { r.Rounds = append(r.Rounds, Round{name, bits}) }
	for _, l := range p.Lookups {
		add(l.Name, p.Field-list-math.Log2(l.Fractions*float64(l.Degree))+float64(p.Grinding.Lookup))
	}
	add("constraints", p.Field-list-math.Log2(float64(p.Constraints)))
	// A polynomial of that degree is 0 at a point at which it should not be.
	degree := float64(p.Degree)*(rows+float64(p.Points)-1) + rows - 1
	excluded := (math.Exp2(p.Excluded) + rows + p.Domain) * math.Exp2(-p.Field)
	add("point", p.Field+math.Log2(1-excluded)-list-math.Log2(degree)+float64(p.Grinding.Point))
	add("batching", p.Field-regime.linear(rate, p.Dimension)-math.Log2(p.Batching.factor(p.Functions))+float64(p.Grinding.Batching))
	dimension := p.Dimension
	for i, fold := range p.Folds {
		dimension /= float64(fold)
		add(fmt.Sprintf("fold %d", i+1),
			p.Field-regime.linear(rate, dimension)-math.Log2(p.Folding.factor(fold))+float64(p.Grinding.Fold))
	}
	add("queries", -float64(p.Queries)*math.Log2(1-regime.radius(rate))+float64(p.Grinding.Queries))
	if p.Hash > 0 {
		add("hash", p.Hash)
	}
	return r, nil
}

func (p Protocol) check(regime Regime) error {
	bad := func(field string, value any, accepted string) error {
		return fmt.Errorf("%w: security: %s is %v, accepted is %s", zkbench.ErrParams, field, value, accepted)
	}
	rate := p.Dimension / p.Domain
	switch {
	case !(p.Field > 0):
		return bad("Field", p.Field, "a number above 0")
	case !(p.Dimension >= 1):
		return bad("Dimension", p.Dimension, "1 or more")
	case !(rate > 0 && rate < 1):
		return bad("Dimension / Domain", rate, "between 0 and 1")
	case p.Constraints < 1, p.Degree < 1, p.Points < 1, p.Queries < 1:
		return bad("Constraints, Degree, Points, Queries", []int{p.Constraints, p.Degree, p.Points, p.Queries}, "each 1 or more")
	case p.Functions < 2:
		return bad("Functions", p.Functions, "2 or more")
	case p.Batching != Powers && p.Batching != Equality, p.Folding != Powers && p.Folding != Equality:
		return bad("Batching", p.Batching, "Powers or Equality")
	case !(regime.radius(rate) > 0):
		return bad("Dimension / Domain", rate, "a rate with a "+regime.String())
	}
	for _, fold := range p.Folds {
		if fold < 2 {
			return bad("Folds", fold, "2 or more")
		}
	}
	for _, l := range p.Lookups {
		if !(l.Fractions > 0) || l.Degree < 1 {
			return bad("Lookups", l, "fractions above 0 and a degree of 1 or more")
		}
	}
	return nil
}

// Conjectured is the figure that was given for such proofs until it was refuted (ePrint
// 2025/2046, 2025/2010): that each query of a word far from the code up to its capacity finds it
// with a chance of 1 - ρ. It says nothing about soundness, and stands for comparison alone.
func (p Protocol) Conjectured() float64 {
	return float64(p.Queries)*-math.Log2(p.Dimension/p.Domain) + float64(p.Grinding.Queries)
}
