// Package security computes how much of the soundness of a STARK over FRI is proved: the error of every round
// of the interactive protocol, in bits, and the weakest round. By the round-by-round argument of Ben-Sasson,
// Chiesa and Spooner, a proof whose challenges come from a hash is as sound as the weakest round.
//
// The proximity errors are those of Theorems 1.3 (unique decoding) and 4.2 (up to the Johnson radius) of
// Ben-Sasson, Carmon, Haböck, Kopparty, Saraf, ePrint 2025/2055. The errors of constraints and of the
// evaluation point are those of Theorem 8 of Haböck, ePrint 2022/1216. The error of a lookup argument is that
// of Haböck, ePrint 2022/1530. The package's test compares the figures with those that the project
// ethereum/soundcalc publishes.
package security

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/zkbench/zkbench"
)

// Batching says how a challenge combines several functions into one.
type Batching int

const (
	// Powers multiplies function i by the i-th power of one challenge.
	Powers Batching = iota
	// Equality multiplies function i by one factor for each bit of i. The factor is r or 1 - r, depending on
	// the bit; each bit has its own challenge r.
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

// factor returns by how much the error for n functions exceeds the error for two.
func (b Batching) factor(n int) float64 {
	if b == Equality {
		return math.Ceil(math.Log2(float64(n)))
	}
	return float64(n - 1)
}

// Protocol holds the figures that decide the soundness of a proof.
type Protocol struct {
	Field float64 // base-2 logarithm of the order of the field of challenges
	// Excluded is the base-2 logarithm of a number of excluded elements. The evaluation point is never one
	// of them, nor a point of the rows or of the code's domain. The value 0 excludes one element too many,
	// which is negligible.
	Excluded float64

	// The code consists of polynomials of degree below Dimension, evaluated on Domain points. Dimension need
	// not be an integer or a power of two.
	Dimension, Domain float64
	// Rows is the height of the highest table. If it is 0, Dimension is used.
	Rows float64

	Constraints int // number of constraints of all tables
	Degree      int // largest degree of a constraint in the columns
	Points      int // maximum number of rows of a column that one constraint reads
	Lookups     []Lookup

	Functions int // number of functions that FRI batches
	Batching  Batching
	// Folds lists the arities of FRI's rounds. Folding says how the functions of a round are combined.
	Folds   []int
	Folding Batching
	Queries int

	// Grinding is proof of work before challenges, which an attacker pays for in each attempt.
	Grinding Grinding

	// Hash is the collision resistance of the trees' hash, in bits. A collision lets a prover open a tree in
	// two ways. If it is 0, the hash is left out.
	Hash float64
}

// Grinding holds the proof of work before each round's challenges, in bits.
type Grinding struct {
	Lookup, Point, Batching, Fold, Queries int
}

// Lookup describes a lookup argument, which is a sum of fractions over the tables. Fractions is the number of
// fractions. Degree is the degree of each denominator in the challenges. If the values of a tuple are
// multiplied by powers of one challenge, Degree is the number of these values.
type Lookup struct {
	Name      string
	Fractions float64
	Degree    int
}

// Regime is a bound on the distance between a word (any list of values on the domain) and the code, together
// with the proximity theorem that holds up to this bound: UniqueDecoding or Johnson. Other packages cannot
// implement Regime.
type Regime interface {
	String() string
	// radius is the share of a word's values in which it may differ from the code. list is the maximum number
	// of codewords that near.
	radius(rate float64) float64
	list(rate float64) float64
	// linear is the base-2 logarithm of the error for two functions on a domain, multiplied by the field's
	// order.
	linear(rate, dimension float64) float64
}

// UniqueDecoding is the regime up to half of the code's distance.
type UniqueDecoding struct{}

func (UniqueDecoding) String() string              { return "unique decoding" }
func (UniqueDecoding) radius(rate float64) float64 { return (1 - rate) / 2 }
func (UniqueDecoding) list(float64) float64        { return 1 }

// Theorem 1.3: (δ n + 1) / |F|.
func (u UniqueDecoding) linear(rate, dimension float64) float64 {
	return math.Log2(u.radius(rate)*dimension/rate + 1)
}

// Johnson is the regime up to the radius 1 - √ρ - η, where ρ is the rate. If the field Gap is 0, η is √ρ /
// (2M), and the field M must be at least 3. Otherwise η is Gap, and the value of M follows from Gap.
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

// m returns the multiplicity max(⌈√ρ / 2η⌉, 3). The theorem as first printed lacks the factor 2; soundcalc
// has it from the authors.
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

// Round is one round of the protocol. Its error is at most 2^-Bits.
type Round struct {
	Name string
	Bits float64
}

// Report lists the proved error of every round in one regime.
type Report struct {
	Regime Regime
	Rounds []Round
}

// Least returns the round with the largest error.
func (r Report) Least() Round {
	return slices.MinFunc(r.Rounds, func(a, b Round) int { return cmp.Compare(a.Bits, b.Bits) })
}

// Bits returns the proved soundness in bits, rounded down.
func (r Report) Bits() int { return int(math.Floor(r.Least().Bits)) }

// Best returns the report with the most bits among the regimes UniqueDecoding and Johnson, the latter with M
// from 3 to 64. It returns zkbench.ErrParams if a field of p is out of range.
func (p Protocol) Best() (best Report, err error) {
	best, err = p.Report(UniqueDecoding{})
	for m := 3; m <= 64 && err == nil; m++ {
		// At rates near 1 the Johnson radius with this m is not above 0.
		r, refused := p.Report(Johnson{M: m})
		if refused == nil && r.Least().Bits > best.Least().Bits {
			best = r
		}
	}
	return best, err
}

// Report returns the bits of every round in a regime. It returns zkbench.ErrParams if a field of p is out of
// range, or if the radius of the regime is not above 0 at p's rate.
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
	// The round fails if a polynomial of this degree has a zero at the point.
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

// Conjectured returns how many bits of soundness were claimed for proofs with the figures p, until ePrint
// 2025/2046 and 2025/2010 refuted the claim. The claim was that each query detects a word far from the code,
// up to the code's capacity, with probability 1 - ρ, where ρ is the rate. The result says nothing about
// soundness; use it only to compare with published figures.
func (p Protocol) Conjectured() float64 {
	return float64(p.Queries)*-math.Log2(p.Dimension/p.Domain) + float64(p.Grinding.Queries)
}
