package bulletproof

import (
	"context"

	"github.com/zkbench/zkbench/executor"
)

// innerRound is the inner-product argument (section 3 of the paper) that <a, b> = tHat for P =
// <a,G> + <b,H'> + cU·tHat·U with H'_i = y^-i·H_i.
//
// Round j halves the length: with lo and hi the halves,
//
//	L = <a_lo, G_hi> + <b_hi, H_lo> + cU·<a_lo, b_hi>·U
//	R = <a_hi, G_lo> + <b_lo, H_hi> + cU·<a_hi, b_lo>·U
//	a = a_lo + x^-1·a_hi,  G = G_lo + x·G_hi
//	b = b_lo + x·b_hi,     H = H_lo + x^-1·H_hi
//	P = P + x·L + x^-1·R
//
// x is the paper's x^2, and a, b are the paper's up to factors x^∓1 that cancel in all products. So
// no square is needed, and folding takes one multiplication per element.
//
// Generators are not folded. After j rounds the folded G_p is Σ_q coefG[q]·G_(q·len+p) over the 2^j
// blocks of the current length, because every round multiplies the upper half of each block by the
// same x. So L and R are sums over the original generators.
type innerRound[S, P any] struct {
	st *state[S, P]
	j  int // rounds so far
}

// innerCommitted: L and R of round j are set.
type innerCommitted[S, P any] struct {
	st *state[S, P]
	j  int
}

// innerProduct uses y and cU.
func (r evalRound[S, P]) innerProduct() innerRound[S, P] {
	st, g := r.st, r.st.p.g
	g.Inverse(&st.inv, &st.c.y)
	g.Powers(st.yPow, &st.inv)
	st.coefG, st.coefH = st.coefG[:1], st.coefH[:1]
	st.coefG[0], st.coefH[0] = st.p.ones[0], st.p.ones[0]
	return innerRound[S, P]{st: st}
}

// commit sets L and R of round j, counted from 0. coefH[q] includes y^(-q·len), the part of y^-i
// that all of a block shares; the rest is y^-p with p < len.
func (r innerRound[S, P]) commit(ctx context.Context, ex executor.Executor) (innerCommitted[S, P], error) {
	st, p, g, h := r.st, r.st.p, r.st.p.g, len(r.st.a)/2
	L, R := st.sums[0], st.sums[1]
	bHi, bLo := st.tmp[:h], st.tmp[h:2*h]
	g.MulVec(bHi, st.b[h:], st.yPow[:h])
	g.MulVec(bLo, st.b[:h], st.yPow[h:2*h])
	for q := range st.coefG {
		G, H := p.posG+2*h*q, p.posH+2*h*q
		g.ScaleVec(L[G+h:G+2*h], st.a[:h], &st.coefG[q])
		g.ScaleVec(R[G:G+h], st.a[h:], &st.coefG[q])
		g.ScaleVec(L[H:H+h], bHi, &st.coefH[q])
		g.ScaleVec(R[H+h:H+2*h], bLo, &st.coefH[q])
	}
	L[p.posU] = g.InnerProduct(st.a[:h], st.b[h:])
	R[p.posU] = g.InnerProduct(st.a[h:], st.b[:h])
	g.Mul(&L[p.posU], &L[p.posU], &st.c.cU)
	g.Mul(&R[p.posU], &R[p.posU], &st.c.cU)
	return innerCommitted[S, P](r), st.sum(ctx, ex, st.proof.Points[4+2*r.j:6+2*r.j])
}

// fold uses x_j.
func (r innerCommitted[S, P]) fold() innerRound[S, P] {
	st, g, h, x := r.st, r.st.p.g, len(r.st.a)/2, &r.st.c.rounds[r.j]
	g.Inverse(&st.inv, x)
	g.Fold(st.a[:h], st.a[:h], st.a[h:], &st.inv)
	g.Fold(st.b[:h], st.b[:h], st.b[h:], x)
	st.a, st.b = st.a[:h], st.b[:h]

	g.Mul(&st.inv, &st.inv, &st.yPow[h])
	st.coefG = splitBlocks(st, st.coefG, x)
	st.coefH = splitBlocks(st, st.coefH, &st.inv)
	return innerRound[S, P]{st, r.j + 1}
}

// splitBlocks turns the coefficients c_q of blocks into those of their halves:
// c_q and x·c_q. There are fewer blocks than N, so tmp is long enough.
func splitBlocks[S, P any](st *state[S, P], coef []S, x *S) []S {
	n := len(coef)
	upper := st.tmp[:n]
	st.p.g.ScaleVec(upper, coef, x)
	coef = coef[:2*n]
	for q := n - 1; q >= 0; q-- {
		coef[2*q], coef[2*q+1] = coef[q], upper[q]
	}
	return coef
}

// finish writes the final vectors, after the last round.
func (r innerRound[S, P]) finish() {
	copy(r.st.proof.Scalars[3:], r.st.a)
	copy(r.st.proof.Scalars[3+r.st.last:], r.st.b)
}
