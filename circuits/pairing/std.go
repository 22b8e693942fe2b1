package pairing

import (
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/algebra/emulated/sw_bn254"
	"github.com/consensys/gnark/std/algebra/emulated/sw_emulated"
	"github.com/consensys/gnark/std/math/emulated"

	"github.com/zkbench/zkbench"
)

func newStd(r Relation) (Circuit, error) {
	switch r {
	case Tripartite:
		return &stdExchange{}, nil
	case Pairing:
		return &stdSingle{}, nil
	case Scalars:
		return &stdScalars{}, nil
	case Check:
		return &stdCheck{}, nil
	}
	return nil, fmt.Errorf("%w: relation %q of a pairing's circuit", zkbench.ErrParams, r)
}

// stdGadgets holds gnark's gadgets. The pairing checks that points of G2 are in the subgroup.
type stdGadgets struct {
	*sw_bn254.Pairing
	curve *sw_emulated.Curve[sw_bn254.BaseField, sw_bn254.ScalarField]
}

func newStdGadgets(api frontend.API) (*stdGadgets, error) {
	p, err := sw_bn254.NewPairing(api)
	if err != nil {
		return nil, err
	}
	curve, err := sw_emulated.New[sw_bn254.BaseField, sw_bn254.ScalarField](api, sw_emulated.GetBN254Params())
	return &stdGadgets{p, curve}, err
}

func (g *stdGadgets) assertPair(p *sw_bn254.G1Affine, q *sw_bn254.G2Affine, k *sw_bn254.GTEl) error {
	v, err := g.Pair([]*sw_bn254.G1Affine{p}, []*sw_bn254.G2Affine{q})
	if err != nil {
		return err
	}
	g.AssertIsEqual(v, k)
	return nil
}

// stdExchange proves Tripartite with gnark's gadgets.
type stdExchange struct {
	Secrets [Parties]sw_bn254.Scalar
	P       [Parties]sw_bn254.G1Affine `gnark:",public"`
	Q       [Parties]sw_bn254.G2Affine `gnark:",public"`
	K       sw_bn254.GTEl              `gnark:",public"`
}

// Define implements frontend.Circuit.
func (c *stdExchange) Define(api frontend.API) error {
	g, err := newStdGadgets(api)
	if err != nil {
		return err
	}
	for i := range Parties {
		secret := &c.Secrets[i]
		g.curve.AssertIsEqual(g.curve.ScalarMulBase(secret), &c.P[i])
		if err := g.assertPair(g.curve.ScalarMul(&c.P[(i+1)%Parties], secret), &c.Q[(i+2)%Parties], &c.K); err != nil {
			return err
		}
	}
	return nil
}

// Relation implements Circuit.
func (c *stdExchange) Relation() Relation { return Tripartite }
func (*stdExchange) isCircuit()           {}

// Assign implements Circuit.
func (c *stdExchange) Assign(s *Statement) frontend.Circuit {
	a := &stdExchange{K: sw_bn254.NewGTEl(s.K)}
	for i := range Parties {
		a.Secrets[i] = emulated.ValueOf[sw_bn254.ScalarField](s.Secrets[i])
		a.P[i], a.Q[i] = sw_bn254.NewG1Affine(s.P[i]), sw_bn254.NewG2Affine(s.Q[i])
	}
	return a
}

// stdSingle proves Pairing with gnark's gadget.
type stdSingle struct {
	P sw_bn254.G1Affine `gnark:",public"`
	Q sw_bn254.G2Affine `gnark:",public"`
	K sw_bn254.GTEl     `gnark:",public"`
}

// Define implements frontend.Circuit.
func (c *stdSingle) Define(api frontend.API) error {
	g, err := newStdGadgets(api)
	if err != nil {
		return err
	}
	return g.assertPair(&c.P, &c.Q, &c.K)
}

// Relation implements Circuit.
func (c *stdSingle) Relation() Relation { return Pairing }
func (*stdSingle) isCircuit()           {}

// Assign implements Circuit.
func (c *stdSingle) Assign(s *Statement) frontend.Circuit {
	return &stdSingle{P: sw_bn254.NewG1Affine(s.P[0]), Q: sw_bn254.NewG2Affine(s.Q[1]), K: sw_bn254.NewGTEl(s.Pair)}
}

// stdScalars proves Scalars with gnark's gadgets.
type stdScalars struct {
	Secret  sw_bn254.Scalar
	P       [2]sw_bn254.G1Affine `gnark:",public"`
	Shifted sw_bn254.G1Affine    `gnark:",public"`
}

// Define implements frontend.Circuit.
func (c *stdScalars) Define(api frontend.API) error {
	g, err := newStdGadgets(api)
	if err != nil {
		return err
	}
	g.curve.AssertIsEqual(g.curve.ScalarMulBase(&c.Secret), &c.P[0])
	g.curve.AssertIsEqual(g.curve.ScalarMul(&c.P[1], &c.Secret), &c.Shifted)
	return nil
}

// Relation implements Circuit.
func (c *stdScalars) Relation() Relation { return Scalars }
func (*stdScalars) isCircuit()           {}

// Assign implements Circuit.
func (c *stdScalars) Assign(s *Statement) frontend.Circuit {
	return &stdScalars{
		Secret:  emulated.ValueOf[sw_bn254.ScalarField](s.Secrets[0]),
		P:       [2]sw_bn254.G1Affine{sw_bn254.NewG1Affine(s.P[0]), sw_bn254.NewG1Affine(s.P[1])},
		Shifted: sw_bn254.NewG1Affine(s.Shifted),
	}
}

// stdCheck proves Check. The points of G2 are constants.
type stdCheck struct {
	P [2]sw_bn254.G1Affine `gnark:",public"`
}

// checkFactor is the constant d of Check: any number but 0 and 1.
const checkFactor = 0x7a6b62656e6368

// Define implements frontend.Circuit.
func (c *stdCheck) Define(api frontend.API) error {
	g, err := newStdGadgets(api)
	if err != nil {
		return err
	}
	_, _, _, q := bn254.Generators()
	var d bn254.G2Affine
	d.ScalarMultiplication(&q, big.NewInt(checkFactor))
	fixed, shifted := sw_bn254.NewG2AffineFixed(q), sw_bn254.NewG2AffineFixed(d)
	return g.PairingCheck([]*sw_bn254.G1Affine{&c.P[0], &c.P[1]}, []*sw_bn254.G2Affine{&fixed, &shifted})
}

// Relation implements Circuit.
func (c *stdCheck) Relation() Relation { return Check }
func (*stdCheck) isCircuit()           {}

// Assign implements Circuit.
func (c *stdCheck) Assign(s *Statement) frontend.Circuit {
	var shifted bn254.G1Affine
	shifted.ScalarMultiplication(&s.P[0], big.NewInt(checkFactor))
	shifted.Neg(&shifted)
	return &stdCheck{P: [2]sw_bn254.G1Affine{sw_bn254.NewG1Affine(shifted), sw_bn254.NewG1Affine(s.P[0])}}
}
