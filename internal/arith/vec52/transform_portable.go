package vec52

import (
	"unsafe"

	"github.com/zkbench/zkbench/internal/arith/vec52/layout"
)

// mulRoot returns x z, in limbs that are not carried.
func (f *Field) mulRoot(x, z *element) element {
	c := f.carried(*x)
	return f.product(&c, z)
}

// folded returns x minus a multiple of p: a number below 1.1 p. x must be below 84p, with a last limb that is not
// negative.
func (f *Field) folded(x element) element {
	l := layout.Limbs(f.limbs)
	q := mulHigh(x[f.limbs-1], f.constants[l.Fraction()]) >> layout.FractionBits
	negative := f.constant(l.Negative)
	for i := range f.limbs {
		x[i] += mulLow(q, negative[i])
		if i+1 < f.limbs {
			x[i+1] += mulHigh(q, negative[i])
		}
	}
	x = f.carried(x)
	x[f.limbs-1] &= low52
	return x
}

// butterfly sets (x, y) to (x + y, x - y + k p).
func (f *Field) butterfly(x, y *element, k int) {
	*x, *y = f.plus(*x, *y), f.plus(f.minus(*x, *y), f.multiple(k))
}

func (f *Field) four(d Direction, x, z []element) {
	if d == ToReversed {
		x[2], x[3] = f.mulRoot(&x[2], &z[0]), f.mulRoot(&x[3], &z[0])
		f.butterfly(&x[0], &x[2], 2)
		f.butterfly(&x[1], &x[3], 2)
		x[1], x[3] = f.mulRoot(&x[1], &z[1]), f.mulRoot(&x[3], &z[2])
		f.butterfly(&x[0], &x[1], 2)
		f.butterfly(&x[2], &x[3], 2)
		return
	}
	f.butterfly(&x[0], &x[1], 2)
	f.butterfly(&x[2], &x[3], 2)
	x[1], x[3] = f.mulRoot(&x[1], &z[1]), f.mulRoot(&x[3], &z[2])
	f.butterfly(&x[0], &x[2], 4)
	f.butterfly(&x[1], &x[3], 2)
	x[0], x[1] = f.reduced(x[0]), f.reduced(x[1])
	x[2], x[3] = f.mulRoot(&x[2], &z[0]), f.mulRoot(&x[3], &z[0])
}

func (f *Field) fourOfAll(d Direction, x, z []element) {
	if d == ToReversed {
		f.butterfly(&x[0], &x[2], 2)
		f.butterfly(&x[1], &x[3], 2)
		x[3] = f.mulRoot(&x[3], &z[2])
		f.butterfly(&x[0], &x[1], 4)
		f.butterfly(&x[2], &x[3], 2)
		return
	}
	f.butterfly(&x[0], &x[1], 2)
	f.butterfly(&x[2], &x[3], 2)
	x[3] = f.mulRoot(&x[3], &z[2])
	f.butterfly(&x[0], &x[2], 4)
	f.butterfly(&x[1], &x[3], 2)
	x[0], x[1], x[2], x[3] = f.reduced(x[0]), f.reduced(x[1]), f.reduced(x[2]), f.reduced(x[3])
}

func (f *Field) twoOfAll(x []element) {
	f.butterfly(&x[0], &x[1], 2)
	x[0], x[1] = f.reduced(x[0]), f.reduced(x[1])
}

// rowsPortable calls pass with the elements of each lane of all columns.
func (f *Field) rowsPortable(x []uint64, rows, stride, columns, parts int, roots []uint64, pass func(x, z []element)) {
	e := make([]element, rows)
	var z [3]element
	for part := range parts {
		for k := range z {
			if roots != nil {
				copy(z[k][:], roots[part*f.RowWords()+k*f.limbs:][:f.limbs])
			}
		}
		for c := range columns {
			at := func(row int) []uint64 { return x[((part*rows+row)*stride+c)*f.Block():] }
			for lane := range Width {
				for row := range e {
					f.load(&e[row], at(row), lane)
				}
				pass(e, z[:])
				for row := range e {
					f.store(&e[row], at(row), lane)
				}
			}
		}
	}
}

func (f *Field) eightPortable(d Direction, x, roots []uint64) {
	size := f.Block()
	for tile := range len(x) / (Width * size) {
		for row := range Width {
			block := x[(tile*Width+row)*size:]
			var e [Width]element
			for lane := range e {
				f.load(&e[lane], block, lane)
			}
			f.eight(d, &e, func(k int) (z element) {
				f.load(&z, roots[tile*f.EightWords()+k*size:], row)
				return z
			})
			for lane := range e {
				f.store(&e[lane], block, lane)
			}
		}
	}
}

// eight does three levels on eight elements. root returns root number k of those that Eight takes.
func (f *Field) eight(d Direction, x *[Width]element, root func(k int) element) {
	pair := func(i, stride, k int, lift element) {
		z := root(4/stride - 1 + i/(2*stride))
		if d == ToReversed {
			x[i+stride] = f.mulRoot(&x[i+stride], &z)
			x[i] = f.plus(x[i], lift)
			f.butterfly(&x[i], &x[i+stride], 2)
			return
		}
		f.butterfly(&x[i], &x[i+stride], k)
		x[i+stride] = f.mulRoot(&x[i+stride], &z)
	}
	if d == ToReversed {
		for stride := 4; stride > 0; stride /= 2 {
			var lift element
			if stride == 1 {
				lift = f.multiple(1)
			}
			for i := range x {
				if i&stride == 0 {
					pair(i, stride, 2, lift)
				}
			}
		}
		for i := range x {
			x[i] = f.folded(x[i])
		}
		return
	}
	for _, l := range []struct{ stride, i, k int }{
		{1, 0, 2},
		{1, 2, 2},
		{1, 4, 2},
		{1, 6, 2},
		{2, 0, 4},
		{2, 1, 2},
		{2, 4, 4},
		{2, 5, 2},
		{4, 0, 2},
		{4, 1, 4},
		{4, 2, 2},
		{4, 3, 2},
	} {
		pair(l.i, l.stride, l.k, element{})
		if l.stride == 4 || l.stride == 2 && l.k == 4 {
			x[l.i] = f.reduced(x[l.i])
		}
	}
}

// reversed has the numbers of three bits with their bits in reversed order.
var reversed = [Width]int{0, 4, 2, 6, 1, 5, 3, 7}

func (f *Field) turnPortable(tiles, src []uint64, stride int) {
	size := f.Block()
	for tile := range len(tiles) / (Width * size) {
		for row := range Width {
			for lane := range Width {
				var e element
				f.load(&e, src[(row*stride+tile)*size:], lane)
				f.store(&e, tiles[(tile*Width+reversed[lane])*size:], reversed[row])
			}
		}
	}
}

func (f *Field) linearPortable(z, x, y []uint64, rule func(a, b element) element) {
	for at := 0; at < len(z); at += f.Block() {
		for lane := range Width {
			var a, b element
			f.load(&a, x[at:], lane)
			f.load(&b, y[at:], lane)
			a = f.reduced(rule(a, b))
			f.store(&a, z[at:], lane)
		}
	}
}

// excess is the base-2 logarithm of R / 2^256.
const excess = 4

func (f *Field) inPortable(dst []uint64, words *uint64) {
	all := unsafe.Slice(words, f.words*Width*(len(dst)/f.Block()))
	for k := range len(all) / f.words {
		var e element
		w := all[f.words*k:][:f.words]
		for i := range f.limbs {
			bit := radix*i - excess
			v := w[0] << excess
			if bit > 0 {
				v = w[bit/64] >> (bit % 64)
				if bit/64+1 < f.words && bit%64 > 0 {
					v |= w[bit/64+1] << (64 - bit%64)
				}
			}
			e[i] = v & low52
		}
		e = f.folded(e)
		f.store(&e, dst[k/Width*f.Block():], k%Width)
	}
}

func (f *Field) outPortable(words *uint64, src []uint64) {
	all := unsafe.Slice(words, f.words*Width*(len(src)/f.Block()))
	block := make([]uint64, f.Block())
	p := f.multiple(1)
	for k := range len(all) / f.words {
		var e element
		f.load(&e, src[k/Width*f.Block():], k%Width)
		m := mulLow(e[0], f.constants[layout.Limbs(f.limbs).Inverse()]) % (1 << excess)
		for i := range f.limbs {
			e[i] += mulLow(m, p[i])
			if i+1 < f.limbs {
				e[i+1] += mulHigh(m, p[i])
			}
		}
		e = f.carried(e)
		for i := range f.limbs {
			next := uint64(0)
			if i+1 < f.limbs {
				next = e[i+1]
			}
			e[i] = (e[i]>>excess | next<<(radix-excess)) & low52
		}
		f.store(&e, block, 0)
		f.Get(all[f.words*k:][:f.words], block, 0)
	}
}
