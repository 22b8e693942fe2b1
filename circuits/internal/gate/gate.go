// Package gate writes relations of the form
//
//	qL·a + qR·b + qM·a·b + qO·c + qC = 0,
//
// as one gate of Plonk. With gnark's own API each of these relations would take several gates. On other
// constraint systems this package uses gnark's API.
package gate

import (
	"math/big"

	"github.com/consensys/gnark/frontend"
)

// Offset is the sum V + K of a wire and a constant. Adding the constant to a sum costs no gate.
type Offset struct {
	V frontend.Variable
	K *big.Int
}

// Bilinear returns l·a + r·b + m·a·b.
func Bilinear(api frontend.API, a, b frontend.Variable, l, r, m *big.Int) frontend.Variable {
	plonk, ok := api.(frontend.PlonkAPI)
	if !ok || l.Sign() == 0 || r.Sign() == 0 || m.Sign() == 0 {
		return api.Add(api.Mul(a, l), api.Mul(b, r), api.Mul(a, b, m))
	}
	// The API scales wires by any constants, but coefficients are small integers. With
	// γ = m/(lr), γ times the sum is (γl)a + (γr)b + (γl)a·(γr)b.
	field := api.Compiler().Field()
	gamma := new(big.Int).Mul(l, r)
	inverse := new(big.Int).ModInverse(new(big.Int).Mod(m, field), field)
	inverse.Mul(inverse, gamma).Mod(inverse, field) // 1/γ
	gamma.ModInverse(inverse, field)
	scaled := func(v frontend.Variable, by *big.Int) frontend.Variable {
		return api.Mul(v, new(big.Int).Mod(new(big.Int).Mul(gamma, by), field))
	}
	sum := plonk.EvaluatePlonkExpression(scaled(a, l), scaled(b, r), 1, 1, 1, 0)
	return api.Mul(sum, inverse)
}

// MulOffset returns s·(o.V + o.K).
func MulOffset(api frontend.API, s frontend.Variable, o Offset) frontend.Variable {
	plonk, ok := api.(frontend.PlonkAPI)
	field := api.Compiler().Field()
	k := new(big.Int).Mod(o.K, field)
	if !ok || k.Sign() == 0 {
		return api.Mul(s, api.Add(o.V, k))
	}
	// (k·s) + (k·s)·(V/k)
	return plonk.EvaluatePlonkExpression(api.Mul(s, k), api.Mul(o.V, new(big.Int).ModInverse(k, field)), 1, 0, 1, 0)
}

// AssertSign asserts that s is 1 or -1.
func AssertSign(api frontend.API, s frontend.Variable) {
	if plonk, ok := api.(frontend.PlonkAPI); ok {
		plonk.AddPlonkConstraint(s, s, s, 0, 0, 0, 1, -1)
		return
	}
	api.AssertIsEqual(api.Mul(s, s), 1)
}

// AssertProductZero asserts that a·(b - k) is 0.
func AssertProductZero(api frontend.API, a, b frontend.Variable, k *big.Int) {
	plonk, ok := api.(frontend.PlonkAPI)
	if !ok || k.Sign() == 0 {
		api.AssertIsEqual(api.Mul(a, api.Sub(b, k)), 0)
		return
	}
	// -(k·a) + (k·a)·(b/k) = 0
	field := api.Compiler().Field()
	ka := api.Mul(a, k)
	plonk.AddPlonkConstraint(ka, api.Mul(b, new(big.Int).ModInverse(k, field)), ka, -1, 0, 0, 1, 0)
}

// Sum adds any number of terms at once. Adding them one by one would copy the sum for each term on constraint
// systems where additions cost no gate.
func Sum(api frontend.API, terms []frontend.Variable) frontend.Variable {
	switch len(terms) {
	case 0:
		return 0
	case 1:
		return terms[0]
	}
	return api.Add(terms[0], terms[1], terms[2:]...)
}
