package plonkish

import (
	"context"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
)

// Verify checks a proof of public values that is bound to a context. The error is a
// *zkbench.DecodeError, or a zkbench.ErrProof.
func (k *VerifyingKey) Verify(proof []byte, public []fr.Element, bound []byte) error {
	p, err := k.decode(proof)
	if err != nil {
		return err
	}
	if len(public) != k.public {
		return fmt.Errorf("%w: %d public values; the circuit has %d", zkbench.ErrProof, len(public), k.public)
	}
	e, err := k.equation(p, public, bound)
	if err != nil {
		return err
	}
	return k.pair(e)
}

// equation is what remains of a proof: left + τ right = 0.
type equation struct{ left, right bn254.G1Affine }

// equation runs the transcript and gathers all commitments.
func (k *VerifyingKey) equation(p *proof, public []fr.Element, bound []byte) (e equation, err error) {
	a := at{layout: k.layout, scalars: new([challenges]fr.Element), values: p.values}
	r := k.newRounds(public, bound)
	first := k.firstColumns()
	r.columns(p, first, a.scalars)
	if a.scalars[delta], err = k.publicProduct(public, &a.scalars[beta], &a.scalars[gamma]); err != nil {
		return e, err
	}
	r.running(p, first, a.scalars)
	a.zeta = r.quotient(p)
	nu := r.values(p)
	x := r.opening(p)
	if z := k.vanishing(&a.zeta); z.IsZero() {
		return e, fmt.Errorf("%w: zeta is a root of the domain", zkbench.ErrProof)
	}
	factors, constant := a.linearisation()

	t := k.points(a.zeta)
	commitments := make(map[variable]*bn254.G1Affine)
	fixed, columns := k.fixed, p.columns
	for _, v := range k.committed {
		from := &columns
		if v.kind.fixed() {
			from = &fixed
		}
		commitments[v], *from = &(*from)[0], (*from)[1:]
	}

	var points []bn254.G1Affine
	var scalars []fr.Element
	add := func(p *bn254.G1Affine, s fr.Element) { points, scalars = append(points, *p), append(scalars, s) }
	// The linearisation, of value -constant.
	weight := t.outside(atZeta, &x)
	var value, term fr.Element
	value.Mul(&weight, &constant).Neg(&value)
	for i, f := range factors {
		f.Mul(&f, &weight)
		if i < len(k.linear) {
			add(commitments[k.linear[i]], f)
		} else {
			add(&p.quotient[i-len(k.linear)], f)
		}
	}
	power := nu
	for _, c := range k.claims() {
		weight := t.outside(c.set, &x)
		weight.Mul(&weight, &power)
		power.Mul(&power, &nu)
		term = t.value(&c, p.values, &x)
		value.Add(&value, term.Mul(&term, &weight))
		add(commitments[c.column], weight)
	}
	add(&k.one, *value.Neg(&value))
	weight = t.all(&x)
	add(&p.opening[0], *weight.Neg(&weight))
	add(&p.opening[1], x)
	if e.left, err = group.BN254().MSM(context.Background(), executor.Serial(), points, scalars); err != nil {
		return e, err
	}
	e.right.Neg(&p.opening[1])
	return e, nil
}

// pair checks an equation.
func (k *VerifyingKey) pair(e equation) error {
	lines := k.lines // a copy, which the pairing writes to
	ok, err := bn254.PairingCheckFixedQ([]bn254.G1Affine{e.left, e.right}, lines[:])
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%w: the opening does not hold", zkbench.ErrProof)
	}
	return nil
}
