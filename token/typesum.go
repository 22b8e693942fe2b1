package token

import (
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// typeSum is the type-and-sum proof. It has a commitment C to the type alone, and proofs of knowledge of
// representations (docs/token.md, section 3)
//
//	(type)   C                                  over (G_T, H)
//	(inputs) Σ ρ^(i-1)·(In_i - C)                   over (G, H)
//	(sum)    Σ In_i - Σ Out_j - (n-m)·C         over (H)
//
// with one challenge. An issue has the first relation only: the same-type proof. Each Out_j - C must be a
// commitment over (G, H). Its range proof shows that. Without range proofs (1 in, 1 out), it follows from the
// sum.
type typeSum[S, P any] struct {
	points  []P // C, A_type, A_inputs, A_sum
	scalars []S // zType, zTypeBlinding, zValue, zValueBlinding, zSum
	rho, c  S
}

// typeSumShape returns the number of points and scalars.
func typeSumShape(kind Kind) (points, scalars int) {
	if kind == Issue {
		return 2, 2
	}
	return 4, 5
}

// typeSumWitness holds the decoded openings and the blinding of C.
type typeSumWitness[S any] struct {
	inputs, outputs []opening[S]
	t, r            S
}

// typeSumRows returns the scalars of C and of the first messages, n points together, over the basis. The
// nonces k have the layout of the proof's scalars.
func (p *params[S, P]) typeSumRows(w *typeSumWitness[S], k []S, n int) [][]S {
	rows := rowsOf[S](n, 3)
	rows[0][p.typ], rows[0][p.blinding] = w.t, w.r
	rows[1][p.typ], rows[1][p.blinding] = k[0], k[1]
	if n > 2 {
		rows[2][p.value], rows[2][p.blinding] = k[2], k[3]
		rows[3][p.blinding] = k[4]
	}
	return rows
}

// absorbFirst absorbs C, draws ρ, absorbs the first messages and draws c.
func (ts *typeSum[S, P]) absorbFirst(g group.Group[S, P], t *transcript.Transcript) {
	enc := g.AppendPoints(make([]byte, 0, len(ts.points)*g.PointLen()), ts.points...)
	n := g.PointLen()
	t.Append("type commitment", enc[:n])
	c := t.Challenge("rho")
	ts.rho = g.ScalarFromWide(c[:])
	for i, label := range []string{"A type", "A inputs", "A sum"}[:len(ts.points)-1] {
		t.Append(label, enc[(i+1)*n:(i+2)*n])
	}
	c = t.Challenge("c")
	ts.c = g.ScalarFromWide(c[:])
}

// absorbLast absorbs the responses.
func (ts *typeSum[S, P]) absorbLast(g group.Group[S, P], t *transcript.Transcript) {
	t.Append("responses", g.AppendScalars(make([]byte, 0, len(ts.scalars)*g.ScalarLen()), ts.scalars...))
}

// respond sets the responses k + c·witness.
func (ts *typeSum[S, P]) respond(g group.Group[S, P], w *typeSumWitness[S], k []S) {
	x := make([]S, len(k), len(k)+3)
	tmp := x[len(k):cap(x)]
	x[0], x[1] = w.t, w.r
	if len(k) > 2 {
		power := &tmp[0]
		*power = g.ScalarFromUint64(1)
		for i := range w.inputs {
			in := &w.inputs[i]
			// In_i - C opens to (v_i, r_i - r); the sum to Σr_i - Σr_j - (n-m)·r.
			g.Sub(&tmp[1], &in.r, &w.r)
			g.Add(&x[4], &x[4], &tmp[1])
			g.Mul(&tmp[1], &tmp[1], power)
			g.Add(&x[3], &x[3], &tmp[1])
			g.Mul(&tmp[2], &in.v, power)
			g.Add(&x[2], &x[2], &tmp[2])
			g.Mul(power, power, &ts.rho)
		}
		for j := range w.outputs {
			g.Sub(&tmp[1], &w.outputs[j].r, &w.r)
			g.Sub(&x[4], &x[4], &tmp[1])
		}
	}
	g.ScaleVec(x, x, &ts.c)
	g.AddVec(ts.scalars, x, k)
}

// accumulate adds the equations, each with its weight:
//
//	zType·G_T + zTypeBlinding·H - A_type - c·C = 0, and so on.
func (ts *typeSum[S, P]) accumulate(p *params[S, P], acc *group.Accumulator[S, P], inputs, outputs []P, weights *group.Weights[S, P]) {
	g := p.g
	z := ts.scalars
	tmp := make([]S, 8)
	w, neg, cw, coeffC, power, cInputs, cSum := &tmp[0], &tmp[1], &tmp[2], &tmp[3], &tmp[4], &tmp[5], &tmp[6]
	fixed := func(position int, z *S) {
		g.Mul(&tmp[7], z, w)
		acc.AddFixed(position, &tmp[7])
	}

	*w = weights.Next()
	fixed(p.typ, &z[0])
	fixed(p.blinding, &z[1])
	g.Neg(neg, w)
	acc.AddPoint(&ts.points[1], neg)
	g.Mul(coeffC, neg, &ts.c) // -c·w
	if len(ts.points) > 2 {
		*w = weights.Next()
		fixed(p.value, &z[2])
		fixed(p.blinding, &z[3])
		g.Neg(neg, w)
		acc.AddPoint(&ts.points[2], neg)
		g.Mul(cInputs, neg, &ts.c)

		*w = weights.Next()
		fixed(p.blinding, &z[4])
		g.Neg(neg, w)
		acc.AddPoint(&ts.points[3], neg)
		g.Mul(cSum, neg, &ts.c)

		*power = g.ScalarFromUint64(1)
		for i := range inputs {
			g.Mul(cw, cInputs, power)
			g.Add(cw, cw, cSum)
			acc.AddPoint(&inputs[i], cw)
			g.Sub(coeffC, coeffC, cw)
			g.Mul(power, power, &ts.rho)
		}
		g.Neg(cw, cSum)
		for j := range outputs {
			acc.AddPoint(&outputs[j], cw)
			g.Sub(coeffC, coeffC, cw)
		}
	}
	acc.AddPoint(&ts.points[0], coeffC)
}
