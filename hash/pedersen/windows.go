package pedersen

import (
	"math/big"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/grumpkin"
	grumpkinfr "github.com/consensys/gnark-crypto/ecc/grumpkin/fr"
)

// Circuits compute the sum by windows. They represent a scalar a = Σ e_j 2^(wj), 0 <= e_j < 2^w,
// by its odd signed digits d_j = 2e_j - (2^w - 1), so that 2a = Σ d_j 2^(wj) + C with
// C = 2^(wn) - 1 and
//
//	a·G = Σ d_j 2^(wj)·(G/2) + C·(G/2).
//
// No digit is zero, so no term is the identity. The sum starts from
// 2·G_len + Σ_i C·(G_i/2), so every partial sum has G_len with factor 2. The incomplete
// addition formulas fail if a partial sum equals a multiple of G_i. That happens only to
// somebody who knows a relation between the generators.

// ScalarBits is the length of scalars in bits; the scalars are the elements that are hashed.
const ScalarBits = 254

// Windows returns the number of windows of the given width, in bits, that a scalar has.
func Windows(width int) int { return (ScalarBits + width - 1) / width }

// Half returns G_i/2, the point whose double is Generator(i), for i < Inputs.
func Half(i int) grumpkin.G1Affine { return halves()[i] }

var halves = sync.OnceValue(func() (h [Inputs]grumpkin.G1Affine) {
	var half grumpkinfr.Element
	half.SetUint64(2)
	half.Inverse(&half)
	for i := range h {
		g := Generator(i)
		h[i].ScalarMultiplication(&g, half.BigInt(new(big.Int)))
	}
	return h
})

// Start returns the point to which a circuit adds the points of all windows, for windows of the given width
// in bits.
func Start(width int) grumpkin.G1Affine {
	c := new(big.Int).Lsh(big.NewInt(1), uint(width*Windows(width)))
	c.Sub(c, big.NewInt(1))
	sum := Offset()
	for i := range Inputs {
		g := Half(i)
		g.ScalarMultiplication(&g, c)
		sum.Add(&sum, &g)
	}
	return sum
}

// OddMultiples returns n points: d·2^(width·window)·(G_i/2) for d = 1, 3, ..., 2n - 1, where G_i/2 is
// Half(i).
func OddMultiples(i, width, window, n int) []grumpkin.G1Affine {
	base := Half(i)
	base.ScalarMultiplication(&base, new(big.Int).Lsh(big.NewInt(1), uint(width*window)))
	var double grumpkin.G1Affine
	double.Double(&base)
	points := make([]grumpkin.G1Affine, n)
	points[0] = base
	for k := 1; k < n; k++ {
		points[k].Add(&points[k-1], &double)
	}
	return points
}
