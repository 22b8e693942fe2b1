package stark

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/stark/internal/tree"
	"github.com/zkbench/zkbench/stark/security"
)

// Params are the numbers of the protocol. Secure100, Secure128 and Compare100 make them.
type Params struct {
	Name string
	// Bits are those that must be proved (package security) of a statement of the heights at hand:
	// where they are not it is neither proved nor verified. Unproven promises nothing; 0 is refused.
	Bits      int
	Degree    int // of the extension from which challenges are drawn
	LogBlowup int // the rate is 2^-LogBlowup
	Queries   int
	Grinding  int // bits of work before the queries
	Stack     int // logarithm of how many columns of the highest table are one polynomial
	LogFold   int // logarithm of FRI's arity
	LogFinal  int // of the number of coefficients of FRI's last polynomial
	LogCap    int // of that of the digests that commit to a tree
	// ZeroKnowledge hides what tables have in their rows. It takes the last Random of each for itself.
	ZeroKnowledge bool
}

// Unproven is the Bits of parameters for comparison alone, which promises nothing.
const Unproven = -1

// Random is how many of each table's rows are random in zero knowledge, and 0 otherwise. What a proof
// shows depends on a column's values at no more points than these are, but one: two for each query, since
// the quotient there depends on the next row, and the two at which columns are opened, with all their
// conjugates. One row is where sums end.
func (s Params) Random() int {
	if !s.ZeroKnowledge {
		return 0
	}
	return 2*s.Queries + 2*s.Degree + 1
}

// Height is the least height of a table that has so many rows to fill.
func (s Params) Height(rows int) int {
	random := s.Random()
	rows = min(rows, math.MaxInt/4) // more than any table has, so that nothing wraps
	return 1 << bits.Len(uint(max(2, rows+random, 2*random)-1))
}

// Secure100 has 100 proved bits by unique decoding, at rate 2^-logBlowup, 1/2 to 1/16, for tables of
// 64 rows and more.
func Secure100(f Field, logBlowup int) (Params, error) {
	queries := map[int]int{1: 207, 2: 126, 3: 103, 4: 93}[logBlowup]
	if queries == 0 {
		return Params{}, fmt.Errorf("%w: rate 2^-%d, accepted are 2^-1 to 2^-4", zkbench.ErrParams, logBlowup)
	}
	s := basic("secure100", logBlowup, queries)
	s.Bits, s.Degree = 100, map[Field]int{Goldilocks: 2, KoalaBear: 4}[f]
	return s, nil
}

// Secure128 has 128 proved bits up to the Johnson radius, at rate 1/8.
func Secure128(f Field) Params {
	s := basic("secure128", 3, 78)
	s.Bits, s.Degree = 128, map[Field]int{Goldilocks: 3, KoalaBear: 6}[f]
	return s
}

// Compare100 is for comparison with systems that take 84 queries at rate 1/2 for 100 bits, and for
// nothing else: 51 bits of it are proved by unique decoding, and 57 at most up to the Johnson radius.
func Compare100(f Field) Params {
	s := basic("compare100", 1, 84)
	s.Stack = 3 // those systems look at time
	s.Degree = map[Field]int{Goldilocks: 2, KoalaBear: 4}[f]
	return s
}

func basic(name string, logBlowup, queries int) Params {
	return Params{
		Name: name, Bits: Unproven, LogBlowup: logBlowup, Queries: queries, Grinding: 16,
		Stack: 4, LogFold: 3, LogFinal: 5, LogCap: 4,
	}
}

// Security is what decides the soundness of a proof of a form, of a statement of so many messages. A form for
// which rows may ask a bus so often that sums wrap is a zkbench.ErrParams: it has none.
func (s *System) Security(f Form, messages int) (security.Protocol, error) {
	l, err := s.layoutOf(f)
	if err != nil {
		return security.Protocol{}, err
	}
	return s.engine.security(l, messages), nil
}

// Params are the numbers that it proves with.
func (s *System) Params() Params { return s.params }

// layoutOf is the layout of a form.
func (s *System) layoutOf(f Form) (*layout, error) {
	logs, err := s.logs(f)
	if err != nil {
		return nil, err
	}
	return s.engine.layout(s.statement, logs)
}

// Memory is what a proof of a form takes at most, about, in bytes: its cells on the
// cosets that are kept, on one more, and, where not all are, as coefficients; trees and FRI's words; and of what
// the collector has not taken back as much again. A form that the tables do not have is a zkbench.ErrParams.
func (s *System) Memory(f Form) (bytes uint64, err error) {
	l, err := s.layoutOf(f)
	if err != nil {
		return 0, err
	}
	params, size, trees := s.params, s.engine.bytes(), phases
	if s.fixed == nil {
		trees--
	}
	points := uint64(1) << (l.size + params.LogBlowup)
	values, digests := uint64(l.kept()+1), 2*points
	if l.lean {
		values, digests = values+1, digests>>tree.Most
	}
	words := 3*params.Degree + trees*l.salt + l.masks
	return 2 * (uint64(l.cells)*size*values + uint64(trees)*digests*tree.DigestBytes + points*uint64(words)*size), nil
}

// heights are the logarithms of traces' heights.
func (s *statement) heights(traces []Trace) ([]int, error) {
	var rows Form
	for i, t := range traces {
		if t.Fill == nil {
			return nil, fmt.Errorf("%w: trace %d fills nothing", zkbench.ErrParams, i)
		}
		rows = append(rows, t.Rows)
	}
	return s.logs(rows)
}

func (y *system[E, X]) bytes() uint64 { return uint64(y.field.Bytes()) }

func (y *system[E, X]) order() uint64 { return y.field.Order() }

func (y *system[E, X]) layout(s *statement, rows []int) (*layout, error) {
	l, err := s.layout(y.degree(), y.field.Bytes(), y.field.TwoAdicity(), rows)
	if err != nil {
		return nil, err
	}
	cosets := 1 << s.params.LogBlowup
	l.lean = cosets >= y.many || l.cells*l.bytes*cosets >= muchMemory
	return l, s.asked(y.field.Order(), rows, nil)
}

// Of so many cosets, with the tree's hash, or of so many bytes, a proof is lean. Beside Poseidon a coset made
// again is cheap.
const (
	manyCosets         = 16
	manyCosetsPoseidon = 8
	muchMemory         = 1 << 30
)

// secured is the layout of a proof of a statement, whose parameters have the bits that they promise.
func (y *system[E, X]) secured(s *statement, rows []int, messages int) (*layout, error) {
	l, err := y.layout(s, rows)
	if err != nil || s.params.Bits == Unproven {
		return l, err
	}
	best, err := y.security(l, messages).Best()
	if err != nil {
		return nil, err
	}
	if best.Bits() < s.params.Bits {
		return nil, fmt.Errorf("%w: parameters %q have %d proved bits for these heights, by %v (%s), %d are required", zkbench.ErrParams, s.params.Name, best.Bits(), best.Regime, best.Least().Name, s.params.Bits)
	}
	return l, nil
}

// security is a layout's protocol.
//
// A stack less its values is tested as if it were of degree below k n, divided by X^k - y: the
// stack itself is proved to be of degree below k (n + 1). Each of FRI's challenges folds two.
func (y *system[E, X]) security(l *layout, messages int) security.Protocol {
	params := l.params
	field := math.Log2(float64(y.field.Order()))
	p := security.Protocol{
		Field: float64(l.degree) * field, Excluded: field, Domain: math.Exp2(float64(l.size + params.LogBlowup)),
		Points: 2, Functions: l.batched(), Batching: security.Equality, Folding: security.Equality,
		Queries: params.Queries, Grinding: security.Grinding{Queries: params.Grinding}, Hash: 8 * tree.DigestBytes / 2,
	}
	// γ, and a challenge for each bit.
	lookup := security.Lookup{Name: "messages", Fractions: float64(messages), Degree: 1 + bits.Len(uint(l.longest))}
	for t, rows := range l.rows {
		n := math.Exp2(float64(rows))
		p.Dimension = max(p.Dimension, math.Exp2(float64(l.size))*(n+1)/n)
		p.Rows = max(p.Rows, n+1)
		p.Constraints += l.constraints(t)
		p.Degree = max(p.Degree, l.pieces[t]+1)
		if params.ZeroKnowledge { // rows left out are a factor, and pieces are more
			p.Degree = max(p.Degree, l.pieces[t]+2)
		}
		lookup.Fractions += n * float64(len(l.programs[t].Messages))
		if l.masked(t) {
			lookup.Fractions += 2
		}
	}
	if lookup.Fractions > 0 {
		p.Lookups = []security.Lookup{lookup}
	}
	for _, fold := range l.folds {
		for range fold {
			p.Folds = append(p.Folds, 2)
		}
	}
	return p
}
