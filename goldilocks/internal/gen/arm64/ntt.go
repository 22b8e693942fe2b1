package arm64

// The transforms' butterflies on registers of elements, each with an element that has been
// prepared: package goldilocks' multiplier.
//
// Instructions of a butterfly with SVE2: 6 for the product and 3 each for the sum and the
// difference, 12; of a transposed one 6, 4 and 3, 13. SVE has one more, to copy a factor.
// A pass of two strides has four of them for 4 registers, 48 and 52, beside 8 loads and
// stores and 3 to count: 14.75 a butterfly and 15.75. The last pass, of strides 2 and 1, has
// 65 and 61, as to reversed order it makes the elements canonical: 16.25 and 15.25. That of
// stride 4 for longer registers, which gathers and scatters, has 68 and 72: 17 and 18.

// multiplier says in which registers an element's two words are.
type multiplier struct{ z, q zReg }

// Registers of the passes: four of elements, two that are free, and three multipliers, the
// first for the larger stride.
const nttFree zReg = 4

var nttMultipliers = [3]multiplier{{16, 17}, {18, 19}, {20, 21}}

// timesMultiplier sets d to y times the element m, below p, for y below 2^64. It overwrites y.
//
// With z = 2^64 m modulo p, and q = z/p modulo 2^64, let g = y q modulo 2^64. Then y z and g p
// agree modulo 2^64, and (y z - g p) / 2^64, which is y m modulo p, is the difference of their
// upper words. Both upper words are below p, because z and p are multiplied by less than 2^64 and z
// is below p.
func (a *assembly) timesMultiplier(d, y zReg, m multiplier) {
	a.multiply("umulh", d, y, m.z)
	a.multiply("mul", y, y, m.q)
	a.multiply("umulh", y, y, modulus)
	a.subCanonical(d, d, y)
}

// subLazy sets d to x - y modulo p, below 2^64. x is any number below 2^64, y below p; d is
// not x or y.
func (a *assembly) subLazy(d, x, y zReg) {
	a.vector(cmphi(carry, every, y, x))
	a.vector(ddd("sub", d, x, y))
	// Borrowed: d >= 2^64 - (p - 1) = 2^32, so this does not wrap.
	a.vector(merge("sub", d, carry, eps))
}

// butterfly sets (x, y) to (x + m y, x - m y), all of them below 2^64. It overwrites t.
func (a *assembly) butterfly(x, y zReg, m multiplier, t zReg) {
	a.timesMultiplier(t, y, m)
	a.subLazy(y, x, t)
	a.addLazy(x, x, t)
}

// transposed sets (x, y) to (x + y, m (x - y)), all of them below p. Lazy sums would have to be
// made canonical when they become a y. It overwrites t.
func (a *assembly) transposed(x, y zReg, m multiplier, t zReg) {
	a.subCanonical(t, x, y)
	// x + y = x - (p - y)
	a.vector(ddd("sub", y, modulus, y))
	a.subCanonical(x, x, y)
	a.timesMultiplier(y, t, m)
}

// direction is to reversed order, by butterflies, or from it, by transposed butterflies.
type direction struct {
	name string // of its passes
	pair string // of its function of two vectors
	to   bool
}

var directions = []direction{{"To", "butterflies", true}, {"From", "transposed", false}}

func (a *assembly) butterflyOf(dir direction, x, y zReg, m multiplier, t zReg) {
	if dir.to {
		a.butterfly(x, y, m, t)
	} else {
		a.transposed(x, y, m, t)
	}
}

// fours computes the butterflies of two strides on z0 to z3, which are the smaller stride apart.
func (a *assembly) fours(dir direction) {
	outer := func() {
		a.butterflyOf(dir, 0, 2, nttMultipliers[0], nttFree)
		a.butterflyOf(dir, 1, 3, nttMultipliers[0], nttFree+1)
	}
	if dir.to {
		outer()
	}
	a.butterflyOf(dir, 0, 1, nttMultipliers[1], nttFree)
	a.butterflyOf(dir, 2, 3, nttMultipliers[2], nttFree+1)
	if !dir.to {
		outer()
	}
}

// nttFunction is a function of the transforms.
type nttFunction struct {
	name      string
	registers int
	write     func(a *assembly, label string)
}

func nttFunctions() (all []nttFunction) {
	for _, dir := range directions {
		write := func(f func(*assembly, direction, string)) func(*assembly, string) {
			return func(a *assembly, label string) { f(a, dir, label) }
		}
		all = append(
			all,
			nttFunction{dir.pair, 2, write((*assembly).nttPair)},
			nttFunction{"nttMiddle" + dir.name, 4, write((*assembly).nttMiddle)},
			nttFunction{"nttStride4" + dir.name, 4, write((*assembly).nttStride4)},
			nttFunction{"nttStride1" + dir.name, 4, write((*assembly).nttStride1)},
		)
	}
	return all
}
