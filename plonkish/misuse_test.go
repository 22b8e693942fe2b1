package plonkish

import (
	"errors"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestUnheldIsRefused: what looks like 0 to whoever writes a circuit, and is whatever a prover likes,
// is refused by the name of its cell. Each of these circuits was built, and a false proof accepted.
func TestUnheldIsRefused(t *testing.T) {
	sum := func(b *Builder) Kind { return b.Kind(Arithmetic(), element(0), element(1), element(1), element(-1)) }
	for _, test := range []struct {
		name  string
		arith Arithmetization
		rows  func(b *Builder)
		want  UnheldError
		text  string
	}{
		{"3 + 4 = 0", Plonk(), func(b *Builder) {
			b.Row(sum(b), []Var{b.Public(element(3)), b.Public(element(4))})
		}, UnheldError{Row: 2, Column: "c", Reader: "arithmetic of 3", ReaderRow: 2}, `row 2: column "c" holds no value, but "arithmetic of 3" of row 2 reads it; give it a Var (Zero for 0) or a free value`},
		{"a Var that was never set", Plonk(), func(b *Builder) {
			var never Var
			b.Row(sum(b), []Var{b.Public(element(3)), never, b.Public(element(3))})
		}, UnheldError{Row: 2, Column: "b", Reader: "arithmetic of 3", ReaderRow: 2}, ""},
		{"a gate of one cell", Plonk(), func(b *Builder) {
			b.Row(b.Kind(Arithmetic(), element(0), element(1)), nil)
		}, UnheldError{Row: 0, Column: "a", Reader: "arithmetic of 3", ReaderRow: 0}, ""},
		{
			"a gate that is a cell",
			Arithmetization{Name: "zero", Columns: []string{"a", "b"}, Permuted: 2, Gates: []*Gate{{"zero", []Term{{"b", Cell(1)}}}}},
			func(b *Builder) { b.Row(b.Kind(b.arith.Gates[0]), nil) },
			UnheldError{Row: 0, Column: "b", Reader: "zero", ReaderRow: 0},
			"",
		},
		{"an operand of a lookup", bitwise(1), func(b *Builder) {
			b.Row(b.LookUp(0, 0, xor4), []Var{b.Public(element(3)), 0, b.Public(element(3))})
		}, UnheldError{Row: 2, Column: "b", Reader: "triple", ReaderRow: 2}, ""},
		{"an operand of the second lookup", bitwise(2), func(b *Builder) {
			x := b.Public(element(0))
			b.Row(b.LookUp(0, 0, xor4), []Var{x, x, x}, element(0))
			b.Row(b.LookUp(0, 1, below8), []Var{x, x, x})
		}, UnheldError{Row: 2, Column: "d", Reader: "range", ReaderRow: 2}, ""},
		{"a free cell that is not given", unusual(), func(b *Builder) {
			x := b.Public(element(2))
			b.Row(b.Kind(stride, element(3)), []Var{x})
			b.Row(0, []Var{x}, element(3))
		}, UnheldError{Row: 1, Column: "f", Reader: "stride", ReaderRow: 1}, ""},
		{"one of the next row", unusual(), func(b *Builder) {
			x := b.Public(element(2))
			b.Row(b.Kind(stride, element(3)), []Var{x}, element(-6))
			b.Row(0, []Var{x})
		}, UnheldError{Row: 2, Column: "f", Reader: "stride", ReaderRow: 1}, ""},
		{"a cell of the next row", TurboPlonk(), func(b *Builder) {
			x := b.Public(element(0))
			b.Row(b.Kind(Range()), []Var{x, x, x, x})
			b.Row(0, nil)
		}, UnheldError{Row: 2, Column: "a", Reader: "range", ReaderRow: 1}, ""},
		{"the row after the last", TurboPlonk(), func(b *Builder) {
			x := b.Public(element(0))
			b.Row(b.Kind(Range()), []Var{x, x, x, x})
		}, UnheldError{Row: 2, Column: "a", Behind: true, Reader: "range", ReaderRow: 1}, `row 2, after the last one: "range" of row 1 reads its column "a"; add that row`},
		{"the row behind a lookup", nextAlone(), func(b *Builder) {
			b.Row(b.LookUp(0, 0, below8), []Var{b.Var(element(0))}, element(0), element(0))
		}, UnheldError{Row: 1, Column: "g", Behind: true, Reader: "next g", ReaderRow: 0}, ""},
		{"a late cell that is not filled", shuffled(), func(b *Builder) {
			b.Row(b.Kind(b.arith.Gates[0]), nil)
			b.Row(b.Kind(b.arith.Gates[2]), nil)
		}, UnheldError{Row: 1, Column: "p", Reader: "end", ReaderRow: 1}, ""},
		{"a public value that no row holds", Plonk(), func(b *Builder) {
			b.Public(element(3))
			b.Row(b.Kind(Arithmetic(), element(0), element(1)), []Var{b.Var(element(0))})
		}, UnheldError{Column: "a"}, "public value 0: no gate and no lookup reads it, so any number would do"},
		{"one whose row says nothing", Plonk(), func(b *Builder) {
			x := b.Public(element(3))
			b.Row(b.Kind(Arithmetic(), element(0), element(1)), []Var{b.Var(element(0)), x})
			b.Row(0, []Var{x})
		}, UnheldError{Column: "a"}, ""},
		{"two of which one is the other", Plonk(), func(b *Builder) {
			x := b.Public(element(3))
			b.Row(b.Kind(Arithmetic(), element(1), element(0), element(0), element(-1)), []Var{x, x, b.Public(element(9))})
			b.Equal(b.Public(element(5)), b.Public(element(5)))
		}, UnheldError{Row: 2, Column: "a"}, ""},
	} {
		b := NewBuilder(test.arith)
		test.rows(b)
		_, err := b.Build()
		var unheld *UnheldError
		if !errors.As(err, &unheld) || !errors.Is(err, zkbench.ErrParams) {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		golden.Equal(t, test.name, test.want, *unheld)
		if test.text != "" {
			golden.Equal(t, test.name, "invalid parameters: "+test.text, err.Error())
		}
	}
}

// TestZero: a zero is a value that a row fixes, in each arithmetization of the package and in one of whose
// gates one can say so; where none can, Build says that.
func TestZero(t *testing.T) {
	for _, a := range []Arithmetization{Plonk(), TurboPlonk(), UltraPlonk(), bitwise(1)} {
		b := NewBuilder(a)
		zero := b.Zero()
		golden.Equal(t, a.Name+": the same zero", zero, b.Zero())
		golden.Equal(t, a.Name+": rows", 1, b.Rows())
		c, err := b.Build()
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
			continue
		}
		golden.Equal(t, a.Name+": rows of the circuit", 1, c.Rows())
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
		c = c.withValues(func(c *Circuit) { c.values[zero].SetOne() })
		if err := c.Check(); !errors.Is(err, zkbench.ErrWitness) {
			t.Errorf("%s: a zero that is 1: %v", a.Name, err)
		}
	}
	golden.Equal(t, "rows without a zero", 0, NewBuilder(Plonk()).Rows())
	// Its row is one of those that fill a circuit's size.
	for rows, want := range map[int]int{3: 8, 4: 16} {
		b := NewBuilder(Plonk())
		for range rows {
			b.Row(0, []Var{b.Zero()})
		}
		golden.Equal(t, "size", want, must.Get(b.Build())(t).Size())
	}
	// It stands behind all rows: none that reads the next one reads it.
	b := NewBuilder(TurboPlonk())
	k := b.Kind(Range())
	b.Row(k, []Var{b.Zero(), b.Zero(), b.Zero(), b.Zero()})
	b.Row(0, []Var{b.Zero()})
	if c, err := b.Build(); err != nil || c.Check() != nil || c.Rows() != 3 {
		t.Errorf("a range of zeros: %v", err)
	}
	b = NewBuilder(TurboPlonk())
	b.Row(b.Kind(Range()), []Var{b.Zero(), b.Zero(), b.Zero(), b.Zero()})
	var unheld *UnheldError
	if _, err := b.Build(); !errors.As(err, &unheld) || unheld.Row != 1 {
		t.Errorf("a zero read as the next row: %v", err)
	}
	for _, a := range []Arithmetization{unusual(), shuffled()} {
		b = NewBuilder(a)
		b.Zero()
		must.FailGet(b.Build())(t, zkbench.ErrParams, "a zero in arithmetization %q", a.Name)
	}
}

// TestParametersDecideWhatIsRead: what one kind of rows does not read, as its parameters are 0, another does.
func TestParametersDecideWhatIsRead(t *testing.T) {
	for _, sum := range []bool{false, true} {
		b := NewBuilder(Plonk())
		x, zero := b.Public(element(0)), element(0)
		b.Row(b.Kind(Arithmetic(), zero, element(1)), []Var{x})
		if sum {
			b.Row(b.Kind(Arithmetic(), zero, element(1), element(1)), []Var{x})
		}
		b.Row(b.Kind(Arithmetic(), zero, element(2)), []Var{x})
		var unheld *UnheldError
		if _, err := b.Build(); errors.As(err, &unheld) != sum || sum && (unheld.Row != 2 || unheld.Column != "b") {
			t.Errorf("a row that reads b, %v: %v", sum, err)
		}
	}
}

// TestVanishes: a gate that is a constant without its parameters does not vanish, and needs its selector.
func TestVanishes(t *testing.T) {
	for constant, want := range map[int64]bool{0: true, 1: false} {
		g := &Gate{"g", []Term{{"t", Param(0).Mul(Cell(0)).Add(Int(constant).Mul(Int(2)))}}}
		golden.Equal(t, "vanishes without parameters", want, g.vanishes())
	}
}

// TestTablesHoldZeros: a cell that is a part of a lookup by itself is 0 if the table has nothing else there,
// whatever else reads it; one that is in a sum is not.
func TestTablesHoldZeros(t *testing.T) {
	zeros := &Table{"zeros", [][]fr.Element{numbers(4, 1), numbers(4, 0)}}
	some := &Table{"some", [][]fr.Element{numbers(4, 1), append(numbers(3, 0), element(1))}}
	params := func(at ...int) []fr.Element {
		all := make([]fr.Element, 10)
		for _, i := range at {
			all[i].SetOne()
		}
		return all
	}
	for name, test := range map[string]struct {
		table  *Table
		params []fr.Element
		reader string // of what is refused; "": nothing
	}{
		"a table of one column":     {below8, params(), ""},
		"a column of zeros":         {zeros, params(), ""},
		"read by the gate, too":     {below8, params(4), ""},
		"a column of other numbers": {some, params(), "table"},
		"in a difference":           {below8, params(8), "table"},
	} {
		b := NewBuilder(UltraPlonk())
		b.Row(b.LookUp(b.Kind(Arithmetic5(), test.params...), 0, test.table), []Var{b.Public(element(0))})
		b.Row(0, nil)
		_, err := b.Build()
		var unheld *UnheldError
		if refused := errors.As(err, &unheld); refused != (test.reader != "") || refused && (unheld.Reader != test.reader || unheld.Column != "xa") || !refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A lookup of the row before says what a cell is, for the row's gate too.
	next := Arithmetization{
		Name: "next", Columns: []string{"a", "b"}, Permuted: 2, Gates: []*Gate{{"difference", []Term{{"t", Cell(0).Sub(Cell(1))}}}},
		Lookups: []Lookup{{"next", []Expr{Next(0), Next(1)}}},
	}
	for table, held := range map[*Table]bool{below8: true, some: false} {
		b := NewBuilder(next)
		b.Row(b.LookUp(0, 0, table), nil)
		b.Row(b.Kind(next.Gates[0]), []Var{b.Public(element(0))})
		var unheld *UnheldError
		if _, err := b.Build(); errors.As(err, &unheld) == held || held && err != nil {
			t.Errorf("%s in the next row: %v", table.Name, err)
		}
	}
	// A part that parameters of 0 leave nothing of reads nothing.
	a := Arithmetization{Name: "part", Columns: []string{"a", "b"}, Permuted: 2, Params: 1, Lookups: []Lookup{{"l", []Expr{Cell(0), Param(0).Mul(Cell(1))}}}}
	b := NewBuilder(a)
	b.Row(b.LookUp(0, 0, below8), []Var{b.Public(element(0))})
	must.Get(b.Build())(t)
}

// TestManyParameters: of more parameters than a word has bits the last one is told from none, too.
func TestManyParameters(t *testing.T) {
	sum := Cell(0)
	for i := range 70 {
		sum = sum.Add(Param(i).Mul(Cell(1)))
	}
	a := Arithmetization{Name: "many", Columns: []string{"a", "b"}, Permuted: 2, Params: 70, Gates: []*Gate{{"sum", []Term{{"sum", sum}}}}}
	for last := range 70 {
		b := NewBuilder(a)
		x := b.Public(element(0))
		b.Row(b.Kind(a.Gates[0]), []Var{x})
		params := make([]fr.Element, 70)
		params[last].SetOne()
		b.Row(b.Kind(a.Gates[0], params...), []Var{x})
		var unheld *UnheldError
		if _, err := b.Build(); !errors.As(err, &unheld) || unheld.Row != 2 || unheld.Column != "b" {
			t.Errorf("parameter %d: %v", last, err)
		}
	}
}

// TestLateRows: late cells are filled in the rows that are told, and in no other.
func TestLateRows(t *testing.T) {
	g := &Gate{"late", []Term{{"times", Cell(1).Sub(Challenge().Mul(Cell(0)))}}}
	a := Arithmetization{Name: "late", Columns: []string{"a", "l"}, Permuted: 1, Late: 1, Gates: []*Gate{g}}
	for unfilled, want := range map[int]bool{-1: true, 0: false, 1: false, 2: false, 3: false} {
		b := NewBuilder(a)
		for row := range 4 {
			b.Row(b.Kind(g), []Var{b.Var(element(1))})
			if row != unfilled {
				b.Late(1, func(challenge fr.Element, cells [][]fr.Element) { cells[0][0] = challenge })
			}
		}
		c, err := b.Build()
		var unheld *UnheldError
		switch {
		case want && (err != nil || c.Check() != nil):
			t.Error(err)
		case !want && (!errors.As(err, &unheld) || unheld.Row != unfilled || unheld.Column != "l"):
			t.Errorf("row %d is not filled: %v", unfilled, err)
		}
	}
	// The other cells of a row that is filled are as those of any.
	b := NewBuilder(a)
	b.Row(b.Kind(g), nil)
	b.Late(1, func(_ fr.Element, cells [][]fr.Element) { cells[0][0] = element(0) })
	var unheld *UnheldError
	if _, err := b.Build(); !errors.As(err, &unheld) || unheld.Column != "a" {
		t.Errorf("no value of a: %v", err)
	}
}

// TestGatesOfAnother: a gate is the arithmetization's if name and terms are, and what a caller does to its own gate
// changes no other.
func TestGatesOfAnother(t *testing.T) {
	renamed, less, other, copied := Arithmetic(), Range(), Range(), Range()
	renamed.Name = "mine"
	less.Terms = less.Terms[:3]
	other.Terms[0].Zero = Cell(0)
	for name, test := range map[string]struct {
		arith Arithmetization
		gate  *Gate
	}{"another name": {Plonk(), renamed}, "a term less": {TurboPlonk(), less}, "another term": {TurboPlonk(), other}, "another arithmetization's": {Plonk(), copied}} {
		b := NewBuilder(test.arith)
		b.Kind(test.gate)
		must.FailGet(b.Build())(t, zkbench.ErrParams, "%s", name)
	}
	b := NewBuilder(TurboPlonk())
	b.Kind(copied)
	b.Kind(nil)
	must.Get(b.Build())(t)
	arith := TurboPlonk()
	arith.Gates = append(arith.Gates, nil)
	b = NewBuilder(arith)
	b.Kind(renamed)
	must.FailGet(b.Build())(t, zkbench.ErrParams, "a gate that is nil")
}

// TestChangesAfterwards: what a caller does to gates, lookups and tables that a Builder or a key has been given changes
// nothing. With an arithmetic gate without terms, 28 would be the cube of 3.
func TestChangesAfterwards(t *testing.T) {
	cube := func(change func(a *Arithmetization, before bool)) *Circuit {
		a := Plonk()
		b := NewBuilder(a)
		change(&a, true)
		x, y, z := b.Var(element(3)), b.Var(element(9)), b.Public(element(28))
		product := b.Kind(Arithmetic(), element(1), element(0), element(0), element(-1))
		b.Row(product, []Var{x, x, y})
		b.Row(product, []Var{y, x, z})
		c := must.Get(b.Build())(t)
		change(&a, false)
		return c
	}
	emptied := func(a *Arithmetization) {
		a.Gates[0].Terms[0].Zero = Expr{}
		a.Gates[0].Terms = nil
		a.Gates[0], a.Columns[0] = &Gate{Name: "another"}, "another"
	}
	want := cube(func(*Arithmetization, bool) {})
	for _, before := range []bool{true, false} {
		c := cube(func(a *Arithmetization, now bool) {
			if now == before {
				emptied(a)
			}
		})
		golden.Equal(t, "digest", want.digest, c.digest)
		golden.Equal(t, "digest made again", want.digest, c.sum())
		golden.Equal(t, "the error of Check", want.Check().Error(), c.Check().Error())
		k := setup(t, c)
		golden.Equal(t, "key", setup(t, want).Bytes(), k.Bytes())
		must.FailGet(k.Prove(t.Context(), executor.Serial(), c, Options{}))(t, zkbench.ErrWitness, "28 = 3^3, gates changed before the rows: %v", before)

		a := Plonk()
		read := must.Get(ReadVerifyingKey(a, k.Bytes()))(t)
		emptied(&a)
		golden.Equal(t, "a key that was read", k.Bytes(), read.Bytes())
	}

	a, table := UltraPlonk(), &Table{"table", [][]fr.Element{numbers(8, 1)}}
	b := NewBuilder(a)
	k := b.LookUp(0, 0, table)
	table.Columns[0][7] = element(9)
	table.Columns, table.Name = append(table.Columns, numbers(3, 1)), "another"
	a.Lookups[0].Tuple[0] = Expr{}
	a.Lookups[0].Name = "another"
	b.Row(k, []Var{b.Var(element(9))})
	b.Row(b.LookUp(0, 0, table), []Var{b.Var(element(7))})
	b.Row(0, nil)
	var unsatisfied *UnsatisfiedError
	if err := must.Get(b.Build())(t).Check(); !errors.As(err, &unsatisfied) || unsatisfied.Row != 0 || unsatisfied.Gate != "table" || unsatisfied.Term != "table" {
		t.Errorf("9 in a table of numbers below 8: %v", err)
	}
}

// TestFixes: a gate fixes a cell to 0 if it says that of this one cell, and nothing else.
func TestFixes(t *testing.T) {
	x, y := Cell(0), Cell(1)
	for name, test := range map[string]struct {
		terms  []Expr
		param  int64
		column int // -1: none
	}{
		"a cell":                {[]Expr{x}, 0, 0},
		"times a constant":      {[]Expr{Int(5).Mul(y)}, 0, 1},
		"a negative":            {[]Expr{Int(0).Sub(y)}, 0, 1},
		"a parameter":           {[]Expr{Param(0).Mul(y)}, 1, 1},
		"a parameter of 0":      {[]Expr{Param(0).Mul(y)}, 0, -1},
		"a 0 before":            {[]Expr{Param(0).Mul(y), x}, 0, 0},
		"a 0 behind":            {[]Expr{x, Param(0).Mul(y)}, 0, 0},
		"a sum":                 {[]Expr{x.Add(y)}, 0, -1},
		"the next row":          {[]Expr{Next(0)}, 0, -1},
		"another number":        {[]Expr{x.Sub(Int(2))}, 0, -1},
		"two numbers":           {[]Expr{x.Mul(x.Sub(Int(1)))}, 0, -1},
		"a square":              {[]Expr{x.Square()}, 0, -1},
		"any number":            {[]Expr{x.Sub(x)}, 0, -1},
		"no number":             {[]Expr{x, Int(1)}, 0, -1},
		"two cells":             {[]Expr{x, y}, 0, -1},
		"the same twice":        {[]Expr{y, y}, 0, -1},
		"a second that is read": {[]Expr{y, Next(0)}, 0, -1},
	} {
		g := &Gate{Name: name}
		for _, e := range test.terms {
			g.Terms = append(g.Terms, Term{"t", e})
		}
		column, ok := g.fixes([]fr.Element{element(test.param)})
		if ok != (test.column >= 0) || ok && column != test.column {
			t.Errorf("%s: column %d, %v", name, column, ok)
		}
	}
	// Of a free column it is none that a Var can stand in.
	a := Arithmetization{Name: "free", Columns: []string{"a", "f"}, Permuted: 1, Params: 2, Gates: []*Gate{{"g", []Term{{"t", Param(0).Mul(y)}}}}}
	b := NewBuilder(a)
	b.Zero()
	must.FailGet(b.Build())(t, zkbench.ErrParams, "a zero in a free column")
	a.Gates = []*Gate{{"g", []Term{{"t", Param(0).Mul(y).Add(Param(1).Mul(x))}}}}
	b = NewBuilder(a)
	b.Row(0, []Var{b.Zero()})
	must.Do(t, must.Get(b.Build())(t).Check())
	// The first parameter is tried, and each gate.
	a.Gates = []*Gate{stride, {"g", []Term{{"t", Param(0).Mul(x)}}}}
	a.Columns = []string{"a", "b", "f"}
	b = NewBuilder(a)
	b.Row(0, []Var{b.Zero()})
	must.Do(t, must.Get(b.Build())(t).Check())
}

// TestPlant: a planted value is there whether the Var is told before or after.
func TestPlant(t *testing.T) {
	b := NewBuilder(Plonk())
	x := b.Var(element(1))
	for v := x; v < x+2; v++ {
		b.plant(uint32(v), element(7))
	}
	golden.Equal(t, "planted values", []fr.Element{element(7), element(7)}, []fr.Element{b.Value(x), b.Value(b.Var(element(1)))})
}

// TestVanishingReadsAreNone: a public value that a term names, and does not depend on with a row's parameters, is any number.
// So Build refuses it, and accepts it if another row does depend.
func TestVanishingReadsAreNone(t *testing.T) {
	a, b3, c, q := Cell(0), Cell(1), Cell(2), Param(0)
	// b² = a where q is 1, and c = b³ where q is 0.
	either := &Gate{Name: "switch", Terms: []Term{{"either", q.Mul(a.Sub(b3.Square())).Add(Int(1).Sub(q).Mul(c.Sub(b3.Square().Mul(b3))))}}}
	switches := Arithmetization{Name: "s", Columns: []string{"a", "b", "c"}, Permuted: 3, Params: 1, Gates: []*Gate{either}}
	for name, test := range map[string]struct {
		arith Arithmetization
		rows  func(b *Builder, public Var)
		holds bool
	}{
		"a term that vanishes": {switches, func(b *Builder, public Var) {
			b.Row(b.Kind(either, element(1)), []Var{b.Var(element(9)), b.Var(element(3)), public})
		}, false},
		"a term that does not": {switches, func(b *Builder, public Var) {
			b.Row(b.Kind(either), []Var{b.Var(element(9)), b.Var(element(3)), public})
		}, true},
		"one of two rows": {switches, func(b *Builder, public Var) {
			b.Row(b.Kind(either, element(1)), []Var{b.Var(element(9)), b.Var(element(3)), public})
			b.Row(b.Kind(either, element(1)), []Var{public, b.Var(element(3)), public})
		}, true},
		"itself less itself": {Plonk(), func(b *Builder, public Var) {
			b.Row(b.Kind(Arithmetic(), element(0), element(1), element(-1)), []Var{public, public})
		}, false},
		"itself less itself, wired": {Plonk(), func(b *Builder, public Var) {
			same := b.Var(element(999))
			b.Equal(public, same)
			b.Row(b.Kind(Arithmetic(), element(0), element(1), element(-1)), []Var{public, same})
		}, false},
		"itself less another": {Plonk(), func(b *Builder, public Var) {
			b.Row(b.Kind(Arithmetic(), element(0), element(1), element(-1)), []Var{public, b.Var(element(999))})
		}, true},
	} {
		b := NewBuilder(test.arith)
		test.rows(b, b.Public(element(999)))
		_, err := b.Build()
		unheld := new(UnheldError)
		if refused := errors.As(err, &unheld) && unheld.Reader == ""; refused == test.holds || err != nil && !refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBuiltIsKept: rows that a builder is given once its circuit is built change nothing of it.
func TestBuiltIsKept(t *testing.T) {
	s := small(t)
	b := NewBuilder(Plonk())
	x := b.Public(element(7))
	b.Row(b.Kind(Arithmetic(), element(0), element(1), element(-1)), []Var{x, b.Var(element(7))})
	c := must.Get(b.Build())(t)
	b.Row(0, []Var{b.Var(element(77))})
	must.Do(t, c.Check())
	golden.Equal(t, "rows", 2, len(c.cells[0]))
	must.FailGet(new(Builder).Build())(t, zkbench.ErrParams, "a builder without an arithmetization")
	for name, c := range map[string]*Circuit{"nil": nil, "without an arithmetization": new(Circuit)} {
		must.FailGet(Setup(t.Context(), executor.Serial(), c, s.srs))(t, zkbench.ErrParams, "keys of a circuit that is %s", name)
		must.FailGet(s.ProvingKey.Prove(t.Context(), executor.Serial(), c, Options{}))(t, zkbench.ErrParams, "a proof of a circuit that is %s", name)
	}
	must.FailGet(Setup(t.Context(), executor.Serial(), c, nil))(t, zkbench.ErrParams, "keys over no string")
}
