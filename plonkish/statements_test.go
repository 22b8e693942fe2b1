package plonkish

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/srs"
)

func element(i int64) (e fr.Element) { return *e.SetInt64(i) }

// chain makes rows of additions and products in turn, from a public value to a public result.
func chain(b *Builder, rows int, from int64) {
	mul := b.Kind(Arithmetic(), element(1), element(0), element(0), element(-1))
	add := b.Kind(Arithmetic(), element(0), element(1), element(1), element(-1))
	before := b.Public(element(from))
	now := before
	for i := range rows {
		x, y, kind := b.Value(before), b.Value(now), add
		if i%4 == 3 {
			kind = mul
			x.Mul(&x, &y)
		} else {
			x.Add(&x, &y)
		}
		next := b.Var(x)
		b.Row(kind, []Var{before, now, next})
		before, now = now, next
	}
	b.Equal(now, b.Public(b.Value(now)))
}

// The gates of an arithmetization that is none of the published ones: they share a parameter, one is not
// zero without, one has degree six, both read the next row and a column of no wires.
var (
	fifth = &Gate{Name: "fifth power", Terms: []Term{
		{"power", Cell(0).Square().Square().Mul(Cell(0)).Add(Param(0)).Sub(Next(1))},
		{"square", Cell(2).Sub(Cell(0).Square())},
	}}
	stride = &Gate{Name: "stride", Terms: []Term{
		{"scaled", Param(0).Mul(Cell(0)).Add(Cell(2)).Sub(Next(2).Mul(Next(0)))},
	}}
)

func unusual() Arithmetization {
	return Arithmetization{Name: "unusual", Columns: []string{"a", "b", "f"}, Permuted: 2, Params: 2, Gates: []*Gate{squaring, fifth, stride}}
}

// squaring is a product on two columns.
var squaring = &Gate{Name: "square", Terms: []Term{{"square", Param(1).Mul(Cell(0).Square().Sub(Cell(1)))}}}

// powers makes rows of the unusual arithmetization.
func powers(b *Builder, rows int, from int64) {
	x := b.Public(element(from))
	for i := range rows {
		e := b.Value(x)
		var square, power fr.Element
		square.Square(&e)
		power.Square(&square).Mul(&power, &e)
		c := element(int64(i))
		power.Add(&power, &c)
		y := b.Var(power)
		b.Row(b.Kind(fifth, c), []Var{x}, square)
		// The next row holds the power in b; its step: 3 x + free = next free times next cell.
		var free fr.Element
		e.Mul(&e, ptr(element(3)))
		free.Sub(&power, &e) // so that next free is 1 where the next cell is the power
		b.Row(b.Kind(stride, element(3)), []Var{x, y}, free)
		b.Row(0, []Var{y}, element(1))
		var doubled fr.Element
		doubled.Square(&power)
		z := b.Var(doubled)
		b.Row(b.Kind(squaring, element(0), element(1)), []Var{y, z})
		x = y
	}
	b.Equal(x, b.Public(b.Value(x)))
}

// bitwise is of rows that look up (a, b, c), (d) and (a', 2 d).
func bitwise(lookups int) Arithmetization {
	return Arithmetization{
		Name: "bitwise", Columns: []string{"a", "b", "c", "d"}, Permuted: 3, Params: 5, Gates: []*Gate{Arithmetic()},
		Lookups: []Lookup{
			{"triple", []Expr{Cell(0), Cell(1), Cell(2)}},
			{"range", []Expr{Cell(3).Add(Param(0))}},
			{"doubled", []Expr{Next(0), Cell(3).Add(Cell(3))}},
		}[:lookups],
	}
}

// xor4 and and4 are of two bits each, below8 the numbers to 7, double pairs of x and 2 x.
var (
	xor4   = bits2("xor", func(x, y int64) int64 { return x ^ y })
	and4   = bits2("and", func(x, y int64) int64 { return x & y })
	below8 = &Table{"below 8", [][]fr.Element{numbers(8, 1)}}
	double = &Table{"double", [][]fr.Element{numbers(4, 1), numbers(4, 2)}}
)

func numbers(n, times int64) (all []fr.Element) {
	for i := range n {
		all = append(all, element(i*times))
	}
	return all
}

func bits2(name string, f func(x, y int64) int64) *Table {
	t := &Table{Name: name, Columns: make([][]fr.Element, 3)}
	for x := range int64(4) {
		for y := range int64(4) {
			for i, e := range []int64{x, y, f(x, y)} {
				t.Columns[i] = append(t.Columns[i], element(e))
			}
		}
	}
	return t
}

// looks makes rows of the bitwise arithmetization.
func looks(b *Builder, rows int, seed int64) {
	x, y := b.Public(element(seed&3)), b.Public(element(1))
	small := func(v Var) int64 {
		e := b.Value(v)
		return int64(e.Uint64())
	}
	kinds := []Kind{b.LookUp(b.Kind(nil), 0, xor4), b.LookUp(b.Kind(nil), 0, and4)}
	more := len(b.arith.Lookups)
	for i := range kinds {
		if more > 1 {
			k := b.kinds[kinds[i]]
			k.params = slices.Clone(k.params)
			k.params[0] = element(2)
			kinds[i] = b.LookUp(b.newKind(k), 1, below8)
		}
		if more > 2 {
			kinds[i] = b.LookUp(kinds[i], 2, double)
		}
	}
	for i := range rows {
		z := small(x) ^ small(y)
		if i%2 == 1 {
			z = small(x) & small(y)
		}
		v := b.Var(element(z))
		// d is what the next row has in a, which is y.
		b.Row(kinds[i%2], []Var{x, y, v}, element(small(y)))
		x, y = y, v
	}
	b.Row(b.Kind(Arithmetic(), element(1), element(1), element(1), element(-1)), []Var{x, b.Zero(), x})
	b.Equal(y, b.Public(b.Value(y)))
}

// shuffled is of lists whose columns a and b hold the same values in another order: p and q are
// products of challenge - a and of challenge - b, and end as one.
func shuffled() Arithmetization {
	less := func(column int) Expr { return Challenge().Sub(Cell(column)) }
	return Arithmetization{
		Name: "shuffled", Columns: []string{"a", "b", "p", "q"}, Permuted: 2, Late: 2,
		Gates: []*Gate{
			{"begin", []Term{{"p", Next(2).Sub(Int(1))}, {"q", Next(3).Sub(Int(1))}}},
			{"go on", []Term{{"p", Next(2).Sub(Cell(2).Mul(less(0)))}, {"q", Next(3).Sub(Cell(3).Mul(less(1)))}}},
			{"end", []Term{{"equal", Cell(2).Sub(Cell(3))}}},
		},
		Lookups: []Lookup{{"small", []Expr{Cell(1)}}},
	}
}

// nextAlone is an arithmetization whose columns f and g are read in the next row, and nowhere else.
func nextAlone() Arithmetization {
	return Arithmetization{
		Name: "next alone", Columns: []string{"a", "f", "g"}, Permuted: 1,
		Gates:   []*Gate{{"is the next f", []Term{{"f'", Next(1).Sub(Cell(0))}}}},
		Lookups: []Lookup{{"next g", []Expr{Next(2)}}},
	}
}

// shuffles are two lists of an arithmetization, each of values below 8 and of the same turned round.
func shuffles(b *Builder, look bool) {
	gates := b.arith.Gates
	step := b.Kind(gates[1])
	if look {
		step = b.LookUp(step, 0, below8)
	}
	for _, list := range [][]int64{{3, 1}, {7, 7, 0, 2, 5}} {
		n := len(list)
		vars := make([]Var, n)
		for i, x := range list {
			vars[i] = b.Var(element(x))
		}
		b.Equal(vars[0], b.Public(b.Value(vars[0])))
		b.Row(b.Kind(gates[0]), nil)
		for i, v := range vars {
			b.Row(step, []Var{v, vars[n-1-i]})
		}
		b.Row(b.Kind(gates[2]), nil)
		b.Late(n+1, func(challenge fr.Element, cells [][]fr.Element) {
			p, q := cells[0], cells[1]
			p[0].SetOne()
			q[0].SetOne()
			for i, x := range list {
				var e fr.Element
				e.Sub(&challenge, ptr(element(x)))
				p[i+1].Mul(&p[i], &e)
				e.Sub(&challenge, ptr(element(list[n-1-i])))
				q[i+1].Mul(&q[i], &e)
			}
		})
	}
}

// broad is of seven columns that can all be wired: three groups.
func broad() Arithmetization {
	sum := Cell(0)
	a := Arithmetization{Name: "broad", Permuted: 7, Params: 1, Columns: strings.Split("abcdefg", "")}
	for i := 1; i < 6; i++ {
		sum = sum.Add(Cell(i))
	}
	a.Gates = []*Gate{{"sum", []Term{{"g", Param(0).Mul(sum.Sub(Cell(6)))}}}}
	return a
}

// sumsOfSix has each sum in the next rows' sums, a column further each time.
func sumsOfSix(b *Builder, rows int) {
	var vars []Var
	for i := range int64(6) {
		vars = append(vars, b.Public(element(i*i)))
	}
	kind := b.Kind(b.arith.Gates[0], element(1))
	for range rows {
		var sum fr.Element
		for _, v := range vars {
			e := b.Value(v)
			sum.Add(&sum, &e)
		}
		vars = append(vars, b.Var(sum))
		b.Row(kind, vars)
		vars = vars[1:]
	}
}

type statement struct {
	name string
	*ProvingKey
	*Circuit
	public []fr.Element
	proof  []byte
}

var bound = []byte("a payment")

var proved struct {
	sync.Once
	all []statement
}

// statements are circuits of several arithmetizations, proved, each the same in all processes.
func statements(t testing.TB) []statement {
	proved.Do(func() { proved.all = prove(t) })
	if len(proved.all) == 0 {
		t.Fatal("no statements: another test has failed to prove them")
	}
	return slices.Clone(proved.all)
}

func prove(t testing.TB) []statement {
	var all []statement
	for _, s := range []struct {
		name  string
		arith Arithmetization
		rows  func(b *Builder)
	}{
		{"plonk", Plonk(), func(b *Builder) { chain(b, 5, 2) }},
		{"plonk, 2^6", Plonk(), func(b *Builder) { chain(b, 58, 3) }},
		{"additions", Plonk(), func(b *Builder) { chain(b, 3, 3) }},
		{"unusual", unusual(), func(b *Builder) { powers(b, 7, 5) }},
		{"one lookup", bitwise(1), func(b *Builder) { looks(b, 6, 3) }},
		{"two lookups", bitwise(2), func(b *Builder) { looks(b, 6, 5) }},
		{"three lookups", bitwise(3), func(b *Builder) { looks(b, 17, 7) }},
		{"turbo", TurboPlonk(), func(b *Builder) {
			all := turbos(rand.New(rand.NewPCG(3, 4)), 4)
			for _, gate := range b.arith.Gates {
				all[gate.Name](b)
			}
		}},
		{"many wires", broad(), func(b *Builder) { sumsOfSix(b, 9) }},
		{"read in the next row alone", nextAlone(), func(b *Builder) {
			b.Row(b.Kind(b.arith.Gates[0]), []Var{b.Public(element(7))}, element(1), element(2))
			b.Row(b.LookUp(0, 0, below8), nil, element(7), element(3))
			b.Row(0, nil, element(0), element(5))
		}},
		{"late columns", shuffled(), func(b *Builder) { shuffles(b, false) }},
		{"late columns and lookups", shuffled(), func(b *Builder) { shuffles(b, true) }},
		{"ultra", UltraPlonk(), func(b *Builder) { windowed(b, []int64{1, 0, 3, 3, 2}) }},
	} {
		b := NewBuilder(s.arith)
		s.rows(b)
		st := statement{name: s.name, Circuit: must.Get(b.Build())(t)}
		st.ProvingKey = setup(t, st.Circuit)
		st.public = st.Public()
		seed := strings.NewReader("of thirty-two bytes, and no more")
		st.proof = must.Get(st.Prove(t.Context(), executor.Serial(), st.Circuit, Options{Context: bound, Rand: seed}))(t)
		all = append(all, st)
	}
	return all
}

func setup(t testing.TB, c *Circuit) *ProvingKey {
	t.Helper()
	s := must.Get(srs.Insecure(t.Context(), executor.Serial(), c.Size(), 1))(t)
	return must.Get(Setup(t.Context(), executor.Serial(), c, s))(t)
}

// accepted tells that what a key refuses, it refuses for what it is: of the proof itself it says
// yes.
func (s *statement) accepted(t *testing.T) {
	t.Helper()
	if err := s.VerifyInsecure(s.proof, s.public, bound); err != nil {
		t.Errorf("the proof itself: %v", err)
	}
}
