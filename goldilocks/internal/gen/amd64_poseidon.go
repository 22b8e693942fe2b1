package main

import (
	"bytes"
	"fmt"
	"maps"

	"github.com/zkbench/zkbench/internal/arith/asm"
)

const (
	width         = 12
	fullRounds    = 8
	partialRounds = 22
)

// expansion is a number as low + high 2^32. Both are signed and in no particular range. The linear
// layer, whose constants are small, takes and returns expansions.
type expansion struct{ low, high value }

// The linear layer is a circulant, out(i) = sum of c(j) in(i+j), and 8 in(0) in out(0).
// As polynomials modulo x^12 - 1 = (y-1)(y+1)(y^2+1), y = x^3, the circulant is three
// products by polynomials of degree 2: modulo x^3 - 1 by 64 + 128 x + 64 x^2, modulo
// x^3 + 1 by -4 - 32 x + 8 x^2, modulo x^3 - i by (4+2i) - (8+2i) x + (32-2i) x^2.
// All are over the integers; a spectrum is an input's remainders.
type spectrum struct {
	plus, minus, re, im [3]value
}

// spectrumOf returns the spectrum of in, where in(3a+b) is the coefficient of y^a x^b. It takes 18
// instructions. Each number at most quadruples.
func (b *block) spectrumOf(in [width]value) (s spectrum) {
	for n := range 3 {
		even, odd := b.add(in[n], in[n+6]), b.add(in[n+3], in[n+9])
		s.plus[n], s.minus[n] = b.add(even, odd), b.sub(even, odd)
		s.re[n], s.im[n] = b.sub(in[n], in[n+6]), b.sub(in[n+3], in[n+9])
	}
	return s
}

// vectorOf returns the vector whose spectrum has 4 plus, 4 minus, 2 re and 2 im. It takes 18
// instructions.
func (b *block) vectorOf(s spectrum) (out [width]value) {
	for n := range 3 {
		even, odd := b.add(s.plus[n], s.minus[n]), b.sub(s.plus[n], s.minus[n])
		out[n], out[n+6] = b.add(even, s.re[n]), b.sub(even, s.re[n])
		out[n+3], out[n+9] = b.add(odd, s.im[n]), b.sub(odd, s.im[n])
	}
	return out
}

func (b *block) double(x value) value { return b.add(x, x) }

// mixSpectrum multiplies by the three polynomials, scaled so that vectorOf undoes the scaling: plus
// and minus by 1/4, re and im by 1/2. It takes 68 instructions.
func (b *block) mixSpectrum(s spectrum, scaled bool) (o spectrum) {
	// 16 + 32 x + 16 x^2 modulo x^3 - 1 is 16 (sum + that before).
	sum := b.add(b.add(s.plus[0], s.plus[1]), s.plus[2])
	shift := 4
	if !scaled {
		shift = 6
	}
	for n := range 3 {
		o.plus[n] = b.shl(b.add(sum, s.plus[(n+2)%3]), shift)
	}
	// -1 - 8 x + 2 x^2 modulo x^3 + 1.
	var two, eight [3]value
	for n := range 3 {
		two[n], eight[n] = b.double(s.minus[n]), b.shl(s.minus[n], 3)
	}
	o.minus[0] = b.sub(b.sub(eight[2], s.minus[0]), two[1])
	o.minus[1] = b.negativeSum(s.minus[1], eight[0], two[2])
	o.minus[2] = b.sub(b.sub(two[0], s.minus[2]), eight[1])
	// (2+i) - (4+i) x + (16-i) x^2 modulo x^3 - i.
	var re2, re4, re16, im2, im4, im16 [3]value
	for n := range 3 {
		re2[n], re4[n], re16[n] = b.double(s.re[n]), b.shl(s.re[n], 2), b.shl(s.re[n], 4)
		im2[n], im4[n], im16[n] = b.double(s.im[n]), b.shl(s.im[n], 2), b.shl(s.im[n], 4)
	}
	u, v := s.re, s.im
	o.re[0] = b.sub(b.sum(re2[0], u[2], im4[2], u[1]), b.add(v[0], im16[1]))
	o.im[0] = b.sub(b.sum(im2[0], u[0], v[2], v[1], re16[1]), re4[2])
	o.re[1] = b.sub(b.sum(re2[1], v[0], u[2]), b.sum(v[1], re4[0], im16[2]))
	o.im[1] = b.sub(b.sum(im2[1], u[1], v[2], re16[2]), b.add(im4[0], u[0]))
	o.re[2] = b.sub(b.sum(re2[2], v[1], re16[0], v[0]), b.add(v[2], re4[1]))
	o.im[2] = b.sub(b.sum(im2[2], u[2], im16[0]), b.sum(im4[1], u[1], u[0]))
	if !scaled {
		for n := range 3 {
			o.minus[n] = b.shl(o.minus[n], 2)
			o.re[n], o.im[n] = b.double(o.re[n]), b.double(o.im[n])
		}
	}
	return o
}

func (b *block) sum(x value, more ...value) value {
	for _, y := range more {
		x = b.add(x, y)
	}
	return x
}

// negativeSum returns -x - y - z.
func (b *block) negativeSum(x, y, z value) value {
	return b.sub(b.sub(b.constant("zero"), b.add(x, y)), z)
}

// mix returns the linear layer on one of the two parts. It takes 106 instructions.
func (b *block) mix(in [width]value) [width]value {
	out := b.vectorOf(b.mixSpectrum(b.spectrumOf(in), true))
	out[0] = b.add(out[0], b.shl(in[0], 3))
	return out
}

// power7 returns x^7 of a lazy lane, as an expansion: low is above -2^33 and below 2^32, high is at
// least 0 and below 2^33. It takes 78 instructions.
func (b *block) power7(x value) expansion {
	x2 := b.square(x)
	x4 := b.square(x2)
	x3 := b.mul(x, x2)
	y1, z1 := b.upper(x3), b.upper(x4)
	ll, lh, hl, hh := b.product(x3, x4), b.product(x3, z1), b.product(y1, x4), b.product(y1, z1)
	// As in times and reduce, but with nothing put together: with u0 the lower dword of u,
	// hi = h 2^32 + l, it is ll0 + u0 2^32 + l (2^32-1) - h.
	t := b.add(hl, b.shr(ll, 32))
	u := b.add(lh, b.low(t))
	hi := b.add(b.add(hh, b.shr(t, 32)), b.shr(u, 32))
	l := b.low(hi)
	return expansion{b.sub(b.low(ll), b.add(l, b.shr(hi, 32))), b.add(b.low(u), l)}
}

// halves returns a lazy lane as an expansion.
func (b *block) halves(x value) expansion { return expansion{b.low(x), b.shr(x, 32)} }

// lazyOf returns a lazy lane equal to low + high 2^32, for low and high of at most 2^63 and 2^62,
// neither negative.
//
// With h = high >> 32, high 2^32 = (high << 32) + h (2^32-1). e = low + h (2^32-1) is below 2^64 -
// 2^33, so that a carry of e + (high << 32) leaves room for 2^32 - 1.
func (b *block) lazyOf(low, high value) value {
	e := b.add(low, b.timesEpsilon(b.shr(high, 32)))
	s := b.add(b.shl(high, 32), e)
	if b.Lanes == 8 {
		return b.where("VPADDQ", "epsilon", s, s, e)
	}
	return b.add(s, b.shr(b.Op("VPCMPGTQ", b.xorSign(s), b.xorSign(e)), 32))
}

// signedShift returns the arithmetic shift right by 2 or 32.
func (b *block) signedShift(x value, n int) value {
	if b.Lanes == 8 {
		return b.Immediate("VPSRAQ", n, x)
	}
	return b.Op("VPSUBQ", b.constant(fmt.Sprintf("shifted%d", n)), b.shr(b.xorSign(x), n))
}

// place returns the address of lane vector n, between two blocks of code: the state is stored from
// R13 on.
func (b *block) place(n int) string { return fmt.Sprintf("%d(R13)", 8*b.Lanes*n) }

// fullRound computes the S-boxes, the linear layer, and the row of constants at SI, each at least
// 2^43 and below 2^64 - 2^44. The row is added to the lower part, which is above -2^33 264 and
// below 2^32 264, with the upper part's overflow, below 2^10 2^32.
func (b *block) fullRound() {
	var low, high [width]value
	for i := range width {
		e := b.power7(b.Load(b.place(i)))
		low[i], high[i] = e.low, e.high
	}
	low, high = b.mix(low), b.mix(high)
	for i := range width {
		b.Store(b.lazyOf(b.WithWord("VPADDQ", fmt.Sprintf("%d(SI)", 8*i), low[i]), high[i]), b.place(i))
	}
}

// partialState is the state between partial rounds: the spectra of an expansion's parts, for the
// vector without 8 y in its first element, and that element in the field.
type partialState struct {
	low, high spectrum
	first     expansion // the first element without 8 y, as the spectra include it
	x         value
}

// parts returns a spectrum's parts, in the order in which they are stored.
func (s *spectrum) parts() [4]*[3]value { return [...]*[3]value{&s.plus, &s.minus, &s.re, &s.im} }

// values returns a partial state's values, in the order in which they are stored.
func (p *partialState) values() (all []*value) {
	for _, s := range []*spectrum{&p.low, &p.high} {
		for _, part := range s.parts() {
			all = append(all, &part[0], &part[1], &part[2])
		}
	}
	return append(all, &p.first.low, &p.first.high, &p.x)
}

func (b *block) loadPartial() (p partialState) {
	for n, v := range p.values() {
		*v = b.Load(b.place(n))
	}
	return p
}

func (b *block) storePartial(p partialState) {
	for n, v := range p.values() {
		b.Store(*v, b.place(n))
	}
}

// enterPartial stores the partial state of the state's lazy lanes.
func (b *block) enterPartial() {
	var low, high [width]value
	var p partialState
	for i := range width {
		x := b.Load(b.place(i))
		e := b.halves(x)
		low[i], high[i] = e.low, e.high
		if i == 0 {
			p.x, p.first = x, e
		}
	}
	p.low, p.high = b.spectrumOf(low), b.spectrumOf(high)
	b.storePartial(p)
}

// sbox applies the S-box to the first element in the spectra and multiplies by the circulant. It
// returns the S-box's output.
func (b *block) sbox(p *partialState, scaled bool) (y expansion) {
	y = b.power7(p.x)
	for _, part := range []struct {
		s   *spectrum
		new value
		old value
	}{{&p.low, y.low, p.first.low}, {&p.high, y.high, p.first.high}} {
		change := b.sub(part.new, part.old)
		// The first element is the constant coefficient.
		part.s.plus[0] = b.add(part.s.plus[0], change)
		part.s.minus[0] = b.add(part.s.minus[0], change)
		part.s.re[0] = b.add(part.s.re[0], change)
		*part.s = b.mixSpectrum(*part.s, scaled)
	}
	return y
}

// partialRound computes a partial round. It ends with the two constants at the address and 8 bytes
// after, which make the parts of the first element positive.
func (b *block) partialRound(p *partialState, constants int) {
	y := b.sbox(p, false)
	p.first = expansion{b.firstOf(p.low), b.firstOf(p.high)}
	p.x = b.withConstants(expansion{b.add(p.first.low, b.shl(y.low, 3)), b.add(p.first.high, b.shl(y.high, 3))}, constants)
}

// withConstants returns, as a lazy lane, the sum of the expansion and the constants at offset at.
func (b *block) withConstants(e expansion, at int) value {
	return b.lazyOf(
		b.WithWord("VPADDQ", fmt.Sprintf("%d(SI)", at), e.low),
		b.WithWord("VPADDQ", fmt.Sprintf("%d(SI)", at+8), e.high))
}

// firstOf returns the first element of the vector with that spectrum: (plus + minus + 2 re)/4.
func (b *block) firstOf(s spectrum) value {
	return b.signedShift(b.sum(s.plus[0], s.minus[0], b.double(s.re[0])), 2)
}

// normalize makes the spectra's parts small. Each part passes its bits above 34 to the other, by
// 2^64 = 2^32 - 1. The amount is a multiple of 4, so the spectra remain spectra of integers. It
// takes 9 instructions for each pair.
func (b *block) normalize(p *partialState) {
	given := func(x value) value {
		return b.WithConstant(b.Either("VPANDQ", "VPAND"), "fours", b.signedShift(x, 32))
	}
	kept := func(x value) value { return b.WithConstant(b.Either("VPANDQ", "VPAND"), "low34", x) }
	for n, lows := range p.low.parts() {
		highs := p.high.parts()[n]
		for i := range 3 {
			low, high := lows[i], highs[i]
			high = b.add(high, given(low))
			more := given(high)
			lows[i], highs[i] = b.sub(kept(low), more), b.add(kept(high), more)
		}
	}
	p.first = expansion{b.firstOf(p.low), b.firstOf(p.high)}
}

// leavePartial computes the last partial round and stores the state's lazy lanes.
func (b *block) leavePartial(p *partialState) {
	y := b.sbox(p, true)
	low, high := b.vectorOf(p.low), b.vectorOf(p.high)
	low[0] = b.add(low[0], b.shl(y.low, 3))
	high[0] = b.add(high[0], b.shl(y.high, 3))
	for i := range width {
		b.Store(b.withConstants(expansion{low[i], high[i]}, 16*i), b.place(i))
	}
}

// roundsBetween is the number of partial rounds between two normalizations. A vector's elements are
// below 2^34 after a normalization, each round multiplies them by up to 264, and plus is the sum of
// four elements: 2^(34 + 3 8.05 + 2) < 2^61.
const roundsBetween = 3

// permuteAMD64 returns the permutation of eight states (AVX-512) and of four (AVX2).
//
// These are the AVX-512 vector instructions that need a port, without loads, stores and moves. A
// full round has 1246: 12 S-boxes of 78, 212 for the linear layer on two parts, 96 to turn the
// parts into elements, and a few more. Three partial rounds have 905: each 78 for the S-box, 154
// for the linear layer on two spectra, 34 for the first element, and 108 between them to make the
// spectra small. In total 8 1246 + 7 905 + 506 = 16,809. Two start each cycle, so eight states take
// at least 8,405 cycles. docs/arithmetic.md has measurements.
func permuteAMD64() []byte {
	var out bytes.Buffer
	out.WriteString(header)
	for _, w := range widths {
		writePermute(&out, w.name, w.lanes)
		asm.WriteRows(&out, w.name, w.lanes)
	}
	writeWords(&out, words)
	writeWords(&out, map[string]uint64{
		"zero": 0, "low34": 1<<34 - 1, "fours": ^uint64(3), "shifted2": 1 << 61, "shifted32": 1 << 31,
	})
	return out.Bytes()
}

// writePermute writes the permutation of as many states as there are lanes.
func writePermute(out *bytes.Buffer, kernel string, lanes int) {
	var parts bytes.Buffer
	body := &parts
	registers := map[string]string{}
	if lanes == 8 {
		maps.Copy(registers, pinned)
		maps.Copy(registers, map[string]string{"low34": "Z29", "fours": "Z28", "zero": "Z27"})
	}
	places := 0
	write := func(emit func(b *block)) {
		b := newBlock(lanes)
		emit(b)
		b.Schedule()
		places = max(places, b.Write(body, registers))
	}
	text := func(lines string) { body.WriteString(lines) }

	// The state, the first row of constants added.
	write(func(b *block) {
		for i := range width {
			x := b.addLazy(b.Load(fmt.Sprintf("%d(DI)", 8*lanes*i)), b.Broadcast(fmt.Sprintf("%d(SI)", 8*i)))
			b.Store(x, b.place(i))
		}
	})
	text("\tADDQ $96, SI\n\tXORL BX, BX\n\nhalf:\n\tMOVQ $4, CX\n\nfull:\n")
	write((*block).fullRound)
	text("\tADDQ $96, SI\n\tDECQ CX\n\tJNZ full\n\tTESTL BX, BX\n\tJNZ done\n\tINCL BX\n")
	write((*block).enterPartial)
	fmt.Fprintf(body, "\tMOVQ $%d, CX\n\npartial:\n", (partialRounds-1)/roundsBetween)
	write(func(b *block) {
		p := b.loadPartial()
		for r := range roundsBetween {
			b.partialRound(&p, 16*r)
		}
		b.normalize(&p)
		b.storePartial(p)
	})
	fmt.Fprintf(body, "\tADDQ $%d, SI\n\tDECQ CX\n\tJNZ partial\n", 16*roundsBetween)
	write(func(b *block) {
		p := b.loadPartial()
		b.leavePartial(&p)
	})
	fmt.Fprintf(body, "\tADDQ $%d, SI\n\tJMP half\n\ndone:\n", 16*width)
	write(func(b *block) {
		for i := range width {
			// The last row of constants is 2^63 everywhere. x - 2^63 is from -2^63 to 2^63 - 1, so
			// that with p added to what is negative it is canonical.
			x := b.Load(b.place(i))
			sign := b.constant("sign")
			d := b.sub(x, sign)
			if lanes == 8 {
				d = b.where("VPSUBQ", "epsilon", d, x, sign)
			} else {
				d = b.sub(d, b.shr(b.Op("VPCMPGTQ", b.xorSign(x), b.constant("zero")), 32))
			}
			b.Store(d, fmt.Sprintf("%d(DI)", 8*lanes*i))
		}
	})
	text("\tVZEROUPPER\n\tRET\n\n")

	const state = 27 // places of a partial state
	frame := 8*lanes*(state+places) + 64
	fmt.Fprintf(out, "// func permute%s(columns *[12][%d]uint64, constants *schedule)\n", kernel, lanes)
	fmt.Fprintf(out, "TEXT ·permute%s(SB), 0, $%d-16\n", kernel, frame)
	fmt.Fprintf(out, "\tMOVQ columns+0(FP), DI\n\tMOVQ constants+8(FP), SI\n")
	// Aligned, so that nothing crosses a cache line.
	fmt.Fprintf(out, "\tLEAQ 63(SP), R13\n\tANDQ $~63, R13\n\tLEAQ %d(R13), R12\n", 8*lanes*state)
	if lanes == 8 {
		prologue(out, lanes)
		fmt.Fprintf(out, "\tVPBROADCASTQ low34<>(SB), Z29\n\tVPBROADCASTQ fours<>(SB), Z28\n\tVPXORQ Z27, Z27, Z27\n")
	}
	out.Write(body.Bytes())
}
