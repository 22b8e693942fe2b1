package pedersen

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254/twistededwards"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/gate"
	"github.com/zkbench/zkbench/hash/pedersen"
)

// The circuit on the Edwards curve has windows of two bits.
const (
	edwardsWidth = 2
	edwardsLimb  = 14 // windows of a limb that is compared
)

// hashEdwards computes pedersen.HashEdwards. Addition is complete: the sum may be any point, and terms may be
// the identity.
func hashEdwards(api frontend.API, inputs [pedersen.Inputs]frontend.Variable) (frontend.Variable, error) {
	sum := point{0, 1}
	started := false
	for i, v := range inputs {
		bits, err := api.Compiler().NewHint(gate.Bits, 2*pedersen.HalfBits, v)
		if err != nil {
			return nil, err
		}
		for _, b := range bits {
			api.AssertIsBoolean(b)
		}
		for half := range 2 {
			part := bits[half*pedersen.HalfBits : (half+1)*pedersen.HalfBits]
			base := pedersen.EdwardsGenerator(2*i + half)
			for j := 0; j < len(part); j += edwardsWidth {
				var high frontend.Variable = 0 // of a window of one bit
				if j+1 < len(part) {
					high = part[j+1]
				}
				x, y := lookUpEdwards(api, part[j], high, &base)
				for range edwardsWidth {
					base.Double(&base)
				}
				if started {
					sum = sum.addEdwards(api, x, y)
				} else {
					sum, started = point{api.Add(x.V, x.K), api.Add(y.V, y.K)}, true
				}
			}
		}
		const limbBits = edwardsWidth * edwardsLimb
		err = assertScalar(api, v, limbs(api, bits, 1, limbBits), limbBits, func(gap frontend.Variable) error {
			_, err := gate.AssertBits(api, gap, limbBits)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return sum.x, nil
}

// lookUpEdwards selects one of 0, 1, 2, 3 times a point by two bits.
func lookUpEdwards(api frontend.API, low, high frontend.Variable, p *twistededwards.PointAffine) (x, y gate.Offset) {
	var multiples [4]twistededwards.PointAffine
	multiples[0].Y.SetOne()
	for k := 1; k < len(multiples); k++ {
		multiples[k].Add(&multiples[k-1], p)
	}
	var xs, ys [4]big.Int
	for k := range multiples {
		multiples[k].X.BigInt(&xs[k])
		multiples[k].Y.BigInt(&ys[k])
	}
	return interpolate(api, low, high, xs), interpolate(api, low, high, ys)
}

// addEdwards adds (x, y) to p by the complete formulas for a·x² + y² = 1 + d·x²·y²
// (Bernstein et al., Twisted Edwards curves, 2008, section 6):
//
//	x' = (v_0 + v_1)/(1 + v_2), y' = (p.y·y - a·p.x·x)/(1 - v_2),
//	v_0 = p.x·y, v_1 = p.y·x, v_2 = d·v_0·v_1
//
// 1 ± v_2 is never zero, because d is not a square.
func (p point) addEdwards(api frontend.API, x, y gate.Offset) point {
	curve := twistededwards.GetEdwardsCurve()
	var a, d big.Int
	curve.A.BigInt(&a)
	curve.D.BigInt(&d)
	v0, v1 := gate.MulOffset(api, p.x, y), gate.MulOffset(api, p.y, x)
	yy, xx := gate.MulOffset(api, p.y, y), gate.MulOffset(api, p.x, x)
	v2 := api.Mul(v0, v1, &d)
	nx := api.DivUnchecked(api.Add(v0, v1), api.Add(v2, 1))
	ny := api.DivUnchecked(api.Sub(yy, api.Mul(xx, &a)), api.Sub(1, v2))
	return point{nx, ny}
}
