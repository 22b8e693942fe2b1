package stark

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
	"github.com/zkbench/zkbench/stark/internal/tree"
	"github.com/zkbench/zkbench/stark/security"
)

// TestVerifiersBits: a verifier refuses a whole proof of a statement for which its parameters have fewer bits
// than it promises, whatever the prover did. All messages of the statement count.
func TestVerifiersBits(t *testing.T) {
	t.Parallel()
	params := attackParams
	params.Queries = 200 // so many that messages are what decides
	s, _ := attacked[bear, quartic](t, params)
	traces, about := attackTraces(nil)
	for range 1 << 11 {
		about.Messages = append(about.Messages, Message{"seen", 1, []uint64{5, 6}}, Message{"seen", -1, []uint64{5, 6}})
	}
	proof := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
	best := must.Get(must.Get(s.Security([]int{attackRows, 2 * attackRows}, len(about.Messages)))(t).Best())(t)
	golden.Equal(t, "what has the least bits", "messages", best.Least().Name)
	s.params.Bits = best.Bits() // the digest is that of before
	must.Do(t, s.Verify(proof, about))
	s.params.Bits++
	must.Fail(t, s.Verify(proof, about), zkbench.ErrParams, "too few bits")
	_, err := s.Prove(t.Context(), executor.Serial(), traces, about, Options{})
	must.Fail(t, err, zkbench.ErrParams, "too few bits")
}

// asked records what is asked of a challenger.
type asked struct {
	challenger.Challenger[koalabear.Element, koalabear.Quartic]
	outside map[string]bool
}

func (a asked) Challenge(label string, outside bool) koalabear.Quartic {
	a.outside[label] = a.outside[label] || outside
	return a.Challenger.Challenge(label, outside)
}

// TestPointIsOutside: prover and verifier ask for a point outside the field, where no denominator is 0.
func TestPointIsOutside(t *testing.T) {
	t.Parallel()
	s, y := attacked[bear, quartic](t, attackParams)
	notes := make(map[string]bool)
	begin := y.challenge
	y.challenge = func(protocol string) challenger.Challenger[koalabear.Element, koalabear.Quartic] {
		return asked{begin(protocol), notes}
	}
	traces, about := attackTraces(nil)
	proof := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
	golden.Equal(t, "the prover's point", true, notes["point"])
	clear(notes)
	must.Do(t, s.Verify(proof, about))
	golden.Equal(t, "the verifier's", true, notes["point"])
}

// TestSecurityCounts: what package security is told of tables of unequal heights.
func TestSecurityCounts(t *testing.T) {
	t.Parallel()
	s, _ := attacked[bear, quartic](t, attackParams)
	got := must.Get(s.Security([]int{8, 32}, 5))(t)
	log := math.Log2(koalabear.Modulus)
	golden.Equal(t, "protocol", security.Protocol{
		Field: 4 * log, Excluded: log,
		// Stacks of 2 for 32 rows are stacks of 8 for 8: k (n + 1) is greatest there.
		Dimension: 8 * (8 + 1), Domain: 64 * 4, Rows: 32 + 1,
		Constraints: 7 + 2 + 1 + 1, Degree: 3, Points: 2,
		// Two messages of each of 8 rows, one of 32, 5 of the statement; γ and two bits of bus and two values.
		Lookups: []security.Lookup{{Name: "messages", Fractions: 2*8 + 32 + 5, Degree: 1 + 2}},
		// Stacks of bits and seen, twice where they are read in the next row: of 4 and 3 columns, of 2 and
		// 1 sums, of 1 and 2 pieces.
		Functions: 2 + 2 + 2 + 4 + 1 + 4, Batching: security.Equality, Folds: []int{2, 2, 2, 2}, Folding: security.Equality,
		Queries: 20, Hash: 128,
	}, got)
}

// TestHostileHeights: what a verifier does for a low table beside a high one grows with the high
// one's logarithm.
func TestHostileHeights(t *testing.T) {
	t.Parallel()
	_, y := attacked[bear, quartic](t, attackParams)
	s := must.Get(New(Config{KoalaBear, Keccak, attackParams}, bitsTable(), seenTable()))(t)
	l := must.Get(y.layout(s.statement, []int{1, 20}))(t)
	for phase, shapes := range l.phases {
		for table, shape := range shapes {
			if n := 1 << shape.slots(); n > 16 {
				t.Errorf("phase %d, table %d: %d places of a stack", phase, table, n)
			}
		}
	}
	// The weights of a stack's first places are those of all places.
	x := koalabear.New(5)
	all := reversedPowers(6, koalabear.New(1), x)
	golden.Equal(t, "weights", all[:8], powers(koalabear.New(1), x, 6, 3))
}

// TestLimits: what is no system, statement or trace is refused.
func TestLimits(t *testing.T) {
	t.Parallel()
	power := func(squarings int) *air.Table {
		return &air.Table{Name: "power", Columns: 1, State: func(b *air.Builder) {
			e := b.Here(0)
			for range squarings {
				e = e.Mul(e)
			}
			b.Zero(air.Everywhere, "power", e)
		}}
	}
	config := Config{KoalaBear, Keccak, attackParams} // of rate 1/4: degree 5 at most
	for squarings, fits := range map[int]bool{2: true, 3: false, 40: false, 62: false, 63: false, 64: false, 200: false} {
		if _, err := New(config, power(squarings)); (err == nil) != fits {
			t.Errorf("2^%d: %v", squarings, err)
		}
	}
	sends := func(name string, n int) *air.Table {
		return &air.Table{Name: name, Columns: 1, State: func(b *air.Builder) {
			b.Answer("bus", air.Constant(1), make([]air.Expr, n)...)
		}}
	}
	for _, n := range []int{1, 3} {
		_, err := New(config, sends("a", 2), sends("b", n))
		must.Fail(t, err, zkbench.ErrParams, "%d values on a bus of 2", n)
	}
	_, err := New(config, sends("a", 2), sends("a", 2))
	must.Fail(t, err, zkbench.ErrParams, "two tables of one name")
	_, err = New(config, sends("a", 2), sends("b", 2), sends("b", 2))
	must.Fail(t, err, zkbench.ErrParams, "three tables, two of one name")
	_, err = New(config)
	must.Fail(t, err, zkbench.ErrParams, "no table")
	_, err = New(config, &air.Table{Name: "reads too far", Columns: 1, State: func(b *air.Builder) { b.Zero(air.First, "far", b.Here(1)) }})
	must.Fail(t, err, zkbench.ErrParams, "a table that is none")

	s, _ := attacked[bear, quartic](t, attackParams)
	traces, about := attackTraces(nil)
	for name, bad := range map[string][]Trace{
		"none": nil, "one": traces[:1], "three": append(traces[:2:2], traces[0]), "no Fill": {traces[0], {Rows: 16}},
		"no rows": {traces[0], {0, traces[1].Fill}}, "-1 rows": {traces[0], {-1, traces[1].Fill}}, "one row": {traces[0], {1, traces[1].Fill}},
		"12 rows": {traces[0], {12, traces[1].Fill}}, "2^62 + 1 rows": {traces[0], {1<<62 + 1, traces[1].Fill}},
		"2^62 rows": {traces[0], {1 << 62, traces[1].Fill}}, "all rows": {traces[0], {math.MaxInt, traces[1].Fill}},
	} {
		_, err := s.Prove(t.Context(), executor.Serial(), bad, about, Options{})
		must.Fail(t, err, zkbench.ErrParams, "prove %s", name)
		if name != "2^62 rows" { // a table that Check would fill
			must.Fail(t, s.Check(t.Context(), executor.Serial(), bad, about), zkbench.ErrParams, "check %s", name)
		}
	}
	for _, rows := range [][]int{nil, {8}, {8, 16, 16}, {8, 0}, {8, 12}, {1, 8}, {8, math.MaxInt}, {8, 1 << 62}} {
		_, err := s.Security(rows, 0)
		must.Fail(t, err, zkbench.ErrParams, "rows %v", rows)
		_, err = s.Memory(rows)
		must.Fail(t, err, zkbench.ErrParams, "memory of rows %v", rows)
	}
	for _, times := range []int64{koalabear.Modulus, -koalabear.Modulus, math.MaxInt64, math.MinInt64} {
		other := about
		other.Messages = []Message{{"seen", times, []uint64{77, 78}}}
		_, err := s.Prove(t.Context(), executor.Serial(), traces, other, Options{})
		must.Fail(t, err, zkbench.ErrParams, "%d times", times)
	}
	// Of the field's roots of unity, of order 2^24, 2^3 are for stacks and the rate.
	must.Get(s.Security([]int{8, 1 << 21}, 0))(t)
	_, err = s.Security([]int{8, 1 << 22}, 0)
	must.Fail(t, err, zkbench.ErrParams, "more rows than there are roots of unity")
	_, err = s.engine.layout(s.statement, []int{3})
	must.Fail(t, err, zkbench.ErrParams, "a layout of one table of two")
	// Check fills the tables again; what it does not find wrong then was no proof all the same.
	filled := 0
	once := []Trace{traces[0], {16, func(ctx context.Context, ex executor.Executor, c *Cells) error {
		if filled++; filled == 1 {
			return nil
		}
		return traces[1].Fill(ctx, ex, c)
	}}}
	_, err = s.Prove(t.Context(), executor.Serial(), once, about, Options{})
	must.Fail(t, err, zkbench.ErrProof, "a table that is filled otherwise the second time")
	failing := []Trace{traces[0], {16, func(context.Context, executor.Executor, *Cells) error { return context.Canceled }}}
	_, err = s.Prove(t.Context(), executor.Serial(), failing, about, Options{})
	must.Fail(t, err, context.Canceled, "a Fill that fails")
}

// TestParamLimits: parameters are accepted up to their limits, and no further.
func TestParamLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of          func(s *Params) *int
		least, most int
	}{
		"blow-up":  {func(s *Params) *int { return &s.LogBlowup }, 1, 8},
		"queries":  {func(s *Params) *int { return &s.Queries }, 1, 1 << 11}, // of more, paths have no length of two bytes
		"grinding": {func(s *Params) *int { return &s.Grinding }, 0, 40},
		"stack":    {func(s *Params) *int { return &s.Stack }, 0, 12},
		"fold":     {func(s *Params) *int { return &s.LogFold }, 1, 6},
		"final":    {func(s *Params) *int { return &s.LogFinal }, 0, 12},
		"cap":      {func(s *Params) *int { return &s.LogCap }, 0, 12},
	} {
		for _, n := range []int{c.least, c.most} {
			params := attackParams
			*c.of(&params) = n
			must.Get(New(Config{KoalaBear, Keccak, params}, quiet()))(t)
		}
		for _, n := range []int{c.least - 1, c.most + 1} {
			params := attackParams
			*c.of(&params) = n
			_, err := New(Config{KoalaBear, Keccak, params}, quiet())
			must.Fail(t, err, zkbench.ErrParams, "%s %d", name, n)
		}
	}
	for _, c := range []Config{
		{Goldilocks, Keccak, smallParams(4)},
		{Goldilocks, Poseidon, smallParams(4)},
		{Goldilocks, "other", smallParams(2)},
		{KoalaBear, Keccak, smallParams(2)},
		{KoalaBear, Poseidon, smallParams(4)},
		{"other", Keccak, smallParams(4)},
		{"other", Keccak, smallParams(2)},
	} {
		_, err := New(c, quiet())
		must.Fail(t, err, zkbench.ErrParams, "%s with %s, degree %d", c.Field, c.Hash, c.Params.Degree)
	}
	for _, rate := range []int{-1, 0, 5} {
		_, err := Secure100(KoalaBear, rate)
		must.Fail(t, err, zkbench.ErrParams, "rate 2^-%d", rate)
	}
}

// TestMemory: what is said to be needed grows with cells and with points.
func TestMemory(t *testing.T) {
	t.Parallel()
	s, _ := attacked[bear, quartic](t, attackParams) // rate 1/4, stacks of 2
	cells := 8*(4+12) + 32*(3+12)                    // with one column of sums and two pieces of the quotient, four coordinates each
	points := 4 * 2 * 32
	// Each cell and its four values of 4 bytes; of each point the nodes of three trees, two digests a
	// leaf, and three elements of the extension.
	sum := cells*4*5 + points*(3*2*32+3*16)
	golden.Equal(t, "memory", uint64(sum+sum/4), must.Get(s.Memory([]int{8, 32}))(t))
	// At rate 1/16 there are of each cell a coefficient and two values, and an eighth of the nodes.
	params := attackParams
	params.LogBlowup = 4
	s, _ = attacked[bear, quartic](t, params)
	points *= 4
	sum = cells*4*3 + points*(3*2*32/8+3*16)
	golden.Equal(t, "memory of a lean proof", uint64(sum+sum/4), must.Get(s.Memory([]int{8, 32}))(t))
}

// TestLeanFrom: a proof is lean from sixteen cosets on, with Poseidon from eight, and from a gigabyte of columns on.
func TestLeanFrom(t *testing.T) {
	t.Parallel()
	seen := make(map[bool]bool)
	of := func(hash Hash, blowup, rows int) bool {
		params := smallParams(2)
		params.LogBlowup, params.Stack = blowup, 0
		s := must.Get(New(Config{Goldilocks, hash, params}, bitsTable(), seenTable()))(t)
		l := must.Get(s.engine.layout(s.statement, []int{rows, 3}))(t)
		many := 16
		if hash == Poseidon {
			many = 8
		}
		golden.Equal(t, fmt.Sprintf("%s, rate 1/%d, 2^%d rows", hash, 1<<blowup, rows), 1<<blowup >= many || l.cells*8<<blowup >= 1<<30, l.lean)
		seen[l.lean] = true
		return l.lean
	}
	for _, hash := range []Hash{Keccak, Poseidon} {
		for blowup := 1; blowup < 5; blowup++ {
			of(hash, blowup, 4)
		}
	}
	lean := 0
	for rows := 18; rows < 26; rows++ {
		if of(Keccak, 1, rows) {
			lean++
		}
	}
	golden.Within(t, "heights of lean proofs", 1, lean, 7)
	golden.Equal(t, "both", 2, len(seen))
}

// TestHeights: heights that are none, of too few tables or too many, are refused, and so is a trace that fills nothing.
func TestHeights(t *testing.T) {
	t.Parallel()
	s, _ := attacked[bear, quartic](t, attackParams)
	for _, c := range []struct {
		rows []int
		want string
	}{
		{[]int{8}, "heights of 1 tables, accepted are 2"},
		{[]int{8, 32, 8}, "heights of 3 tables, accepted are 2"},
		{[]int{8, 32, 3}, "heights of 3 tables, accepted are 2"},
		{[]int{1, 32}, "of 1 rows, accepted are powers of two from 2 on"},
		{[]int{0, 32}, "of 0 rows"},
		{[]int{-8, 32}, "of -8 rows"},
		{[]int{8, 33}, "of 33 rows"},
	} {
		_, err := s.Memory(c.rows)
		must.Fail(t, err, zkbench.ErrParams, "%v", c.rows)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.rows, err, c.want)
		}
	}
	traces, about := attackTraces(nil)
	traces[1].Fill = nil
	_, err := s.Prove(t.Context(), executor.Serial(), traces, about, Options{})
	must.Fail(t, err, zkbench.ErrParams, "a trace that fills nothing")
	if err == nil || !strings.Contains(err.Error(), "trace 1 fills nothing") {
		t.Error(err)
	}
}

// TestDecoder: what does not decode is named, and ends the decoding.
func TestDecoder(t *testing.T) {
	t.Parallel()
	params := attackParams
	params.Degree = 2
	s := must.Get(New(Config{Goldilocks, Poseidon, params}, bitsTable(), seenTable()))(t)
	y := s.engine.(*system[goldilocks.Element, ext.Quadratic])
	type reader = coder[goldilocks.Element, ext.Quadratic]
	read := func(words ...uint64) *reader {
		c := &reader{field: y.field, digest: y.canonical, read: true}
		for _, w := range words {
			c.in = field.Append(c.in, w, 8)
		}
		return c
	}
	refused := func(err error, path string, offset int) {
		t.Helper()
		var d *zkbench.DecodeError
		if !errors.As(err, &d) || d.Path != path || d.Offset != offset {
			t.Errorf("%v, want one of %s at byte %d", err, path, offset)
		}
	}

	var x ext.Quadratic
	c := read(1, goldilocks.Modulus, 2)
	c.extension("x", &x)
	refused(c.err, "x", 8)
	for at := range 12 {
		words := make([]uint64, 12)
		words[at] = goldilocks.Modulus
		c = read(words...)
		var d []tree.Digest
		c.digests("d", &d, 3)
		refused(c.err, "d", at/4*32)
		c.extension("x", &x) // of what follows an error nothing is read
		refused(c.err, "d", at/4*32)
	}
	c = read(1, 2, 3, 4, 5, 6, 7)
	var d []tree.Digest
	c.digests("d", &d, 2)
	refused(c.err, "d", 0)
	golden.Equal(t, "digests of too few bytes", 0, len(d))

	// Two bytes of a number, and as many rows of two elements.
	rows := func(n, bytes int) (*reader, [][]goldilocks.Element) {
		c := read()
		c.in = append(field.Append(nil, uint64(n), 2), make([]byte, bytes)...)
		var rows [][]goldilocks.Element
		c.rows("rows", &rows, 2, 3)
		return c, rows
	}
	for n := range 4 {
		c, all := rows(n, 16*n)
		must.Do(t, c.err)
		golden.Equal(t, "rows", n, len(all))
		golden.Equal(t, "bytes left", 0, len(c.in))
	}
	for _, bad := range []struct{ n, bytes int }{{4, 64}, {1 << 15, 1 << 19}, {3, 47}, {1, 0}} {
		c, all := rows(bad.n, bad.bytes)
		refused(c.err, "rows", 0)
		golden.Equal(t, "rows", 0, len(all))
	}

	traces, about := attackTraces(nil)
	proof := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
	bad := slices.Clone(proof)
	copy(bad[2:], field.Append(nil, goldilocks.Modulus, 8)) // of the first of two digests
	refused(s.Verify(bad, about), "caps.columns", 2)
	refused(s.Verify(bad[:1], about), "heights", 0)
	for _, heights := range [][2]byte{{0, 4}, {3, 0}, {3, 30}, {3, 255}, {4, 3}} {
		copy(bad, heights[:])
		must.Fail(t, s.Verify(bad, about), zkbench.ErrProof, "heights %v", heights)
	}
	copy(bad, []byte{3, 30})
	high := about
	high.Forms = []Form{{8, 1 << 30}} // of which there are no roots of unity
	for _, promised := range []int{Unproven, 1} {
		s.params.Bits = promised // computed of heights that there are
		must.Fail(t, s.Verify(bad, high), zkbench.ErrParams, "heights that no table has")
	}
	s.params.Bits = Unproven
}

// TestSpans: phases come one after the other, and all end.
func TestSpans(t *testing.T) {
	t.Parallel()
	s, _ := attacked[bear, quartic](t, attackParams)
	traces, about := attackTraces(nil)
	var got, want []string
	for _, phase := range []string{PhaseTrace, PhaseCommit, PhaseSums, PhaseQuotient, PhaseOpen, PhaseFRI, PhaseQueries} {
		want = append(want, phase, "end of "+phase)
	}
	_, err := s.Prove(t.Context(), executor.Serial(), traces, about, Options{Span: func(name string) func() {
		got = append(got, name)
		return func() { got = append(got, "end of "+name) }
	}})
	must.Do(t, err)
	golden.Equal(t, "spans", want, got)
}

// refusing is an executor on which one operation fails, after a number of operations that do not.
type refusing struct {
	executor.Executor
	left *int
}

var errRefused = errors.New("refused")

func (r refusing) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	*r.left--
	if *r.left == -1 {
		return errRefused
	}
	return r.Executor.Do(ctx, n, task)
}

// TestExecutorFails: where any of a prover's operations fails there is no proof, but its error.
func TestExecutorFails(t *testing.T) {
	t.Parallel()
	params := attackParams
	params.Grinding = 1
	s, _ := attacked[bear, quartic](t, params)
	traces, about := attackTraces(nil)
	for operations := 0; ; operations++ {
		left := operations
		proof, err := s.Prove(t.Context(), refusing{executor.Serial(), &left}, traces, about, Options{})
		if left >= 0 { // none was refused
			must.Do(t, err)
			must.Do(t, s.Verify(proof, about))
			if operations == 0 {
				t.Error("nothing runs on the executor")
			}
			return
		}
		must.Fail(t, err, errRefused, "operation %d", operations)
		golden.Equal(t, "what is returned beside an error", 0, len(proof))
	}
}

// TestGroups: messages are put together as long as the equation of their sum is not above the degree.
func TestGroups(t *testing.T) {
	t.Parallel()
	type message struct{ multiplicity, tuple int } // degrees
	for _, c := range []struct {
		messages []message
		degree   int
		want     [][]int
		least    int
	}{
		{nil, 3, nil, 0},
		{[]message{{0, 1}, {0, 1}, {0, 1}}, 3, [][]int{{0, 1}, {2}}, 2},
		{[]message{{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}, 5, [][]int{{0, 1, 2, 3}, {4}}, 2},
		{[]message{{0, 2}, {0, 1}, {0, 2}}, 4, [][]int{{0, 1}, {2}}, 3},
		{[]message{{2, 1}, {0, 1}}, 3, [][]int{{0, 1}}, 2},
		{[]message{{3, 1}, {0, 1}}, 3, [][]int{{0}, {1}}, 3},
		{[]message{{0, 1}, {3, 0}}, 3, [][]int{{0}, {1}}, 3},
		{[]message{{0, 1}, {2, 0}}, 3, [][]int{{0, 1}}, 2},
		{[]message{{3, 0}, {0, 1}}, 4, [][]int{{0, 1}}, 3},
	} {
		p := must.Get((&air.Table{Name: "groups", Columns: 1, State: func(b *air.Builder) {
			power := func(n int) air.Expr {
				e := b.Public(0)
				for range n {
					e = e.Mul(b.Here(0))
				}
				return e
			}
			b.Zero(air.Everywhere, "zero", b.Here(0))
			for _, m := range c.messages {
				b.Answer("bus", power(m.multiplicity), power(0), power(m.tuple), power(0))
			}
		}}).Compile())(t)
		golden.Equal(t, fmt.Sprintf("groups of %v", c.messages), c.want, groups(p, c.degree))
		golden.Equal(t, fmt.Sprintf("the least degree of %v", c.messages), c.least, leastDegree(p))
	}

	// Four in one group, each sent as often as it says.
	table := &air.Table{Name: "four", Columns: 4, State: func(b *air.Builder) {
		x := b.Here(0)
		b.Zero(air.Everywhere, "degree 5", x.Mul(x).Mul(x).Mul(x).Mul(x.Plus(-1)))
		for i := range 4 {
			b.Answer("bus", air.Constant(int64(i+1)), b.Here(i), air.Constant(int64(i)))
		}
	}}
	params := attackParams
	params.Degree = 2
	s := must.Get(New(Config{Goldilocks, Keccak, params}, table))(t)
	golden.Equal(t, "groups", [][][]int{{{0, 1, 2, 3}}}, s.groups)
	if want := (map[string]bus{"bus": {1, 2}}); !maps.Equal(want, s.buses) {
		t.Errorf("buses %v, want %v", s.buses, want)
	}
	fill := func(_ context.Context, _ executor.Executor, c *Cells) error {
		for i := range 4 {
			c.Set(0, i, 1)
			c.Set(1, i, 1)
		}
		return nil
	}
	about := Statement{Forms: []Form{{4}}}
	for i := range uint64(4) {
		for value := range uint64(2) {
			about.Messages = append(about.Messages, Message{"bus", -2 * int64(i+1), []uint64{value, i}})
		}
	}
	traces := []Trace{{Rows: 4, Fill: fill}}
	proof := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
	must.Do(t, s.Verify(proof, about))
	must.Do(t, (&textbook{s: s, in: proof}).try(about))
	for i := range about.Messages {
		other := about
		other.Messages = slices.Clone(about.Messages)
		other.Messages[i].Times--
		must.Fail(t, s.Verify(proof, other), zkbench.ErrProof, "message %d once more", i)
		_, err := s.Prove(t.Context(), executor.Serial(), traces, other, Options{})
		must.Fail(t, err, zkbench.ErrWitness, "message %d once more", i)
	}
}

// TestEncodingsOfPoseidon: a number that is added p to, in an element, a digest or the nonce, is
// another encoding of what it was, and refused.
func TestEncodingsOfPoseidon(t *testing.T) {
	t.Parallel()
	params := attackParams
	params.Degree, params.Queries, params.Grinding = 2, 3, 2
	s := must.Get(New(Config{Goldilocks, Poseidon, params}, bitsTable(), seenTable()))(t)
	traces, about := attackTraces(nil)
	proof := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
	must.Do(t, s.Verify(proof, about))
	tried := 0
	for i := 2; i+8 <= len(proof); i++ {
		v := field.Read(proof[i:][:8])
		if v > math.MaxUint64-goldilocks.Modulus {
			continue
		}
		tried++
		bad := append([]byte(nil), proof...)
		copy(bad[i:], field.Append(nil, v+goldilocks.Modulus, 8))
		if err := s.Verify(bad, about); err == nil {
			t.Errorf("bytes %d to %d: another encoding", i, i+8)
		}
	}
	if tried == 0 {
		t.Error("no number is below 2^32")
	}
	// What is no number there is refused, wherever it stands.
	for i := 2; i+8 <= len(proof); i += 2 {
		bad := append([]byte(nil), proof...)
		copy(bad[i:], field.Append(nil, math.MaxUint64, 8))
		if err := s.Verify(bad, about); !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("bytes %d to %d, all ones: %v", i, i+8, err)
		}
	}
	// The decoder itself sees it, not only what follows.
	y := s.engine.(*system[goldilocks.Element, ext.Quadratic])
	golden.Equal(t, "a digest beyond p", false, y.canonical([4]uint64{0, goldilocks.Modulus}))
	c := &coder[goldilocks.Element, ext.Quadratic]{field: y.field, in: field.Append(nil, goldilocks.Modulus, 8), read: true}
	c.elements("e", make([]goldilocks.Element, 1))
	must.Fail(t, c.err, zkbench.ErrMalformed, "an element beyond p")
}

// TestDigest: all that decides what a proof says is in the digest.
func TestDigest(t *testing.T) {
	t.Parallel()
	digest := func(params Params, tables ...*air.Table) string {
		s := must.Get(New(Config{KoalaBear, Keccak, params}, tables...))(t)
		d := s.Digest()
		return hex.EncodeToString(d[:16])
	}
	state := func(change func(b *air.Builder)) *air.Table {
		return &air.Table{Name: "t", Columns: 2, State: func(b *air.Builder) {
			b.Zero(air.First, "first", b.Here(0).Sub(b.Here(1)))
			change(b)
		}}
	}
	seen := make(map[string]string)
	note := func(name, digest string) {
		t.Helper()
		if other, is := seen[digest]; is {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[digest] = name
	}
	for name, change := range map[string]func(b *air.Builder){
		"nothing":      func(*air.Builder) {},
		"everywhere":   func(b *air.Builder) { b.Zero(air.Everywhere, "c", b.Here(0)) },
		"last":         func(b *air.Builder) { b.Zero(air.Last, "c", b.Here(0)) },
		"next":         func(b *air.Builder) { b.Zero(air.Last, "c", b.Next(0)) },
		"minus":        func(b *air.Builder) { b.Zero(air.Last, "c", b.Here(0).Plus(-1)) },
		"plus":         func(b *air.Builder) { b.Zero(air.Last, "c", b.Here(0).Plus(1)) },
		"plus 2":       func(b *air.Builder) { b.Zero(air.Last, "c", b.Here(0).Plus(2)) },
		"column 1":     func(b *air.Builder) { b.Zero(air.Last, "c", b.Here(1)) },
		"public":       func(b *air.Builder) { b.Zero(air.Last, "c", b.Public(0)) },
		"public 1":     func(b *air.Builder) { b.Zero(air.Last, "c", b.Public(1)) },
		"sends":        func(b *air.Builder) { b.Answer("bus", b.Here(0), b.Here(1)) },
		"sends less":   func(b *air.Builder) { b.Answer("bus", b.Here(1), b.Here(1)) },
		"sends other":  func(b *air.Builder) { b.Answer("bus", b.Here(0), b.Here(0)) },
		"another bus":  func(b *air.Builder) { b.Answer("sub", b.Here(0), b.Here(1)) },
		"receives":     func(b *air.Builder) { b.AskUpTo(1, "bus", b.Here(0), b.Here(1)) },
		"twice as far": func(b *air.Builder) { b.Zero(air.Transition, "c", b.Here(0)) },
	} {
		note(name, digest(attackParams, state(change)))
	}
	for name, change := range map[string]func(s *Params){
		"name":      func(s *Params) { s.Name = "other" },
		"bits":      func(s *Params) { s.Bits = 1 },
		"degree":    func(s *Params) { s.Degree = 6 },
		"rate":      func(s *Params) { s.LogBlowup++ },
		"queries":   func(s *Params) { s.Queries++ },
		"work":      func(s *Params) { s.Grinding++ },
		"stack":     func(s *Params) { s.Stack++ },
		"fold":      func(s *Params) { s.LogFold++ },
		"final":     func(s *Params) { s.LogFinal++ },
		"cap":       func(s *Params) { s.LogCap++ },
		"knowledge": func(s *Params) { s.ZeroKnowledge = true },
		"ending":    func(s *Params) { s.Name = "/zero-knowledge" + s.Name }, // of what stands before the name
	} {
		params := attackParams
		change(&params)
		note("another "+name, digest(params, state(func(*air.Builder) {})))
	}
	named := func(name string, columns int) *air.Table {
		return &air.Table{Name: name, Columns: columns, State: func(b *air.Builder) { b.Zero(air.First, "c", b.Here(0)) }}
	}
	for name, tables := range map[string][]*air.Table{
		"a table": {named("a", 1)}, "another name": {named("b", 1)}, "more columns": {named("a", 2)},
		"two tables": {named("a", 1), named("b", 1)}, "in another order": {named("b", 1), named("a", 1)},
	} {
		note(name, digest(attackParams, tables...))
	}
	for name, change := range map[string]func(b *air.Builder){
		"0 and 1": func(b *air.Builder) { b.Answer("bus", air.Constant(1), b.Here(0), b.Here(1)) },
		"1 and 0": func(b *air.Builder) { b.Answer("bus", air.Constant(1), b.Here(1), b.Here(0)) },
		"0 and 0": func(b *air.Builder) { b.Answer("bus", air.Constant(1), b.Here(0), b.Here(0)) },
		"0 alone": func(b *air.Builder) { b.Answer("bus", air.Constant(1), b.Here(0)) },
		"0 + 0":   func(b *air.Builder) { b.Zero(air.Last, "c", b.Here(0).Add(b.Here(0))) },
		"0 + 1":   func(b *air.Builder) { b.Zero(air.Last, "c", b.Here(0).Add(b.Here(1))) },
		"0 * 1":   func(b *air.Builder) { b.Zero(air.Last, "c", b.Here(0).Mul(b.Here(1))) },
		"1 * 1":   func(b *air.Builder) { b.Zero(air.Last, "c", b.Here(1).Mul(b.Here(1))) },
	} {
		note(name, digest(attackParams, state(change)))
	}
	a, b := must.Get(New(Config{Goldilocks, Keccak, smallParams(2)}, bitsTable()))(t), must.Get(New(Config{Goldilocks, Poseidon, smallParams(2)}, bitsTable()))(t)
	if a.Digest() == b.Digest() {
		t.Error("two hashes have one digest")
	}
}

func smallParams(degree int) Params {
	s := attackParams
	s.Degree = degree
	return s
}
