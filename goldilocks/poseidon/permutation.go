// Package poseidon is the Poseidon permutation over the Goldilocks field and the hashes
// made of it (Grassi, Khovratovich, Rechberger, Roy, Schofnegger, "Poseidon: A New Hash
// Function for Zero-Knowledge Proof Systems", ePrint 2019/458): width 12, rate 8, capacity
// 4, S-box x^7, 8 full rounds and 22 partial ones, with the constants of Polygon's Hermez
// prover and plonky2, so that digests equal theirs.
package poseidon

import (
	"math/bits"

	"github.com/zkbench/zkbench/goldilocks"
)

// Sizes in elements.
const (
	Width    = 12
	Rate     = 8
	Capacity = Width - Rate
)

// Rounds: half of the full ones, the partial ones, the other half.
const (
	fullRounds    = 8
	partialRounds = 22
	rounds        = fullRounds + partialRounds
)

// State is what is permuted: the rate, then the capacity.
type State [Width]goldilocks.Element

// circulant is the first row of the linear layer, to whose first element diagonal is
// added: row i is circulant turned right by i.
var circulant = [Width]uint64{17, 15, 41, 16, 2, 28, 13, 13, 39, 18, 34, 20}

const diagonal = 8

// Permute applies the permutation.
func (s *State) Permute() {
	for r := range rounds {
		for i := range s {
			s[i] = s[i].Add(roundConstants[r][i])
		}
		if r < fullRounds/2 || r >= fullRounds/2+partialRounds {
			for i := range s {
				s[i] = power7(s[i])
			}
		} else {
			s[0] = power7(s[0])
		}
		s.mix()
	}
}

func power7(x goldilocks.Element) goldilocks.Element {
	x2 := x.Square()
	return x2.Square().Mul(x2).Mul(x)
}

// mix multiplies by the matrix of the linear layer.
func (s *State) mix() {
	var out State
	for i := range out {
		var hi, lo uint64
		for j := range s {
			h, l := bits.Mul64(uint64(s[(i+j)%Width]), circulant[j])
			var carry uint64
			lo, carry = bits.Add64(lo, l, 0)
			hi += h + carry // below 12 · 41
		}
		if i == 0 {
			h, l := bits.Mul64(uint64(s[0]), diagonal)
			var carry uint64
			lo, carry = bits.Add64(lo, l, 0)
			hi += h + carry
		}
		out[i] = goldilocks.Reduce128(hi, lo)
	}
	*s = out
}
