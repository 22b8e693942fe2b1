package riscv

import (
	"math"
	"math/bits"
)

// The quiet NaNs of results (volume I, chapter "F", section "NaN Generation and Propagation").
const (
	quietS = 0x7fc00000
	quietD = 0x7ff8000000000000
	boxed  = 0xffffffff_00000000 // bits above a single-precision number in a register
)

// single returns the single-precision number in a register. If the register holds a double, it is NaN.
func single(v uint64) uint32 {
	if v&boxed != boxed {
		return quietS
	}
	return uint32(v)
}

func toSingle(v uint64) float32 { return math.Float32frombits(single(v)) }
func toDouble(v uint64) float64 { return math.Float64frombits(v) }
func box(v uint32) uint64       { return boxed | uint64(v) }
func fromSingle(v float32) uint64 {
	if v != v {
		return box(quietS)
	}
	return box(math.Float32bits(v))
}

func fromDouble(v float64) uint64 {
	if v != v {
		return quietD
	}
	return math.Float64bits(v)
}

// float executes the instructions of the extensions F and D.
func (m *machine) float(h *hart, in *instr) bool {
	x, f := &h.x, &h.f
	a, b, c := f[in.rs1&31], f[in.rs2&31], f[in.rs3&31]
	s, t, u := toSingle(a), toSingle(b), toSingle(c)
	d, e, g := toDouble(a), toDouble(b), toDouble(c)
	switch in.op {
	case opFlw, opFld:
		size := 4 + 4*int(in.op-opFlw)
		v, ok := m.load(x[in.rs1]+uint64(in.imm), size)
		if !ok {
			return false
		}
		if size == 4 {
			v = box(uint32(v))
		}
		f[in.rd] = v
	case opFsw, opFsd:
		return m.store(x[in.rs1]+uint64(in.imm), b, 4+4*int(in.op-opFsw))

	case opFaddS:
		f[in.rd] = fromSingle(s + t)
	case opFsubS:
		f[in.rd] = fromSingle(s - t)
	case opFmulS:
		f[in.rd] = fromSingle(s * t)
	case opFdivS:
		f[in.rd] = fromSingle(s / t)
	case opFsqrtS: // 53 bits are more than 2·24 + 1, so that rounding twice is rounding once
		f[in.rd] = fromSingle(float32(math.Sqrt(float64(s))))
	case opFmaddS:
		f[in.rd] = fromSingle(fma32(s, t, u))
	case opFmsubS:
		f[in.rd] = fromSingle(fma32(s, t, -u))
	case opFnmsubS:
		f[in.rd] = fromSingle(fma32(-s, t, u))
	case opFnmaddS:
		f[in.rd] = fromSingle(fma32(-s, t, -u))
	case opFsgnjS, opFsgnjnS, opFsgnjxS:
		f[in.rd] = box(uint32(sign(uint64(single(a)), uint64(single(b)), in.op-opFsgnjS, 31)))
		return true // copies bits and raises no flag
	case opFminS, opFmaxS:
		f[in.rd] = fromSingle(float32(extreme(float64(s), float64(t), in.op == opFmaxS)))
	case opFeqS:
		x[in.rd] = flag(s == t)
	case opFltS:
		x[in.rd] = flag(s < t)
	case opFleS:
		x[in.rd] = flag(s <= t)
	case opFclassS:
		x[in.rd] = classify(uint64(single(a)), 8, 23)
	case opFmvXW:
		x[in.rd] = word(uint32(a))
		return true
	case opFmvWX:
		f[in.rd] = box(uint32(x[in.rs1]))
		return true
	case opFcvtWS, opFcvtWuS, opFcvtLS, opFcvtLuS:
		x[in.rd] = h.integer(float64(s), in.op-opFcvtWS, in.rs3)
		return true
	case opFcvtSW, opFcvtSWu, opFcvtSL, opFcvtSLu:
		f[in.rd] = fromSingle(float32(h.fromInteger(x[in.rs1], in.op-opFcvtSW, in.rs3, formatS)))
		return true

	case opFaddD:
		f[in.rd] = fromDouble(d + e)
	case opFsubD:
		f[in.rd] = fromDouble(d - e)
	case opFmulD:
		f[in.rd] = fromDouble(d * e)
	case opFdivD:
		f[in.rd] = fromDouble(d / e)
	case opFsqrtD:
		f[in.rd] = fromDouble(math.Sqrt(d))
	case opFmaddD:
		f[in.rd] = fromDouble(math.FMA(d, e, g))
	case opFmsubD:
		f[in.rd] = fromDouble(math.FMA(d, e, -g))
	case opFnmsubD:
		f[in.rd] = fromDouble(math.FMA(-d, e, g))
	case opFnmaddD:
		f[in.rd] = fromDouble(math.FMA(-d, e, -g))
	case opFsgnjD, opFsgnjnD, opFsgnjxD:
		f[in.rd] = sign(a, b, in.op-opFsgnjD, 63)
		return true
	case opFminD, opFmaxD:
		f[in.rd] = fromDouble(extreme(d, e, in.op == opFmaxD))
	case opFeqD:
		x[in.rd] = flag(d == e)
	case opFltD:
		x[in.rd] = flag(d < e)
	case opFleD:
		x[in.rd] = flag(d <= e)
	case opFclassD:
		x[in.rd] = classify(a, 11, 52)
	case opFmvXD:
		x[in.rd] = a
		return true
	case opFmvDX:
		f[in.rd] = x[in.rs1]
		return true
	case opFcvtWD, opFcvtWuD, opFcvtLD, opFcvtLuD:
		x[in.rd] = h.integer(d, in.op-opFcvtWD, in.rs3)
		return true
	case opFcvtDW, opFcvtDWu, opFcvtDL, opFcvtDLu:
		f[in.rd] = fromDouble(h.fromInteger(x[in.rs1], in.op-opFcvtDW, in.rs3, formatD))
		return true
	case opFcvtSD:
		f[in.rd] = fromSingle(float32(d))
	case opFcvtDS:
		f[in.rd] = fromDouble(float64(s))
	}
	if in.op >= opFaddS {
		h.raise(in, a, b, c)
	}
	return true
}

// fma32 returns a·b + c, rounded once. In double precision the product is exact, and the sum is rounded to
// odd. Since 53 bits are at least 24 + 2, rounding it again gives the same as rounding once (Boldo and
// Melquiond, "Emulation of a FMA and Correctly Rounded Sums", theorem 1).
func fma32(a, b, c float32) float32 {
	p, q := float64(a)*float64(b), float64(c)
	sum := p + q
	// What the sum has lost, exactly (Knuth, TwoSum).
	pp := sum - q
	lost := (p - pp) + (q - (sum - pp))
	if lost != 0 && !math.IsInf(sum, 0) && sum == sum && math.Float64bits(sum)&1 == 0 {
		if (lost > 0) == (sum > 0) {
			sum = math.Float64frombits(math.Float64bits(sum) + 1)
		} else {
			sum = math.Float64frombits(math.Float64bits(sum) - 1)
		}
	}
	return float32(sum)
}

// sign returns a with the sign of b, with the opposite of it, or with the product of both signs. The kind
// selects which.
func sign(a, b uint64, kind op, bit uint) uint64 {
	of := uint64(1) << bit
	switch kind {
	case 0:
		return a&^of | b&of
	case 1:
		return a&^of | ^b&of
	}
	return a ^ b&of
}

// extreme returns the lesser or the greater number. -0 is less than 0, and NaN is not a number.
func extreme(a, b float64, greater bool) float64 {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	case greater:
		return max(a, b)
	}
	return min(a, b)
}

// classify returns the bit of a number's class (volume I, chapter "F", table "Format of result of FCLASS").
func classify(v uint64, exponentBits, fractionBits uint) uint64 {
	negative := v>>(exponentBits+fractionBits)&1 == 1
	exponent := v >> fractionBits & (1<<exponentBits - 1)
	fraction := v & (1<<fractionBits - 1)
	pick := func(ifNegative, ifPositive uint64) uint64 {
		if negative {
			return 1 << ifNegative
		}
		return 1 << ifPositive
	}
	switch {
	case exponent == 1<<exponentBits-1 && fraction == 0:
		return pick(0, 7)
	case exponent == 1<<exponentBits-1:
		return 1 << (8 + bits.Len64(fraction>>(fractionBits-1)))
	case exponent == 0 && fraction == 0:
		return pick(3, 4)
	case exponent == 0:
		return pick(2, 5)
	}
	return pick(1, 6)
}

// integer converts to an integer of a kind from 0 to 3: signed and unsigned 32 bits, signed and unsigned 64
// bits. Values beyond the range become the nearest end of it, and NaN the upper end (volume I, chapter "F",
// table "Domains of float-to-integer conversions").
func (h *hart) integer(v float64, kind op, mode uint8) uint64 {
	exact := v
	switch mode {
	case nearestEven:
		v = math.RoundToEven(v)
	case 1:
		v = math.Trunc(v)
	case 2:
		v = math.Floor(v)
	case 3:
		v = math.Ceil(v)
	case 4:
		v = math.Round(v)
	}
	domain := [...]struct {
		low, above  float64 // the range: its lowest value, and the first value above it
		least, most uint64
	}{
		{math.MinInt32, 1 << 31, word(1 << 31), math.MaxInt32},
		{0, 1 << 32, 0, math.MaxUint64},
		{math.MinInt64, 1 << 63, 1 << 63, math.MaxInt64},
		{0, 1 << 64, 0, math.MaxUint64},
	}[kind]
	switch {
	case v != v || v >= domain.above:
		h.flags |= flagInvalid
		return domain.most
	case v < domain.low:
		h.flags |= flagInvalid
		return domain.least
	case v != exact:
		h.flags |= flagInexact
	}
	switch kind {
	case 1:
		return word(uint32(v))
	case 3:
		return uint64(v)
	}
	return uint64(int64(v))
}

// fromInteger converts an integer to floating point. The kinds are those of integer.
func (h *hart) fromInteger(v uint64, kind op, mode uint8, f format) float64 {
	switch kind {
	case 0:
		v = word(uint32(v))
	case 1:
		v = uint64(uint32(v))
	}
	negative := kind%2 == 0 && int64(v) < 0
	if negative {
		v = -v
	}
	drop := max(0, bits.Len64(v)-f.bits)
	lost := v & (1<<drop - 1)
	v >>= drop
	if lost != 0 {
		h.flags |= flagInexact
		up := false
		switch half := uint64(1) << (drop - 1); mode {
		case nearestEven:
			up = lost > half || lost == half && v&1 == 1
		case 2: // down
			up = negative
		case 3: // up
			up = !negative
		case 4: // to nearest, ties away from zero
			up = lost >= half
		}
		v += flag(up)
	}
	r := math.Ldexp(float64(v), drop)
	if negative {
		return -r
	}
	return r
}
