package poseidon

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// layerInverse returns the inverse of the linear layer, by Gauss and Jordan.
func layerInverse() (inverse [Width]State) {
	var m [Width]State
	for i := range Width {
		for j, c := range circulant {
			m[i][(i+j)%Width] = goldilocks.Element(c)
		}
		inverse[i][i] = 1
	}
	m[0][0] += diagonal
	for c := range Width {
		pivot := c
		for m[pivot][c] == 0 {
			pivot++
		}
		m[c], m[pivot] = m[pivot], m[c]
		inverse[c], inverse[pivot] = inverse[pivot], inverse[c]
		scale := m[c][c].Inverse()
		for j := range Width {
			m[c][j], inverse[c][j] = m[c][j].Mul(scale), inverse[c][j].Mul(scale)
		}
		for i := range Width {
			if f := m[i][c]; i != c {
				for j := range Width {
					m[i][j] = m[i][j].Sub(f.Mul(m[c][j]))
					inverse[i][j] = inverse[i][j].Sub(f.Mul(inverse[c][j]))
				}
			}
		}
	}
	return inverse
}

// preimage returns the state that the permutation maps to s.
func preimage(s State, layer *[Width]State) State {
	order := new(big.Int).SetUint64(goldilocks.Modulus - 1)
	seventh := new(big.Int).ModInverse(big.NewInt(7), order).Uint64()
	for r := rounds - 1; r >= 0; r-- {
		var x State
		for i := range x {
			for j := range s {
				x[i] = x[i].Add(layer[i][j].Mul(s[j]))
			}
			if i == 0 || r < FullRounds/2 || r >= FullRounds/2+PartialRounds {
				x[i] = x[i].Exp(seventh)
			}
			x[i] = x[i].Sub(roundConstants[r][i])
		}
		s = x
	}
	return s
}

// TestOutputsAtEnds: outputs that a kernel may hold as words from p-2 to p+2 before its last
// step, or before it takes off the 2^63 that the last row of constants adds.
func TestOutputsAtEnds(t *testing.T) {
	t.Parallel()
	const p = goldilocks.Modulus
	outputs := []goldilocks.Element{0, 1, 2, p - 2, p - 1, p - 1<<63 - 1, p - 1<<63, p - 1<<63 + 1}
	random := rand.New(rand.NewPCG(5, 6))
	layer := layerInverse()
	states, want := make([]State, 45), make([]State, 45)
	for n := range want {
		for i := range want[n] {
			want[n][i] = outputs[random.IntN(len(outputs))]
		}
	}
	for _, k := range goldilocks.Kernels() {
		for n := range want {
			states[n] = preimage(want[n], &layer)
		}
		PermuteAll(states, k)
		for n := range want {
			golden.Equal(t, k.String(), want[n], states[n])
		}
	}
}
