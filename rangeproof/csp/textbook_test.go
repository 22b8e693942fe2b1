package csp

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// textbook verifies a proof by the equations of docs/rangeproofs.md. It folds generators and form
// explicitly, multiplies points one by one, and shares no code with the fast verifier.
func textbook(p *proto, name string, V point, proof *prf) bool {
	g, b, n := group.BN254(), p.basis, p.bits
	t := transcript.New("csp-test")
	t.Append("range proof", []byte("csp"))
	t.AppendUint64("bits", uint64(n))
	t.AppendUint64("stop", uint64(p.stop))
	t.Append("context", []byte(name))
	addPoint := func(label string, q point) { t.Append("csp/"+label, g.AppendPoints(nil, q)) }
	addScalars := func(label string, s ...scalar) { t.Append("csp/"+label, g.AppendScalars(nil, s...)) }
	challenge := func(label string) scalar { c := t.Challenge("csp/" + label); return g.ScalarFromWide(c[:]) }

	points, sc := proof.Points, proof.Scalars
	addPoint("V", V)
	addPoint("P", points[0])
	addPoint("M", points[1])
	link, x := challenge("link"), challenge("x")
	addScalars("ax", sc[0])
	theta := challenge("theta")
	addScalars("mu", sc[1])
	c := challenge("c")
	addScalars("phi", sc[2])
	kappa := challenge("kappa")

	// The three forms, over a(0..n), b(0), b(n+1..2n), the coefficient of G.
	lagrange := func(i, last int) scalar {
		num, den := fr.One(), fr.One()
		for j := range last + 1 {
			if j == i {
				continue
			}
			xi, xj := fr.NewElement(uint64(i)), fr.NewElement(uint64(j))
			var d scalar
			num.Mul(&num, d.Sub(&x, &xj))
			den.Mul(&den, d.Sub(&xi, &xj))
		}
		return *num.Div(&num, &den)
	}
	form := make([]scalar, 0, 2*n+3)
	for i := range n + 1 {
		l := lagrange(i, n)
		if i > 0 {
			bit := fr.NewElement(1 << (i - 1))
			bit.Mul(&bit, &link).Mul(&bit, &theta).Mul(&bit, &theta)
			l.Add(&l, &bit)
		}
		form = append(form, l)
	}
	for j := range 2*n + 1 {
		if j == 0 || j > n {
			l := lagrange(j, 2*n)
			form = append(form, *l.Mul(&l, &theta))
		}
	}
	var minus scalar
	minus.Square(&theta).Neg(&minus)
	form = append(form, minus)

	// y = ax + θ·ax(ax-1); value = c·y + μ.
	one := fr.One()
	var value scalar
	value.Sub(&sc[0], &one).Mul(&value, &sc[0]).Mul(&value, &theta).Add(&value, &sc[0])
	value.Mul(&value, &c).Add(&value, &sc[1])

	// Q0 = M + c·(P + c'·V) - φ·H + κ·(c·y + μ)·K.
	H, K := b.Points[b.Offset("blinding")], b.Points[b.Offset("csp/K")]
	Q := addPoints(points[0], mulPoint(V, link))
	Q = addPoints(points[1], mulPoint(Q, c))
	var s scalar
	Q = addPoints(Q, mulPoint(H, *s.Neg(&sc[2])))
	Q = addPoints(Q, mulPoint(K, *s.Mul(&kappa, &value)))

	gens := slices.Clone(b.Points[b.Offset("csp/G"):][:2*n+2])
	gens = append(gens, b.Points[b.Offset("value")])
	for k := 2; len(gens) > p.stop; k += 2 {
		A, B := points[k], points[k+1]
		addPoint("A", A)
		addPoint("B", B)
		xi := challenge("xi")
		half := (len(gens) + 1) / 2
		for i := range half {
			gens[i] = mulPoint(gens[i], xi)
			form[i].Mul(&form[i], &xi)
			if half+i < len(gens) {
				gens[i] = addPoints(gens[i], gens[half+i])
				form[i].Add(&form[i], &form[half+i])
			}
		}
		gens, form = gens[:half], form[:half]
		Q = addPoints(A, mulPoint(Q, xi))
		Q = addPoints(Q, mulPoint(mulPoint(B, xi), xi))
	}
	z := sc[3:]
	if len(z) != len(gens) {
		return false
	}
	want := sum(g, gens, z)
	s.SetZero()
	for i := range z {
		var term scalar
		s.Add(&s, term.Mul(&z[i], &form[i]))
	}
	want = addPoints(want, mulPoint(K, *s.Mul(&s, &kappa)))
	return g.EqualPoints(&Q, &want)
}

// tampered yields proofs of the same shape that differ in one place.
func tampered(proof *prf) iter.Seq2[string, *prf] {
	one := fr.One()
	return func(yield func(string, *prf) bool) {
		change := func(i int, name string, edit func(q *prf)) bool {
			q := &prf{Points: slices.Clone(proof.Points), Scalars: slices.Clone(proof.Scalars)}
			edit(q)
			return yield(fmt.Sprintf("%s %d", name, i), q)
		}
		for i := range proof.Points {
			j := (i + 1) % len(proof.Points)
			if !change(i, "shifted point", func(q *prf) { q.Points[i] = addPoints(q.Points[i], testBasis().Points[0]) }) ||
				!change(i, "negated point", func(q *prf) { q.Points[i].Neg(&q.Points[i]) }) ||
				!change(i, "swapped point", func(q *prf) { q.Points[i], q.Points[j] = q.Points[j], q.Points[i] }) {
				return
			}
		}
		for i := range proof.Scalars {
			if !change(i, "incremented scalar", func(q *prf) { q.Scalars[i].Add(&q.Scalars[i], &one) }) ||
				!change(i, "negated scalar", func(q *prf) { q.Scalars[i].Neg(&q.Scalars[i]) }) ||
				!change(i, "zeroed scalar", func(q *prf) { q.Scalars[i].SetZero() }) {
				return
			}
		}
	}
}

func TestTextbookAgrees(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		bits, stop int
		tamper     bool
	}{{1, 1, true}, {1, 5, true}, {2, 2, true}, {3, 100, true}, {8, 3, false}, {31, 1, false}, {64, 0, false}} {
		t.Run(fmt.Sprintf("bits=%d/stop=%d", tc.bits, tc.stop), func(t *testing.T) {
			p := newProtocol(t, tc.bits, tc.stop)
			V, proof := prove(t, p, t.Name(), 1)
			if err := verify(p, t.Name(), V, proof); err != nil {
				t.Errorf("fast verifier: %v", err)
			}
			if !textbook(p, t.Name(), V, proof) {
				t.Error("textbook verifier rejects a good proof")
			}
			if !tc.tamper {
				return
			}
			for name, bad := range tampered(proof) {
				fast, slow := verify(p, t.Name(), V, bad) == nil, textbook(p, t.Name(), V, bad)
				if fast || slow {
					t.Errorf("%s: fast accepts %v, textbook accepts %v", name, fast, slow)
				}
			}
		})
	}
}
