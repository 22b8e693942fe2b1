// Package poseidon2 is the Poseidon2 permutation over the Goldilocks field (Grassi,
// Khovratovich, Schofnegger, "Poseidon2: A Faster Version of the Poseidon Hash Function",
// ePrint 2023/323): width 12, S-box x^7, 8 full rounds and 22 partial ones, with the
// constants and matrices of Plonky3, whose values it gives. It is another permutation than
// package poseidon's, and its digests are others. Nothing here is constant-time.
package poseidon2

import "github.com/zkbench/zkbench/goldilocks"

// Width is the number of elements of a state.
const Width = 12

// Rounds: half of the full ones, the partial ones, the other half.
const (
	fullRounds    = 8
	partialRounds = 22
)

// State is what is permuted.
type State [Width]goldilocks.Element

// Permute applies the permutation.
func (s *State) Permute() {
	s.external()
	for r := range fullRounds {
		if r == fullRounds/2 {
			for i := range partialRounds {
				s[0] = power7(s[0].Add(partialConstants[i]))
				s.internal()
			}
		}
		for i := range s {
			s[i] = power7(s[i].Add(fullConstants[r][i]))
		}
		s.external()
	}
}

func power7(x goldilocks.Element) goldilocks.Element {
	x2 := x.Square()
	return x2.Square().Mul(x2).Mul(x)
}

// external multiplies by circ(2 M, M, M), M = circ(2, 3, 1, 1) (section 5.1; M is Plonky3's,
// which takes fewer additions than the paper's).
func (s *State) external() {
	var sum [4]goldilocks.Element
	for i := 0; i < Width; i += 4 {
		a, b, c, d := s[i], s[i+1], s[i+2], s[i+3]
		all := a.Add(b).Add(c.Add(d))
		s[i] = all.Add(a).Add(b.Double())
		s[i+1] = all.Add(b).Add(c.Double())
		s[i+2] = all.Add(c).Add(d.Double())
		s[i+3] = all.Add(d).Add(a.Double())
		for j := range sum {
			sum[j] = sum[j].Add(s[i+j])
		}
	}
	for i := range s {
		s[i] = s[i].Add(sum[i%4])
	}
}

// internal multiplies by the matrix of ones plus a diagonal (section 5.2).
func (s *State) internal() {
	var sum goldilocks.Element
	for _, e := range s {
		sum = sum.Add(e)
	}
	for i := range s {
		s[i] = s[i].Mul(diagonal[i]).Add(sum)
	}
}
