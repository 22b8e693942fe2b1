package stark_test

import (
	"context"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// counter counts from 0 to the statement's number: what it says depends on its height.
func counter() *air.Table {
	return &air.Table{Name: "counter", Columns: 1, State: func(b *air.Builder) {
		b.Zero(air.First, "begins", b.Here(0))
		b.Zero(air.Transition, "counts", b.Next(0).Sub(b.Here(0)).Plus(-1))
		b.Zero(air.Last, "ends", b.Here(0).Sub(b.Public(0)))
	}}
}

// TestHeights: a proof of another form than the statement accepts is refused, and so is a statement without
// forms, or with forms that the tables do not have.
func TestHeights(t *testing.T) {
	t.Parallel()
	for _, c := range []stark.Config{
		{Field: stark.KoalaBear, Hash: stark.Keccak, Set: small(4, 1)},
		{Field: stark.Goldilocks, Hash: stark.Poseidon, Set: small(2, 1)},
	} {
		s := must.Get(stark.New(c, counter()))(t)
		about := func(last uint64, forms ...stark.Form) stark.Statement {
			return stark.Statement{Forms: forms, Publics: []uint64{last}}
		}
		prove := func(rows int, about stark.Statement) ([]byte, error) {
			return s.Prove(t.Context(), executor.Serial(), []stark.Trace{counting(rows)}, about, stark.Options{})
		}
		proof := must.Get(prove(64, about(63, stark.Form{64})))(t)
		must.Do(t, s.Verify(proof, about(63, stark.Form{64})))
		must.Do(t, s.Verify(proof, about(63, stark.Form{8}, stark.Form{64})), "one form of two")
		must.Fail(t, s.Verify(proof, about(63, stark.Form{128}, stark.Form{32})), zkbench.ErrProof, "other forms")
		golden.Equal(t, "form", stark.Form{64}, must.Get(s.Form(proof))(t))

		must.FailGet(prove(64, about(63, stark.Form{128})))(t, zkbench.ErrParams, "traces of another form")
		must.Fail(t, s.Check(t.Context(), executor.Serial(), []stark.Trace{counting(64)}, about(63, stark.Form{128})), zkbench.ErrParams, "traces of another form")
		for name, forms := range map[string][]stark.Form{
			"no form": nil, "no heights": {nil}, "heights of two tables": {{64, 64}}, "63 rows": {{63}}, "a row": {{1}}, "none": {{0}}, "less than none": {{-64}},
			"a second form that is none": {{64}, {3}},
		} {
			must.Fail(t, s.Verify(proof, about(63, forms...)), zkbench.ErrParams, "%s", name)
			must.FailGet(prove(64, about(63, forms...)))(t, zkbench.ErrParams, "%s", name)
			must.Fail(t, s.Check(t.Context(), executor.Serial(), []stark.Trace{counting(64)}, about(63, forms...)), zkbench.ErrParams, "%s", name)
		}
		for name, proof := range map[string][]byte{"nothing": nil, "height 1": {0}, "height 2^63": {63}, "height 2^255": {255}} {
			must.FailGet(s.Form(proof))(t, zkbench.ErrMalformed, "%s", name)
		}
	}
}

// bear is KoalaBear's order.
const bear = 1<<31 - 1<<24 + 1

// wide asks three times a row for a value, with a multiplicity of 24 bits that it constrains.
func wide(most uint64) *air.Table {
	return &air.Table{Name: "asks", Columns: 25, State: func(b *air.Builder) {
		var bits []air.Expr
		for i := range 24 {
			bits = append(bits, b.Here(i))
			b.Zero(air.Everywhere, "a multiplicity's bit", bits[i].Bool())
		}
		for range 3 {
			b.AskUpTo(most, "byte", air.Pack(bits), b.Here(24))
		}
	}}
}

// bytesTable answers with 0 to 255.
func bytesTable() *air.Table {
	return &air.Table{Name: "bytes", Columns: 2, State: func(b *air.Builder) {
		b.Zero(air.First, "begins", b.Here(0))
		b.Zero(air.Transition, "counts", b.Next(0).Sub(b.Here(0)).Plus(-1))
		b.Answer("byte", b.Here(1), b.Here(0))
	}}
}

// TestWrap: asks that add up to the field's order are none, so that "1000 is one of 0 to 255" would be answered
// by nobody. Of as many rows as that takes there is no proof, and Check says so.
func TestWrap(t *testing.T) {
	t.Parallel()
	s := must.Get(stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Set: small(4, 1)}, wide(1<<24-1), bytesTable()))(t)
	const rows = 128
	// What rows ask, thrice each, adds up to three times p.
	traces := []stark.Trace{
		{Rows: rows, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
			left := uint64(bear)
			for row := range rows {
				times := min(left, 1<<24-1)
				left -= times
				for i := range 24 {
					c.Set(row, i, times>>i&1)
				}
				c.Set(row, 24, 1000)
			}
			if left != 0 {
				t.Errorf("%d are left", left)
			}
			return nil
		}},
		{Rows: 256, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
			for row := range 256 {
				c.Set(row, 0, uint64(row))
			}
			return nil
		}},
	}
	about := stark.Statement{Forms: []stark.Form{{rows, 256}}}
	must.FailGet(s.Prove(t.Context(), executor.Serial(), traces, about, stark.Options{}))(t, zkbench.ErrParams, "prove")
	must.Fail(t, s.Check(t.Context(), executor.Serial(), traces, about), zkbench.ErrParams, "check")
	must.Fail(t, s.Verify([]byte{7, 8}, about), zkbench.ErrMalformed, "verify")
	must.FailGet(s.Security(stark.Form{rows, 256}, 0))(t, zkbench.ErrParams, "security")
	must.Get(s.Security(stark.Form{32, 256}, 0))(t) // 96 (2^24 - 1) are below p
	must.FailGet(s.Security(stark.Form{64, 256}, 0))(t, zkbench.ErrParams, "security of 192 asks")

	// A table that states less than it constrains would be believed: proofs of it are accepted, and so 1000.
	liar := must.Get(stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Set: small(4, 1)}, wide(1), bytesTable()))(t)
	must.Do(t, liar.Check(t.Context(), executor.Serial(), traces, about), "what the bound keeps out")
}

// TestWrapOfStatement: what a statement asks for counts.
func TestWrapOfStatement(t *testing.T) {
	t.Parallel()
	s := must.Get(stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Set: small(4, 1)}, bytesTable()))(t)
	ask := func(times ...int64) stark.Statement {
		about := stark.Statement{Forms: []stark.Form{{256}}}
		for _, n := range times {
			about.Messages = append(about.Messages, stark.Message{Bus: "byte", Times: n, Tuple: []uint64{1000}})
		}
		return about
	}
	check := func(about stark.Statement) error {
		return s.Check(t.Context(), executor.Serial(), []stark.Trace{{Rows: 256, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
			for row := range 256 {
				c.Set(row, 0, uint64(row))
			}
			return nil
		}}}, about)
	}
	must.Fail(t, check(ask(1-bear)), zkbench.ErrWitness, "p - 1 times, which nobody answers")
	must.Fail(t, check(ask(1-bear, -1)), zkbench.ErrParams, "p times")
	must.Fail(t, s.Verify([]byte{8}, ask(1-bear, -1)), zkbench.ErrMalformed, "p times")
}

// TestAskOnce: an ask of no bound is once a row at most, by a constraint that the table need not state.
func TestAskOnce(t *testing.T) {
	t.Parallel()
	asks := &air.Table{Name: "asks", Columns: 2, State: func(b *air.Builder) { b.Ask("byte", b.Here(0), b.Here(1)) }}
	s := must.Get(stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Set: small(4, 1)}, asks, bytesTable()))(t)
	for times, want := range map[uint64]error{0: nil, 1: nil, 2: zkbench.ErrWitness, bear - 1: zkbench.ErrWitness} {
		err := s.Check(t.Context(), executor.Serial(), []stark.Trace{
			{Rows: 2, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
				c.Set(0, 0, times)
				c.Set(0, 1, 7)
				return nil
			}},
			{Rows: 256, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
				for row := range 256 {
					c.Set(row, 0, uint64(row))
				}
				c.Set(7, 1, times)
				return nil
			}},
		}, stark.Statement{Forms: []stark.Form{{2, 256}}})
		if want == nil {
			must.Do(t, err, times)
			continue
		}
		must.Fail(t, err, want, "%d times", times)
		golden.Contains(t, err.Error(), `asks "byte" once at most`)
	}
}
