package pairing

import (
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark/frontend"
)

// exchange proves Tripartite on a plain tower.
type exchange[L, E any] struct {
	arithmetic[L, E]
	Secrets [Parties]frontend.Variable
	P       [Parties]g1Input[L] `gnark:",public"`
	Q       [Parties]g2Input[L] `gnark:",public"`
	K       targetInput[L]      `gnark:",public"`
}

// Define implements frontend.Circuit.
func (c *exchange[L, E]) Define(api frontend.API) error {
	o, err := open(api, c.arithmetic)
	if err != nil {
		return err
	}
	var p [Parties]g1[E]
	var q [Parties]g2[E]
	for i := range Parties {
		p[i], q[i] = o.g1(&c.P[i]), o.g2(&c.Q[i])
	}
	k := o.target(&c.K)
	for i, secret := range c.Secrets {
		shifted, err := o.assertKey(secret, p[i], p[(i+1)%Parties])
		if err != nil {
			return err
		}
		o.assertEqual12(o.pair(shifted, q[(i+2)%Parties]), k)
	}
	return o.close()
}

// Relation implements Circuit.
func (c *exchange[L, E]) Relation() Relation { return Tripartite }
func (*exchange[L, E]) isCircuit()           {}

// Assign implements Circuit.
func (c *exchange[L, E]) Assign(s *Statement) frontend.Circuit {
	a := &exchange[L, E]{}
	for i := range Parties {
		a.Secrets[i] = s.Secrets[i]
		a.P[i], a.Q[i] = g1Input[L](inputs(c.arithmetic, coordinates(&s.P[i]))), g2Input[L](inputs(c.arithmetic, twisted(&s.Q[i])))
	}
	a.K = targetInput[L](inputs(c.arithmetic, target(&s.K)))
	return a
}

// single proves Pairing on a plain tower.
type single[L, E any] struct {
	arithmetic[L, E]
	P g1Input[L]     `gnark:",public"`
	Q g2Input[L]     `gnark:",public"`
	K targetInput[L] `gnark:",public"`
}

// Define implements frontend.Circuit.
func (c *single[L, E]) Define(api frontend.API) error {
	o, err := open(api, c.arithmetic)
	if err != nil {
		return err
	}
	o.assertEqual12(o.pair(o.g1(&c.P), o.g2(&c.Q)), o.target(&c.K))
	return o.close()
}

// Relation implements Circuit.
func (c *single[L, E]) Relation() Relation { return Pairing }
func (*single[L, E]) isCircuit()           {}

// Assign implements Circuit.
func (c *single[L, E]) Assign(s *Statement) frontend.Circuit {
	return &single[L, E]{P: g1Input[L](inputs(c.arithmetic, coordinates(&s.P[0]))), Q: g2Input[L](inputs(c.arithmetic, twisted(&s.Q[1]))), K: targetInput[L](inputs(c.arithmetic, target(&s.Pair)))}
}

// scalars proves Scalars on a plain tower.
type scalars[L, E any] struct {
	arithmetic[L, E]
	Secret  frontend.Variable
	P       [2]g1Input[L] `gnark:",public"`
	Shifted g1Input[L]    `gnark:",public"`
}

// Define implements frontend.Circuit.
func (c *scalars[L, E]) Define(api frontend.API) error {
	o, err := open(api, c.arithmetic)
	if err != nil {
		return err
	}
	shifted, err := o.assertKey(c.Secret, o.g1(&c.P[0]), o.g1(&c.P[1]))
	if err != nil {
		return err
	}
	o.assertEqualG1(shifted, o.g1(&c.Shifted))
	return o.close()
}

// Relation implements Circuit.
func (c *scalars[L, E]) Relation() Relation { return Scalars }
func (*scalars[L, E]) isCircuit()           {}

// Assign implements Circuit.
func (c *scalars[L, E]) Assign(s *Statement) frontend.Circuit {
	return &scalars[L, E]{Secret: s.Secrets[0], P: [2]g1Input[L]{g1Input[L](inputs(c.arithmetic, coordinates(&s.P[0]))), g1Input[L](inputs(c.arithmetic, coordinates(&s.P[1])))}, Shifted: g1Input[L](inputs(c.arithmetic, coordinates(&s.Shifted)))}
}

// inputs returns values in the form that an arithmetic reads.
func inputs[L, E any](a arithmetic[L, E], values []*fp.Element) (in []L) {
	for _, v := range values {
		in = append(in, a.value(v))
	}
	return in
}
