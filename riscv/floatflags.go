package riscv

import (
	"math"
	"math/big"
)

// Flags that floating-point operations raise, as in register fflags (volume I, chapter "F", section "Floating-Point
// Control and Status Register").
const (
	flagInexact = 1 << iota
	flagUnderflow
	flagOverflow
	flagDivision
	flagInvalid
)

// Kinds of operations: their positions among the operations of a format.
const (
	kindAdd, kindSub, kindMul, kindDiv, kindSqrt = op(0), opFsubS - opFaddS, opFmulS - opFaddS, opFdivS - opFaddS, opFsqrtS - opFaddS
	kindMin, kindMax, kindEq, kindLt, kindLe     = opFminS - opFaddS, opFmaxS - opFaddS, opFeqS - opFaddS, opFltS - opFaddS, opFleS - opFaddS
	kindMadd, kindMsub, kindNmsub, kindNmadd     = opFmaddS - opFaddS, opFmsubS - opFaddS, opFnmsubS - opFaddS, opFnmaddS - opFaddS
	kindNarrow, kindWiden                        = opFcvtSD - opFaddD, opFcvtDS - opFaddD
)

// format holds the properties of a floating-point format that the flags of a result depend on.
type format struct {
	bits     int     // of a fraction, with the bit that is not stored
	least    float64 // least normal number
	exponent int     // a number is tiny if it is less than least by more than 2^exponent, half a unit there
}

var (
	formatS = format{24, 0x1p-126, -151}
	formatD = format{53, 0x1p-1022, -1076}
)

// raise adds the flags of an operation with operands a, b and c whose result is in register rd. Conversions
// to and from integers raise their own flags.
func (h *hart) raise(in *instr, a, b, c uint64) {
	kind, singles := in.op-opFaddS, true // whether the operands have single precision
	if in.op >= opFaddD {
		kind = in.op - opFaddD
		singles = kind == kindWiden
	}
	result := h.f[in.rd&31]
	format, r := formatD, toDouble(result)
	if in.op < opFaddD || kind == kindNarrow {
		format, r = formatS, float64(toSingle(result))
	}
	rounds := kind <= kindSqrt || kindMadd <= kind && kind <= kindNmadd || kind == kindNarrow
	if rounds && h.flags&flagInexact != 0 {
		if size := math.Abs(r); format.least < size && size <= math.MaxFloat64 {
			return // such a result raises no other flag
		}
	}
	x, y, z, signals := toDouble(a), toDouble(b), toDouble(c), signallingD
	if singles {
		x, y, z, signals = float64(toSingle(a)), float64(toSingle(b)), float64(toSingle(c)), signallingS
	}
	switch kind {
	case kindSub:
		y = -y
	case kindMsub:
		z = -z
	case kindNmsub:
		x = -x
	case kindNmadd:
		x, z = -x, -z
	}
	invalid := false
	switch {
	case kind == kindAdd || kind == kindSub:
		invalid = signals(a) || signals(b)
		h.flags |= arithmetic(kindAdd, format, r, x, y)
	case kind == kindMul || kind == kindDiv:
		invalid = signals(a) || signals(b)
		h.flags |= arithmetic(kind, format, r, x, y)
	case kind == kindSqrt || kind == kindNarrow:
		invalid = signals(a)
		h.flags |= arithmetic(kind, format, r, x)
	case kindMadd <= kind && kind <= kindNmadd:
		zero := math.IsInf(x, 0) && y == 0 || x == 0 && math.IsInf(y, 0)
		invalid = zero || signals(a) || signals(b) || signals(c)
		h.flags |= arithmetic(kindMadd, format, r, x, y, z)
	case kind == kindMin || kind == kindMax || kind == kindEq:
		invalid = signals(a) || signals(b)
	case kind == kindLt || kind == kindLe:
		invalid = x != x || y != y
	case kind == kindWiden:
		invalid = signals(a)
	}
	if invalid {
		h.flags |= flagInvalid
	}
}

// signallingS reports whether a single-precision operand is a signalling NaN.
func signallingS(v uint64) bool {
	const quiet = 1 << 22
	s := toSingle(v)
	return s != s && single(v)&quiet == 0
}

// signallingD reports whether a double-precision operand is a signalling NaN.
func signallingD(v uint64) bool {
	const quiet = 1 << 51
	d := toDouble(v)
	return d != d && v&quiet == 0
}

// arithmetic returns the flags of an operation whose result is rounded, without those for signalling NaNs.
func arithmetic(kind op, f format, r float64, operands ...float64) uint8 {
	nan, infinite := false, false
	for _, v := range operands {
		nan, infinite = nan || v != v, infinite || math.IsInf(v, 0)
	}
	switch {
	case nan:
		return 0
	case r != r:
		return flagInvalid
	case infinite:
		return 0
	case kind == kindDiv && operands[1] == 0:
		return flagDivision
	case math.IsInf(r, 0):
		return flagOverflow | flagInexact
	}
	v := [3]float64{}
	copy(v[:], operands)
	if isExact(kind, r, v) {
		return 0
	}
	if size := math.Abs(r); size < f.least || size == f.least && tiny(kind, f, v) {
		return flagInexact | flagUnderflow
	}
	return flagInexact
}

// isExact reports whether a finite result of finite operands is the same without rounding.
func isExact(kind op, r float64, v [3]float64) bool {
	switch kind {
	case kindNarrow:
		return r == v[0]
	case kindAdd:
		sum, lost := twoSum(v[0], v[1])
		return lost == 0 && sum == r
	case kindMul:
		return isProduct(r, v[0], v[1])
	case kindDiv:
		return isProduct(v[0], r, v[1])
	case kindSqrt:
		return isProduct(v[0], r, r)
	}
	return isFused(r, v[0], v[1], v[2])
}

// isProduct reports whether c is exactly a·b.
func isProduct(c, a, b float64) bool {
	if a == 0 || b == 0 || c == 0 {
		return c == 0 && (a == 0 || b == 0)
	}
	fa, ea := math.Frexp(a)
	fb, eb := math.Frexp(b)
	fc, ec := math.Frexp(c)
	product := float64(fa * fb) // at least 1/4
	return math.FMA(fa, fb, -product) == 0 && (product == fc && ea+eb == ec || 2*product == fc && ea+eb-1 == ec)
}

// isFused reports whether r is exactly a·b + c.
func isFused(r, a, b, c float64) bool {
	// The rounding error of a product has double precision if the product is not below safe (Boldo and Daumas,
	// "Representable Correcting Terms for Possibly Underflowing Floating Point Operations").
	const safe, scale = 0x1p-960, 600
	switch product := math.Abs(float64(a * b)); {
	case a == 0 || b == 0:
		return r == c
	case product < safe:
		if math.Abs(c) > 1 {
			return false // the product is below half a unit of c
		}
		if math.Abs(a) > math.Abs(b) {
			a, b = b, a
		}
		a, c, r = math.Ldexp(a, scale), math.Ldexp(c, scale), math.Ldexp(r, scale)
		if math.Abs(float64(a*b)) < 0x1p-474 {
			return false // all results and c are multiples of 2^-1074, and the product is not
		}
	}
	product := float64(a * b)
	lost := math.FMA(a, b, -product)
	sum, rest := twoSum(product, c)
	if rest == 0 {
		sum, rest = twoSum(sum, lost)
		return rest == 0 && sum == r
	}
	// Then sum and r are next to each other, so that their difference is exact.
	if over, none := twoSum(sum, -r); none == 0 {
		last, none := twoSum(rest, lost)
		return none == 0 && last == -over
	}
	n, _ := fraction(kindMadd, [3]float64{a, b, c}) // the sums are too large for the steps above
	return n.Cmp(wide(r)) == 0
}

// twoSum returns a + b rounded, and the rounding error, exactly (Knuth).
func twoSum(a, b float64) (sum, lost float64) {
	sum = a + b
	second := sum - a
	return sum, (a - (sum - second)) + (b - second)
}

// wide returns v with enough precision for exact sums and products of three double-precision numbers.
func wide(v float64) *big.Float { return new(big.Float).SetPrec(4400).SetFloat64(v) }

// fraction returns the value of an operation without rounding, as n/d.
func fraction(kind op, v [3]float64) (n, d *big.Float) {
	n, d = wide(v[0]), wide(1)
	switch kind {
	case kindMul:
		n.Mul(n, wide(v[1]))
	case kindDiv:
		d = wide(v[1])
	case kindMadd:
		n.Mul(n, wide(v[1])).Add(n, wide(v[2]))
	}
	return n, d
}

// tiny reports whether the value of an operation would be below the least normal number if it were rounded
// with an unbounded exponent.
func tiny(kind op, f format, v [3]float64) bool {
	if kind == kindAdd || kind == kindSqrt {
		return false
	}
	n, d := fraction(kind, v)
	gap := new(big.Float).SetMantExp(wide(1), f.exponent)
	limit := wide(f.least)
	limit.Sub(limit, gap)
	return n.Abs(n).Cmp(limit.Mul(limit, d.Abs(d))) < 0
}
