package keccak

import (
	"encoding/binary"
	"math/bits"
)

// The shape of Keccak-f[1600] (Keccak team, The Keccak reference, version 3.0, section 1.2):
// lane x + 5y of the state is word (x, y).
const (
	Lanes    = 25
	LaneBits = 64
	Rounds   = 24
)

// RoundConstants returns the round constants of the step ι. It derives them from the linear feedback shift
// register x⁸ + x⁶ + x⁵ + x⁴ + 1.
func RoundConstants() (constants [Rounds]uint64) {
	lfsr := byte(1)
	for r := range constants {
		for j := range 7 {
			if lfsr&1 == 1 {
				constants[r] |= 1 << (1<<j - 1)
			}
			carry := lfsr >> 7
			lfsr = lfsr<<1 ^ carry*0x71
		}
	}
	return constants
}

// Rotations returns the rotation offset of each lane in the step ρ. The step π moves lanes. If π, applied t
// times, moves lane (1, 0) to a lane, the offset of that lane is (t+1)(t+2)/2 mod 64. The offset of lane (0,
// 0) is 0.
func Rotations() (offsets [Lanes]int) {
	x, y := 1, 0
	for t := range Lanes - 1 {
		offsets[x+5*y] = (t + 1) * (t + 2) / 2 % LaneBits
		x, y = y, (2*x+3*y)%5
	}
	return offsets
}

// Round applies one round of the permutation. The parameter constant is the round constant of the step ι.
// Round is meant for programs that prove single rounds, and is slow.
func Round(a [Lanes]uint64, constant uint64) (out [Lanes]uint64) {
	var c [5]uint64
	for i, lane := range a {
		c[i%5] ^= lane
	}
	var b [Lanes]uint64
	for i, offset := range Rotations() {
		x, y := i%5, i/5
		d := c[(x+4)%5] ^ bits.RotateLeft64(c[(x+1)%5], 1)
		b[y+5*((2*x+3*y)%5)] = bits.RotateLeft64(a[i]^d, offset)
	}
	for i := range out {
		x, y := i%5, i/5
		out[i] = b[i] ^ b[(x+2)%5+5*y]&^b[(x+1)%5+5*y]
	}
	out[0] ^= constant
	return out
}

// Padded returns a copy of a message with its padding, in whole blocks.
func Padded(padding byte, message []byte) []byte {
	padded := make([]byte, Rate*Blocks(len(message)))
	copy(padded, message)
	padded[len(message)] = padding
	padded[len(padded)-1] |= 0x80
	return padded
}

// Sum returns the hash of a message with the given padding byte. It uses Round, so it is slow.
func Sum(padding byte, message []byte) (digest [Digest]byte) {
	var a [Lanes]uint64
	for padded := Padded(padding, message); len(padded) > 0; padded = padded[Rate:] {
		for i := range Rate / 8 {
			a[i] ^= binary.LittleEndian.Uint64(padded[8*i:])
		}
		for _, constant := range RoundConstants() {
			a = Round(a, constant)
		}
	}
	for i := range Digest / 8 {
		binary.LittleEndian.PutUint64(digest[8*i:], a[i])
	}
	return digest
}
