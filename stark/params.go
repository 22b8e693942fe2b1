package stark

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/stark/internal/tree"
	"github.com/zkbench/zkbench/stark/security"
)

// Params are the parameters of the protocol. Secure100, Secure128, Machine100 and Compare100 return values for
// common uses.
type Params struct {
	Name string // part of the system's digest
	// Bits is the number of bits of soundness that must be proved (package security) for a statement's
	// heights. If fewer are proved, Prove and Verify refuse the statement. The value Unproven requires no
	// proved bits, and the value 0 is refused.
	Bits      int
	Degree    int // degree of the extension from which challenges are drawn
	LogBlowup int // the rate is 2^-LogBlowup
	Queries   int // number of FRI queries
	Grinding  int // bits of proof of work before the queries
	Stack     int // base-2 logarithm of how many columns of the highest table are committed to as one polynomial
	LogFold   int // base-2 logarithm of FRI's arity
	LogFinal  int // base-2 logarithm of the number of coefficients of FRI's last polynomial
	LogCap    int // base-2 logarithm of the number of digests in a tree's cap
	// ZeroKnowledge hides the contents of tables. The last Random() rows of each table are then random.
	ZeroKnowledge bool
}

// Unproven is the value of Params.Bits for parameters that promise no proved soundness. Use such parameters
// only for comparison.
const Unproven = -1

// Random returns the number of random rows in each table: 0 if ZeroKnowledge is not set. If ZeroKnowledge is
// set, a proof depends on a column's values at no more than Random() - 1 points. Each query counts as two
// points, because the quotient at its point also depends on the next row. The other points are the two at
// which columns are opened, with all their conjugates. One more row holds the end of the running sums over
// bus messages.
func (s Params) Random() int {
	if !s.ZeroKnowledge {
		return 0
	}
	return 2*s.Queries + 2*s.Degree + 1
}

// Height returns the height that a table needs for the given number of rows. The height is a power of two.
func (s Params) Height(rows int) int {
	random := s.Random()
	rows = min(rows, math.MaxInt/4) // more than any table has, so that nothing wraps
	return 1 << bits.Len(uint(max(2, rows+random, 2*random)-1))
}

// Secure100 returns parameters for which 100 bits of soundness are proved by unique decoding, for tables of
// at least 64 rows. The rate is 2^-logBlowup. Secure100 returns zkbench.ErrParams if the rate is not between
// 1/2 and 1/16.
func Secure100(f Field, logBlowup int) (Params, error) {
	queries := map[int]int{1: 207, 2: 126, 3: 103, 4: 93}[logBlowup]
	if queries == 0 {
		return Params{}, fmt.Errorf("%w: rate 2^-%d, accepted are 2^-1 to 2^-4", zkbench.ErrParams, logBlowup)
	}
	s := basic("secure100", logBlowup, queries)
	s.Bits, s.Degree = 100, map[Field]int{Goldilocks: 2, KoalaBear: 4}[f]
	return s, nil
}

// Machine100 returns parameters for the tables of a machine over Goldilocks, many rows of few columns. 100 bits of
// soundness are proved by unique decoding, at rate 1/2 over the quadratic extension, for tables of at least 64 rows and
// a limited number of messages. A row of a table counts as one for each of its messages, and so does a message of the
// statement. Their number times 1 + b, where b is the number of bits of the length of the longest tuple, must be below
// 2^28, which is 53 million messages if the longest tuple has 8 to 15 values. Prove and Verify refuse forms with more.
func Machine100() Params {
	s := basic("machine100", 1, 207)
	s.Bits, s.Degree, s.Stack = 100, 2, 0
	return s
}

// Secure128 returns parameters at rate 1/8 for which 128 bits of soundness are proved up to the Johnson
// radius.
func Secure128(f Field) Params {
	s := basic("secure128", 3, 78)
	s.Bits, s.Degree = 128, map[Field]int{Goldilocks: 3, KoalaBear: 6}[f]
	return s
}

// Compare100 returns parameters for comparison with systems that use 84 queries at rate 1/2 for 100 bits. Use
// these parameters for nothing else: with them, only 51 bits are proved by unique decoding, and at most 57 up
// to the Johnson radius.
func Compare100(f Field) Params {
	s := basic("compare100", 1, 84)
	s.Stack = 3 // those systems optimise time
	s.Degree = map[Field]int{Goldilocks: 2, KoalaBear: 4}[f]
	return s
}

func basic(name string, logBlowup, queries int) Params {
	return Params{
		Name: name, Bits: Unproven, LogBlowup: logBlowup, Queries: queries, Grinding: 16,
		Stack: 4, LogFold: 3, LogFinal: 5, LogCap: 4,
	}
}

// Security returns what the soundness of a proof depends on, for proofs of the form f whose statements have
// the given number of messages. The method Best of the result computes the bits of soundness that are proved.
// Security returns zkbench.ErrParams if the tables cannot have the form, or if tables of that form may ask on
// one bus as many times as the field's order, so that counts could wrap around.
func (s *System) Security(f Form, messages int) (security.Protocol, error) {
	l, err := s.layoutOf(f)
	if err != nil {
		return security.Protocol{}, err
	}
	return s.engine.security(l, messages), nil
}

// Params returns the system's parameters.
func (s *System) Params() Params { return s.params }

// layoutOf returns the layout of a form.
func (s *System) layoutOf(f Form) (*layout, error) {
	logs, err := s.logs(f)
	if err != nil {
		return nil, err
	}
	return s.engine.layout(s.statement, logs)
}

// Memory estimates the largest amount of memory, in bytes, that a proof of the form f takes at any time. The
// estimate is a sum. It counts what is held of the columns, which is their values on all cosets or, if these
// take much memory, the coefficients and the values on one coset. It counts one more coset for copies of columns
// and for scratch. It also counts the trees and FRI's codewords. A quarter is added for what is on the heap. Memory
// returns zkbench.ErrParams if the tables cannot have the form.
func (s *System) Memory(f Form) (bytes uint64, err error) {
	l, err := s.layoutOf(f)
	if err != nil {
		return 0, err
	}
	return s.memory(l), nil
}

// LeanMemory estimates what Memory does, but for a proof with Options.Lean.
func (s *System) LeanMemory(f Form) (bytes uint64, err error) {
	l, err := s.layoutOf(f)
	if err != nil {
		return 0, err
	}
	l.setLean()
	return s.memory(l), nil
}

func (s *System) memory(l *layout) uint64 {
	params, size := s.params, s.engine.bytes()
	trees, digests := 0, uint64(0)
	for phase := range phases {
		if !l.absent(phase) {
			log := l.sizes[phase] + params.LogBlowup
			trees, digests = trees+1, digests+2<<log>>l.omitted(log)
		}
	}
	points := uint64(1) << (l.size + params.LogBlowup)
	values := uint64(l.held().values(1<<params.LogBlowup) + 1)
	words := 3*params.Degree + trees*l.salt + l.masks
	sum := uint64(l.cells)*size*values + digests*tree.DigestBytes + points*uint64(words)*size
	return sum + sum/4
}

// heights returns the logarithms of the traces' heights.
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

// A proof is lean if it has this many cosets, depending on the tree's hash, or this many bytes of cells.
// Beside Poseidon, computing a coset again is cheap.
const (
	manyCosets         = 16
	manyCosetsPoseidon = 8
	muchMemory         = 1 << 30
)

// secured returns the layout of a proof. It returns an error if fewer bits than the parameters promise are
// proved.
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

// security returns the protocol of a layout.
//
// A stack minus its values is tested as if it had degree below k n, divided by X^k - y: the stack itself is
// proved to have degree below k (n + 1). Each of FRI's challenges folds two.
func (y *system[E, X]) security(l *layout, messages int) security.Protocol {
	params := l.params
	field := math.Log2(float64(y.field.Order()))
	p := security.Protocol{
		Field: float64(l.degree) * field, Excluded: field, Domain: math.Exp2(float64(l.size + params.LogBlowup)),
		Points: 2, Functions: l.batched(), Batching: security.Equality, Folding: security.Equality,
		Queries: params.Queries, Grinding: security.Grinding{Queries: params.Grinding}, Hash: 8 * tree.DigestBytes / 2,
	}
	// γ has degree 1, and so has the challenge for each bit.
	lookup := security.Lookup{Name: "messages", Fractions: float64(messages), Degree: 1 + bits.Len(uint(l.longest))}
	for t, rows := range l.rows {
		n := math.Exp2(float64(rows))
		p.Dimension = max(p.Dimension, math.Exp2(float64(l.size))*(n+1)/n)
		p.Rows = max(p.Rows, n+1)
		p.Constraints += l.constraints(t)
		p.Degree = max(p.Degree, l.pieces[t]+1)
		if params.ZeroKnowledge { // the rows left out are a factor, and there are more pieces
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
