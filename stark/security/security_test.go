package security_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/security"
)

// Logarithms of fields' orders.
var (
	goldilocks = math.Log2(0xffffffff00000001)
	koalaBear  = math.Log2(1<<31 - 1<<24 + 1)
	mersenne31 = math.Log2(1<<31 - 1)
)

func repeat(fold, n int) []int {
	folds := make([]int, n)
	for i := range folds {
		folds[i] = fold
	}
	return folds
}

// published lists systems of ethereum/soundcalc at commit 809896f: the parameters of soundcalc/zkvms and the
// bits of its reports, with rounds in Report's order.
var published = []struct {
	name            string
	protocol        security.Protocol
	johnson         security.Johnson
	unique, radius_ []int
}{
	{
		name: "ZisK 0.16.1, Keccakf",
		protocol: security.Protocol{
			Field: 3 * goldilocks, Dimension: 1 << 17, Domain: 1 << 18, Constraints: 2432, Degree: 3, Points: 26,
			Lookups: []security.Lookup{
				{Name: "Lookup_gsum_[126]", Fractions: 534 << 17, Degree: 4},
				{Name: "Lookup_gsum_[5000]", Fractions: 1 << 17, Degree: 11},
				{Name: "Permutation_gsum_[10]", Fractions: 25 << 17, Degree: 6},
			},
			Functions: 4065, Folds: repeat(8, 4), Queries: 217, Grinding: security.Grinding{Queries: 23},
		},
		johnson: security.Johnson{Gap: 0.007333333333333333},
		unique:  []int{163, 171, 167, 180, 172, 164, 176, 179, 182, 185, 113},
		radius_: []int{163, 171, 167, 174, 166, 132, 145, 148, 151, 154, 128},
	},
	{
		name: "ZisK 0.16.1, Final_Compressed",
		protocol: security.Protocol{
			Field: 3 * goldilocks, Dimension: 1 << 15, Domain: 1 << 19, Constraints: 158, Degree: 8, Points: 4,
			Lookups:   []security.Lookup{{Name: "Connection_gprod_[1]", Fractions: 27 << 16, Degree: 2}},
			Functions: 145, Folds: repeat(8, 3), Queries: 54, Grinding: security.Grinding{Queries: 22},
		},
		johnson: security.Johnson{Gap: 0.003333333333333333},
		unique:  []int{170, 184, 173, 166, 174, 177, 180, 71},
		radius_: []int{170, 175, 164, 134, 141, 144, 147, 128},
	},
	{
		name: "Pico, riscv",
		protocol: security.Protocol{
			Field: 4 * koalaBear, Dimension: 1 << 22, Domain: 1 << 23, Constraints: 4729, Degree: 3, Points: 2,
			Lookups: []security.Lookup{
				{Name: "alu", Fractions: 58720256 + 33554432, Degree: 14},
				{Name: "byte", Fractions: 352321536 + 589824, Degree: 6},
				{Name: "poseidon2", Fractions: 8388608 + 8388608, Degree: 33},
			},
			Functions: 1435, Folds: repeat(2, 22), Queries: 84, Grinding: security.Grinding{Queries: 16},
		},
		// soundcalc's own gap for fields below 2^150: max(ρ/20, √ρ/100).
		johnson: security.Johnson{Gap: 0.025},
		unique:  []int{93, 92, 94, 111, 99, 92, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 122, 123, 50},
		radius_: []int{93, 92, 94, 106, 95, 69, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 53},
	},
	{
		name: "Airbender, generalized_circuit",
		protocol: security.Protocol{
			Field: 4 * mersenne31, Dimension: 1 << 24, Domain: 1 << 25, Constraints: 928, Degree: 2, Points: 2,
			Lookups: []security.Lookup{
				{Name: "generic_lookup", Fractions: 208 * 2 * 16777215, Degree: 4},
				{Name: "decoder", Fractions: 2 * 16777215, Degree: 10},
			},
			Functions: 1225, Folds: []int{16, 16, 16, 8, 8}, Queries: 87,
			Grinding: security.Grinding{Lookup: 5, Point: 12, Fold: 5, Queries: 28},
		},
		johnson: security.Johnson{Gap: 0.025},
		unique:  []int{94, 100, 114, 110, 90, 106, 110, 114, 118, 121, 64},
		radius_: []int{94, 100, 109, 105, 68, 83, 87, 91, 95, 98, 67},
	},
}

// TestPublished: the figures of soundcalc, round by round.
func TestPublished(t *testing.T) {
	t.Parallel()
	for _, p := range published {
		for _, c := range []struct {
			regime security.Regime
			want   []int
		}{{security.UniqueDecoding{}, p.unique}, {p.johnson, p.radius_}} {
			report, err := p.protocol.Report(c.regime)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			least := c.want[0]
			list := 0.0 // of which soundcalc has nothing in look-ups
			if c.regime == p.johnson {
				rate := p.protocol.Dimension / p.protocol.Domain
				list = math.Log2(1 / (2 * p.johnson.Gap * math.Sqrt(rate)))
			}
			for i, r := range report.Rounds {
				if i < len(p.protocol.Lookups) {
					r.Bits += list
				}
				got = append(got, int(math.Floor(r.Bits)))
				least = min(least, c.want[i])
			}
			golden.Equal(t, fmt.Sprintf("%s, %v", p.name, c.regime), c.want, got)
			golden.Equal(t, fmt.Sprintf("%s, %v: least", p.name, c.regime), least, report.Bits())
			p.protocol.Hash = 20
			if report, err = p.protocol.Report(c.regime); err != nil || report.Bits() != 20 {
				t.Errorf("%s, %v, a hash of 20 bits: %d, %v", p.name, c.regime, report.Bits(), err)
			}
			p.protocol.Hash = 0
		}
	}
}

// wide returns the protocol of a proof of 2,650 columns and 2^15 rows.
func wide(field float64, logBlowup, queries int, batching security.Batching) security.Protocol {
	return security.Protocol{
		Field: field, Dimension: 1 << 15, Domain: math.Exp2(15 + float64(logBlowup)), Constraints: 3000, Degree: 3, Points: 2,
		Functions: 2650, Batching: batching, Folds: repeat(8, 4), Folding: batching,
		Queries: queries, Grinding: security.Grinding{Queries: 16},
	}
}

// TestQueries: by unique decoding 100 bits take 203 queries at rate 1/2, 124 at 1/4 and 102 at
// 1/8, and not one less; by the Johnson radius, over a cubic extension, 59 at 1/8, and 79 for 128.
func TestQueries(t *testing.T) {
	t.Parallel()
	bits := func(regime security.Regime, logBlowup, queries int) int {
		r, err := wide(3*goldilocks, logBlowup, queries, security.Powers).Report(regime)
		if err != nil {
			t.Fatal(err)
		}
		return r.Bits()
	}
	for _, c := range []struct {
		regime                   security.Regime
		logBlowup, queries, bits int
	}{
		{security.UniqueDecoding{}, 1, 203, 100},
		{security.UniqueDecoding{}, 2, 124, 100},
		{security.UniqueDecoding{}, 3, 102, 100},
		{security.Johnson{M: 10}, 3, 59, 100},
		{security.Johnson{M: 10}, 3, 79, 128},
	} {
		name := fmt.Sprintf("%v, rate 1/%d, %d queries", c.regime, 1<<c.logBlowup, c.queries)
		golden.Equal(t, name, c.bits, bits(c.regime, c.logBlowup, c.queries))
		if got := bits(c.regime, c.logBlowup, c.queries-1); got >= c.bits {
			t.Errorf("%s less one: %d bits", name, got)
		}
	}
}

// TestOldFigure: 84 queries at rate 1/2 with 16 bits of grinding, sold as 100 bits, are 51 proved
// by unique decoding and 57 at most by the Johnson radius.
func TestOldFigure(t *testing.T) {
	t.Parallel()
	p := wide(4*koalaBear, 1, 84, security.Powers)
	golden.Equal(t, "conjectured", 100, p.Conjectured())
	r, err := p.Report(security.UniqueDecoding{})
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "unique decoding", 50, r.Bits())
	best, err := p.Best()
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "best", 57, best.Bits())
	golden.Equal(t, "what holds it back", "queries", best.Least().Name)
}

// TestFields: powers of one challenge leave less than 100 bits over a field of 124 or 128 bits, and
// at the Johnson radius far less; equality weights give them back.
func TestFields(t *testing.T) {
	t.Parallel()
	batching := func(field float64, logBlowup int, b security.Batching, regime security.Regime) int {
		r, err := wide(field, logBlowup, 300, b).Report(regime)
		if err != nil {
			t.Fatal(err)
		}
		for _, round := range r.Rounds {
			if round.Name == "batching" {
				return int(math.Floor(round.Bits))
			}
		}
		t.Fatal("no round is batching")
		return 0
	}
	for _, c := range []struct {
		field  float64
		b      security.Batching
		regime security.Regime
		bits   []int // at rates 1/2, 1/4, 1/8
	}{
		{4 * koalaBear, security.Powers, security.UniqueDecoding{}, []int{98, 96, 95}},
		{2 * goldilocks, security.Powers, security.UniqueDecoding{}, []int{102, 101, 99}},
		{4 * koalaBear, security.Equality, security.UniqueDecoding{}, []int{106, 104, 103}},
		{2 * goldilocks, security.Equality, security.UniqueDecoding{}, []int{110, 108, 107}},
		{4 * koalaBear, security.Powers, security.Johnson{M: 3}, []int{86, 84, 81}},
		{2 * goldilocks, security.Powers, security.Johnson{M: 10}, []int{82, 80, 77}},
	} {
		for i, want := range c.bits {
			golden.Equal(t, fmt.Sprintf("%.0f bits, %v, rate 1/%d, %v", c.field, c.b, 2<<i, c.regime), want, batching(c.field, i+1, c.b, c.regime))
		}
	}
}

// TestMonotone: each parameter that costs a prover work gives bits, or takes none.
func TestMonotone(t *testing.T) {
	t.Parallel()
	base := wide(4*koalaBear, 2, 124, security.Equality)
	for _, regime := range []security.Regime{security.UniqueDecoding{}, security.Johnson{M: 5}} {
		before, err := base.Report(regime)
		if err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(p *security.Protocol){
			"queries":  func(p *security.Protocol) { p.Queries++ },
			"batching": func(p *security.Protocol) { p.Grinding.Batching = 1 },
			"point":    func(p *security.Protocol) { p.Grinding.Point = 1 },
			"fold 1":   func(p *security.Protocol) { p.Grinding.Fold = 1 },
		} {
			p := base
			change(&p)
			after, err := p.Report(regime)
			if err != nil {
				t.Fatal(err)
			}
			more := false
			for i, r := range after.Rounds {
				if r.Bits < before.Rounds[i].Bits {
					t.Errorf("%v: more %s: %s lost %f bits", regime, name, r.Name, before.Rounds[i].Bits-r.Bits)
				}
				more = more || r.Name == name && r.Bits > before.Rounds[i].Bits
			}
			if !more {
				t.Errorf("%v: more %s gives none", regime, name)
			}
		}
		// A polynomial of fewer rows is 0 at fewer points.
		low := base
		low.Rows = 16
		after := must.Get(low.Report(regime))(t)
		golden.Equal(t, "the round of the point", "point", after.Rounds[1].Name)
		if after.Rounds[1].Bits <= before.Rounds[1].Bits {
			t.Errorf("%v: fewer rows give no bits", regime)
		}
	}
}

// TestRefused: what is no protocol has a typed error that names the field.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(p *security.Protocol){
		"Field":       func(p *security.Protocol) { p.Field = math.NaN() },
		"Dimension":   func(p *security.Protocol) { p.Dimension = 0 },
		"Domain":      func(p *security.Protocol) { p.Domain = p.Dimension },
		"Queries":     func(p *security.Protocol) { p.Queries = 0 },
		"Functions":   func(p *security.Protocol) { p.Functions = 1 },
		"Batching":    func(p *security.Protocol) { p.Batching = 2 },
		"Folds":       func(p *security.Protocol) { p.Folds = []int{1} },
		"Lookups":     func(p *security.Protocol) { p.Lookups = []security.Lookup{{Name: "none"}} },
		"Degree":      func(p *security.Protocol) { p.Degree = 0 },
		"Points":      func(p *security.Protocol) { p.Points = 0 },
		"Folding":     func(p *security.Protocol) { p.Folding = 2 },
		"little":      func(p *security.Protocol) { p.Dimension, p.Domain = 0.5, 1 },
		"a fold more": func(p *security.Protocol) { p.Folds = []int{2, 1} },
		"no degree": func(p *security.Protocol) {
			p.Lookups = []security.Lookup{{Name: "one", Fractions: 1, Degree: 1}, {Name: "two", Fractions: 1}}
		},
		"no fractions": func(p *security.Protocol) {
			p.Lookups = []security.Lookup{{Name: "one", Fractions: 1, Degree: 1}, {Name: "two", Degree: 1}}
		},
		"Constraints": func(p *security.Protocol) { p.Constraints = 0 },
	} {
		p := wide(4*koalaBear, 2, 124, security.Equality)
		change(&p)
		_, err := p.Best()
		must.Fail(t, err, zkbench.ErrParams, "%s", name)
	}
	// The least of everything is a protocol.
	must.Get(security.Protocol{
		Field: 124, Dimension: 1, Domain: 2, Constraints: 1, Degree: 1, Points: 1, Functions: 2, Folds: []int{2}, Queries: 1,
		Lookups: []security.Lookup{{Name: "one", Fractions: 1, Degree: 1}},
	}.Best())(t)
	_, err := wide(4*koalaBear, 1, 84, security.Powers).Report(security.Johnson{M: 1, Gap: 0.5})
	must.Fail(t, err, zkbench.ErrParams, "Johnson")
}
