package keccak

import (
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/hash/keccak"
)

// Keccak-f[1600] (Keccak team, The Keccak reference, version 3.0, section 1.2), with a wire for each bit.
// Exclusive or, and and-not, of two bits take one gate each. So a round takes 4·320 + 320 + 1600 gates for θ
// and 2·1600 for χ. ρ, π and ι take none, except for the few bits that ι flips.
const (
	lanes = keccak.Lanes
	width = keccak.LaneBits
)

// state is lanes[x + 5y] of bits, the lowest first.
type state [lanes][width]frontend.Variable

// word is one row of bits.
type word = [width]frontend.Variable

// permute applies Keccak-f[1600].
func (s *state) permute(api frontend.API) {
	offsets := keccak.Rotations()
	for _, constant := range keccak.RoundConstants() {
		s.round(api, constant, &offsets)
	}
}

func (s *state) round(api frontend.API, constant uint64, offsets *[lanes]int) {
	// θ
	var c [5]word
	for x := range c {
		c[x] = s[x]
		for y := 1; y < 5; y++ {
			c[x] = xor(api, c[x], s[x+5*y])
		}
	}
	for x := range c {
		d := xor(api, c[(x+4)%5], rotate(c[(x+1)%5], 1))
		for y := range 5 {
			s[x+5*y] = xor(api, s[x+5*y], d)
		}
	}
	// ρ and π
	var b state
	for x := range 5 {
		for y := range 5 {
			b[y+5*((2*x+3*y)%5)] = rotate(s[x+5*y], offsets[x+5*y])
		}
	}
	// χ
	for y := range 5 {
		for x := range 5 {
			s[x+5*y] = xor(api, b[x+5*y], andNot(api, b[(x+2)%5+5*y], b[(x+1)%5+5*y]))
		}
	}
	// ι
	for i := range width {
		if constant>>i&1 == 1 {
			s[0][i] = not(api, s[0][i])
		}
	}
}

func rotate(w word, n int) (z word) {
	for i := range w {
		z[(i+n)%width] = w[i]
	}
	return z
}

func xor(api frontend.API, a, b word) (z word) {
	for i := range z {
		z[i] = xorBit(api, a[i], b[i])
	}
	return z
}

// xorBit returns a + b - 2ab.
func xorBit(api frontend.API, a, b frontend.Variable) frontend.Variable {
	if v, ok := api.Compiler().ConstantValue(a); ok {
		if v.Sign() == 0 {
			return b
		}
		return not(api, b)
	}
	if v, ok := api.Compiler().ConstantValue(b); ok {
		if v.Sign() == 0 {
			return a
		}
		return not(api, a)
	}
	if plonk, ok := api.(frontend.PlonkAPI); ok {
		return plonk.EvaluatePlonkExpression(a, b, 1, 1, -2, 0)
	}
	return api.Sub(api.Add(a, b), api.Mul(a, b, 2))
}

func andNot(api frontend.API, a, b word) (z word) {
	for i := range z {
		z[i] = andNotBit(api, a[i], b[i])
	}
	return z
}

// andNotBit returns a(1 - b).
func andNotBit(api frontend.API, a, b frontend.Variable) frontend.Variable {
	_, constA := api.Compiler().ConstantValue(a)
	_, constB := api.Compiler().ConstantValue(b)
	if plonk, ok := api.(frontend.PlonkAPI); ok && !constA && !constB {
		return plonk.EvaluatePlonkExpression(a, b, 1, 0, -1, 0)
	}
	return api.Mul(a, api.Sub(1, b))
}

func not(api frontend.API, a frontend.Variable) frontend.Variable { return api.Sub(1, a) }
