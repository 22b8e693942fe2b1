package field

import "unsafe"

// Vector is a vector of extension elements. It stores each coordinate as a vector over the field.
type Vector[E any] [][]E

// NewVector returns a vector of n zeros, in one piece of memory.
func NewVector[E any](degree, n int) Vector[E] {
	all := make([]E, degree*n)
	v := make(Vector[E], degree)
	for i := range v {
		v[i] = all[i*n:][:n:n]
	}
	return v
}

// Slice returns v[from:to], in the same memory.
func (v Vector[E]) Slice(from, to int) Vector[E] {
	part := make(Vector[E], len(v))
	for i, c := range v {
		part[i] = c[from:to]
	}
	return part
}

// Len returns the number of elements.
func (v Vector[E]) Len() int { return len(v[0]) }

// Vectors computes with vectors of extension elements.
type Vectors[E Element[E], X Extension[E, X]] struct {
	Field[E, X]
	degree   int
	products []product[E]
}

// product is the product of two coordinates. A multiple of it is added to each of some coordinates of the
// result.
type product[E any] struct {
	i, j int
	to   []multiple[E]
}

// multiple is what is added to coordinate k: what was added to the coordinate before it, or for the first one
// the product itself, times a ratio.
type multiple[E any] struct {
	k     int
	ratio E
	same  bool // the ratio is 1
}

// NewVectors returns a Vectors for f's extension.
func NewVectors[E Element[E], X Extension[E, X]](f Field[E, X]) *Vectors[E, X] {
	var x X
	v := &Vectors[E, X]{Field: f, degree: len(x)}
	var zero E
	for i := range v.degree {
		for j := range v.degree {
			p, last := product[E]{i: i, j: j}, f.New(1)
			for k, c := range Coordinates[E](nil, v.Unit(i).Mul(v.Unit(j))) {
				if c != zero {
					p.to = append(p.to, multiple[E]{k, c.Mul(last.Inverse()), c == last})
					last = c
				}
			}
			v.products = append(v.products, p)
		}
	}
	return v
}

// Unit returns the element whose coordinate i is 1 and whose others are 0.
func (v *Vectors[E, X]) Unit(i int) (x X) {
	x[i] = v.New(1)
	return x
}

// Coordinates appends the coordinates of x to a slice.
func Coordinates[E comparable, X Extension[E, X]](to []E, x X) []E {
	for i := range len(x) {
		to = append(to, x[i])
	}
	return to
}

// Flat returns the coordinates of all elements, one element after the other, in the memory of x.
func Flat[E comparable, X Extension[E, X]](x []X) []E {
	var one X
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*len(one))
}

// Degree returns the degree of the extension.
func (v *Vectors[E, X]) Degree() int { return v.degree }

// Get returns element i of a.
func (v *Vectors[E, X]) Get(a Vector[E], i int) (x X) {
	for k := range v.degree {
		x[k] = a[k][i]
	}
	return x
}

// Set sets element i of a to x.
func (v *Vectors[E, X]) Set(a Vector[E], i int, x X) {
	for k := range v.degree {
		a[k][i] = x[k]
	}
}

// AddTo sets dst to dst + a.
func (v *Vectors[E, X]) AddTo(dst, a Vector[E]) {
	for k := range v.degree {
		v.Add(dst[k], dst[k], a[k])
	}
}

// SubFrom sets dst to dst - a.
func (v *Vectors[E, X]) SubFrom(dst, a Vector[E]) {
	for k := range v.degree {
		v.Sub(dst[k], dst[k], a[k])
	}
}

// AddConstant adds x to every element of dst.
func (v *Vectors[E, X]) AddConstant(dst Vector[E], x X) {
	for k := range v.degree {
		c := x[k]
		for i, e := range dst[k] {
			dst[k][i] = e.Add(c)
		}
	}
}

// addProducts computes AddProducts for the rows from from on, one vector and one scalar at a time.
func addProducts[E Element[E], X Extension[E, X]](f Field[E, X], dst Vector[E], a [][]E, x []X, scratch []E, from int) {
	if from == dst.Len() {
		return
	}
	for i := range a {
		for k := range dst {
			f.MulAdd(dst[k][from:], a[i][from:dst.Len()], x[i][k], scratch)
		}
	}
}

// MulBase sets each element of dst to the product of the elements of a and b with the same index. The
// elements of b are in the field.
func (v *Vectors[E, X]) MulBase(dst, a Vector[E], b []E) {
	for k := range v.degree {
		v.Field.Mul(dst[k], a[k], b)
	}
}

// Product adds to each element of dst the product of the elements of a and b with the same index. The vector
// dst must be neither a nor b, and scratch must be as long as a.
func (v *Vectors[E, X]) Product(dst, a, b Vector[E], scratch []E) {
	t := scratch[:len(a[0])]
	for _, p := range v.products {
		v.Field.Mul(t, a[p.i], b[p.j])
		for _, m := range p.to {
			if !m.same {
				v.MulScalar(t, t, m.ratio)
			}
			v.Add(dst[m.k], dst[m.k], t)
		}
	}
}

// AddScaled adds x times the vector a to dst. The vector dst must not be a, and scratch must be as long as
// a.
func (v *Vectors[E, X]) AddScaled(dst, a Vector[E], x X, scratch []E) {
	for i := range v.degree {
		image := v.Unit(i).Mul(x)
		for k := range v.degree {
			v.MulAdd(dst[k], a[i], image[k], scratch)
		}
	}
}

// Invert replaces every element of a by its inverse. No element may be 0. All elements share one inversion,
// and each element takes three products.
func (v *Vectors[E, X]) Invert(a Vector[E]) {
	n := a.Len()
	before := make([]X, n) // the product of all elements before each
	product := v.Unit(0)
	for i := range n {
		before[i] = product
		product = product.Mul(v.Get(a, i))
	}
	inverse := product.Inverse()
	for i := n - 1; i >= 0; i-- {
		x := v.Get(a, i)
		v.Set(a, i, inverse.Mul(before[i]))
		inverse = inverse.Mul(x)
	}
}
