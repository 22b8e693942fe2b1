package keccak

import (
	"math/rand/v2"
	"testing"

	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/must"
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
	offsets := keccak.Rotations()
	s.round(api, keccak.RoundConstants()[keccak.Rounds-1], &offsets)
	for i, lane := range s {
		api.AssertIsEqual(sumOfBits(api, lane[:]), c.Out[i])
	}
	return nil
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
	for i, lane := range keccak.Round(in, keccak.RoundConstants()[keccak.Rounds-1]) {
		right.Out[i] = lane
	}
	circuittest.NothingFree(t, new(reduced), right, nil, 1)
	wrong := *right
	wrong.Out[7] = in[7]
	for name, builder := range circuittest.Builders() {
		must.Fail(t, circuittest.Solves(t, circuittest.Compile(t, builder, new(reduced)), &wrong, nil), must.ErrAny, "%s: another state", name)
	}
}
