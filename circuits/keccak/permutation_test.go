package keccak

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
)

// reduced is a permutation of one round.
type reduced struct {
	In  [lanes * width]frontend.Variable // bits
	Out [lanes]frontend.Variable         `gnark:",public"`
}

func (c *reduced) Define(api frontend.API) error {
	var s state
	for i, b := range c.In {
		api.AssertIsBoolean(b)
		s[i/width][i%width] = b
	}
	offsets := rotations()
	s.round(api, roundConstants()[rounds-1], &offsets)
	for i, lane := range s {
		api.AssertIsEqual(sumOfBits(api, lane[:]), c.Out[i])
	}
	return nil
}

// nativeRound is a round on words.
func nativeRound(a [lanes]uint64, constant uint64) (out [lanes]uint64) {
	var c [5]uint64
	for i, lane := range a {
		c[i%5] ^= lane
	}
	var b [lanes]uint64
	offsets := rotations()
	for i := range a {
		x, y := i%5, i/5
		d := c[(x+4)%5] ^ bits.RotateLeft64(c[(x+1)%5], 1)
		b[y+5*((2*x+3*y)%5)] = bits.RotateLeft64(a[i]^d, offsets[i])
	}
	for i := range out {
		x, y := i%5, i/5
		out[i] = b[i] ^ b[(x+2)%5+5*y]&^b[(x+1)%5+5*y]
	}
	out[0] ^= constant
	return out
}

// TestNativeRound: 24 of them, with the derived constants, are Keccak's permutation.
func TestNativeRound(t *testing.T) {
	var a [lanes]uint64
	a[0], a[keccak.Rate/8-1] = keccak.Keccak256, 1<<63 // no message, padded
	for _, constant := range roundConstants() {
		a = nativeRound(a, constant)
	}
	var digest [keccak.Digest]byte
	for i := range digest {
		digest[i] = byte(a[i/8] >> (8 * (i % 8)))
	}
	golden.Equal(t, "digest", keccak.Sum256(nil), digest)
}

// TestRound: a round is the native one, on both systems, and leaves nothing free.
func TestRound(t *testing.T) {
	t.Parallel()
	stream := rand.NewChaCha8([32]byte{})
	var in [lanes]uint64
	right := new(reduced)
	for i := range in {
		in[i] = stream.Uint64()
		for k := range width {
			right.In[width*i+k] = in[i] >> k & 1
		}
	}
	for i, lane := range nativeRound(in, roundConstants()[rounds-1]) {
		right.Out[i] = lane
	}
	circuittest.NothingFree(t, new(reduced), right, nil, 1)
	wrong := *right
	wrong.Out[7] = in[7]
	for name, builder := range circuittest.Builders() {
		must.Fail(t, circuittest.Solves(t, circuittest.Compile(t, builder, new(reduced)), &wrong, nil), must.ErrAny, "%s: another state", name)
	}
}
