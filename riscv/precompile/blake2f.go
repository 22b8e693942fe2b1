package precompile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// mostRounds is the maximum number of rounds in one call.
const mostRounds = 1 << 23

// blake2f returns the precompile for the function F of RFC 7693, section 3.2, with any number of rounds
// (EIP-152).
func blake2f() riscv.Precompile {
	return accelerator("blake2f", call.Blake2F, func(g riscv.Guest, args [6]uint64) error {
		rounds := uint32(args[0]) // the calling convention sign-extends it
		if rounds > mostRounds {
			return fmt.Errorf("%d rounds; accepted: %d", rounds, mostRounds)
		}
		g.Units(uint64(rounds))
		state, errState := read(g, args[1], 64)
		message, errMessage := read(g, args[2], 128)
		offset, errOffset := read(g, args[3], 16)
		if err := errors.Join(errState, errMessage, errOffset); err != nil {
			return err
		}
		if args[4] > 1 {
			return errInvalid
		}
		var h [8]uint64
		var m [16]uint64
		var t [2]uint64
		for raw, words := range map[*[]byte][]uint64{&state: h[:], &message: m[:], &offset: t[:]} {
			for i := range words {
				words[i] = binary.LittleEndian.Uint64((*raw)[8*i:])
			}
		}
		compress(int(rounds), &h, &m, t, args[4] == 1)
		out := make([]byte, 0, 64)
		for _, w := range h {
			out = binary.LittleEndian.AppendUint64(out, w)
		}
		return g.Write(args[1], out)
	})
}

// Tables of RFC 7693, sections 2.6 and 2.7.
var (
	blake2IV = [8]uint64{
		0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
		0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
	}
	blake2Sigma = [10][16]uint8{
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
		{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
		{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
		{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
		{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
		{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
		{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
		{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
		{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
	}
)

// compress updates the state h with a block m at offset t.
func compress(rounds int, h *[8]uint64, m *[16]uint64, t [2]uint64, last bool) {
	var v [16]uint64
	copy(v[:8], h[:])
	copy(v[8:], blake2IV[:])
	v[12] ^= t[0]
	v[13] ^= t[1]
	if last {
		v[14] = ^v[14]
	}
	mix := func(a, b, c, d int, x, y uint64) {
		v[a] += v[b] + x
		v[d] = bits.RotateLeft64(v[d]^v[a], -32)
		v[c] += v[d]
		v[b] = bits.RotateLeft64(v[b]^v[c], -24)
		v[a] += v[b] + y
		v[d] = bits.RotateLeft64(v[d]^v[a], -16)
		v[c] += v[d]
		v[b] = bits.RotateLeft64(v[b]^v[c], -63)
	}
	for round := range rounds {
		s := &blake2Sigma[round%10]
		for i := range 4 { // columns
			mix(i, 4+i, 8+i, 12+i, m[s[2*i]], m[s[2*i+1]])
		}
		for i := range 4 { // diagonals
			mix(i, 4+(i+1)%4, 8+(i+2)%4, 12+(i+3)%4, m[s[8+2*i]], m[s[9+2*i]])
		}
	}
	for i := range h {
		h[i] ^= v[i] ^ v[8+i]
	}
}
