package arm64

// wideSum is a sum of products. It holds the sum of the products' lower words modulo 2^64, the sum
// of these words' upper halves, and the same two sums of the products' upper words. For fewer than
// 2^32 products no sum of upper halves wraps. Neither would a sum of lower halves, which remains
// when the upper halves are subtracted.
type wideSum [4]zReg

// setProduct sets s to s[0] y.
func (a *assembly) setProduct(s wideSum, y zReg) {
	a.product(s[2], s[0], s[0], y)
	a.vector(shift("lsr", s[1], s[0], 32))
	a.vector(shift("lsr", s[3], s[2], 32))
}

// addProduct adds x y to s. It overwrites x and t.
func (a *assembly) addProduct(s wideSum, x, y, t zReg) {
	a.product(t, x, x, y)
	a.addWord(s[0], s[1], x)
	a.addWord(s[2], s[3], t)
}

// addWord adds x to words, and its upper half to tops. It overwrites x.
func (a *assembly) addWord(words, tops, x zReg) {
	a.vector(ddd("add", words, words, x))
	if a.sve2 {
		a.vector(dds("uaddwt", tops, tops, x))
		return
	}
	a.vector(shift("lsr", x, x, 32))
	a.vector(ddd("add", tops, tops, x))
}

// lowHalves turns the sum of words into the sum of their lower halves. It overwrites t.
func (a *assembly) lowHalves(words, tops, t zReg) {
	a.vector(shift("lsl", t, tops, 32))
	a.vector(ddd("sub", words, words, t))
}

// lazySum adds p in two parts: 2^38 + 1 and 2^64 - 2^32 - 2^38.
const (
	biasLow  = 1<<38 + 1
	biasHigh = 1<<32 - 1 - 1<<6
)

// lazySum sets s[0] to the sum modulo p, below 2^64, of at most 12 products. It overwrites the
// others and t.
//
// With the sums of the products' halves, d0 + d1 2^32 + d2 2^64 + d3 2^96, the result is (d0 - d2 -
// d3) + (d1 + d2) 2^32, by 2^64 = 2^32 - 1 and 2^96 = -1. They are below 2^36, so adding 2^38 + 1
// makes the first part positive. What is added to the second part completes this to p.
func (a *assembly) lazySum(s wideSum, t zReg) {
	a.lowHalves(s[0], s[1], t)
	a.lowHalves(s[2], s[3], t)
	a.vector(ddd("add", s[0], s[0], zBiasLow))
	a.vector(ddd("add", s[3], s[3], s[2]))
	a.vector(ddd("sub", s[0], s[0], s[3]))
	a.vector(ddd("add", s[1], s[1], s[2]))
	a.vector(ddd("add", s[1], s[1], zBiasHigh))
	a.join(s[0], s[1], t, 0, false)
}

// byteSum is a sum of products of words by numbers below 2^8: the sum over the words' lower halves,
// and the sum over the upper halves. Base SVE has whole words, modulo 2^64, instead of the lower
// halves.
type byteSum [2]zReg

// upperHalf sets upper to the upper half of x if setBytes and addBytes need it.
func (a *assembly) upperHalf(upper, x zReg) {
	if !a.sve2 {
		a.vector(shift("lsr", upper, x, 32))
	}
}

// setBytes sets s to x y, where y is the given word of each 128 bits. Base SVE takes the whole lane
// instead, and the upper half of x. x and upper may be s.
func (a *assembly) setBytes(s byteSum, x, upper, y zReg, word uint32) {
	if a.sve2 {
		a.vector(dssWord("umullt", s[1], x, y, word))
		a.vector(dssWord("umullb", s[0], x, y, word))
		return
	}
	a.multiply("mul", s[0], x, y)
	a.multiply("mul", s[1], upper, y)
}

// addBytes adds x y to s. The operands are those of setBytes.
func (a *assembly) addBytes(s byteSum, x, upper, y zReg, word uint32) {
	if a.sve2 {
		a.vector(dssWord("umlalt", s[1], x, y, word))
		a.vector(dssWord("umlalb", s[0], x, y, word))
		return
	}
	a.vector(mla(s[0], every, x, y))
	a.vector(mla(s[1], every, upper, y))
}

// lazyBytes sets s[0] to the sum modulo p, below 2^64, of at most 12 products, whose parts are
// below 2^44. It overwrites s[1] and t.
func (a *assembly) lazyBytes(s byteSum, t zReg) {
	if !a.sve2 {
		a.lowHalves(s[0], s[1], t)
	}
	a.join(s[0], s[1], t, 0, false)
}
