package stark

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// attackParams has so many queries that a word far from the code is detected in every test.
var attackParams = Params{Name: "attack", Bits: Unproven, Degree: 4, LogBlowup: 2, Queries: 20, Stack: 1, LogFold: 2, LogFinal: 2, LogCap: 1}

// bitsTable shifts in the bits of a number and asks for the numbers that it counts.
func bitsTable() *air.Table {
	return &air.Table{Name: "bits", Columns: 4, State: func(b *air.Builder) {
		bit, number, count, half := b.Here(0), b.Here(1), b.Here(2), b.Here(3)
		b.Zero(air.Everywhere, "bit", bit.Bool())
		b.Zero(air.First, "begins", number.Sub(bit))
		b.Zero(air.Transition, "shifts", b.Next(1).Sub(number.Times(2)).Sub(b.Next(0)))
		b.Zero(air.First, "counts from", count)
		b.Zero(air.Transition, "counts", b.Next(2).Sub(count).Plus(-1))
		b.Zero(air.Last, "ends", number.Sub(b.Public(0)))
		b.Zero(air.Everywhere, "half", half.Times(2).Add(bit).Sub(number))
		b.Ask("seen", air.Constant(1), count, bit)
		b.Ask("seen", bit, count, number)
	}}
}

// seenTable answers what bitsTable asks for.
func seenTable() *air.Table {
	return &air.Table{Name: "seen", Columns: 3, State: func(b *air.Builder) {
		b.Zero(air.Everywhere, "times", b.Here(2).Mul(b.Here(2).Plus(-1)).Mul(b.Here(2).Plus(-2)))
		b.Answer("seen", b.Here(2), b.Here(0), b.Here(1))
	}}
}

const attackRows = 8

// tracesOf returns a function that makes a trace from a table, a height and a function that sets its cells.
// change is applied after it.
func tracesOf(change func(table int, c *Cells)) func(table, height int, set func(c *Cells)) Trace {
	return func(table, height int, set func(c *Cells)) Trace {
		return Trace{Rows: height, Fill: func(_ context.Context, _ executor.Executor, c *Cells) error {
			set(c)
			if change != nil {
				change(table, c)
			}
			return nil
		}}
	}
}

// add adds to a cell.
func add(c *Cells, row, column int, by uint64) {
	if c.short != nil {
		c.short[column][row] += uint32(by)
	} else {
		c.long[column][row] += by
	}
}

// attackTraces returns traces of the number 0b1011_0010 with changed cells.
func attackTraces(change func(table int, c *Cells)) ([]Trace, Statement) {
	const number = 0b10110010
	var tuples [][3]uint64
	send := func(a, b uint64) {
		for i := range tuples {
			if tuples[i][0] == a && tuples[i][1] == b {
				tuples[i][2]++
				return
			}
		}
		tuples = append(tuples, [3]uint64{a, b, 1})
	}
	var rows [][4]uint64
	value := uint64(0)
	for i := range attackRows {
		bit := uint64(number >> (attackRows - 1 - i) & 1)
		value = 2*value + bit
		rows = append(rows, [4]uint64{bit, value, uint64(i), value / 2})
		send(uint64(i), bit)
		if bit == 1 {
			send(uint64(i), value)
		}
	}
	trace := tracesOf(change)
	return []Trace{
		trace(0, attackRows, func(c *Cells) {
			for i, row := range rows {
				for j, v := range row {
					c.Set(i, j, v)
				}
			}
		}),
		trace(1, 2*attackRows, func(c *Cells) {
			for i, row := range tuples {
				for j, v := range row {
					c.Set(i, j, v)
				}
			}
		}),
	}, Statement{Forms: []Form{attackHeights}, Publics: []uint64{number}, Context: []byte("attack")}
}

// attackHeights are the heights of the tables.
var attackHeights = Form{attackRows, 2 * attackRows}

type (
	bear    = koalabear.Element
	quartic = koalabear.Quartic
)

// attacks runs a test over KoalaBear with Keccak, and over Goldilocks with Poseidon, where verifiers have programs.
func attacks(t *testing.T, overKoalaBear, overQuadratic, overCubic func(t *testing.T)) {
	t.Parallel()
	for name, test := range map[string]func(t *testing.T){"KoalaBear": overKoalaBear, "quadratic": overQuadratic, "cubic": overCubic} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "cubic" {
				testsize.Full(t)
			}
			test(t)
		})
	}
}

// configOf returns the configuration of a field and an extension.
func configOf[E field.Element[E], X field.Extension[E, X]](params Params) Config {
	var x X
	params.Degree = len(x)
	if _, ok := any(x[0]).(bear); ok {
		return Config{KoalaBear, Keccak, params}
	}
	return Config{Goldilocks, Poseidon, params}
}

func attacked[E field.Element[E], X field.Extension[E, X]](t *testing.T, params Params) (*System, *system[E, X]) {
	t.Helper()
	s := must.Get(New(configOf[E, X](params), bitsTable(), seenTable()))(t)
	return s, s.engine.(*system[E, X])
}

// InCircuit returns the verifier's error for a proof whose verifier has a program, after checking that the
// program agrees. A package that may import package recursion sets it.
var InCircuit func(t testing.TB, s *System, proof []byte, about Statement) error

// verified returns the verifier's error, after checking that its program agrees.
func verified(t *testing.T, s *System, proof []byte, about Statement) error {
	t.Helper()
	if _, err := s.inCircuit(); err != nil {
		return s.Verify(proof, about)
	}
	return InCircuit(t, s, proof, about)
}

// refused fails the test unless a proof is refused for a reason.
func refused(t *testing.T, s *System, proof []byte, about Statement, name, reason string) {
	t.Helper()
	err := verified(t, s, proof, about)
	if !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) || !strings.Contains(err.Error(), reason) {
		t.Errorf("%s: %v, want %s", name, err, reason)
	}
}

// forgery says what a cheating prover does.
type forgery[E field.Element[E], X field.Extension[E, X]] struct {
	change    func(table int, c *Cells)        // of traces
	statement func(about *Statement)           // nil: as it is
	before    map[string]func(p *prover[E, X]) // steps
	fold      func(p *prover[E, X]) error      // nil: trueFold
	says      string                           // the verifier
}

// forced makes a proof with a prover that checks nothing.
func forced[E field.Element[E], X field.Extension[E, X]](t *testing.T, s *System, f forgery[E, X]) ([]byte, Statement) {
	t.Helper()
	traces, about := attackTraces(f.change)
	return forcedOf(t, s, traces, about, f)
}

// forcedOf makes a proof of the given traces. The statement is the forgery's.
func forcedOf[E field.Element[E], X field.Extension[E, X]](t *testing.T, s *System, traces []Trace, about Statement, f forgery[E, X]) ([]byte, Statement) {
	t.Helper()
	y := s.engine.(*system[E, X])
	if f.statement != nil {
		f.statement(&about)
	}
	if f.fold == nil {
		f.fold = trueFold[E, X]
	}
	p, err := y.prover(t.Context(), executor.Serial(), s.statement, traces, about, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"extend", p.extendColumns},
		{PhaseCommit, func() error { return p.commit(ofColumns, "columns") }},
		{"sum up", p.sumUp},
		{"send sums", doing(p.sendSums)},
		{PhaseSums, p.commitSums},
		{"pieces", p.extendQuotients},
		{PhaseQuotient, func() error { return p.commit(ofQuotients, "quotients") }},
		{"point", doing(func() { p.y = p.challenger.Challenge("point", true) })},
		{"evaluate", p.evaluate},
		{"send values", doing(p.sendValues)},
		{PhaseFRI, func() error { return f.fold(p) }},
		{"send final", doing(friOf(p).sendFinal)},
		{PhaseQueries, p.queries},
		{"end", func() error { return nil }},
	} {
		if do := f.before[step.name]; do != nil {
			do(p)
		}
		if err := step.run(); err != nil {
			t.Fatal(err)
		}
	}
	return p.encode(), about
}

func doing(step func()) func() error {
	return func() error {
		step()
		return nil
	}
}

func friOf[E field.Element[E], X field.Extension[E, X]](p *prover[E, X]) *friProver[E, X] {
	return p.proximity.(*friProver[E, X])
}

func trueFold[E field.Element[E], X field.Extension[E, X]](p *prover[E, X]) error {
	word, err := p.batched()
	if err != nil {
		return err
	}
	return friOf(p).fold(word)
}

// falseFold commits to the true codeword, and then to zeros.
func falseFold[E field.Element[E], X field.Extension[E, X]](p *prover[E, X]) error {
	word, err := p.batched()
	if err != nil {
		return err
	}
	size := p.layout.size
	for _, fold := range p.layout.folds {
		if err := friOf(p).commitLayer(layer[E]{word: word, size: size, fold: fold}); err != nil {
			return err
		}
		for range fold {
			p.challenger.Challenge("fold", false)
		}
		size -= fold
		word = make([]field.Vector[E], len(word))
		for c := range word {
			word[c] = field.NewVector[E](p.layout.degree, 1<<size)
		}
	}
	return friOf(p).last(word[0], size)
}

// TestForced: unchanged, what the attacks change is a proof.
func TestForced(t *testing.T) {
	attacks(t, testForced[bear, quartic], testForced[cell, ext.Quadratic], testForced[cell, ext.Cubic])
}

func testForced[E field.Element[E], X field.Extension[E, X]](t *testing.T) {
	s, _ := attacked[E, X](t, attackParams)
	proof, about := forced(t, s, forgery[E, X]{})
	must.Do(t, verified(t, s, proof, about))
	traces, _ := attackTraces(nil)
	must.Do(t, s.Check(t.Context(), executor.Serial(), traces, about))
	again, err := s.Prove(t.Context(), executor.Pool(), traces, about, Options{})
	must.Do(t, err)
	if string(again) != string(proof) {
		t.Error("a proof depends on the executor")
	}
}

// TestCheckCounts: Check counts what is sent modulo the field's order, as proofs do.
func TestCheckCounts(t *testing.T) {
	t.Parallel()
	table := &air.Table{Name: "t", Columns: 1, State: func(b *air.Builder) { b.Answer("bus", air.Constant(1), b.Here(0)) }}
	trace := Trace{Rows: 4, Fill: func(context.Context, executor.Executor, *Cells) error { return nil }}
	for _, c := range []struct {
		field Field
		times []int64
		holds bool
	}{
		{KoalaBear, []int64{-4}, true},
		{KoalaBear, []int64{koalabear.Modulus - 4}, true},
		{KoalaBear, []int64{koalabear.Modulus - 5}, false},
		{Goldilocks, []int64{-1, -3}, true},
		{Goldilocks, []int64{math.MaxInt64 - 1, math.MaxInt64 - 1}, false},    // 2^64 - 4
		{Goldilocks, []int64{math.MaxInt64 - 1, math.MaxInt64 - 1<<32}, true}, // p - 4
	} {
		params := attackParams
		params.Degree = map[Field]int{KoalaBear: 4, Goldilocks: 2}[c.field]
		s := must.Get(New(Config{c.field, Keccak, params}, table))(t)
		about := Statement{Forms: []Form{{4}}}
		for _, times := range c.times {
			about.Messages = append(about.Messages, Message{"bus", times, []uint64{0}})
		}
		proof, err := s.Prove(t.Context(), executor.Serial(), []Trace{trace}, about, Options{})
		if !c.holds {
			must.Fail(t, err, zkbench.ErrWitness, "%s, %v", c.field, c.times)
			continue
		}
		must.Do(t, err)
		must.Do(t, s.Verify(proof, about))
		must.Do(t, s.Check(t.Context(), executor.Serial(), []Trace{trace}, about))
	}
}

// TestEveryCell: each cell that is changed is named by Check, refused by Prove, and rejected where
// a prover proves it all the same.
func TestEveryCell(t *testing.T) {
	attacks(t, testEveryCell[bear, quartic], testEveryCell[cell, ext.Quadratic], testEveryCell[cell, ext.Cubic])
}

func testEveryCell[E field.Element[E], X field.Extension[E, X]](t *testing.T) {
	s, _ := attacked[E, X](t, attackParams)
	for table, columns := range []int{4, 3} {
		for column := range columns {
			for _, row := range []int{0, 3, attackRows - 1} {
				name := fmt.Sprintf("table %d, row %d, column %d", table, row, column)
				change := func(at int, c *Cells) {
					if at == table {
						add(c, row, column, 5)
					}
				}
				proof, about := forced(t, s, forgery[E, X]{change: change})
				must.Fail(t, verified(t, s, proof, about), zkbench.ErrProof, "%s", name)
				traces, _ := attackTraces(change)
				_, err := s.Prove(t.Context(), executor.Serial(), traces, about, Options{})
				must.Fail(t, err, zkbench.ErrWitness, "%s", name)
				var wrong string
				switch {
				case table == 0 && column < 3: // a transition fails in the row before
					wrong = fmt.Sprintf(`table "bits", row %d: `, max(0, row-1))
				case table == 0:
					wrong = fmt.Sprintf(`table "bits", row %d: half`, row)
				case column < 2: // what is only received wrongly is named by its bus, and by who sent it
					wrong = `bus "seen": the tuple of table "bits", row `
				default:
					wrong = fmt.Sprintf(`table "seen", row %d: times`, row)
				}
				if !strings.Contains(err.Error(), wrong) {
					t.Errorf("%s: %v, and not %s", name, err, wrong)
				}
			}
		}
	}
}

// TestEveryByte: each byte of a proof that is changed is refused, or rejected.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	params := attackParams
	params.Queries, params.Grinding = 3, 2
	everyByte := func(s *System, proof []byte, about Statement) {
		must.Do(t, s.Verify(proof, about))
		for i := range proof {
			for _, flip := range []byte{1, 0x80} {
				changed := append([]byte(nil), proof...)
				changed[i] ^= flip
				err := s.Verify(changed, about)
				if !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
					t.Fatalf("byte %d of %d: %v", i, len(proof), err)
				}
			}
		}
		for _, n := range []int{0, 1, len(proof) / 2, len(proof) - 1} {
			must.Fail(t, s.Verify(proof[:n], about), zkbench.ErrMalformed, "%d bytes", n)
		}
		must.Fail(t, s.Verify(append(proof, 0), about), zkbench.ErrMalformed, "a byte more")
	}
	s, _ := attacked[bear, quartic](t, params)
	proof, about := forced(t, s, forgery[bear, quartic]{})
	everyByte(s, proof, about)
	s = must.Get(New(Config{KoalaBear, Keccak, params}, fixedTables(nil)...))(t)
	traces, about := fixedTraces(nil)
	everyByte(s, must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t), about)
	s = must.Get(New(Config{KoalaBear, Keccak, params}, mixedTables(0, nil)...))(t)
	traces, about = mixedTraces(mixedForms[2], 0, nil)
	everyByte(s, must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t), about)
	s, image := imageSystem(t, Config{KoalaBear, Keccak, params}, 0, []int{2})
	traces, about = imageTraces(mixedForms[2], 0, image, nil)
	proof = must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
	everyByte(s, proof, about)
	// A commitment of which a byte is changed does not decode, or is another one.
	for i := range image.Bytes() {
		changed := image.Bytes()
		changed[i] ^= 1
		other, err := s.DecodeImage(changed)
		if err != nil {
			must.Fail(t, err, zkbench.ErrMalformed, "byte %d of a commitment", i)
			continue
		}
		about.Image = other
		if err := s.Verify(proof, about); !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrParams) {
			t.Fatalf("byte %d of a commitment: %v", i, err)
		}
	}
}

// TestStatement: a proof is one of its statement, system and heights alone.
func TestStatement(t *testing.T) {
	attacks(t, testStatement[bear, quartic], testStatement[cell, ext.Quadratic], testStatement[cell, ext.Cubic])
}

func testStatement[E field.Element[E], X field.Extension[E, X]](t *testing.T) {
	s, y := attacked[E, X](t, attackParams)
	proof, about := forced(t, s, forgery[E, X]{})
	for name, change := range map[string]func(a *Statement){
		"public value": func(a *Statement) { a.Publics = []uint64{1} },
		"context":      func(a *Statement) { a.Context = nil },
		"message":      func(a *Statement) { a.Messages = []Message{{"seen", 1, []uint64{1, 2}}} },
		"messages that cancel out": func(a *Statement) {
			a.Messages = []Message{{"seen", 1, []uint64{1, 2}}, {"seen", -1, []uint64{1, 2}}}
		},
	} {
		other := about
		change(&other)
		must.Fail(t, verified(t, s, proof, other), zkbench.ErrProof, "%s", name)
	}
	traces, _ := attackTraces(nil)
	for name, change := range map[string]func(a *Statement){
		"too few publics":       func(a *Statement) { a.Publics = nil },
		"too many publics":      func(a *Statement) { a.Publics = []uint64{1, 2} },
		"public beyond order":   func(a *Statement) { a.Publics = []uint64{y.field.Order()} },
		"message to no bus":     func(a *Statement) { a.Messages = []Message{{"other", 1, []uint64{1, 2}}} },
		"nothing to no bus":     func(a *Statement) { a.Messages = []Message{{"other", 1, nil}} },
		"message of one value":  func(a *Statement) { a.Messages = []Message{{"seen", 1, []uint64{1}}} },
		"message of three":      func(a *Statement) { a.Messages = []Message{{"seen", 0, []uint64{1, 2, 3}}} },
		"message beyond orders": func(a *Statement) { a.Messages = []Message{{"seen", 1, []uint64{1, y.field.Order()}}} },
	} {
		other := about
		change(&other)
		must.Fail(t, verified(t, s, proof, other), zkbench.ErrParams, "%s", name)
		_, err := s.Prove(t.Context(), executor.Serial(), traces, other, Options{})
		must.Fail(t, err, zkbench.ErrParams, "prove %s", name)
	}
	for name, change := range map[string]func(s *Params){
		"name":  func(s *Params) { s.Name = "other" },
		"stack": func(s *Params) { s.Stack = 2 },
		"cap":   func(s *Params) { s.LogCap = 2 },
		"fold":  func(s *Params) { s.LogFold = 3 },
		"work":  func(s *Params) { s.Grinding = 1 },
	} {
		params := attackParams
		change(&params)
		other, _ := attacked[E, X](t, params)
		refused(t, other, proof, about, "another "+name, "")
	}
}

// TestForgeries: provers that choose what they send as they like.
func TestForgeries(t *testing.T) {
	attacks(t, testForgeries[bear, quartic], testForgeries[cell, ext.Quadratic], testForgeries[cell, ext.Cubic])
}

func testForgeries[E field.Element[E], X field.Extension[E, X]](t *testing.T) {
	change := func(table int, c *Cells) {
		if table == 0 {
			add(c, 2, 3, 1) // the half of a number, which nothing else reads
		}
	}
	unbalanced := func(table int, c *Cells) {
		if table == 1 {
			c.Set(1, 2, 2)
		}
	}
	// A message is received seven times, which its table does not allow, and the statement sends it.
	seven := func(table int, c *Cells) {
		if table == 1 {
			c.Set(14, 0, 50)
			c.Set(14, 1, 50)
			c.Set(14, 2, 7)
		}
	}
	send := func(about *Statement) { about.Messages = []Message{{"seen", -7, []uint64{50, 50}}} }
	type (
		forger  = prover[E, X]
		attempt = forgery[E, X]
	)
	before := func(step string, do func(p *forger)) map[string]func(p *forger) {
		return map[string]func(p *forger){step: do}
	}
	addUp := func(p *forger) { p.proof.sums[1] = neg[E](p.proof.sums[0]) }
	var none X
	solved := before("send values", func(p *forger) { solveQuotient(p, 0, none) })
	params := attackParams
	params.Grinding = 12
	s, _ := attacked[E, X](t, params)
	forgeries := map[string]attempt{
		"sums said to add up":            {change: unbalanced, before: before("send sums", addUp), says: `table "seen": its constraints`},
		"sums said to add up at the end": {change: unbalanced, before: before("end", addUp), says: "constraints"},
		"sums that do not add up":        {change: unbalanced, says: "answered as often"},
		// t(y) is linear in its first piece's first coordinates: they are solved for.
		"quotient's values that make the identity hold": {change: change, before: solved, says: "layer 0 differs from the value"},
		"the same, and layers of zeros":                 {change: change, before: solved, fold: falseFold[E, X], says: "layer 1 differs from the value"},
		"the other table's quotient": {change: seven, statement: send, before: before("send values", func(p *forger) {
			solveQuotient(p, 1, none)
		}), says: "layer 0 differs from the value"},
		"the other table": {change: seven, statement: send, says: `table "seen": its constraints`},
		"a nonce without work": {before: before(PhaseQueries, func(p *forger) {
			friOf(p).challenger = idle[E, X]{p.challenger}
		}), says: "the nonce"},
		"values at another point": {before: before("evaluate", func(p *forger) {
			p.y = p.y.Add(p.one())
		}), says: `table "bits": its constraints`},
		"next row's values from this one": {before: before("send values", func(p *forger) {
			p.proof.values[ofColumns][0][1] = p.proof.values[ofColumns][0][0]
		}), says: `table "bits": its constraints`},
		"columns exchanged between slots": {before: before("send values", func(p *forger) {
			v := p.proof.values[ofColumns][0][0]
			v[0], v[1] = v[1], v[0]
		}), says: `table "bits": its constraints`},
		"a height that is another": {before: before("end", func(p *forger) {
			p.proof.rows[0]--
		}), says: ""},
		"heights exchanged": {before: before("end", func(p *forger) {
			p.proof.rows[0], p.proof.rows[1] = p.proof.rows[1], p.proof.rows[0]
		})}, // refused by decoding or later, as many numbers as there are
		"a last polynomial that is another": {before: before("send final", func(p *forger) {
			p.proof.fri.final[1] = p.one()
		}), says: "the last polynomial differs from the value"},
		"a quotient that is too long": {before: before(PhaseQuotient, func(p *forger) {
			addPower(p, p.extended[ofQuotients][0])
		}), says: `table "bits": its constraints`},
		"a column that is too long": {before: before(PhaseCommit, func(p *forger) {
			addPower(p, p.extended[ofColumns][1])
		}), says: `table "seen": its constraints`},
	}
	// What is shown of a tree is another, or leads to another digest of its cap.
	shown := func(of, says string, leaf func(p *prover[E, X]) []E, path func(p *prover[E, X]) *tree.Digest) {
		forgeries["a leaf of "+of] = attempt{before: before("end", func(p *forger) { leaf(p)[0] = leaf(p)[0].Add(p.field.New(1)) }), says: says}
		forgeries["a path of "+of] = attempt{before: before("end", func(p *forger) { path(p)[0] ^= 1 }), says: says}
	}
	for phase, name := range phaseNames[:ofFixed] {
		says := fmt.Sprintf("tree %d: ", phase)
		shown(name, says, func(p *forger) []E { return p.proof.leaves[phase][0] }, func(p *forger) *tree.Digest { return &p.proof.paths[phase][0] })
		forgeries["a cap of "+name] = attempt{before: before("extend", func(p *forger) { p.challenger = exchanging[E, X]{p.challenger, name} }), says: says}
	}
	shown("the last layer", "layer 1: ", func(p *forger) []E { return p.proof.fri.folds[1][0] }, func(p *forger) *tree.Digest { return &p.proof.fri.routes[1][0] })
	forgeries["caps of layers"] = attempt{before: before(PhaseFRI, func(p *forger) { friOf(p).challenger = exchanging[E, X]{p.challenger, "layer"} }), says: "layer 0: "}
	for name, f := range forgeries {
		proof, about := forced(t, s, f)
		refused(t, s, proof, about, name, f.says)
	}
}

// solveQuotient replaces the first piece's value so that a table's identity fails by the given amount.
func solveQuotient[E field.Element[E], X field.Extension[E, X]](p *prover[E, X], table int, by X) {
	var none X
	values := p.proof.values[ofQuotients][table][0]
	for i := range p.layout.degree {
		values[i] = none
	}
	solve(p, table, &values[0], by) // at the unit's coordinate
}

// solve sets a value so that the defect of a table's identity, which is linear in it, is the given amount.
func solve[E field.Element[E], X field.Extension[E, X]](p *prover[E, X], table int, value *X, by X) {
	v := p.checker()
	at := func(x X) X {
		*value = x
		return v.defect(table, p.alpha, p.y, p.drawn)
	}
	var none X
	zero, one := at(none), at(p.one())
	if at(by.Sub(zero).Mul(one.Sub(zero).Inverse())) != by {
		panic("the identity was not solved for")
	}
}

// TestEveryCoordinate: what is not 0, or not the same, in one coordinate alone is seen: of sums, identities,
// layers and the last polynomial.
func TestEveryCoordinate(t *testing.T) {
	attacks(t, testEveryCoordinate[bear, quartic], testEveryCoordinate[cell, ext.Quadratic], testEveryCoordinate[cell, ext.Cubic])
}

func testEveryCoordinate[E field.Element[E], X field.Extension[E, X]](t *testing.T) {
	s, y := attacked[E, X](t, attackParams)
	for k := range y.degree() {
		var unit X
		unit[k] = y.field.New(1)
		seen := func(f forgery[E, X], reason string) {
			t.Helper()
			proof, about := forced(t, s, f)
			refused(t, s, proof, about, fmt.Sprintf("coordinate %d", k), reason)
		}
		before := func(step string, do func(p *prover[E, X])) forgery[E, X] {
			return forgery[E, X]{before: map[string]func(p *prover[E, X]){step: do}}
		}
		seen(before("send sums", func(p *prover[E, X]) { p.proof.sums[0] = p.proof.sums[0].Add(unit) }), "answered as often")
		for table, name := range []string{"bits", "seen"} {
			seen(before("send values", func(p *prover[E, X]) { solveQuotient(p, table, unit) }), fmt.Sprintf("table %q: its constraints", name))
		}
		for layer, reason := range []string{"layer 0 differs from the value", "layer 1 differs from the value", "the last polynomial differs from the value"} {
			seen(forgery[E, X]{fold: func(p *prover[E, X]) error {
				golden.Equal(t, "layers", 2, len(p.layout.folds))
				return foldWith(p, layer, unit)
			}}, reason)
		}
	}
}

// foldWith folds the true codeword and adds a constant to the content of layer at. If at is the number of
// layers, it adds to the last polynomial.
func foldWith[E field.Element[E], X field.Extension[E, X]](p *prover[E, X], at int, constant X) error {
	word, err := p.batched()
	if err != nil {
		return err
	}
	f, size := friOf(p), p.layout.size
	for i, fold := range append(slices.Clone(p.layout.folds), 0) {
		if i == at {
			for c := range word {
				added := field.NewVector[E](len(constant), word[c].Len())
				f.vectors.Fill(added, constant)
				f.vectors.AddTo(word[c], added)
			}
		}
		if fold == 0 {
			break
		}
		if err := f.commitLayer(layer[E]{word: word, size: size, fold: fold}); err != nil {
			return err
		}
		for range fold {
			r := p.challenger.Challenge("fold", false)
			if word, err = f.half(word, size, r); err != nil {
				return err
			}
			size--
		}
	}
	return f.last(word[0], size)
}

// addPower adds X^(2n) to the first of columns of n rows. Four times as many points can hold it.
func addPower[E field.Element[E], X field.Extension[E, X]](p *prover[E, X], x *extended[E]) {
	for c := range x.cosets {
		column := x.column(c, 0)
		for i, u := range p.points.all(c, x.rows) {
			column[i] = column[i].Add(field.Power(p.field.New(1), u, uint64(2*len(column))))
		}
	}
}

// FuzzVerify: of whatever bytes a verifier says that they are no proof, or finds that they do not
// decode; and of those that decode the encoding is one.
func FuzzVerify(f *testing.F) {
	params := attackParams
	params.Queries = 2
	type target struct {
		*System
		about Statement
		proof []byte
	}
	var targets []target
	var images [][][]uint64
	add := func(traces []Trace, about Statement, tables ...*air.Table) {
		s := must.Get(New(Config{KoalaBear, Keccak, params}, tables...))(f)
		if images != nil {
			about.Image = must.Get(s.Image(f.Context(), executor.Serial(), images...))(f)
		}
		proof := must.Get(s.Prove(f.Context(), executor.Serial(), traces, about, Options{}))(f)
		f.Add(proof)
		targets = append(targets, target{s, about, proof})
	}
	traces, about := attackTraces(nil)
	add(traces, about, bitsTable(), seenTable())
	traces, about = fixedTraces(nil)
	add(traces, about, fixedTables(nil)...)
	traces, about = mixedTraces(mixedForms[1], 0, nil)
	add(traces, about, mixedTables(0, nil)...)
	tables, contents := imageTables(0, []int{2}, nil)
	images = contents
	add(traces, about, tables...)
	f.Add([]byte{3, 4})
	f.Add([]byte{255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range targets {
			err := s.Verify(data, s.about)
			if string(data) != string(s.proof) && !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
				t.Fatal(err)
			}
			if len(data) < len(s.tables) {
				continue
			}
			var rows []int
			for _, b := range data[:len(s.tables)] {
				rows = append(rows, int(b))
			}
			y := s.engine.(*system[bear, quartic])
			l, err := y.layout(s.statement, rows)
			if err != nil {
				continue
			}
			decoded := &proof[bear, quartic]{rows: rows}
			c := &coder[bear, quartic]{field: y.field, digest: y.canonical, layout: l, in: data[len(rows):], read: true}
			if c.body(decoded); c.err != nil {
				continue
			}
			if again := (&prover[bear, quartic]{field: y.field, layout: l, proof: decoded}).encode(); string(again) != string(data) {
				t.Error("two encodings of one proof")
			}
		}
	})
}

// exchanging is the challenger of a prover that exchanges the first digests of caps.
type exchanging[E, X any] struct {
	challenger.Challenger[E, X]
	label string
}

func (e exchanging[E, X]) Digests(label string, top []tree.Digest) {
	if label == e.label {
		top[0], top[1] = top[1], top[0]
	}
	e.Challenger.Digests(label, top)
}

// idle is the challenger of a prover that does no work.
type idle[E, X any] struct {
	challenger.Challenger[E, X]
}

func (i idle[E, X]) Grind(_ context.Context, _ executor.Executor, label string, work int) (uint64, error) {
	const nonce = 5
	if i.CheckGrind(label, work, nonce) == nil {
		return 0, errors.New("the nonce has work by chance")
	}
	return nonce, nil
}
