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

// Clear sets all elements to 0.
func (v Vector[E]) Clear() {
	for _, c := range v {
		clear(c)
	}
}

// Len returns the number of elements.
func (v Vector[E]) Len() int { return len(v[0]) }

// Vectors computes with vectors of extension elements.
type Vectors[E Element[E], X Extension[E, X]] struct {
	Field[E, X]
	degree    int
	products  []product[E]
	conjugate [][]X // conjugate[k][i] is the power p^k of Unit(i), for k > 0; the field has p elements
	diagonal  bool  // each conjugate[k][i] is a multiple of Unit(i)
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
	// The power p is linear over the field, and so are its repetitions.
	v.conjugate, v.diagonal = make([][]X, v.degree), true
	for k := 1; k < v.degree; k++ {
		for i := range v.degree {
			image := v.Unit(i)
			if k == 1 {
				image = Power(v.Unit(0), image, f.Order())
			} else {
				image = v.image(v.conjugate[k-1][i])
			}
			v.conjugate[k] = append(v.conjugate[k], image)
			v.diagonal = v.diagonal && image == v.Unit(i).MulBase(image[i])
		}
	}
	return v
}

// image returns x^p.
func (v *Vectors[E, X]) image(x X) (y X) {
	for i := range v.degree {
		y = y.Add(v.conjugate[1][i].MulBase(x[i]))
	}
	return y
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

// Fill sets every element of dst to x.
func (v *Vectors[E, X]) Fill(dst Vector[E], x X) {
	for k, all := range dst {
		Fill(all, x[k])
	}
}

// Fill sets every element of dst to e. Copies of what is filled already take less time than a loop over elements.
func Fill[E any](dst []E, e E) {
	if len(dst) == 0 {
		return
	}
	dst[0] = e
	for n := 1; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
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
	images := make([]X, v.degree)
	for i := range images {
		images[i] = v.Unit(i).Mul(x)
	}
	v.AddProducts(dst, a, images, scratch)
}

// Invert sets each element of dst to the inverse of the element of a with the same index. The inverse of 0 is
// 0. The vectors dst and a and the two scratch vectors more must all be different, and scratch must be as long as
// a.
//
// Let x' be the product of x^(p^k) for all k from 1 to the degree minus 1, which are the other conjugates of x.
// The product of x and x' is the norm of x. It is in the field, where elements are inverted together, and 1/x is
// x' divided by it.
func (v *Vectors[E, X]) Invert(dst, a Vector[E], more [2]Vector[E], scratch []E) {
	conjugates, power, product := dst, more[0], more[1]
	v.toPower(conjugates, a, 1, scratch)
	for count := 1; count < v.degree-1; {
		// conjugates are the products of the first powers, as many as count.
		if 2*count < v.degree {
			v.toPower(power, conjugates, count, scratch)
			count *= 2
		} else {
			count++
			v.toPower(power, a, count, scratch)
		}
		product.Clear()
		v.Product(product, conjugates, power, scratch)
		conjugates, product = product, conjugates
	}
	norm := power[0]
	clear(norm)
	for _, p := range v.products {
		if m := p.to[0]; m.k == 0 {
			v.Field.Mul(scratch, a[p.i], conjugates[p.j])
			v.MulAdd(norm, scratch, m.ratio, product[0])
		}
	}
	v.Inverse(norm, norm)
	v.MulBase(dst, conjugates, norm)
}

// toPower sets dst to the powers p^k of the elements of a.
func (v *Vectors[E, X]) toPower(dst, a Vector[E], k int, scratch []E) {
	if !v.diagonal {
		dst.Clear()
		v.AddProducts(dst, a, v.conjugate[k], scratch)
		return
	}
	copy(dst[0], a[0]) // elements of the field are their own powers
	for i := 1; i < v.degree; i++ {
		v.MulScalar(dst[i], a[i], v.conjugate[k][i][i])
	}
}
