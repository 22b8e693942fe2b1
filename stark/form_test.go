package stark_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// counter counts from 0 to the statement's number, so what it states depends on its height.
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
		{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4, 1)},
		{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: small(2, 1)},
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
		golden.Equal(t, "form of a proof that ends there", stark.Form{64}, must.Get(s.Form(proof[:1]))(t))

		must.FailGet(prove(64, about(63, stark.Form{128})))(t, zkbench.ErrParams, "traces of another form")
		must.Fail(t, s.Check(t.Context(), executor.Serial(), []stark.Trace{counting(64)}, about(63, stark.Form{128})), zkbench.ErrParams, "traces of another form")
		for name, forms := range map[string][]stark.Form{
			"no form": nil, "no heights": {nil}, "heights of two tables": {{64, 64}}, "63 rows": {{63}}, "a row": {{1}}, "none": {{0}}, "less than none": {{-64}},
			"a second form that is none": {{64}, {3}}, "17 forms": slices.Repeat([]stark.Form{{64}}, 17),
		} {
			must.Fail(t, s.Verify(proof, about(63, forms...)), zkbench.ErrParams, "%s", name)
			must.FailGet(prove(64, about(63, forms...)))(t, zkbench.ErrParams, "%s", name)
			must.Fail(t, s.Check(t.Context(), executor.Serial(), []stark.Trace{counting(64)}, about(63, forms...)), zkbench.ErrParams, "%s", name)
		}
		two := must.Get(stark.New(c, counter(), squares()))(t)
		golden.Equal(t, "form of two tables", stark.Form{64, 8}, must.Get(two.Form([]byte{6, 3}))(t))
		must.FailGet(two.Form(proof[:1]))(t, zkbench.ErrMalformed, "a height of two")
		for name, proof := range map[string][]byte{"nothing": nil, "height 1": {0}, "height 2^63": {63}, "height 2^255": {255}} {
			must.FailGet(s.Form(proof))(t, zkbench.ErrMalformed, "%s", name)
		}
	}
}

// TestFit: of the forms that hold the rows it is the one of the fewest cells, whatever their order. If none does, the
// error names the table that lacks most in the form that comes nearest.
func TestFit(t *testing.T) {
	t.Parallel()
	named := func(name string, columns int) *air.Table {
		return &air.Table{Name: name, Columns: columns, State: func(b *air.Builder) { b.Zero(air.First, "begins", b.Here(0)) }}
	}
	narrow, broad := named("narrow", 1), named("broad", 9)
	forms := []stark.Form{{1024, 64}, {64, 1024}, {256, 64}, {64, 64}}
	for _, zero := range []bool{false, true} {
		params := small(2, 1)
		params.ZeroKnowledge = zero
		s := must.Get(stark.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Params: params}, narrow, broad))(t)
		random := params.Random()
		for _, c := range []struct {
			rows, want []int
			lacks      string
		}{
			{[]int{0, 0}, forms[3], ""},
			{[]int{64, 64}, forms[3], ""},
			{[]int{65, 64}, forms[2], ""},
			{[]int{257, 1}, forms[0], ""},
			{[]int{1, 65}, forms[1], ""},
			{[]int{1025, 1}, nil, `"narrow": 1025, at most 1024`},
			{[]int{65, 65}, nil, `"broad": 65, at most 64`},      // {256, 64} has fewer cells than {64, 1024}
			{[]int{129, 1024}, nil, `"narrow": 129, at most 64`}, // {64, 1024} lacks 2 doublings, the others 4
		} {
			rows := []int{max(0, c.rows[0]-random), max(0, c.rows[1]-random)}
			got, err := s.Fit(forms, rows)
			if c.lacks == "" {
				must.Do(t, err)
				golden.Equal(t, fmt.Sprintf("form of %d rows", c.rows), c.want, got)
				continue
			}
			must.Fail(t, err, zkbench.ErrLimit, "%d rows", c.rows)
			if want := "limit exceeded: rows of table " + c.lacks + " accepted"; !zero {
				golden.Equal(t, "error", want, err.Error())
			}
		}
		must.FailGet(s.Fit(nil, []int{1, 1}))(t, zkbench.ErrParams, "no form")
		must.FailGet(s.Fit(forms, []int{1}))(t, zkbench.ErrParams, "rows of a table of two")
		must.FailGet(s.Fit([]stark.Form{{64, 64}, {3, 64}}, []int{1, 1}))(t, zkbench.ErrParams, "a form that is none")
	}
}

// bear is KoalaBear's order.
const bear = 1<<31 - 1<<24 + 1

// wide asks for a value three times in each row, with a multiplicity that it constrains to 24 bits.
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
	s := must.Get(stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4, 1)}, wide(1<<24-1), bytesTable()))(t)
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
	must.Fail(t, s.Verify([]byte{7, 8}, about), zkbench.ErrParams, "verify")
	must.FailGet(s.Security(stark.Form{rows, 256}, 0))(t, zkbench.ErrParams, "security")
	must.Get(s.Security(stark.Form{32, 256}, 0))(t) // 96 (2^24 - 1) are below p
	must.FailGet(s.Security(stark.Form{64, 256}, 0))(t, zkbench.ErrParams, "security of 192 asks")

	// A table that states less than it constrains would be believed: proofs of it are accepted, and so 1000.
	liar := must.Get(stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4, 1)}, wide(1), bytesTable()))(t)
	must.Do(t, liar.Check(t.Context(), executor.Serial(), traces, about), "what the bound keeps out")
}

// asking returns a table that asks buses, each up to the given number of times in a row.
func asking(name string, most map[string][]uint64) *air.Table {
	return &air.Table{Name: name, Columns: 1, State: func(b *air.Builder) {
		for bus, all := range most {
			for _, n := range all {
				b.AskUpTo(n, bus, b.Here(0), b.Here(0))
			}
		}
	}}
}

// TestWrapCounts: all asks of a bus count, of all tables, however large the numbers, and each bus by itself.
func TestWrapCounts(t *testing.T) {
	t.Parallel()
	koalaBear := stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4, 1)}
	overGoldilocks := stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Params: small(2, 1)}
	type asks = map[string][]uint64
	for name, c := range map[string]struct {
		config stark.Config
		tables []asks // of two rows each
		wraps  bool
	}{
		"p - 1":                     {koalaBear, []asks{{"a": {(bear - 1) / 2}}}, false},
		"p + 1":                     {koalaBear, []asks{{"a": {(bear + 1) / 2}}}, true},
		"two messages":              {koalaBear, []asks{{"a": {bear / 4, bear / 4}}}, false},
		"three messages":            {koalaBear, []asks{{"a": {bear / 4, bear / 4, 1}}}, true},
		"two tables":                {koalaBear, []asks{{"a": {bear / 4}}, {"a": {bear / 4}}}, false},
		"three tables":              {koalaBear, []asks{{"a": {bear / 4}}, {"a": {bear / 4}}, {"a": {1}}}, true},
		"two buses":                 {koalaBear, []asks{{"a": {bear / 2}, "b": {bear / 2}}}, false},
		"the first of two buses":    {koalaBear, []asks{{"a": {bear}, "b": {1}}}, true},
		"the second of two buses":   {koalaBear, []asks{{"a": {1}, "b": {bear}}}, true},
		"2^63":                      {overGoldilocks, []asks{{"a": {1 << 62}}}, false},
		"2^64":                      {overGoldilocks, []asks{{"a": {1 << 63}}}, true},
		"2^65 - 2":                  {overGoldilocks, []asks{{"a": {1<<64 - 1}}}, true},
		"2^64, by two messages":     {overGoldilocks, []asks{{"a": {1 << 62, 1 << 62}}}, true},
		"2^64 and 2, by three":      {overGoldilocks, []asks{{"a": {1 << 62, 1 << 62, 1}}}, true},
		"2^65 and 2, in two tables": {overGoldilocks, []asks{{"a": {1 << 63}}, {"a": {1 << 63, 1}}}, true},
	} {
		var tables []*air.Table
		var form stark.Form
		for i, most := range c.tables {
			tables, form = append(tables, asking(fmt.Sprint(i), most)), append(form, 2)
		}
		for range 16 { // buses are in no order
			_, err := must.Get(stark.New(c.config, tables...))(t).Security(form, 0)
			if c.wraps {
				must.Fail(t, err, zkbench.ErrParams, "%s", name)
			} else {
				must.Do(t, err, name)
			}
		}
	}
	// A fixed column asks by what its cells are below p, and answers by those of the lower half.
	for name, c := range map[string]struct {
		column []uint64
		wraps  bool
	}{
		"p - 1 asks":   {[]uint64{(bear + 1) / 2, (bear + 1) / 2}, false},
		"p asks":       {[]uint64{(bear + 1) / 2, (bear + 1) / 2, bear - 1, 0}, true},
		"2p - 2 asks":  {[]uint64{(bear + 1) / 2, (bear + 1) / 2, (bear + 1) / 2, (bear + 1) / 2}, true},
		"many answers": {[]uint64{(bear - 1) / 2, (bear - 1) / 2, (bear - 1) / 2, (bear - 1) / 2}, false},
	} {
		_, err := stark.New(koalaBear, &air.Table{Name: "links", Columns: 1, Fixed: [][]uint64{c.column}, State: func(b *air.Builder) { b.Link("a", 0, b.Here(0)) }})
		if c.wraps {
			must.Fail(t, err, zkbench.ErrParams, "%s", name)
		} else {
			must.Do(t, err, name)
		}
	}
	// So do all links of a table, and of all tables.
	half := [][]uint64{{(bear + 1) / 2, 0}, {1, (bear + 1) / 2}, {bear - 1, 1}}
	linked := func(name string, columns ...int) *air.Table {
		return &air.Table{Name: name, Columns: 1, Fixed: half, State: func(b *air.Builder) {
			for _, i := range columns {
				b.Link("a", i, b.Here(0))
			}
		}}
	}
	must.Get(stark.New(koalaBear, linked("one", 0, 1)))(t)
	must.FailGet(stark.New(koalaBear, linked("one", 0, 1, 2)))(t, zkbench.ErrParams, "three links")
	must.FailGet(stark.New(koalaBear, linked("one", 0, 1), linked("two", 2)))(t, zkbench.ErrParams, "links of two tables")
	must.FailGet(stark.New(koalaBear, linked("two", 2), linked("one", 0, 1)))(t, zkbench.ErrParams, "links of two tables, in another order")
	publics := func(i int) error {
		_, err := (&air.Table{Name: "reads", Columns: 1, State: func(b *air.Builder) { b.Zero(air.First, "public", b.Public(i)) }}).Compile()
		return err
	}
	must.Do(t, publics(1<<20-1))
	for _, i := range []int{-1, 1 << 20, math.MaxInt} {
		must.Fail(t, publics(i), zkbench.ErrParams, "public value %d", i)
	}
	none := &air.Table{Name: "none", Columns: 1, State: func(b *air.Builder) { b.AskUpTo(0, "a", b.Here(0), b.Here(0)) }}
	must.FailGet(stark.New(koalaBear, none))(t, zkbench.ErrParams, "up to 0 asks")
}

// TestFewRows: a table with no row but random ones asks for nothing, and is refused for its height.
func TestFewRows(t *testing.T) {
	t.Parallel()
	params := small(4, 1)
	params.ZeroKnowledge = true
	asks := &air.Table{Name: "asks", Columns: 2, State: func(b *air.Builder) { b.Ask("byte", b.Here(0), b.Here(1)) }}
	s := must.Get(stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: params}, asks, bytesTable()))(t)
	err := s.Verify([]byte{1, 8}, stark.Statement{Forms: []stark.Form{{2, 256}}})
	must.Fail(t, err, zkbench.ErrParams, "2 rows")
	golden.Contains(t, err.Error(), `table "asks" has 2^1 rows, of which`)
}

// TestWrapOfTables: what a caller does with its tables after New changes nothing. By the columns as they are then "1000 is
// one of 0 to 3" would be asked p times, and answered by nobody.
func TestWrapOfTables(t *testing.T) {
	t.Parallel()
	const half = (bear - 1) / 2
	asks := &air.Table{Name: "asks", Columns: 1, Fixed: [][]uint64{{bear - half, 0, 0, 0}}, State: func(b *air.Builder) { b.Link("byte", 0, b.Here(0)) }}
	four := &air.Table{Name: "bytes", Columns: 1, Fixed: [][]uint64{{0, 1, 2, 3}}, State: func(b *air.Builder) { b.Answer("byte", b.Here(0), b.Fixed(0)) }}
	s := must.Get(stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4, 1)}, asks, four))(t)
	about := stark.Statement{Forms: []stark.Form{{4, 4}}, Messages: []stark.Message{{Bus: "byte", Times: -half - 1, Tuple: []uint64{1000}}}}
	traces := []stark.Trace{
		{Rows: 4, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
			c.Set(0, 0, 1000)
			return nil
		}},
		{Rows: 4, Fill: func(context.Context, executor.Executor, *stark.Cells) error { return nil }},
	}
	for _, change := range []func(){func() {}, func() { clear(asks.Fixed[0]) }, func() { *asks = air.Table{} }} {
		change()
		must.FailGet(s.Prove(t.Context(), executor.Serial(), traces, about, stark.Options{}))(t, zkbench.ErrParams, "prove")
		must.Fail(t, s.Check(t.Context(), executor.Serial(), traces, about), zkbench.ErrParams, "check")
		must.Fail(t, s.Verify([]byte{2, 2}, about), zkbench.ErrParams, "verify")
	}
}

// TestWrapOfStatement: what a statement asks for counts.
func TestWrapOfStatement(t *testing.T) {
	t.Parallel()
	s := must.Get(stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4, 1)}, bytesTable()))(t)
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
	must.Fail(t, s.Verify([]byte{8}, ask(1-bear)), zkbench.ErrMalformed, "p - 1 times")
	must.Fail(t, s.Verify([]byte{8}, ask(1-bear, -1)), zkbench.ErrParams, "p times")
	must.FailGet(s.Prove(t.Context(), executor.Serial(), []stark.Trace{{Rows: 256, Fill: func(context.Context, executor.Executor, *stark.Cells) error { return nil }}}, ask(1-bear, -1), stark.Options{}))(t, zkbench.ErrParams, "p times")
}

// TestAskOnce: an ask of no bound is once a row at most, by a constraint that the table need not state.
func TestAskOnce(t *testing.T) {
	t.Parallel()
	asks := &air.Table{Name: "asks", Columns: 4, State: func(b *air.Builder) {
		b.Ask("byte", b.Here(0), b.Here(1))
		b.Ask("byte", b.Here(2), b.Here(1))
		b.Ask("byte", b.Here(0).Mul(b.Here(2)), b.Here(3))
	}}
	golden.Equal(t, "constraints: of two cells, and so of their product", 2, len(must.Get(asks.Compile())(t).Constraints))
	s := must.Get(stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4, 1)}, asks, bytesTable()))(t)
	for times, want := range map[[2]uint64]error{
		{0, 0}: nil, {1, 0}: nil, {0, 1}: nil, {1, 1}: nil,
		{2, 0}: zkbench.ErrWitness, {0, 2}: zkbench.ErrWitness, {bear - 1, 1}: zkbench.ErrWitness, {0, bear - 1}: zkbench.ErrWitness,
	} {
		err := s.Check(t.Context(), executor.Serial(), []stark.Trace{
			{Rows: 2, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
				c.Set(0, 0, times[0])
				c.Set(0, 1, 7)
				c.Set(0, 2, times[1])
				c.Set(0, 3, 9)
				return nil
			}},
			{Rows: 256, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
				for row := range 256 {
					c.Set(row, 0, uint64(row))
				}
				c.Set(7, 1, (times[0]+times[1])%bear)
				c.Set(9, 1, times[0]*times[1]%bear)
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
