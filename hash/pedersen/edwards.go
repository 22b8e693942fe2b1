package pedersen

import (
	"encoding/binary"
	"math/big"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/twistededwards"

	"github.com/zkbench/zkbench/transcript"
)

// HalfBits is the number of bits of each half of a scalar: HashEdwards cuts scalars into two halves. The
// order of the curve's group is less than the order of the field whose elements are hashed. So if a whole
// element were one scalar, different elements could have the same hash.
const HalfBits = 127

// EdwardsGenerator returns P_i, one of the constant points that HashEdwards multiplies, for i < 2·Inputs.
// The function reads an extendable-output hash of i until a value is the y-coordinate of a point. P_i is
// this point times the cofactor.
func EdwardsGenerator(i int) twistededwards.PointAffine { return edwards()[i] }

var edwards = sync.OnceValue(func() *[2 * Inputs]twistededwards.PointAffine {
	points := new([2 * Inputs]twistededwards.PointAffine)
	for i := range points {
		points[i] = hashToEdwards(i)
	}
	return points
})

func hashToEdwards(i int) twistededwards.PointAffine {
	curve := twistededwards.GetEdwardsCurve()
	var cofactor big.Int
	curve.Cofactor.BigInt(&cofactor)
	xof := transcript.XOF("zkbench/v1/pedersen/edwards", binary.LittleEndian.AppendUint32(nil, uint32(i)))
	for {
		var wide [64]byte
		_, _ = xof.Read(wide[:]) // which never fails
		// a·x² + y² = 1 + d·x²·y², so x² = (1 - y²)/(a - d·y²).
		var p twistededwards.PointAffine
		var num, den fr.Element
		p.Y.SetBytes(wide[:])
		den.Square(&p.Y)
		num.SetOne().Sub(&num, &den)
		den.Mul(&den, &curve.D).Sub(&curve.A, &den)
		if p.X.Div(&num, &den).Sqrt(&p.X) == nil {
			continue
		}
		p.ScalarMultiplication(&p, &cofactor)
		if !p.IsZero() {
			return p
		}
	}
}

// HashEdwards hashes two elements on the twisted Edwards curve over BN254's scalar field. The hash is the
// x-coordinate of Σ lo_i·P_(2i) + hi_i·P_(2i+1), where lo_0 + 2^127·hi_0 is a, lo_1 + 2^127·hi_1 is b, and
// P_j is EdwardsGenerator(j).
func HashEdwards(a, b *fr.Element) fr.Element {
	var sum twistededwards.PointAffine
	sum.Y.SetOne()
	for i, v := range []*fr.Element{a, b} {
		var e, half big.Int
		v.BigInt(&e)
		mask := new(big.Int).Lsh(big.NewInt(1), HalfBits)
		mask.Sub(mask, big.NewInt(1))
		for k := range 2 {
			half.Rsh(&e, uint(k*HalfBits)).And(&half, mask)
			p := EdwardsGenerator(2*i + k)
			p.ScalarMultiplication(&p, &half)
			sum.Add(&sum, &p)
		}
	}
	return sum.X
}
