package field_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/arith/step"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
)

func TestFields(t *testing.T) {
	t.Parallel()
	t.Run("goldilocks2", func(t *testing.T) { check[goldilocks.Element, ext.Quadratic](t, field.Goldilocks2) })
	t.Run("goldilocks3", func(t *testing.T) { check[goldilocks.Element, ext.Cubic](t, field.Goldilocks3) })
	t.Run("koalabear4", func(t *testing.T) { check[koalabear.Element, koalabear.Quartic](t, field.KoalaBear4) })
	t.Run("koalabear6", func(t *testing.T) { check[koalabear.Element, koalabear.Sextic](t, field.KoalaBear6) })
}

// check compares operations on vectors with those on elements, and elements with the definition of a field.
func check[E field.Element[E], X field.Extension[E, X]](t *testing.T, f field.Field[E, X]) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	element := func() E {
		if random.IntN(8) == 0 {
			return f.New([]uint64{0, 1, f.Order() - 1}[random.IntN(3)])
		}
		return f.New(random.Uint64N(f.Order()))
	}
	var zero E
	var zeroX X
	degree := len(zeroX)
	extension := func() (x X) {
		for i := range degree {
			x[i] = element()
		}
		return x
	}
	var one X
	one[0] = f.New(1)
	for range 200 {
		a, b, c := extension(), extension(), extension()
		e := element()
		var of X
		of[0] = e
		if a.Mul(b.Add(c)) != a.Mul(b).Add(a.Mul(c)) || a.Mul(b.Mul(c)) != a.Mul(b).Mul(c) || a.Mul(b) != b.Mul(a) || a.Mul(one) != a {
			t.Fatal("products of the extension are none")
		}
		if a.MulBase(e) != a.Mul(of) || a.Sub(b).Add(b) != a {
			t.Fatal("MulBase or Sub")
		}
		if a != zeroX && a.Mul(a.Inverse()) != one || zeroX.Inverse() != zeroX || zero.Inverse() != zero {
			t.Fatal("an inverse is none")
		}
		if got := f.New(f.Uint64(e)); got != e || f.OfWord(f.Word(e)) != e || !e.Canonical() {
			t.Fatal("an element is not its number or its word")
		}
		if b := field.Append(nil, f.Word(e), f.Bytes()); len(b) != f.Bytes() || field.Read(b) != f.Word(e) {
			t.Fatal("bytes of an element")
		}
	}
	// The extension is a field of order p^degree: x^(p^degree) is x, and x^(p^d) is not for a proper d.
	x := extension()
	x[degree-1] = f.New(3)
	power := x
	for d := 1; d <= degree; d++ {
		if power = field.Power(one, power, f.Order()); (power == x) != (d == degree) {
			t.Errorf("x^(p^%d) = x: %v", d, power == x)
		}
	}
	for _, w := range []uint64{f.Order(), f.Order() + 1, 1<<(8*f.Bytes()-1)<<1 - 1} {
		if f.OfWord(w).Canonical() {
			t.Errorf("the word %#x is of an element", w)
		}
		cells := []E{f.New(0)}
		if f.Bytes() == 8 {
			cells[0] = f.OfWord(w)
			f.FromWords(cells)
			if cells[0] != f.New(w%f.Order()) {
				t.Errorf("the cell %#x became %v", w, cells[0])
			}
		}
	}
	// Roots, and the generator's order by the factors of p - 1 that are known here.
	minusOne := zero.Sub(f.New(1))
	for log := 1; log <= f.TwoAdicity(); log++ {
		if root := f.Root(log); field.Power(f.New(1), root, 1<<(log-1)) != minusOne || log > 1 && root.Mul(root) != f.Root(log-1) {
			t.Errorf("the root of order 2^%d", log)
		}
	}
	if field.Power(f.New(1), f.Generator(), (f.Order()-1)/2) != minusOne {
		t.Error("the generator is a square")
	}

	v := field.NewVectors[E, X](f)
	for _, n := range []int{1, 2, 7, 16, 33, 256} {
		a, b, scratch := make([]E, n), make([]E, n), make([]E, n)
		for i := range a {
			a[i], b[i] = element(), element()
		}
		c := element()
		dst := make([]E, n)
		is := func(what string, want func(i int) E) {
			t.Helper()
			for i := range dst {
				if dst[i] != want(i) {
					t.Fatalf("%s of %d, element %d", what, n, i)
				}
			}
		}
		f.Add(dst, a, b)
		is("Add", func(i int) E { return a[i].Add(b[i]) })
		f.Sub(dst, a, b)
		is("Sub", func(i int) E { return a[i].Sub(b[i]) })
		f.Mul(dst, a, b)
		is("Mul", func(i int) E { return a[i].Mul(b[i]) })
		for op, want := range map[step.Op]func(x, y E) E{
			step.Add:    E.Add,
			step.Sub:    E.Sub,
			step.Mul:    E.Mul,
			step.Xor:    func(x, y E) E { return x.Add(y).Sub(x.Mul(y)).Sub(x.Mul(y)) },
			step.AndNot: func(x, y E) E { return x.Mul(f.New(1).Sub(y)) },
		} {
			// Three steps, each of which replaces an operand of the next or of its own.
			registers := [][]E{dst, slices.Clone(a), slices.Clone(b)}
			f.Steps(registers, []step.Step{{Op: op, Dst: 1, X: 1, Y: 2}, {Op: op, Dst: 2, X: 1, Y: 2}, {Op: op, Dst: 0, X: 2, Y: 1}}, n)
			is(fmt.Sprintf("step %d", op), func(i int) E {
				x := want(a[i], b[i])
				return want(want(x, b[i]), x)
			})
		}
		for count := 1; count <= field.MaxPack; count++ {
			f.Pack(dst, slices.Repeat([][]E{a, b}, count)[:count])
			is("Pack", func(i int) (sum E) {
				for j := range count {
					sum = sum.Add([]E{a[i], b[i]}[j%2].Mul(f.New(1 << j)))
				}
				return sum
			})
		}
		for layers := 1; layers <= f.Layers(); layers++ {
			vectors := func(count int) (all [][]E) {
				for range count {
					v := make([]E, n)
					for i := range v {
						v[i] = element()
					}
					all = append(all, v)
				}
				return all
			}
			src, w := vectors(1<<layers), vectors(1<<layers-1)
			want := make([][]E, 1<<layers)
			for at := range want {
				want[at] = slices.Clone(src[at])
			}
			for half := 1; half < 1<<layers; half *= 2 {
				for at := range want {
					for i := range n {
						if at&half == 0 {
							x, y := want[at][i], w[half-1+at%half][i].Mul(want[at+half][i])
							want[at][i], want[at+half][i] = x.Add(y), x.Sub(y)
						}
					}
				}
			}
			out := vectors(1 << layers)
			f.Butterflies(out, src, w)
			f.Butterflies(src, src, w)
			for at := range want {
				if !slices.Equal(out[at], want[at]) || !slices.Equal(src[at], want[at]) {
					t.Fatalf("Butterflies, %d layers of %d rows: vector %d", layers, n, at)
				}
			}
		}
		copies := field.NewVector[E](20, n)
		vectors := slices.Repeat([][]E{a, b}, 10)
		field.Copy(copies[:19], vectors[:19])
		for i, v := range copies[:19] {
			if !slices.Equal(v, vectors[i]) {
				t.Fatalf("Copy of %d, vector %d", n, i)
			}
		}
		if slices.ContainsFunc(copies[19], func(e E) bool { return e != zero }) {
			t.Fatalf("Copy of %d: more than it was to copy", n)
		}
		f.MulScalar(dst, a, c)
		is("MulScalar", func(i int) E { return a[i].Mul(c) })
		copy(dst, b)
		f.MulAdd(dst, a, c, scratch)
		is("MulAdd", func(i int) E { return b[i].Add(a[i].Mul(c)) })
		after := f.Sums(dst, a, c)
		is("Sums", func(i int) E {
			sum := c
			for _, e := range a[:i] {
				sum = sum.Add(e)
			}
			return sum
		})
		if after != dst[n-1].Add(a[n-1]) {
			t.Fatalf("Sums of %d: the whole sum", n)
		}
		f.Inverse(dst, a)
		is("Inverse", func(i int) E { return a[i].Inverse() })
		dots, others := make([]E, degree), field.NewVector[E](degree, n)
		for k := range others {
			for i := range others[k] {
				others[k][i] = element()
			}
		}
		f.Dots(dots, a, others)
		for k := range others {
			var dot E
			for i := range a {
				dot = dot.Add(a[i].Mul(others[k][i]))
			}
			if dots[k] != dot {
				t.Fatalf("Dots of %d, sum %d", n, k)
			}
		}
		p, q, out := field.NewVector[E](degree, n), field.NewVector[E](degree, n), field.NewVector[E](degree, n)
		for i := range n {
			v.Set(p, i, extension())
			v.Set(q, i, extension().Add(one))
			if v.Get(q, i) == zeroX {
				v.Set(q, i, one)
			}
		}
		s := extension()
		clear := func() {
			for i := range n {
				v.Set(out, i, one)
			}
		}
		isX := func(what string, want func(i int) X) {
			t.Helper()
			for i := range n {
				if v.Get(out, i) != want(i) {
					t.Fatalf("%s of %d, element %d", what, n, i)
				}
			}
		}
		clear()
		v.Product(out, p, q, scratch)
		isX("Product", func(i int) X { return one.Add(v.Get(p, i).Mul(v.Get(q, i))) })
		for count := range 7 {
			var columns [][]E
			var weights []X
			for range count {
				column := make([]E, n)
				for i := range column {
					column[i] = element()
				}
				columns, weights = append(columns, column), append(weights, extension())
			}
			clear()
			v.AddProducts(out, columns, weights, scratch)
			isX("AddProducts", func(i int) X {
				sum := one
				for j, c := range columns {
					sum = sum.Add(weights[j].MulBase(c[i]))
				}
				return sum
			})
		}
		clear()
		v.AddScaled(out, p, s, scratch)
		isX("AddScaled", func(i int) X { return one.Add(s.Mul(v.Get(p, i))) })
		clear()
		v.AddTo(out, p)
		v.SubFrom(out, q)
		isX("AddTo, SubFrom", func(i int) X { return one.Add(v.Get(p, i)).Sub(v.Get(q, i)) })
		v.Fill(out, s)
		isX("Fill", func(int) X { return s })
		out.Clear()
		isX("Clear", func(int) X { return zeroX })
		v.MulBase(out, p, a)
		isX("MulBase", func(i int) X { return v.Get(p, i).MulBase(a[i]) })
		v.Set(q, n/2, zeroX)
		v.Invert(out, q, [2]field.Vector[E]{field.NewVector[E](degree, n), field.NewVector[E](degree, n)}, scratch)
		isX("Invert", func(i int) X { return v.Get(q, i).Inverse() })
	}

	// Many products of the greatest elements, as sums that are reduced late would not hold.
	most := f.New(f.Order() - 1)
	if f.Bytes() == 4 {
		most = f.OfWord(f.Order() - 1) // in memory
	}
	for _, count := range []int{63, 300} {
		var weight X
		for k := range degree {
			weight[k] = most
		}
		column, scratch := slices.Repeat([]E{most}, 32), make([]E, 32)
		out := field.NewVector[E](degree, 32)
		f.AddProducts(out, slices.Repeat([][]E{column}, count), slices.Repeat([]X{weight}, count), scratch)
		if got, want := v.Get(out, 17), weight.MulBase(most).MulBase(f.New(uint64(count))); got != want {
			t.Errorf("%d products of the greatest elements: %v, want %v", count, got, want)
		}
	}

	dots, greatest := make([]E, degree), slices.Repeat([]E{most}, 1024)
	f.Dots(dots, greatest, slices.Repeat(field.Vector[E]{greatest}, degree))
	if want := most.Mul(most).Mul(f.New(1024)); dots[0] != want || dots[degree-1] != want {
		t.Errorf("1024 products of the greatest elements: %v, want %v", dots, want)
	}
	// Interpolate gives the coefficients, in reversed order; Evaluate the values again.
	for log := range 7 {
		n := 1 << log
		transform := must.Get(f.Transform(log))(t)
		coefficients := make([]E, n)
		for i := range coefficients {
			coefficients[i] = element()
		}
		values := make([]E, n)
		root := f.New(1)
		for i := range values {
			for j := n - 1; j >= 0; j-- {
				values[i] = values[i].Mul(root).Add(coefficients[j])
			}
			root = root.Mul(f.Root(log))
		}
		before := slices.Clone(values)
		transform.Interpolate(values)
		for i, e := range values {
			j := 0
			for bit := range log {
				j |= i >> bit & 1 << (log - 1 - bit)
			}
			if e != coefficients[j] {
				t.Fatalf("coefficient %d of %d", j, n)
			}
		}
		if transform.Evaluate(values); !slices.Equal(values, before) {
			t.Fatalf("values of %d", n)
		}
	}
}

// TestCells: numbers of 32 bits become the elements that they are modulo the order.
func TestCells(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 16, 50} {
		cells, want := make([]koalabear.Element, n), make([]koalabear.Element, n)
		for i := range cells {
			w := random.Uint32()
			switch random.IntN(4) {
			case 0:
				w = 1<<32 - 1 - random.Uint32N(3)
			case 1:
				w = koalabear.Modulus - 1 + random.Uint32N(3)
			}
			cells[i], want[i] = koalabear.Element{w}, koalabear.New(uint64(w))
		}
		if field.KoalaBear4.FromWords(cells); !slices.Equal(cells, want) {
			t.Errorf("of %d: %v, want %v", n, cells, want)
		}
	}
}
