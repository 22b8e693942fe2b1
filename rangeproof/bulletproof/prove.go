package bulletproof

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// Prove implements rangeproof.Protocol. The caller must have absorbed the parameters (with
// AppendParams) and the context of the proof into t. Prove returns ErrParams if a value is 2^n or
// more, if the number of commitments is not accepted, or if the numbers of commitments, values and
// blindings differ.
func (p *Protocol[S, P]) Prove(ctx context.Context, ex executor.Executor, t *transcript.Transcript, V []P, w rangeproof.Witness[S], nonces transcript.Nonces) (*rangeproof.Proof[S, P], error) {
	if err := p.checkWitness(len(V), w); err != nil {
		return nil, err
	}
	tp := p.newTape(t, len(V))
	tp.statement(V)
	st := p.newState(len(V))
	group.RandomScalars(p.g, st.nonce, nonces.Stream(p.encodeWitness(w), t))

	c := &st.c
	points, scalars := st.proof.Points, st.proof.Scalars
	bits, err := st.bits(w)
	if err != nil {
		return nil, err
	}
	committed, err := bits.commit(ctx, ex)
	if err != nil {
		return nil, err
	}
	if err := tp.afterBits(points[0:2], c); err != nil {
		return nil, err
	}
	opened, err := committed.polynomial().commit(ctx, ex)
	if err != nil {
		return nil, err
	}
	if err := tp.afterPolynomial(points[2:4], c); err != nil {
		return nil, err
	}
	eval := opened.evaluate()
	if err := tp.afterEvaluation(scalars[0:3], c); err != nil {
		return nil, err
	}
	ip := eval.innerProduct()
	for j := range c.rounds {
		halves, err := ip.commit(ctx, ex)
		if err != nil {
			return nil, err
		}
		if err := tp.afterRound(points[4+2*j:6+2*j], &c.rounds[j]); err != nil {
			return nil, err
		}
		ip = halves.fold()
	}
	ip.finish()
	tp.final(scalars[3:])
	return st.proof, nil
}

// WithTable implements rangeproof.Protocol.
func (p *Protocol[S, P]) WithTable(table group.Table[S, P]) rangeproof.Protocol[S, P] {
	c := *p
	c.basis = p.basis.WithTable(table)
	return &c
}

func (p *Protocol[S, P]) checkWitness(m int, w rangeproof.Witness[S]) error {
	if err := p.checkCount(m); err != nil {
		return err
	}
	if len(w.Values) != m || len(w.Blindings) != m {
		return fmt.Errorf("%w: %s: %d values and %d blindings for %d commitments",
			zkbench.ErrParams, p.Name(), len(w.Values), len(w.Blindings), m)
	}
	for j, v := range w.Values {
		if v>>p.cfg.Bits != 0 { // a shift by 64 gives 0 in Go
			return fmt.Errorf("%w: %s: value %d has more than %d bits", zkbench.ErrParams, p.Name(), j, p.cfg.Bits)
		}
	}
	return nil
}

// encodeWitness encodes values, 8 bytes each, and then blindings. It is injective for a given m.
func (p *Protocol[S, P]) encodeWitness(w rangeproof.Witness[S]) []byte {
	b := make([]byte, 0, len(w.Values)*(8+p.g.ScalarLen()))
	for _, v := range w.Values {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return p.g.AppendScalars(b, w.Blindings...)
}

// state is what a prover keeps: the proof as it grows, the challenges so far, and all scratch,
// allocated once. It serves one proof.
//
// The types below are the stages of a proof. Each has the next step as a method, and only the step
// before returns it, so that steps out of order do not compile. A step that follows a message
// expects the message's challenges in c.
type state[S, P any] struct {
	dims
	p     *Protocol[S, P]
	proof *rangeproof.Proof[S, P]
	c     challenges[S]

	nonce     []S // alpha, rho, sL (N), sR (N), tau1, tau2
	blindings []S // γ, the witness's
	a, b      []S // aL, aR; then l(0), r(0); then l, r, folded in place
	sL, sR    []S
	yPow      []S // y^i, later y^-i
	tmp       []S // N
	zPow      []S // z^2 .. z^(m+1), after z^0, z^1
	coefG     []S // 2^j block coefficients after j rounds, 2^k long
	coefH     []S
	t1, t2    S
	inv       S
	sums      [2][]S // scalars of one table call, over the basis up to p.end
}

func (p *Protocol[S, P]) newState(m int) *state[S, P] {
	d := p.cfg.dims(m)
	shape := d.shape()
	st := &state[S, P]{dims: d, p: p, proof: &rangeproof.Proof[S, P]{
		Points:  make([]P, shape.Points),
		Scalars: make([]S, shape.Scalars),
	}}
	blocks := 1 << d.rounds
	buf := make([]S, 6*d.N+4+m+2+2*blocks+d.rounds+2*p.end)
	take := func(n int) []S {
		s := buf[:n:n]
		buf = buf[n:]
		return s
	}
	st.nonce = take(2*d.N + 4)
	st.sL, st.sR = st.nonce[2:2+d.N], st.nonce[2+d.N:2+2*d.N]
	st.a, st.b = take(d.N), take(d.N)
	st.yPow, st.tmp = take(d.N), take(d.N)
	st.zPow = take(m + 2)
	st.coefG, st.coefH = take(blocks), take(blocks)
	st.c.rounds = take(d.rounds)
	st.sums = [2][]S{take(p.end), take(p.end)}
	return st
}

// sum computes the two sums whose scalars are in st.sums, and clears these scalars.
func (st *state[S, P]) sum(ctx context.Context, ex executor.Executor, dst []P) error {
	err := st.p.basis.Table.MSM(ctx, ex, dst, st.sums[:])
	clear(st.sums[0])
	clear(st.sums[1])
	return err
}

// bitRound: aL holds the bits and aR = aL - 1.
type bitRound[S, P any] struct{ st *state[S, P] }

// bits expects the nonces drawn. Padding bits are 0. The bits become scalars through their
// encodings, so that no branch or address depends on them.
func (st *state[S, P]) bits(w rangeproof.Witness[S]) (bitRound[S, P], error) {
	g, n, size := st.p.g, st.p.cfg.Bits, st.p.g.ScalarLen()
	enc := make([]byte, st.nm*size)
	for j, v := range w.Values {
		for i := range n {
			enc[(j*n+i+1)*size-1] = byte(v >> i & 1) // big-endian
		}
	}
	if err := g.DecodeScalars(st.a[:st.nm], enc); err != nil {
		return bitRound[S, P]{}, err
	}
	g.SubVec(st.b, st.a, st.p.ones[:st.N])
	st.blindings = w.Blindings
	return bitRound[S, P]{st}, nil
}

// bitsCommitted: A and S commit to the bits and to their masks.
type bitsCommitted[S, P any] struct{ st *state[S, P] }

// commit sets A = alpha·h + <aL,G> + <aR,H> and S = rho·h + <sL,G> + <sR,H>. It writes aR as (aR +
// 1) - 1: the table sees only scalars 0 or 1, and the sum of all H is a constant.
func (r bitRound[S, P]) commit(ctx context.Context, ex executor.Executor) (bitsCommitted[S, P], error) {
	st, p, g := r.st, r.st.p, r.st.p.g
	forA, forS := st.sums[0], st.sums[1]
	forA[p.posBlinding], forS[p.posBlinding] = st.nonce[0], st.nonce[1]
	copy(forA[p.posG:], st.a)
	g.AddVec(forA[p.posH:p.posH+st.N], st.b, p.ones[:st.N])
	copy(forS[p.posG:], st.sL)
	copy(forS[p.posH:], st.sR)
	out := st.proof.Points[0:2]
	if err := st.sum(ctx, ex, out); err != nil {
		return bitsCommitted[S, P]{}, err
	}
	g.AddPoints(&out[0], &out[0], &p.minusH[st.N])
	return bitsCommitted[S, P](r), nil
}

// polyRound: l(X) = aL - z + sL·X and r(X) = y^N∘(aR + z + sR·X) + w, with
// t(X) = <l(X), r(X)> = t0 + t1·X + t2·X^2.
type polyRound[S, P any] struct{ st *state[S, P] }

// polynomial uses y and z. It leaves l(0), r(0) in a, b and the coefficients
// of X in sL, sR.
func (r bitsCommitted[S, P]) polynomial() polyRound[S, P] {
	st, g := r.st, r.st.p.g
	g.Powers(st.yPow, &st.c.y)
	g.Powers(st.zPow, &st.c.z)
	st.zPow = st.zPow[2:]

	fill(st.tmp, st.c.z)
	g.SubVec(st.a, st.a, st.tmp)
	g.AddVec(st.b, st.b, st.tmp)
	g.MulVec(st.b, st.b, st.yPow)
	st.p.rangeWeights(st.tmp, st.zPow)
	g.AddVec(st.b, st.b, st.tmp)
	g.MulVec(st.sR, st.sR, st.yPow)

	st.t1 = g.InnerProduct(st.a, st.sR)
	st.t2 = g.InnerProduct(st.sL, st.b)
	g.Add(&st.t1, &st.t1, &st.t2)
	st.t2 = g.InnerProduct(st.sL, st.sR)
	return polyRound[S, P](r)
}

// polyCommitted: T1 and T2 commit to t1 and t2.
type polyCommitted[S, P any] struct{ st *state[S, P] }

// commit sets T1 = t1·g + tau1·h and T2 = t2·g + tau2·h.
func (r polyRound[S, P]) commit(ctx context.Context, ex executor.Executor) (polyCommitted[S, P], error) {
	st, p, tau := r.st, r.st.p, r.st.nonce[2+2*r.st.N:]
	st.sums[0][p.posValue], st.sums[0][p.posBlinding] = st.t1, tau[0]
	st.sums[1][p.posValue], st.sums[1][p.posBlinding] = st.t2, tau[1]
	return polyCommitted[S, P](r), st.sum(ctx, ex, st.proof.Points[2:4])
}

// evalRound: l = l(x), r = r(x) and the openings taux, mu, tHat.
type evalRound[S, P any] struct{ st *state[S, P] }

// evaluate uses x. It leaves l, r in a, b and writes
// taux = tau2·x^2 + tau1·x + Σ z^(2+j)·γ_j, mu = alpha + rho·x, tHat = <l, r>.
func (r polyCommitted[S, P]) evaluate() evalRound[S, P] {
	st, g, x := r.st, r.st.p.g, &r.st.c.x
	g.Fold(st.a, st.a, st.sL, x)
	g.Fold(st.b, st.b, st.sR, x)

	tau, out := st.nonce[2+2*st.N:], st.proof.Scalars
	taux, mu, tHat := &out[0], &out[1], &out[2]
	g.Mul(taux, &tau[1], x)
	g.Add(taux, taux, &tau[0])
	g.Mul(taux, taux, x)
	st.inv = g.InnerProduct(st.zPow, st.blindings)
	g.Add(taux, taux, &st.inv)
	g.Mul(mu, &st.nonce[1], x)
	g.Add(mu, mu, &st.nonce[0])
	*tHat = g.InnerProduct(st.a, st.b)
	return evalRound[S, P](r)
}
