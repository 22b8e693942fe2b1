package csp

import (
	"context"
	"crypto/sha3"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// errNode refuses an evaluation point that is a node. A random point is a node with probability
// (2n+1)/r.
var errNode = errors.New("csp: the evaluation challenge is a node")

// WithTable implements rangeproof.Protocol.
func (p *Protocol[S, P]) WithTable(table group.Table[S, P]) rangeproof.Protocol[S, P] {
	c := *p
	c.basis = p.basis.WithTable(table)
	return &c
}

// Prove proves that V[0] = w.Values[0]·G + w.Blindings[0]·H, and that w.Values[0] is below 2^Bits.
// Prove does not check that the witness opens V[0]. If the witness does not open V[0], the
// verifier rejects the proof. Prove returns ErrParams if there is not exactly one commitment, one
// value and one blinding. It also returns ErrParams if the value is not in the range. It returns
// ErrProof if the evaluation challenge is one of the nodes 1..n, where n is Bits.
func (p *Protocol[S, P]) Prove(ctx context.Context, ex executor.Executor, t *transcript.Transcript, V []P, w rangeproof.Witness[S], nonces transcript.Nonces) (*rangeproof.Proof[S, P], error) {
	if len(V) != 1 || len(w.Values) != 1 || len(w.Blindings) != 1 {
		return nil, fmt.Errorf("%w: csp: %d commitments, %d values, %d blindings, want one of each",
			zkbench.ErrParams, len(V), len(w.Values), len(w.Blindings))
	}
	if p.bits < 64 && w.Values[0]>>p.bits != 0 {
		return nil, fmt.Errorf("%w: csp: value 0 does not fit in %d bits", zkbench.ErrParams, p.bits)
	}
	g, shape := p.basis.Group, p.Shape(1)
	proof := &rangeproof.Proof[S, P]{Points: make([]P, shape.Points), Scalars: make([]S, shape.Scalars)}
	msg := newMessages(g, t, shape.Scalars)
	pr := p.newProver(w.Values[0], w.Blindings[0])

	msg.points(labelV, V...)
	witness := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+g.ScalarLen()), w.Values[0])
	pr.draw(nonces.Stream(g.AppendScalars(witness, w.Blindings...), t))

	if err := pr.commit(ctx, ex, proof.Points[:headPoints]); err != nil {
		return nil, err
	}
	msg.points(labelP, proof.Points[pointP:pointP+1]...)
	msg.points(labelM, proof.Points[pointM:pointM+1]...)

	pr.ch.link = msg.challenge(labelLink)
	pr.ch.x = msg.challenge(labelX)
	ax, err := pr.evaluate()
	if err != nil {
		return nil, err
	}
	proof.Scalars[scalarAx] = ax
	msg.scalars(labelAx, proof.Scalars[scalarAx:scalarAx+1]...)

	pr.ch.theta = msg.challenge(labelTheta)
	proof.Scalars[scalarMu] = pr.maskForm()
	msg.scalars(labelMu, proof.Scalars[scalarMu:scalarMu+1]...)

	pr.ch.c = msg.challenge(labelC)
	proof.Scalars[scalarPhi] = pr.respond()
	msg.scalars(labelPhi, proof.Scalars[scalarPhi:scalarPhi+1]...)

	pr.ch.kappa = msg.challenge(labelKappa)
	for k := range p.rounds() {
		ab := proof.Points[headPoints+2*k : headPoints+2*k+2]
		if err := pr.cross(ctx, ex, ab); err != nil {
			return nil, err
		}
		msg.points(labelA, ab[:1]...)
		msg.points(labelB, ab[1:]...)
		pr.fold(msg.challenge(labelXi))
	}
	copy(proof.Scalars[headScalars:], pr.folded())
	msg.scalars(labelZ, proof.Scalars[headScalars:]...)
	return proof, nil
}

// prover is the state of one proof. Its methods are the prover's moves, in the order draw, commit,
// evaluate, maskForm, respond, then cross and fold for each round. Each reads the challenges in ch
// that precede it.
//
// Scalars whose address goes to the group are fields here. As local variables each would escape to
// the heap through the interface.
type prover[S, P any] struct {
	p        *Protocol[S, P]
	value    uint64
	blinding S // r
	ch       challenges[S]

	mask, gamma, rho S // a(0); blindings of P and of M

	w    []S // 2n+3: the witness vector
	z    []S // 2n+3: the mask m, then the response, then folded in place
	form []S // 2n+3: L, folded in place
	tmp  []S // 2n+3
	// rows are the scalars over the whole basis of the two sums that are
	// worked on together: P and M, then A and B of each round.
	rows [][]S
	t    S
}

func (p *Protocol[S, P]) newProver(value uint64, blinding S) *prover[S, P] {
	n, all := p.size, p.basis.Len()
	scratch := make([]S, 4*n+2*all+p.rounds())
	take := func(k int) []S {
		s := scratch[:k:k]
		scratch = scratch[k:]
		return s
	}
	pr := &prover[S, P]{
		p: p, value: value, blinding: blinding,
		w: take(n), z: take(n), form: take(n), tmp: take(n),
		rows: [][]S{take(all), take(all)},
	}
	pr.ch.xi = take(p.rounds())[:0]
	return pr
}

// draw draws the nonces: a(0), γ, ρ and m, all uniform.
func (pr *prover[S, P]) draw(xof *sha3.SHAKE) {
	g := pr.p.basis.Group
	group.RandomScalars(g, pr.tmp[:3], xof)
	pr.mask, pr.gamma, pr.rho = pr.tmp[0], pr.tmp[1], pr.tmp[2]
	group.RandomScalars(g, pr.z, xof)
}

// commit sets dst to P = <w_P, Gvec> + γ·H and M = <m, (Gvec, G)> + ρ·H.
func (pr *prover[S, P]) commit(ctx context.Context, ex executor.Executor, dst []P) error {
	pr.p.values.fill(pr.w, pr.value, &pr.mask, pr.tmp)
	return pr.commitWitness(ctx, ex, dst)
}

// commitWitness is commit with the vector that is already in pr.w. Its last entry, the coefficient
// of G, is zero for the honest prover.
func (pr *prover[S, P]) commitWitness(ctx context.Context, ex executor.Executor, dst []P) error {
	for i, v := range [2][]S{pr.w, pr.z} {
		pr.scatter(pr.rows[i], v)
	}
	h := pr.p.posH
	pr.rows[0][h], pr.rows[1][h] = pr.gamma, pr.rho
	err := pr.p.basis.Table.MSM(ctx, ex, dst, pr.rows)
	clear(pr.rows[0][h : h+1])
	clear(pr.rows[1][h : h+1])
	return err
}

// evaluate returns a(x), or an error if x is a node.
func (pr *prover[S, P]) evaluate() (S, error) {
	ip := pr.p.values
	if !ip.lagrange(pr.form, &pr.ch.x, pr.tmp) {
		var none S
		return none, fmt.Errorf("%w: %w", zkbench.ErrProof, errNode)
	}
	return ip.g.InnerProduct(pr.form[:ip.n+1], pr.w[:ip.n+1]), nil
}

// maskForm completes L and returns μ = L(m).
func (pr *prover[S, P]) maskForm() S {
	pr.p.values.aggregate(pr.form, &pr.ch.theta, &pr.ch.link, pr.tmp)
	return pr.p.basis.Group.InnerProduct(pr.form, pr.z)
}

// respond sets z = c·w + m for w = (w_P, 0) + c'·(0, v) and returns
// φ = c·(γ + c'·r) + ρ.
func (pr *prover[S, P]) respond() S {
	g, ch, last := pr.p.basis.Group, &pr.ch, pr.p.size-1
	pr.t = g.ScalarFromUint64(pr.value)
	g.Mul(&pr.t, &pr.t, &ch.link)
	g.Add(&pr.w[last], &pr.w[last], &pr.t)
	g.Fold(pr.z, pr.z, pr.w, &ch.c)

	g.Mul(&pr.t, &ch.link, &pr.blinding)
	g.Add(&pr.t, &pr.t, &pr.gamma)
	g.Mul(&pr.t, &pr.t, &ch.c)
	g.Add(&pr.t, &pr.t, &pr.rho)
	return pr.t
}

// cross sets dst to the points of the next round:
// A = <z_lo, g_hi> + κ·L_hi(z_lo)·K and B = <z_hi, g_lo> + κ·L_lo(z_hi)·K.
func (pr *prover[S, P]) cross(ctx context.Context, ex executor.Executor, dst []P) error {
	p, g, k := pr.p, pr.p.basis.Group, len(pr.ch.xi)
	l, h := p.lens[k], p.lens[k+1]
	lo, hi := pr.z[:l-h], pr.z[h:l] // the entry of z_lo without a partner meets nothing

	row := pr.rows[0]
	clear(pr.tmp[:h])
	copy(pr.tmp[h:l], lo)
	expand(g, pr.tmp, p.lens, pr.ch.xi)
	pr.scatter(row, pr.tmp)
	row[p.posK] = g.InnerProduct(pr.form[h:l], lo)
	g.Mul(&row[p.posK], &row[p.posK], &pr.ch.kappa)

	row = pr.rows[1]
	copy(pr.tmp, hi)
	clear(pr.tmp[l-h : l])
	expand(g, pr.tmp, p.lens, pr.ch.xi)
	pr.scatter(row, pr.tmp)
	row[p.posK] = g.InnerProduct(pr.form[:l-h], hi)
	g.Mul(&row[p.posK], &row[p.posK], &pr.ch.kappa)

	return p.basis.Table.MSM(ctx, ex, dst, pr.rows)
}

// fold folds z and L by ξ.
func (pr *prover[S, P]) fold(xi S) {
	g, k := pr.p.basis.Group, len(pr.ch.xi)
	pr.ch.xi = append(pr.ch.xi, xi)
	l, h := pr.p.lens[k], pr.p.lens[k+1]
	foldVector(g, pr.z, l, h, &pr.ch.xi[k])
	foldForm(g, pr.form, l, h, &pr.ch.xi[k])
}

// folded returns z after the rounds so far.
func (pr *prover[S, P]) folded() []S { return pr.z[:pr.p.lens[len(pr.ch.xi)]] }

// scatter writes v (2n+3) to the positions of (Gvec, G) in a row over the basis.
func (pr *prover[S, P]) scatter(row, v []S) {
	last := len(v) - 1
	copy(row[pr.p.posVec:], v[:last])
	row[pr.p.posG] = v[last]
}
