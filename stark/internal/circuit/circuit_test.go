package circuit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/circuittest"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

type (
	element = goldilocks.Element
	number  = circuit.X
	value   = circuit.Value
)

const minus = goldilocks.Modulus - 1 // -1

// operands returns values of all kinds: constants and cells, some alone, some scaled and shifted. Two are of
// the same cell.
func operands(b *circuit.Builder, seed element) []value {
	cell := b.Hint(number{3 + seed, 5})
	further := number{}
	further[b.Degree-1] = 77
	return []value{
		circuit.Zero, circuit.One, circuit.Base(7), circuit.Constant(number{2, 9}),
		cell, cell.Times(11), b.Hint(number{seed, 8}).Neg(), cell.Times(0),
		b.Hint(number{13, seed}.Add(further)).Plus(number{4}), b.Hint(number{seed, 17}).Times(6).Plus(number{1, 2}), circuit.Constant(number{0, minus}),
	}
}

// unit is the element of the extension whose second coordinate is 1.
var unit = number{0, 1}

func sub(x, y number) number { return x.Add(y.MulBase(minus)) }

// beyond returns a number without its first coordinate: for a pair, the second element times the unit.
func beyond(x number) number { return sub(x, number{x[0]}) }

// degrees are the degrees of extensions.
var degrees = []circuit.Degree{2, 3}

var operations = []struct {
	name  string
	value func(b *circuit.Builder, x, y, z value) value
	want  func(d circuit.Degree, x, y, z number) number
}{
	{"x + y", func(b *circuit.Builder, x, y, _ value) value { return b.Add(x, y) }, func(_ circuit.Degree, x, y, _ number) number { return x.Add(y) }},
	{"x - y", func(b *circuit.Builder, x, y, _ value) value { return b.Sub(x, y) }, func(_ circuit.Degree, x, y, _ number) number { return sub(x, y) }},
	{"x y", func(b *circuit.Builder, x, y, _ value) value { return b.Mul(x, y) }, func(d circuit.Degree, x, y, _ number) number { return d.Mul(x, y) }},
	{"x y + z", (*circuit.Builder).MulAdd, func(d circuit.Degree, x, y, z number) number { return d.Mul(x, y).Add(z) }},
	{"x xor y", func(b *circuit.Builder, x, y, _ value) value { return b.Xor(x, y) }, func(d circuit.Degree, x, y, _ number) number { return sub(x.Add(y), d.Mul(x, y).MulBase(2)) }},
	{"x of y and z", (*circuit.Builder).Select, func(d circuit.Degree, x, y, z number) number { return d.Mul(x, y).Add(d.Mul(sub(number{1}, x), z)) }},
	{"x (y + z)", (*circuit.Builder).BothTimes, func(d circuit.Degree, x, y, z number) number { return d.Mul(x, y.Add(z)) }},
	{"x (y - z)", (*circuit.Builder).BothLess, func(d circuit.Degree, x, y, z number) number { return d.Mul(x, sub(y, z)) }},
	{"first of x", func(b *circuit.Builder, x, _, _ value) value { return b.First(x) }, func(_ circuit.Degree, x, _, _ number) number { return number{x[0]} }},
	{"second of x", func(b *circuit.Builder, x, _, _ value) value { return b.Second(x) }, func(d circuit.Degree, x, _, _ number) number { return d.Mul(beyond(x), d.Inverse(unit)) }},
	{"first of x times y and z", (*circuit.Builder).FirstTimes, func(_ circuit.Degree, x, y, z number) number { return y.MulBase(x[0]).Add(z) }},
	{"second of x times y and z", func(b *circuit.Builder, x, y, z value) value { return b.SecondTimes(x, b.OverUnit(y), z) }, func(d circuit.Degree, x, y, z number) number {
		return d.Mul(d.Mul(beyond(x), d.Inverse(unit)), y).Add(z)
	}},
	{"x and y joined", func(b *circuit.Builder, x, y, _ value) value { return b.Joined([]value{x, y}) }, func(d circuit.Degree, x, y, _ number) number { return x.Add(d.Mul(y, unit)) }},
	{"x, y and z joined", func(b *circuit.Builder, x, y, z value) value { return b.Joined([]value{x, y, z}[:b.Degree]) }, func(d circuit.Degree, x, y, z number) number {
		if d == 2 {
			return x.Add(d.Mul(y, unit))
		}
		return x.Add(d.Mul(y, unit)).Add(d.Mul(z, number{0, 0, 1}))
	}},
	{"cell of x", func(b *circuit.Builder, x, _, _ value) value { return b.FromCell(b.Cell(x)) }, func(_ circuit.Degree, x, _, _ number) number { return x }},
	{"-x", func(_ *circuit.Builder, x, _, _ value) value { return x.Neg() }, func(_ circuit.Degree, x, _, _ number) number { return x.MulBase(minus) }},
	{"3 (x + 1 + 2 u)", func(_ *circuit.Builder, x, _, _ value) value { return x.Plus(number{1, 2}).Times(3) }, func(_ circuit.Degree, x, _, _ number) number { return x.Add(number{1, 2}).MulBase(3) }},
}

// TestOperations: each has the value that arithmetic gives, of operands of all kinds in all places, by rows that hold, and
// hold of other values of the cells too.
func TestOperations(t *testing.T) {
	t.Parallel()
	for i := range len(degrees) * len(operations) {
		of, o := degrees[i/len(operations)], operations[i%len(operations)]
		b, other := circuit.New(of), circuit.New(of)
		all, others := operands(b, 100), operands(other, 200)
		// The operands' cells are hints, and come first.
		hints := make(map[circuit.Cell]number)
		for i, v := range other.Values {
			hints[circuit.Cell(i)] = v
		}
		type result struct {
			name string
			cell circuit.Cell
			want number
		}
		var results []result
		for i, x := range all {
			for j, y := range all {
				for k, z := range all {
					name := fmt.Sprintf("%s of operands %d, %d, %d", o.name, i, j, k)
					got := o.value(b, x, y, z)
					golden.Equal(t, name, o.want(of, b.Eval(x), b.Eval(y), b.Eval(z)), b.Eval(got))
					results = append(results, result{name, b.Cell(got), o.want(of, other.Eval(others[i]), other.Eval(others[j]), other.Eval(others[k]))})
				}
			}
		}
		must.Do(t, b.Err())
		p := circuittest.New(b)
		must.Do(t, p.Check())
		golden.Equal(t, o.name+": rows that do not hold", nil, p.Broken(b.Values))
		values := p.With(hints)
		golden.Equal(t, o.name+": rows that do not hold of other values", nil, p.Broken(values))
		for _, r := range results {
			golden.Equal(t, r.name+", of other values", r.want, values[r.cell])
		}
	}
}

// TestFewRows: sums and products of constants take no row, and what a cell is times a constant none either.
func TestFewRows(t *testing.T) {
	t.Parallel()
	b := circuit.New(2)
	x, y, z := b.Hint(number{2, 3}), b.Hint(number{4, 5}), b.Hint(number{6, 7})
	rows := func(name string, want int, do func()) {
		t.Helper()
		before := len(b.Rows)
		do()
		golden.Equal(t, "rows of "+name, want, len(b.Rows)-before)
	}
	rows("constants", 0, func() {
		b.Add(circuit.One, circuit.Base(2))
		b.Add(circuit.One, x)
		b.Add(x, circuit.One)
		b.Mul(circuit.Base(2), circuit.Base(3))
		b.Mul(circuit.Base(3), x)
		b.Mul(x, circuit.Base(3))
		b.MulAdd(circuit.Base(2), circuit.Base(3), circuit.One)
		b.Add(b.Sub(x, circuit.Constant(number{1, 2})), x)
		b.Xor(x, circuit.Zero)
		b.Xor(circuit.Zero, x)
	})
	rows("a constant times y + z", 2, func() {
		b.MulAdd(circuit.Base(2), y.Plus(number{0, 1}), z)
		b.MulAdd(y.Plus(number{0, 1}), circuit.Base(2), z)
	})
	rows("x (y + z) of a multiple", 1, func() { b.BothTimes(x.Times(3), y, z) })
	rows("products of what is shifted", 2, func() {
		b.Mul(x.Plus(number{1}), y)
		b.Mul(x, y.Plus(number{1}))
	})
	rows("x y + z", 1, func() { b.MulAdd(x.Times(2), y.Plus(number{3}), z.Neg()) })
	rows("x xor y", 1, func() { b.Xor(x, y) })
	rows("a constant's cell", 1, func() {
		nine := b.Cell(circuit.Base(9))
		golden.Equal(t, "its cell again", nine, b.Cell(circuit.Base(4).Plus(number{5})))
	})
	rows("0 x, which is a constant", 1, func() {
		golden.Equal(t, "the cell of 0", b.Cell(circuit.Zero), b.Cell(x.Times(0)))
	})
}

// TestAssertions: what is said and is not so is Err, by its first name, and a row that does not hold.
func TestAssertions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		broken int
		say    func(b *circuit.Builder, x value)
	}{
		"equal to itself":     {0, func(b *circuit.Builder, x value) { b.Equal(x.Times(2), x.Plus(b.Eval(x)), "") }},
		"equal to a constant": {0, func(b *circuit.Builder, x value) { b.Equal(x, circuit.Constant(b.Eval(x)), "") }},
		"constants":           {0, func(b *circuit.Builder, _ value) { b.Equal(circuit.One, circuit.One, "") }},
		"a product": {0, func(b *circuit.Builder, x value) {
			b.IsProduct(x, x, circuit.Constant(b.Degree.Mul(b.Eval(x), b.Eval(x))), "")
		}},
		"an inverse":         {0, func(b *circuit.Builder, x value) { b.Equal(b.Mul(x, b.Inverse(x, "")), circuit.One, "") }},
		"that of a constant": {0, func(b *circuit.Builder, _ value) { b.Inverse(circuit.Base(3), "") }},
		"unequal":            {1, func(b *circuit.Builder, x value) { b.Equal(x, circuit.One, "here %d", 1) }},
		"unequal constants":  {1, func(b *circuit.Builder, _ value) { b.Equal(circuit.Zero, circuit.One, "here %d", 1) }},
		"unequal in the second": {1, func(b *circuit.Builder, x value) {
			b.Equal(x, circuit.Constant(b.Eval(x).Add(number{0, 1})), "here %d", 1)
		}},
		"another product": {1, func(b *circuit.Builder, x value) { b.IsProduct(x, x, circuit.One, "here %d", 1) }},
		"the inverse of 0": {1, func(b *circuit.Builder, x value) {
			b.Inverse(b.Sub(b.FromCell(b.Cell(x.Times(2))), x.Times(2)), "here %d", 1)
		}},
		"two": {2, func(b *circuit.Builder, x value) {
			b.Equal(x, circuit.One, "here %d", 1)
			b.Equal(x, circuit.Zero, "there")
		}},
	} {
		b := circuit.New(2)
		c.say(b, b.Hint(number{5, 6}))
		p := circuittest.New(b)
		must.Do(t, p.Check())
		golden.Equal(t, name+": rows that do not hold", c.broken, len(p.Broken(b.Values)))
		if c.broken == 0 {
			must.Do(t, b.Err(), name)
			continue
		}
		must.Fail(t, b.Err(), zkbench.ErrProof, "%s", name)
		if b.Err() != nil {
			golden.Contains(t, b.Err().Error(), "here 1")
		}
	}
}

// edges are elements at the ends of 32-bit halves and of the field.
var edges = []uint64{0, 1, 2, 1<<31 - 1, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1 << 63, 0x123456789abcdef0, minus - 1<<32, minus - 1, minus}

// TestBits: an element has one decomposition.
func TestBits(t *testing.T) {
	t.Parallel()
	for _, e := range edges {
		b := circuit.New(2)
		bits := b.Bits(b.Hint(number{element(e)}), 0, "bits")
		must.Do(t, b.Err())
		for i, bit := range bits {
			golden.Equal(t, fmt.Sprintf("bit %d of %x", i, e), number{element(e >> i & 1)}, b.Eval(bit))
		}
		p := circuittest.New(b)
		golden.Equal(t, fmt.Sprintf("%x: rows that do not hold", e), nil, p.Broken(p.With(nil)))
		hints := p.Hints()
		golden.Equal(t, "hints: the element, 64 bits, an inverse", 1+64+1, len(hints))
		inverse := hints[65]
		for i, hint := range hints[1:65] {
			for _, x := range []number{{2}, {minus}, {0, 1}, {1, 1}} {
				if len(p.Broken(p.With(map[circuit.Cell]number{hint: x}))) == 0 {
					t.Errorf("%x: a bit %d is %d", e, i, x)
				}
			}
		}
		// The number of as many bits that is p more, where there is one, with any inverse.
		if e >= 1<<32-1 {
			continue
		}
		other := e + goldilocks.Modulus
		for _, x := range []number{{}, {1}, {minus}, {element(other & (1<<32 - 1))}, {element(other & (1<<32 - 1)).Inverse()}, {0, 1}} {
			changed := map[circuit.Cell]number{inverse: x}
			for i := range 64 {
				// Bits are written down from the highest of each half.
				changed[hints[1+i/32*32+31-i%32]] = number{element(other >> i & 1)}
			}
			broken := p.Broken(p.With(changed))
			if !slices.Equal(broken, []int{len(b.Rows) - 1}) {
				t.Errorf("%x: rows %d of %d do not hold where it is %x, inverse %d", e, broken, len(b.Rows), other, x)
			}
		}
	}
}

// TestBitsOfNoElement: what has a second element has no bits.
func TestBitsOfNoElement(t *testing.T) {
	t.Parallel()
	b := circuit.New(2)
	b.Bits(b.Hint(number{1, 1}), 0, "bits")
	must.Fail(t, b.Err(), zkbench.ErrProof, "a pair")
}

// TestZeroBits: so many bits at the low end are said to be 0, and are.
func TestZeroBits(t *testing.T) {
	t.Parallel()
	for _, zeros := range []int{0, 1, 5, 31, 32, 33, 40} {
		for _, c := range []struct {
			e    uint64
			good bool
		}{{0, true}, {1 << 40, true}, {3 << 40, true}, {1 << zeros, true}, {1 << max(zeros-1, 0), zeros == 0}, {1<<41 + 1, zeros == 0}, {minus, zeros <= 32}} {
			b := circuit.New(2)
			bits := b.Bits(b.Hint(number{element(c.e)}), zeros, "bits")
			p := circuittest.New(b)
			must.Do(t, p.Check())
			if good := b.Err() == nil; good != c.good || good != (len(p.Broken(b.Values)) == 0) {
				t.Errorf("%x with %d bits of 0: %v, rows %d do not hold", c.e, zeros, b.Err(), p.Broken(b.Values))
			}
			golden.Equal(t, "bits", 64, len(bits))
			for _, bit := range bits[:zeros] {
				golden.Equal(t, "a bit of 0", circuit.Zero, bit, cmp.AllowUnexported(circuit.Zero))
			}
			golden.Equal(t, "bits that are chosen", 1+64-zeros+1, len(p.Hints()))
		}
	}
}

// TestPermute: a permutation is that of its state, in the order that the bit says.
func TestPermute(t *testing.T) {
	t.Parallel()
	b := circuit.New(2)
	var in [circuit.Pairs]value
	var state, swapped poseidon.State
	for i := range in {
		x := number{element(2*i + 1), element(2*i + 2)}
		in[i] = b.Hint(x)
		copy(state[2*i:], x[:2])
		from := i
		if i < 4 {
			from ^= 2
		}
		copy(swapped[2*from:], x[:2])
	}
	state.Permute()
	swapped.Permute()
	for bit, want := range []poseidon.State{state, swapped} {
		for _, swap := range []value{circuit.Base(element(bit)), b.Hint(number{element(bit)})} {
			for i, out := range b.Permute(in, swap) {
				golden.Equal(t, "permutation", number{want[2*i], want[2*i+1]}, b.Eval(out))
			}
		}
	}
}

// pairs returns cells of elements, two in each. If the number is odd, the last one ends with a 0.
func pairs(b *circuit.Builder, elements []element) (pairs []value) {
	for i := 0; i < len(elements); i += 2 {
		var x number
		copy(x[:2], elements[i:])
		pairs = append(pairs, b.Hint(x))
	}
	return pairs
}

func digestOf(b *circuit.Builder, d circuit.Digest) (digest poseidon.Digest) {
	for i, pair := range d {
		x := b.Eval(pair)
		copy(digest[2*i:], x[:2])
	}
	return digest
}

// TestHash: hashes are those of package poseidon.
func TestHash(t *testing.T) {
	t.Parallel()
	for n := range 27 {
		b := circuit.New(2)
		var elements []element
		for i := range n {
			elements = append(elements, element(i+1)*0x123456789)
		}
		got := circuit.Hash(b, n, pairs(b, elements))
		golden.Equal(t, fmt.Sprintf("hash of %d elements", n), poseidon.HashNoPad(elements), digestOf(b, got))
		golden.Equal(t, "permutations", (n+7)/8, len(b.Permutations))
		must.Do(t, circuittest.New(b).Check())
	}
	b := circuit.New(2)
	left, right := poseidon.Digest{1, 2, 3, 4}, poseidon.Digest{5, 6, 7, 8}
	d, sibling := circuit.Digest(pairs(b, left[:])), circuit.Digest(pairs(b, right[:]))
	golden.Equal(t, "above, from the left", poseidon.Compress(left, right), digestOf(b, circuit.Above(b, d, sibling, circuit.Zero)))
	golden.Equal(t, "above, from the right", poseidon.Compress(right, left), digestOf(b, circuit.Above(b, d, sibling, b.Hint(number{1}))))
}

// TestDuplex: challenges are those of the challenger, whatever is absorbed.
func TestDuplex(t *testing.T) {
	t.Parallel()
	checkDuplex[ext.Quadratic](t, 2)
	checkDuplex[ext.Cubic](t, 3)
}

// coordinates returns as many coordinates of a number as the extension has.
func coordinates[X field.Extension[element, X]](x number) (of X) {
	for i := range len(of) {
		of[i] = x[i]
	}
	return of
}

func checkDuplex[X field.Extension[element, X]](t *testing.T, degree circuit.Degree) {
	const protocol = "protocol"
	want := challenger.NewDuplex[X](protocol)
	b := circuit.New(degree)
	got := circuit.NewDuplex(b, protocol)
	drawn := func(label string) {
		t.Helper()
		golden.Equal(t, label, want.Challenge(label, false), coordinates[X](b.Eval(got.Challenge(label))))
	}
	drawn("before anything")
	for n := range 20 {
		elements, bytes := make([]element, n), make([]byte, n)
		var digests []tree.Digest
		var cells []circuit.Digest
		for i := range n {
			elements[i], bytes[i] = element(i*i+1), byte(7*i+200)
			d := poseidon.Digest{element(i), 2, 3, element(n)}
			digests, cells = append(digests, tree.Digest{uint64(i), 2, 3, uint64(n)}), append(cells, circuit.Digest(pairs(b, d[:])))
		}
		want.Elements("elements", elements)
		got.Elements("elements", elements)
		drawn("elements")
		want.Elements("pairs", elements)
		got.Pairs("pairs", n, pairs(b, elements))
		drawn("pairs")
		want.Bytes("bytes", bytes)
		got.Bytes("bytes", bytes)
		drawn("bytes")
		want.Digests("digests", digests)
		got.Digests("digests", cells)
		drawn("digests")
		index := 0
		for i, bit := range got.Index("index", n) {
			index |= int(b.Eval(bit)[0]) << i
		}
		golden.Equal(t, "index", want.Index("index", n), index)
	}
	must.Do(t, b.Err())
	must.Do(t, circuittest.New(b).Check())
}

// TestGrind: a nonce has the work that is asked for, and is the one that there is where none is.
func TestGrind(t *testing.T) {
	t.Parallel()
	for nonce := range uint64(40) {
		for work := range 6 {
			want := challenger.NewDuplex[ext.Quadratic]("protocol")
			b := circuit.New(2)
			got := circuit.NewDuplex(b, "protocol")
			err := want.CheckGrind("grinding", work, nonce)
			got.CheckGrind("grinding", work, b.Hint(number{element(nonce)}))
			if (err == nil) != (b.Err() == nil) || err != nil && !strings.Contains(b.Err().Error(), "the nonce") {
				t.Errorf("nonce %d, %d bits: %v, in the circuit %v", nonce, work, err, b.Err())
			}
			golden.Equal(t, "challenge behind it", want.Challenge("next", false), coordinates[ext.Quadratic](b.Eval(got.Challenge("next"))))
		}
	}
}

// TestTriples: elements of the cubic extension are those that pairs have, one behind the other.
func TestTriples(t *testing.T) {
	t.Parallel()
	for n := range 7 {
		var elements []element
		for i := range 3 * n {
			elements = append(elements, element(i+1)*0x123456789)
		}
		b := circuit.New(3)
		for i, x := range b.Triples(pairs(b, elements), n) {
			golden.Equal(t, fmt.Sprintf("number %d of %d", i, n), number(elements[3*i:][:3]), b.Eval(x))
		}
		p := circuittest.New(b)
		must.Do(t, p.Check())
		golden.Equal(t, "rows that do not hold", nil, p.Broken(p.With(nil)))
	}
}

// TestNoPair: what has a third coordinate is not permuted.
func TestNoPair(t *testing.T) {
	t.Parallel()
	for third := range element(2) {
		b := circuit.New(3)
		b.Permute([circuit.Pairs]value{b.Hint(number{1, 2, third}), circuit.One, circuit.One, circuit.One, circuit.One, circuit.One}, circuit.Zero)
		if third == 0 {
			must.Do(t, b.Err())
			continue
		}
		must.Fail(t, b.Err(), zkbench.ErrProof, "a third coordinate")
	}
}
