package bulletproof

import (
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// Replay implements rangeproof.Protocol. It returns ErrProof if the proof does not have the
// protocol's Shape, contains the identity, or leads to a zero challenge. It returns ErrParams if
// the number of commitments is not accepted. The equations alias V and proof. Do not change V or
// proof until the equations are accumulated.
func (p *Protocol[S, P]) Replay(t *transcript.Transcript, V []P, proof *rangeproof.Proof[S, P]) (rangeproof.Equations[S, P], error) {
	if err := p.checkCount(len(V)); err != nil {
		return nil, err
	}
	eq := &equations[S, P]{dims: p.cfg.dims(len(V)), p: p, V: V, proof: proof}
	if err := p.checkProof(eq.shape(), proof); err != nil {
		return nil, err
	}
	c := &eq.c
	buf := make([]S, 2*eq.rounds+1)
	c.rounds, eq.inv = buf[:eq.rounds], buf[eq.rounds:]

	tp := p.newTape(t, len(V))
	tp.statement(V)
	if err := tp.afterBits(proof.Points[0:2], c); err != nil {
		return nil, err
	}
	if err := tp.afterPolynomial(proof.Points[2:4], c); err != nil {
		return nil, err
	}
	if err := tp.afterEvaluation(proof.Scalars[0:3], c); err != nil {
		return nil, err
	}
	for j := range c.rounds {
		if err := tp.afterRound(proof.Points[4+2*j:6+2*j], &c.rounds[j]); err != nil {
			return nil, err
		}
	}
	tp.final(proof.Scalars[3:])

	copy(eq.inv, c.rounds)
	eq.inv[eq.rounds] = c.y
	p.g.BatchInvert(eq.inv)
	return eq, nil
}

func (p *Protocol[S, P]) checkProof(want rangeproof.Shape, proof *rangeproof.Proof[S, P]) error {
	if proof == nil {
		return fmt.Errorf("%w: %s: no proof", zkbench.ErrProof, p.Name())
	}
	if got := (rangeproof.Shape{Points: len(proof.Points), Scalars: len(proof.Scalars)}); got != want {
		return fmt.Errorf("%w: %s: %d points and %d scalars, want %d and %d",
			zkbench.ErrProof, p.Name(), got.Points, got.Scalars, want.Points, want.Scalars)
	}
	for i := range proof.Points {
		if p.g.IsIdentity(&proof.Points[i]) {
			return fmt.Errorf("%w: %s: point %d is the identity", zkbench.ErrProof, p.Name(), i)
		}
	}
	return nil
}

// equations are the two verification equations, both as sums that should be the identity
// (docs/rangeproofs.md, "One multi-scalar multiplication"):
//
//	(1) (tHat - delta)·g + taux·h - Σ z^(2+j)·V_j - x·T1 - x^2·T2
//	(2) A + x·S + Σ (x_j·L_j + x_j^-1·R_j) - mu·h + cU·(tHat - <a,b>)·U
//	    - Σ_i (z + sG_i·a_i)·G_i + Σ_i (z + y^-i·(w_i - sH_i·b_i))·H_i
//
// Here sG_i and sH_i are the coefficients of G_i and H'_i in the folded generators, a_i and b_i
// repeat with period last, and delta = (z - z^2)·<1,y^N> - z·<1,w>.
type equations[S, P any] struct {
	dims
	p     *Protocol[S, P]
	V     []P
	proof *rangeproof.Proof[S, P]
	c     challenges[S]
	inv   []S // x_1^-1 .. x_k^-1, y^-1
}

// Accumulate implements rangeproof.Equations.
func (eq *equations[S, P]) Accumulate(acc *group.Accumulator[S, P], weights *group.Weights[S, P]) {
	g := eq.p.g
	buf := make([]S, 6+(2+2*eq.rounds)+(eq.m+2)+4*eq.N)
	take := func(n int) []S {
		s := buf[:n:n]
		buf = buf[n:]
		return s
	}
	w, tmp := take(2), take(4)
	w[0], w[1] = weights.Next(), weights.Next()
	dyn, zPow, vec := take(2+2*eq.rounds), take(eq.m+2), take(4*eq.N)
	g.Powers(zPow, &eq.c.z)
	zPow = zPow[2:]

	eq.accumulatePoints(acc, dyn, &w[1])
	eq.accumulateGenerators(acc, vec, zPow, &w[1], tmp)
	// Last, because it scales zPow in place.
	eq.accumulateKey(acc, vec[:eq.N], zPow, w, tmp)
}

// accumulatePoints adds w2 times the proof's points of equation (2). dyn is
// scratch for their scalars.
func (eq *equations[S, P]) accumulatePoints(acc *group.Accumulator[S, P], dyn []S, w2 *S) {
	k, g, points := eq.rounds, eq.p.g, eq.proof.Points
	dyn[0], dyn[1] = eq.p.ones[0], eq.c.x
	copy(dyn[2:], eq.c.rounds)
	copy(dyn[2+k:], eq.inv[:k])
	g.ScaleVec(dyn, dyn, w2)
	acc.AddPoint(&points[0], &dyn[0])
	acc.AddPoint(&points[1], &dyn[1])
	for j := range k {
		acc.AddPoint(&points[4+2*j], &dyn[2+j])
		acc.AddPoint(&points[5+2*j], &dyn[2+k+j])
	}
}

// accumulateGenerators adds w2 times the G, H and U of equation (2). vec is 4N
// of scratch, zPow is z^2 .. z^(m+1).
func (eq *equations[S, P]) accumulateGenerators(acc *group.Accumulator[S, P], vec, zPow []S, w2 *S, tmp []S) {
	p, g, N, k := eq.p, eq.p.g, eq.N, eq.rounds
	a, b := eq.proof.Scalars[3:3+eq.last], eq.proof.Scalars[3+eq.last:]
	s, t := &tmp[0], &tmp[1]
	coef, wz, w, yInv := vec[:N], vec[N:2*N], vec[2*N:3*N], vec[3*N:]
	fixedG, fixedH := acc.Fixed[p.posG:p.posG+N], acc.Fixed[p.posH:p.posH+N]

	g.Mul(s, w2, &eq.c.z)
	fill(wz, *s)

	g.ScaleVec(coef[:eq.last], a, w2)
	eq.unfold(coef, eq.c.rounds)
	g.AddVec(coef, coef, wz)
	g.SubVec(fixedG, fixedG, coef)

	copy(coef, b)
	eq.unfold(coef, eq.inv[:k])
	p.rangeWeights(w, zPow)
	g.SubVec(coef, w, coef)
	g.Powers(yInv, &eq.inv[k])
	g.MulVec(coef, coef, yInv)
	g.Fold(wz, wz, coef, w2)
	g.AddVec(fixedH, fixedH, wz)

	*s = g.InnerProduct(a, b)
	g.Sub(s, &eq.proof.Scalars[2], s)
	g.Mul(t, &eq.c.cU, w2)
	g.Mul(s, s, t)
	acc.AddFixed(p.posU, s)
}

// unfold extends v[:last] to all of v, v_i = s_i·v_(i mod last), where s_i is the product of x[j]
// over the rounds j in which i was in the upper half. The first round decides the top bit of i's
// block, so the last round is unfolded first.
func (eq *equations[S, P]) unfold(v, x []S) {
	n := eq.last
	for j := eq.rounds - 1; j >= 0; j-- {
		eq.p.g.ScaleVec(v[n:2*n], v[:n], &x[j])
		n *= 2
	}
}

// accumulateKey adds w1 = weights[0] times equation (1), and w2 = weights[1]
// times the h of equation (2). yPow is N of scratch.
func (eq *equations[S, P]) accumulateKey(acc *group.Accumulator[S, P], yPow, zPow, weights, tmp []S) {
	p, g, z, x := eq.p, eq.p.g, &eq.c.z, &eq.c.x
	taux, mu, tHat := &eq.proof.Scalars[0], &eq.proof.Scalars[1], &eq.proof.Scalars[2]
	w1, w2 := &weights[0], &weights[1]
	sumY, delta, s := &tmp[0], &tmp[1], &tmp[2]

	g.Powers(yPow, &eq.c.y)
	*sumY = g.InnerProduct(p.ones[:eq.N], yPow)
	*s = g.InnerProduct(p.ones[:eq.m], zPow)
	g.Mul(s, s, &p.twosSum) // <1,w> = (2^n - 1)·Σ z^(2+j)
	g.Mul(delta, z, sumY)
	g.Sub(delta, sumY, delta)
	g.Sub(delta, delta, s)
	g.Mul(delta, delta, z)

	g.Sub(s, tHat, delta)
	g.Mul(s, s, w1)
	acc.AddFixed(p.posValue, s)

	g.Mul(s, taux, w1)
	acc.AddFixed(p.posBlinding, s)
	g.Mul(s, mu, w2)
	g.Neg(s, s)
	acc.AddFixed(p.posBlinding, s)

	g.Neg(s, w1)
	g.ScaleVec(zPow, zPow, s)
	for j := range eq.V {
		acc.AddPoint(&eq.V[j], &zPow[j])
	}
	g.Mul(s, s, x)
	acc.AddPoint(&eq.proof.Points[2], s)
	g.Mul(s, s, x)
	acc.AddPoint(&eq.proof.Points[3], s)
}
