package stark_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/circuittest"
)

// overPoseidon returns a configuration whose verifiers have circuits.
func overPoseidon(params stark.Params) stark.Config {
	return stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: params}
}

func init() { stark.InCircuit = circuittest.Verify }

// circuitSystem is a system with a proof.
type circuitSystem struct {
	*stark.System
	proof []byte
	about stark.Statement
}

func newCircuitSystem(t *testing.T, params stark.Params, tables []*air.Table, traces []stark.Trace, about stark.Statement, image ...[][]uint64) circuitSystem {
	t.Helper()
	s := circuitSystem{System: must.Get(stark.New(overPoseidon(params), tables...))(t), about: stark.StatementOf(traces, about)}
	if image != nil {
		s.about.Image = must.Get(s.Image(t.Context(), executor.Serial(), image...))(t)
	}
	s.proof = must.Get(s.Prove(t.Context(), executor.Serial(), traces, s.about, stark.Options{}))(t)
	must.Do(t, s.Verify(s.proof, s.about))
	return s
}

// builder returns an empty program.
func (s circuitSystem) builder() *circuit.Builder {
	return circuit.New(circuit.Degree(s.Params().Degree))
}

// run returns the program of a proof, and the first error.
func (s circuitSystem) run(proof []byte, about stark.Statement) (*circuit.Builder, error) {
	b := s.builder()
	if _, err := circuit.Verify(s, b, proof, about); err != nil {
		return nil, err
	}
	return b, b.Err()
}

// section is a part of a proof's encoding.
type section struct {
	name     string
	from, to int
}

// sections returns all sections of a proof. It removes bytes from the end: the error names the part with the
// first missing byte.
func (s circuitSystem) sections() (all []section) {
	name := func(n int) string {
		var d *zkbench.DecodeError
		if !errors.As(s.Verify(s.proof[:n], s.about), &d) {
			return "end"
		}
		return d.Path
	}
	for at := 0; at < len(s.proof); {
		now := name(at)
		n := sort.Search(len(s.proof)-at, func(n int) bool { return name(at+n) != now })
		all = append(all, section{now, at, at + n})
		at += n
	}
	return all
}

// word returns the offset of an element of the section: one of many, or the number of its rows or digests if
// it has no more.
func (s section) word(n int) int {
	for _, counted := range []string{"leaves", "paths", "folds", "routes"} {
		if strings.HasPrefix(s.name, counted) {
			s.from += min(2, s.to-s.from-2)
		}
	}
	return s.from + n%max(1, (s.to-s.from)/8)*8
}

// alone returns a table of one column that counts from a public value on and sends nothing.
func alone(name string) *air.Table {
	return &air.Table{Name: name, Columns: 1, State: func(b *air.Builder) {
		b.Zero(air.First, "begins", b.Here(0).Sub(b.Public(0)))
		b.Zero(air.Transition, "counts", b.Next(0).Sub(b.Here(0)).Plus(-1))
	}}
}

func counting(rows int) stark.Trace {
	return stark.Trace{Rows: rows, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
		for i := range rows {
			c.Set(i, 0, uint64(i))
		}
		return nil
	}}
}

// words returns a table of what code has instructions for: exclusive ors, and-nots, packed bits and
// multiples.
func words(name string) *air.Table {
	return &air.Table{Name: name, Columns: 7, State: func(b *air.Builder) {
		var bits []air.Expr
		for i := range 4 {
			bits = append(bits, b.Here(i))
			b.Zero(air.Everywhere, "bit", bits[i].Bool())
		}
		b.Zero(air.Everywhere, "packed", b.Here(4).Sub(air.Pack(bits)))
		b.Zero(air.Everywhere, "xor", b.Here(5).Sub(bits[0].Xor(bits[1])))
		b.Zero(air.Everywhere, "not", b.Here(6).Sub(bits[2].Mul(air.Constant(1).Sub(bits[3]))).Times(-5))
		b.Zero(air.Last, "last", b.Here(4).Sub(b.Public(2)))
	}}
}

func counted(rows int) stark.Trace {
	return stark.Trace{Rows: rows, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
		for i := range uint64(rows) {
			for j := range 4 {
				c.Set(int(i), j, i>>j&1)
			}
			c.Set(int(i), 4, i&15)
			c.Set(int(i), 5, i&1^i>>1&1)
			c.Set(int(i), 6, i>>2&1&^(i>>3))
		}
		return nil
	}}
}

// circuitSystems returns n systems with tables of all kinds and random parameters.
func circuitSystems(t *testing.T, n int) (all []circuitSystem) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		params := stark.Params{
			Name: "drawn", Bits: stark.Unproven, Degree: 2 + (i+i/6)%2, LogBlowup: 1 + r.IntN(3), Queries: 1 + r.IntN(3), Grinding: 4 * r.IntN(2),
			Stack: (i + i/6) % 5, LogFold: 1 + r.IntN(3), LogFinal: []int{0, 1, 2, 3, 7}[r.IntN(5)], LogCap: []int{0, 1, 2, 4, 6}[r.IntN(5)],
		}
		traces, about := traces(2<<r.IntN(3), 0)
		tables := []*air.Table{squares(), walk()}
		var image [][][]uint64
		switch i % 6 {
		case 1:
			tables, traces, about = []*air.Table{alone("alone")}, []stark.Trace{counting(2 << r.IntN(5))}, stark.Statement{Publics: []uint64{0}}
		case 2:
			rows := 2 << r.IntN(7)
			tables, traces = append(tables, alone("alone"), words("words")), append(traces, counting(2<<r.IntN(7)), counted(rows))
			about.Publics = append(about.Publics, uint64(rows-1)&15)
		case 3:
			tables = stark.FixedTables(nil)
			traces, about = stark.FixedTraces(nil)
		case 4:
			tables = stark.MixedTables(i, nil)
			traces, about = stark.MixedTraces(stark.MixedForms[r.IntN(len(stark.MixedForms))], i, nil)
		case 5:
			tables, image = stark.ImageTables(i, [][]int{{2}, {1, 2}}[i/6%2], nil)
			traces, about = stark.MixedTraces(stark.MixedForms[r.IntN(len(stark.MixedForms))], i, nil)
		}
		about.Context = []byte("context")[:r.IntN(8)]
		all = append(all, newCircuitSystem(t, params, tables, traces, about, image...))
	}
	return all
}

// TestCircuitImages: one program verifies proofs of all images of one height. An image's commitment is in the cells of the
// statement, so a program that is told another one rejects the proof.
func TestCircuitImages(t *testing.T) {
	t.Parallel()
	params := small(2, 1)
	tables, contents := stark.ImageTables(0, []int{2}, nil)
	form := stark.MixedForms[2]
	traces, about := stark.MixedTraces(form, 0, nil)
	one := newCircuitSystem(t, params, tables, traces, about, contents...)
	// An image of another sum, which its table holds.
	_, contents = stark.ImageTables(0, []int{2}, func(_, picks [][]uint64) { picks[2][0]++ })
	traces, about = stark.MixedTraces(form, 0, func(table int, c *stark.Cells) {
		if table == 2 {
			c.Set(0, 0, 6+9*3)
		}
	})
	two := newCircuitSystem(t, params, tables, traces, about, contents...)
	golden.Equal(t, "the digest", one.Digest(), two.Digest())
	known := one.about
	known.Image = must.Get(one.DecodeImage(two.about.Image.Bytes()))(t)
	form1, first, second := one.builder(), one.builder(), one.builder()
	must.Get(circuit.Verify(one, form1, nil, known))(t)
	cells := must.Get(circuit.Verify(one, first, one.proof, one.about))(t)
	must.Get(circuit.Verify(one, second, two.proof, two.about))(t)
	for _, b := range []*circuit.Builder{first, second} {
		must.Do(t, b.Err())
		if !slices.Equal(form1.Rows, b.Rows) || !slices.Equal(form1.Permutations, b.Permutations) {
			t.Error("the program depends on an image")
		}
	}
	differ := 0
	for _, c := range cells {
		if first.Values[c] != second.Values[c] {
			differ++
		}
	}
	golden.Equal(t, "cells of the cap", 2*len(one.about.Image.Bytes()[1:])/32, differ)
	_, err := one.run(one.proof, known)
	must.Fail(t, err, zkbench.ErrProof, "the other image")
}

// TestCircuit: the program is the same without a proof and with any, and accepts what the verifier does: good
// proofs, and of bad ones none, for the same reason.
func TestCircuit(t *testing.T) {
	t.Parallel()
	seen := make(map[string]int)
	for _, s := range circuitSystems(t, testsize.Pick(16, 60, 600)) {
		about := fmt.Sprintf("%+v, %d rows", s.Params(), s.about.Forms)
		form, good := s.builder(), s.builder()
		like := must.Get(circuit.Verify(s, form, nil, s.about))(t)
		cells := must.Get(circuit.Verify(s, good, s.proof, s.about))(t)
		must.Do(t, good.Err(), about)
		golden.Equal(t, "cells of the statement", like, cells)
		told := must.Get(s.StatementElements(s.about))(t)
		for i, c := range cells {
			golden.Equal(t, "the statement", circuit.X{goldilocks.Element(told[2*i]), goldilocks.Element(told[2*i+1]), 0}, good.Values[c])
		}
		same := func(what string, b *circuit.Builder) {
			t.Helper()
			if !slices.Equal(form.Rows, b.Rows) || !slices.Equal(form.Permutations, b.Permutations) || len(form.Values) != len(b.Values) {
				t.Errorf("%s: %s: another program", about, what)
			}
		}
		same("a good proof", good)
		for _, section := range s.sections()[1:] {
			name, _, _ := strings.Cut(section.name, "[")
			seen[name]++
			bad := slices.Clone(s.proof)
			bad[section.word(seen[name])] ^= 1
			verified := s.Verify(bad, s.about)
			b, err := s.run(bad, s.about)
			// Of another layer, last polynomial or nonce places are others, which may be right by chance.
			chance := slices.Contains([]string{"layers", "final", "nonce"}, name)
			if (verified == nil) != (err == nil) || !chance && (verified == nil || circuittest.Reason(verified) != circuittest.Reason(err)) {
				t.Errorf("%s: %s: verified %v, in the circuit %v", about, name, verified, err)
			}
			if b != nil {
				same(name, b)
			}
		}
	}
	for _, section := range []string{
		"caps.columns", "caps.sums", "caps.quotients", "sums", "values.columns", "values.sums", "values.quotients", "values.fixed", "layers", "final", "nonce",
		"leaves.columns", "leaves.sums", "leaves.quotients", "leaves.fixed", "paths.columns", "paths.sums", "paths.quotients", "paths.fixed", "folds", "routes",
	} {
		if seen[section] == 0 {
			t.Errorf("no proof has %s", section)
		}
	}
}

// TestCircuitBytes: of a proof no byte can be another, nor in what proves that it verifies.
func TestCircuitBytes(t *testing.T) {
	t.Parallel()
	traces, about := traces(16, 0)
	s := newCircuitSystem(t, small(2, 1), []*air.Table{squares(), walk()}, traces, about)
	step := testsize.Pick(1499, 97, 1)
	for at := step % 5; at < len(s.proof); at += step {
		bad := slices.Clone(s.proof)
		bad[at] ^= 1 << (at % 8)
		must.Fail(t, circuittest.Verify(t, s.System, bad, s.about), must.ErrAny, "byte %d", at)
	}
}

// TestCircuitNonce: where no work is asked for there is one nonce, and a nonce has one encoding.
func TestCircuitNonce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		grinding int
		more     uint64
		want     error
		says     string
	}{
		{0, 1, zkbench.ErrProof, "the nonce is not 0"},
		{0, goldilocks.Modulus, zkbench.ErrMalformed, "the nonce is not below the field's order"},
		{4, goldilocks.Modulus, zkbench.ErrMalformed, "the nonce is not below the field's order"},
	} {
		params := small(2, 1)
		params.Grinding = c.grinding
		s := newCircuitSystem(t, params, []*air.Table{alone("alone")}, []stark.Trace{counting(8)}, stark.Statement{Publics: []uint64{0}})
		all := s.sections()
		nonce := s.proof[all[slices.IndexFunc(all, func(s section) bool { return s.name == "nonce" })].from:][:8]
		binary.LittleEndian.PutUint64(nonce, binary.LittleEndian.Uint64(nonce)+c.more)
		must.Fail(t, s.Verify(s.proof, s.about), c.want, "verified")
		_, err := s.run(s.proof, s.about)
		must.Fail(t, err, c.want, "%s", c.says)
		if err != nil {
			golden.Contains(t, err.Error(), c.says)
		}
	}
}

// TestCircuitHeights: tables of other heights are another program's.
func TestCircuitHeights(t *testing.T) {
	t.Parallel()
	traces, about := traces(4, 0)
	s := newCircuitSystem(t, small(2, 1), []*air.Table{squares(), walk()}, traces, about)
	for _, form := range []stark.Form{{32, 8}, {64, 4}, {4, 32}} {
		about := s.about
		about.Forms = []stark.Form{form}
		_, err := circuit.Verify(s, circuit.New(2), s.proof, about)
		must.Fail(t, err, zkbench.ErrProof, "%d rows", form)
	}
	for _, forms := range [][]stark.Form{nil, {nil}, {{32}}, {{32, 3}}, {{32, 1 << 40}}, {{32, 4}, {32, 8}}} {
		about := s.about
		about.Forms = forms
		_, err := circuit.Verify(s, circuit.New(2), nil, about)
		must.Fail(t, err, zkbench.ErrParams, "%d rows", forms)
	}
}

// TestCircuitStatement: the circuit takes a statement's numbers from the cells that it returns, and rejects another's.
func TestCircuitStatement(t *testing.T) {
	t.Parallel()
	traces, about := traces(16, 0)
	s := newCircuitSystem(t, small(2, 1), []*air.Table{squares(), walk()}, traces, about)
	for name, change := range map[string]func(a *stark.Statement){
		"a public value":     func(a *stark.Statement) { a.Publics[1]++ },
		"a message's number": func(a *stark.Statement) { a.Messages[0].Tuple[1]++ },
		"a message's times":  func(a *stark.Statement) { a.Messages[0].Times++ },
		"no message":         func(a *stark.Statement) { a.Messages = nil },
		"the context":        func(a *stark.Statement) { a.Context[3] ^= 1 },
		"its length":         func(a *stark.Statement) { a.Context = append(a.Context, 0) },
	} {
		about := stark.Statement{
			Forms:   s.about.Forms,
			Publics: slices.Clone(s.about.Publics), Context: slices.Clone(s.about.Context),
			Messages: []stark.Message{{Bus: "square", Times: -1, Tuple: slices.Clone(s.about.Messages[0].Tuple)}},
		}
		change(&about)
		_, err := s.run(s.proof, about)
		must.Fail(t, err, zkbench.ErrProof, "%s", name)
		must.Fail(t, s.Verify(s.proof, about), zkbench.ErrProof, "%s", name)
	}
}

// TestCircuitRefused: of other systems there is no circuit.
func TestCircuitRefused(t *testing.T) {
	t.Parallel()
	hidden := small(2, 1)
	hidden.ZeroKnowledge = true
	for name, c := range map[string]stark.Config{
		"Keccak":         {Field: stark.Goldilocks, Hash: stark.Keccak, Params: small(2, 1)},
		"another field":  {Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4, 1)},
		"zero knowledge": {Field: stark.Goldilocks, Hash: stark.Poseidon, Params: hidden},
	} {
		s := must.Get(stark.New(c, squares(), walk()))(t)
		rows := c.Params.Height(2)
		_, about := traces(16, 0)
		about.Forms = []stark.Form{{rows, rows}}
		_, err := circuit.Verify(s, circuit.New(circuit.Degree(c.Params.Degree)), nil, about)
		must.Fail(t, err, zkbench.ErrParams, "%s", name)
		if err != nil {
			golden.Contains(t, err.Error(), "have a circuit")
		}
		if name == "another field" {
			must.FailGet(s.StatementElements(about))(t, zkbench.ErrParams, "the elements of %s", name)
		}
	}
	s := must.Get(stark.New(overPoseidon(small(2, 1)), squares(), walk()))(t)
	must.FailGet(s.StatementElements(stark.Statement{}))(t, zkbench.ErrParams, "another statement")
	_, about := traces(16, 0)
	_, err := circuit.Verify(s, circuit.New(3), nil, about)
	must.Fail(t, err, zkbench.ErrParams, "another extension")
}

// TestCircuitForced: each table's constraints, in each kind of rows, and what it sends are held to.
func TestCircuitForced(t *testing.T) {
	t.Parallel()
	s := must.Get(stark.New(overPoseidon(small(2, 1)), squares(), walk(), alone("alone"), words("words")))(t)
	all, about := traces(8, 0)
	all, about.Publics = append(all, counting(4), counted(16)), append(about.Publics, 15)
	about = stark.StatementOf(all, about)
	for name, c := range map[string]struct {
		table, row, column int
		public             int // of the statement, or none
		says               string
	}{
		"nothing":                 {row: 63, column: 0, public: -1},
		"a square":                {0, 40, 1, -1, `table "squares"`},
		"a count":                 {0, 50, 0, -1, `table "squares"`},
		"the first of a walk":     {public: 0, says: `table "walk"`},
		"its last":                {public: 1, says: `table "walk"`},
		"how often a square is":   {0, 40, 2, -1, "answered as often"},
		"another square":          {1, 3, 3, -1, "answered as often"},
		"the last count":          {2, 3, 0, -1, `table "alone"`},
		"a bit":                   {3, 2, 0, -1, `table "words"`},
		"packed bits":             {3, 2, 4, -1, `table "words"`},
		"an exclusive or":         {3, 2, 5, -1, `table "words"`},
		"a bit and not another":   {3, 2, 6, -1, `table "words"`},
		"the last of packed bits": {public: 2, says: `table "words"`},
	} {
		traces, said := slices.Clone(all), about
		said.Publics = slices.Clone(about.Publics)
		if c.public >= 0 && c.says != "" {
			said.Publics[c.public]++
		} else if c.says != "" {
			fill := traces[c.table].Fill
			traces[c.table].Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
				err := fill(ctx, ex, cells)
				stark.Columns[uint64](cells)[c.column][c.row] += 2
				return err
			}
		}
		proof := s.ProveForced(t, traces, said)
		b := circuit.New(2)
		must.Get(circuit.Verify(s, b, proof, said))(t)
		for where, err := range map[string]error{"verified": s.Verify(proof, said), "in the circuit": b.Err()} {
			if c.says == "" {
				must.Do(t, err, name, where)
				continue
			}
			must.Fail(t, err, zkbench.ErrProof, "%s, %s", name, where)
			if err != nil {
				golden.Contains(t, err.Error(), c.says)
			}
		}
	}
}

// TestCircuitSize: the program of a proof takes so much, and no more.
func TestCircuitSize(t *testing.T) {
	t.Parallel()
	s := must.Get(stark.New(overPoseidon(small(2, 1)), squares(), walk()))(t)
	_, about := traces(16, 0)
	b := circuit.New(2)
	must.Get(circuit.Verify(s, b, nil, about))(t)
	golden.Equal(t, "rows and permutations", [2]int{1728, 228}, [2]int{len(b.Rows), len(b.Permutations)})
}

// TestCircuitHints: of what a prover chooses nothing can be another: each is decided by what is before it, or
// decides what is behind it. Of cells of which only the first element is read the second one is free.
func TestCircuitHints(t *testing.T) {
	t.Parallel()
	for _, s := range circuitSystems(t, testsize.Pick(8, 8, 40)) {
		b, err := s.run(s.proof, s.about)
		must.Do(t, err)
		p := circuittest.New(b)
		must.Do(t, p.Check())
		golden.Equal(t, "rows of the proof that do not hold", nil, p.Broken(p.With(nil)))
		wholly := make(map[circuit.Cell]bool) // read but for the first coordinate
		for _, r := range b.Rows {
			first := r.First != 0 && r.Product == 0
			for i, c := range r.Cells {
				if c != circuit.None && !(first && i == circuit.B) {
					wholly[c] = true
				}
			}
		}
		for _, q := range b.Permutations {
			for _, c := range q.In {
				wholly[c] = true
			}
		}
		// Of a nonce, and where there is an odd number of elements of the last one, what is behind it is 0.
		odd := 1
		for _, n := range s.Shown(s.about.Forms[0]) {
			odd += s.Params().Queries * (n % 2)
		}
		for _, n := range []int{len(s.about.Publics), 1 + (len(s.about.Context)+3)/4} {
			odd += n % 2
		}
		for _, m := range s.about.Messages {
			odd += len(m.Tuple) % 2
		}
		for _, n := range s.Numbers(s.about.Forms[0]) {
			odd += n * s.Params().Degree % 2
		}
		for _, c := range p.Hints() {
			if !wholly[c] {
				odd--
			}
		}
		golden.Equal(t, "cells of one element less those of which one is read", 0, odd)
		broken := func(c circuit.Cell, first, second goldilocks.Element) bool {
			x := b.Values[c].Add(circuit.X{first, second, 0})
			return len(p.Broken(p.With(map[circuit.Cell]circuit.X{c: x}))) > 0
		}
		for i, c := range p.Hints() {
			if i%testsize.Pick(5, 3, 1) != 0 {
				continue
			}
			if !broken(c, 1, 0) {
				t.Errorf("cell %d, hint %d, may be another", c, i)
			}
			if wholly[c] && !broken(c, 0, 1) {
				t.Errorf("the second element of cell %d, hint %d, may be another", c, i)
			}
		}
	}
}
