package csp

import (
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// Replay absorbs V and the proof's messages into t and returns the one equation that remains to be
// checked. It returns ErrProof if the proof does not have the protocol's Shape, contains the
// identity, or leads to an evaluation challenge that is one of the nodes 1..n, where n is Bits. It
// returns ErrParams unless there is exactly one commitment.
func (p *Protocol[S, P]) Replay(t *transcript.Transcript, V []P, proof *rangeproof.Proof[S, P]) (rangeproof.Equations[S, P], error) {
	if len(V) != 1 {
		return nil, fmt.Errorf("%w: csp: %d commitments, want 1", zkbench.ErrParams, len(V))
	}
	g, shape := p.basis.Group, p.Shape(1)
	if proof == nil || len(proof.Points) != shape.Points || len(proof.Scalars) != shape.Scalars {
		return nil, fmt.Errorf("%w: csp: proof is not of %d points and %d scalars", zkbench.ErrProof, shape.Points, shape.Scalars)
	}
	for i := range proof.Points {
		if g.IsIdentity(&proof.Points[i]) {
			return nil, fmt.Errorf("%w: csp: point %d is the identity", zkbench.ErrProof, i)
		}
	}

	e := p.newEquation(V[0], proof)
	msg := newMessages(g, t, shape.Scalars)
	msg.points(labelV, V...)
	msg.points(labelP, proof.Points[pointP:pointP+1]...)
	msg.points(labelM, proof.Points[pointM:pointM+1]...)
	e.ch.link = msg.challenge(labelLink)
	e.ch.x = msg.challenge(labelX)
	msg.scalars(labelAx, proof.Scalars[scalarAx:scalarAx+1]...)
	e.ch.theta = msg.challenge(labelTheta)
	msg.scalars(labelMu, proof.Scalars[scalarMu:scalarMu+1]...)
	e.ch.c = msg.challenge(labelC)
	msg.scalars(labelPhi, proof.Scalars[scalarPhi:scalarPhi+1]...)
	e.ch.kappa = msg.challenge(labelKappa)
	for k := range p.rounds() {
		ab := proof.Points[headPoints+2*k : headPoints+2*k+2]
		msg.points(labelA, ab[:1]...)
		msg.points(labelB, ab[1:]...)
		e.ch.xi[k] = msg.challenge(labelXi)
	}
	msg.scalars(labelZ, proof.Scalars[headScalars:]...)
	if err := e.collect(); err != nil {
		return nil, err
	}
	return e, nil
}

// equation is the one verification equation
//
//	X·(M + c·(P + c'·V) - φ·H + κ·(c·y + μ)·K) + Σ_k X_k·(A_k + ξ_k²·B_k)
//	  = <e, (Gvec, G)> + κ·L(e)·K
//
// with y = ax + θ·ax(ax-1), X_k = ∏_{j>k} ξ_j and X = ∏_j ξ_j. e is the sent vector z, expanded
// over the original generators. Folding the form commutes with expanding the vector, so L(e) is the
// folded form at z.
type equation[S, P any] struct {
	p     *Protocol[S, P]
	v     P
	proof *rangeproof.Proof[S, P]
	ch    challenges[S]

	expanded       []S // 2n+3: e
	points         []S // coefficients of the proof's points
	coefV, coefH   S
	coefK          S
	form           []S // 2n+3: L
	tmp            []S // at least 2n+3 and the number of points
	weight, scaled S
}

func (p *Protocol[S, P]) newEquation(v P, proof *rangeproof.Proof[S, P]) *equation[S, P] {
	n, rounds := p.size, p.rounds()
	wide := max(n, len(proof.Points))
	scratch := make([]S, 2*n+wide+len(proof.Points)+rounds)
	take := func(k int) []S {
		s := scratch[:k:k]
		scratch = scratch[k:]
		return s
	}
	e := &equation[S, P]{p: p, v: v, proof: proof}
	e.expanded, e.form, e.tmp = take(n), take(n), take(wide)
	e.points = take(len(proof.Points))
	e.ch.xi = take(rounds)
	return e
}

// collect computes the equation's coefficients, left side minus right side, from the challenges in
// e.ch. It fails if x is a node.
func (e *equation[S, P]) collect() error {
	p, g, ch, sc := e.p, e.p.basis.Group, &e.ch, e.proof.Scalars
	if !p.values.lagrange(e.form, &ch.x, e.tmp) {
		return fmt.Errorf("%w: %w", zkbench.ErrProof, errNode)
	}
	p.values.aggregate(e.form, &ch.theta, &ch.link, e.tmp)

	copy(e.expanded, sc[headScalars:])
	expand(g, e.expanded, p.lens, ch.xi)

	// X_k from the last round to the first; X is what remains.
	x := &e.scaled
	*x = p.values.nodes[1]
	for k := p.rounds() - 1; k >= 0; k-- {
		a, b := &e.points[headPoints+2*k], &e.points[headPoints+2*k+1]
		*a = *x
		g.Mul(x, x, &ch.xi[k])
		g.Mul(b, x, &ch.xi[k]) // X_k·ξ_k²
	}
	e.points[pointM] = *x
	g.Mul(&e.points[pointP], x, &ch.c)
	g.Mul(&e.coefV, &e.points[pointP], &ch.link)
	g.Mul(&e.coefH, x, &sc[scalarPhi])
	g.Neg(&e.coefH, &e.coefH)

	// κ·(X·(c·y + μ) - L(e)).
	ax, y := &sc[scalarAx], &e.coefK
	g.Mul(y, ax, ax)
	g.Sub(y, y, ax)
	g.Mul(y, y, &ch.theta)
	g.Add(y, y, ax)
	g.Mul(y, y, &ch.c)
	g.Add(y, y, &sc[scalarMu])
	g.Mul(y, y, x)
	e.weight = g.InnerProduct(e.form, e.expanded)
	g.Sub(y, y, &e.weight)
	g.Mul(y, y, &ch.kappa)
	return nil
}

// Accumulate adds the equation times one weight. It may be called again, for example to find the
// invalid proof in a batch.
func (e *equation[S, P]) Accumulate(acc *group.Accumulator[S, P], weights *group.Weights[S, P]) {
	p, g := e.p, e.p.basis.Group
	e.weight = weights.Next()

	g.Neg(&e.scaled, &e.weight)
	last := p.size - 1
	terms := e.tmp[:p.size]
	g.ScaleVec(terms, e.expanded, &e.scaled)
	vec := acc.Fixed[p.posVec : p.posVec+last]
	g.AddVec(vec, vec, terms[:last])
	acc.AddFixed(p.posG, &terms[last])

	coefs := e.tmp[:len(e.points)]
	g.ScaleVec(coefs, e.points, &e.weight)
	for i := range coefs {
		acc.AddPoint(&e.proof.Points[i], &coefs[i])
	}
	for _, fixed := range [...]struct {
		pos  int
		coef *S
	}{{p.posH, &e.coefH}, {p.posK, &e.coefK}} {
		g.Mul(&e.scaled, fixed.coef, &e.weight)
		acc.AddFixed(fixed.pos, &e.scaled)
	}
	g.Mul(&e.scaled, &e.coefV, &e.weight)
	acc.AddPoint(&e.v, &e.scaled)
}
