package plonkish

import (
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// This file is a verifier of docs/circuits.md that shares nothing with the package's own but the
// statement of gates, the order of columns and the key: it has no programs, no sums of points
// and no stored lines, its transcript is SHA-512 itself, and all that it does to a polynomial it
// does to its commitment, step by step.

// mixed is a constant and a commitment: what an Expr is at ζ where some columns are opened.
type mixed struct {
	constant fr.Element
	point    bn254.G1Jac // the identity: none
}

func (m mixed) plus(x mixed) mixed {
	m.constant.Add(&m.constant, &x.constant)
	m.point.AddAssign(&x.point)
	return m
}

func (m mixed) times(x mixed) mixed {
	var zero bn254.G1Jac
	if !m.point.Equal(&zero) && !x.point.Equal(&zero) {
		panic("a product of two commitments")
	}
	var z mixed
	z.constant.Mul(&m.constant, &x.constant)
	a, b := scaled(m.point, x.constant), scaled(x.point, m.constant)
	z.point = a
	z.point.AddAssign(&b)
	return z
}

func scaled(p bn254.G1Jac, s fr.Element) (q bn254.G1Jac) {
	var e big.Int
	q.ScalarMultiplication(&p, s.BigInt(&e))
	return q
}

func number(s fr.Element) mixed { return mixed{constant: s} }

func negative(m mixed) mixed {
	var one fr.Element
	one.SetInt64(-1)
	return m.times(number(one))
}

// walk evaluates an Expr as it stands.
func walk(n *node, value func(variable) mixed) mixed {
	switch {
	case n == nil:
		return mixed{}
	case n.op == opConst:
		return number(n.value)
	case n.op == opVariable:
		return value(n.variable)
	case n.op == opMul:
		return walk(n.x, value).times(walk(n.y, value))
	case n.op == opSub:
		return walk(n.x, value).plus(negative(walk(n.y, value)))
	}
	return walk(n.x, value).plus(walk(n.y, value))
}

// hashed is the transcript: SHA-512 of the state and frames.
type hashed []byte

func (h *hashed) step(tag byte, parts ...[]byte) []byte {
	in := append(slices.Clone(*h), tag)
	for _, p := range parts {
		in = append(binary.LittleEndian.AppendUint32(in, uint32(len(p))), p...)
	}
	out := sha512.Sum512(in)
	return out[:]
}

func (h *hashed) absorb(label string, data []byte) { *h = h.step(0, []byte(label), data) }

func (h *hashed) draw(label string) (c fr.Element) {
	out := h.step(1, []byte(label))
	h.absorb(label, out)
	var e big.Int
	return *c.SetBigInt(e.SetBytes(out))
}

var errTextbook = errors.New("rejected")

// textbook is Verify as docs/circuits.md has it.
func textbook(k *VerifyingKey, proof []byte, public []fr.Element, bound []byte) error {
	if len(public) != k.public {
		return errTextbook
	}
	bad := false
	rest := proof
	cut := func(n int) []byte {
		if len(rest) < n {
			bad = true
			return make([]byte, n)
		}
		b := rest[:n]
		rest = rest[n:]
		return b
	}
	readPoint := func() (p bn254.G1Affine, b []byte) {
		b = cut(32)
		if _, err := p.SetBytes(b); err != nil || p.IsInfinity() {
			bad = true
		}
		return p, b
	}
	jacobian := func(p bn254.G1Affine) (q bn254.G1Jac) { return *q.FromAffine(&p) }

	h := make(hashed, sha512.Size)
	h.absorb("protocol", []byte("zkbench/v1/plonkish"))
	key := sha512.Sum512(k.Bytes())
	h.absorb("key", key[:])
	h.absorb("public values", binary.LittleEndian.AppendUint64(nil, uint64(len(public))))
	for _, v := range public {
		b := v.Bytes()
		h.absorb("public", b[:])
	}
	h.absorb("context", bound)

	commitments := make(map[variable]mixed)
	fixed := k.fixed
	for _, v := range k.committed {
		if v.kind.fixed() {
			commitments[v] = mixed{point: jacobian(fixed[0])}
			fixed = fixed[1:]
		}
	}
	scalars, drew := make(map[int]fr.Element), false
	for _, v := range k.committed {
		if v.kind.fixed() {
			continue
		}
		p, b := readPoint()
		commitments[v] = mixed{point: jacobian(p)}
		if late := v.kind == cell && v.index >= len(k.arith.Columns)-k.arith.Late; k.arith.Late > 0 && !drew && (late || v.kind == multiplicity || v.kind == product) {
			scalars[drawn] = h.draw("challenge")
			drew = true
		}
		if v == (variable{product, 0}) {
			scalars[beta], scalars[gamma] = h.draw("beta"), h.draw("gamma")
			scalars[eta], scalars[rho] = h.draw("eta"), h.draw("rho")
		}
		if v.kind == product || v.kind == sum {
			h.absorb("running", b)
		} else {
			h.absorb("column", b)
		}
	}
	scalars[alpha] = h.draw("alpha")
	var quotient []mixed
	for range k.pieces {
		p, b := readPoint()
		quotient = append(quotient, mixed{point: jacobian(p)})
		h.absorb("quotient", b)
	}
	zeta := h.draw("zeta")
	opened := make(map[variable]fr.Element)
	for _, v := range k.opened {
		var e fr.Element
		b := cut(32)
		if e.SetBytesCanonical(b) != nil {
			bad = true
		}
		opened[v] = e
		h.absorb("value", b)
	}
	nu := h.draw("nu")
	w, b := readPoint()
	h.absorb("opening", b)
	x := h.draw("x")
	w2, _ := readPoint()
	if bad || len(rest) > 0 {
		return errTextbook
	}

	// The identity at ζ.
	n := uint64(k.n)
	raised := func(x fr.Element, e uint64) (y fr.Element) {
		return *y.Exp(x, new(big.Int).SetUint64(e))
	}
	less := func(x, y fr.Element) (z fr.Element) { return *z.Sub(&x, &y) }
	one := fr.One()
	vanishing := less(raised(zeta, n), one)
	lagrange := func(row uint64) (y fr.Element) {
		w, size := raised(k.root, row), fr.NewElement(n)
		y.Mul(&vanishing, &w)
		den := less(zeta, w)
		den.Mul(&den, &size)
		return *y.Div(&y, &den)
	}
	value := func(v variable) mixed {
		if e, ok := opened[v]; ok {
			return number(e)
		}
		if v.kind == scalar {
			return number(scalars[v.index])
		}
		return commitments[v] // none: a parameter that no row has, or what one multiplies
	}
	coset := func(j int) mixed {
		five := fr.NewElement(5)
		return number(raised(five, uint64(j)))
	}
	var terms []mixed
	for i, g := range k.arith.Gates {
		if !k.used.gates[i] {
			continue
		}
		on := number(one)
		if s, ok := commitments[variable{selector, i}]; ok {
			on = s
		}
		if s, ok := opened[variable{selector, i}]; ok {
			on = number(s)
		}
		for _, t := range g.Terms {
			terms = append(terms, on.times(walk(t.Zero.node, value)))
		}
	}
	b1, g1 := number(scalars[beta]), number(scalars[gamma])
	z := value(variable{product, 0}).plus(number(one))
	together := k.arith.Permuted
	if together > 4 {
		together = 3
	}
	unblinded := func(m mixed) mixed {
		for row := n - blinded; row < n; row++ {
			m = m.times(number(less(zeta, raised(k.root, row))))
		}
		return m
	}
	now := z
	for from := 0; from < k.arith.Permuted; from += together {
		to := min(from+together, k.arith.Permuted)
		after := value(variable{nextProduct, 0})
		if to < k.arith.Permuted {
			after = value(variable{product, to / together})
		}
		after = after.plus(number(one))
		left, right := now, after
		for j := from; j < to; j++ {
			wire := value(variable{cell, j}).plus(g1)
			left = left.times(wire.plus(b1.times(coset(j)).times(number(zeta))))
			right = right.times(wire.plus(b1.times(value(variable{sigma, j}))))
		}
		terms = append(terms, unblinded(left.plus(negative(right))))
		now = after
	}
	delta := number(one)
	for i, v := range public {
		row := raised(k.root, uint64(i))
		cell := number(v).plus(g1)
		top := cell.plus(b1.times(coset(k.arith.Permuted)).times(number(row))).constant
		bottom := cell.plus(b1.times(number(row))).constant
		top.Div(&top, &bottom)
		delta = delta.times(number(top))
	}
	terms = append(terms,
		number(lagrange(0)).times(z.plus(negative(delta))),
		number(lagrange(n-blinded)).times(value(variable{product, 0})))
	// Lookups: fractions of tops and bottoms, two and two.
	type fraction struct{ top, bottom mixed }
	var fractions []fraction
	compress := func(id mixed, tuple []mixed) mixed {
		sum, power := number(scalars[rho]).plus(id), number(scalars[eta])
		for _, x := range tuple {
			sum = sum.plus(x.times(power))
			power = power.times(number(scalars[eta]))
		}
		return sum
	}
	for i, l := range k.arith.Lookups {
		if k.used.lookups[i] {
			var tuple []mixed
			for _, e := range l.Tuple {
				tuple = append(tuple, walk(e.node, value))
			}
			id := value(variable{looked, i})
			fractions = append(fractions, fraction{id, compress(id, tuple)})
		}
	}
	if len(fractions) > 0 {
		var row []mixed
		for i := range k.used.width {
			row = append(row, value(variable{table, i + 1}))
		}
		id := value(variable{table, 0})
		fractions = append(fractions, fraction{negative(value(variable{multiplicity, 0}).times(id)), compress(id, row)})
		grows := value(variable{nextSum, 0}).plus(negative(value(variable{sum, 0})))
		for i := 0; i < len(fractions); i += 2 {
			part := grows
			if i+2 < len(fractions) {
				part = value(variable{sum, i/2 + 1})
				grows = grows.plus(negative(part))
			}
			f := fractions[i]
			zero := part.times(f.bottom).plus(negative(f.top))
			if i+1 < len(fractions) {
				g := fractions[i+1]
				zero = part.times(f.bottom).times(g.bottom).plus(negative(f.top.times(g.bottom))).plus(negative(g.top.times(f.bottom)))
			}
			terms = append(terms, unblinded(zero))
		}
		terms = append(terms,
			number(lagrange(0)).times(value(variable{sum, 0})),
			number(lagrange(n-blinded)).times(value(variable{sum, 0})))
	}
	var identity mixed
	for i, t := range terms {
		identity = identity.plus(t.times(number(raised(scalars[alpha], uint64(i)))))
	}
	for i, q := range quotient {
		identity = identity.plus(negative(q.times(number(vanishing)).times(number(raised(zeta, n*uint64(i))))))
	}

	// Everything that is opened, at once: F = Σ ν^i Z_T\S(x) (f - r(x)) - Z_T(x) W + x W' is τ W'.
	next := zeta
	next.Mul(&next, &k.root)
	fromZeta, fromNext := less(x, zeta), less(x, next)
	// The identity's commitment is one of a polynomial that is -constant at ζ.
	f := identity.times(number(fromNext))
	weight := nu
	for o := range opened {
		if _, ok := commitments[o.here()]; !ok {
			return errTextbook // a value of no commitment: the prover's to choose
		}
	}
	for _, v := range k.committed {
		here, isHere := opened[v]
		var after fr.Element
		isNext := false
		for o, e := range opened {
			if o.kind.next() && o.here() == v {
				after, isNext = e, true
			}
		}
		claim := commitments[v]
		switch {
		case isHere && isNext: // the line through both
			slope, run := less(after, here), less(next, zeta)
			slope.Div(&slope, &run).Mul(&slope, &fromZeta)
			claim = claim.plus(negative(number(here))).plus(negative(number(slope)))
		case isHere:
			claim = claim.plus(negative(number(here))).times(number(fromNext))
		case isNext:
			claim = claim.plus(negative(number(after))).times(number(fromZeta))
		default:
			continue
		}
		f = f.plus(claim.times(number(weight)))
		weight.Mul(&weight, &nu)
	}
	var outside fr.Element
	outside.Mul(&fromZeta, &fromNext)
	f = f.plus(negative(mixed{point: jacobian(w)}.times(number(outside))))
	f = f.plus(mixed{point: jacobian(w2)}.times(number(x)))
	// A constant is its commitment's.
	constant := scaled(jacobian(k.one), f.constant)
	f.point.AddAssign(&constant)
	var sum, minus bn254.G1Affine
	sum.FromJacobian(&f.point)
	minus.Neg(&w2)
	ok, err := bn254.PairingCheck([]bn254.G1Affine{sum, minus}, []bn254.G2Affine{k.g2[0], k.g2[1]})
	if err != nil || !ok {
		return errTextbook
	}
	return nil
}

// agree holds both verifiers to each other, and returns what they say.
func agree(t *testing.T, k *VerifyingKey, proof []byte, public []fr.Element, bound []byte) error {
	t.Helper()
	err := k.VerifyInsecure(proof, public, bound)
	if other := textbook(k, proof, public, bound); (err == nil) != (other == nil) {
		t.Errorf("verifier: %v, textbook: %v", err, other)
	}
	return err
}
