package csp

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

type (
	scalar = fr.Element
	point  = bn254.G1Affine
	proto  = Protocol[scalar, point]
	prf    = rangeproof.Proof[scalar, point]
)

// families returns the families of a basis that serves every bit length.
func families() []group.Family {
	return append(rangeproof.KeyFamilies(), Families(MaxBits)...)
}

var testBasis = sync.OnceValue(func() *group.Basis[scalar, point] {
	b, err := group.NewBasis(group.BN254(), families(), group.TableOptions{})
	if err != nil {
		panic(err)
	}
	return b
})

func newProtocol(t testing.TB, bits, stop int) *proto {
	t.Helper()
	return must.Get(New(testBasis(), Config{Bits: bits, Stop: stop}))(t)
}

// scalars returns n uniform scalars determined by seed.
func scalars(seed string, n int) []scalar {
	s := make([]scalar, n)
	group.RandomScalars(group.BN254(), s, transcript.XOF("csp-test/scalars", []byte(seed)))
	return s
}

func randomScalar(seed string) scalar { return scalars(seed, 1)[0] }

func seed(name string) (s [transcript.SeedLen]byte) {
	_, _ = transcript.XOF("csp-test/seed", []byte(name)).Read(s[:])
	return s
}

func nonces(name string) transcript.Nonces {
	return transcript.Nonces{Protocol: "csp", Label: "test", Seed: seed(name)}
}

// sum returns Σ s_i·p_i by MulPoint.
func sum(g group.Group[scalar, point], p []point, s []scalar) point {
	var acc, term point
	for i := range p {
		g.MulPoint(&term, &p[i], &s[i])
		g.AddPoints(&acc, &acc, &term)
	}
	return acc
}

func mulPoint(p point, s scalar) point {
	var z point
	group.BN254().MulPoint(&z, &p, &s)
	return z
}

func addPoints(p, q point) point {
	var z point
	group.BN254().AddPoints(&z, &p, &q)
	return z
}

// commitTo returns v·G + r·H.
func commitTo(p *proto, v, r scalar) point {
	return addPoints(mulPoint(p.basis.Points[p.posG], v), mulPoint(p.basis.Points[p.posH], r))
}

func witnessOf(v uint64, r scalar) rangeproof.Witness[scalar] {
	return rangeproof.Witness[scalar]{Values: []uint64{v}, Blindings: []scalar{r}}
}

func start(p *proto, name string) transcript.Transcript {
	t := transcript.New("csp-test")
	p.AppendParams(&t)
	t.Append("context", []byte(name))
	return t
}

// prove proves v with a blinding, nonces and context determined by name.
func prove(t testing.TB, p *proto, name string, v uint64) (point, *prf) {
	t.Helper()
	r := randomScalar(name)
	V := commitTo(p, fr.NewElement(v), r)
	tr := start(p, name)
	proof := must.Get(p.Prove(context.Background(), executor.Serial(), &tr, []point{V}, witnessOf(v, r), nonces(name)))(t)
	return V, proof
}

// verify verifies one proof with the fast verifier.
func verify(p *proto, name string, V point, proof *prf) error {
	tr := start(p, name)
	eq, err := p.Replay(&tr, []point{V}, proof)
	if err != nil {
		return err
	}
	state := tr.State()
	return check(p, state[:], eq)
}

// check verifies replayed equations as one batch.
func check(p *proto, state []byte, eqs ...rangeproof.Equations[scalar, point]) error {
	acc := group.NewAccumulator(p.basis, 16)
	weights := group.NewWeights(p.basis.Group, transcript.XOF("csp-test/weights", state))
	for _, eq := range eqs {
		eq.Accumulate(acc, weights)
	}
	ok, err := acc.IsZero(context.Background(), executor.Serial())
	if err == nil && !ok {
		err = fmt.Errorf("%w: equation", zkbench.ErrProof)
	}
	return err
}

// chosen returns challenges determined by name, for runs without a transcript.
func chosen(p *proto, name string) challenges[scalar] {
	s := scalars("challenges/"+name, 5+p.rounds())
	return challenges[scalar]{link: s[0], x: s[1], theta: s[2], c: s[3], kappa: s[4], xi: s[5:]}
}

// run drives the prover's moves from commitWitness on. The challenges come from a verifier, which
// sees the proof as far as it was sent.
func run(t testing.TB, pr *prover[scalar, point], verifier func(proof *prf, ch *challenges[scalar], step string)) *prf {
	t.Helper()
	p, ctx, ex := pr.p, context.Background(), executor.Serial()
	shape := p.Shape(1)
	proof := &prf{Points: make([]point, shape.Points), Scalars: make([]scalar, shape.Scalars)}
	must.Do(t, pr.commitWitness(ctx, ex, proof.Points[:headPoints]))
	verifier(proof, &pr.ch, labelX)
	proof.Scalars[scalarAx] = must.Get(pr.evaluate())(t)
	verifier(proof, &pr.ch, labelTheta)
	proof.Scalars[scalarMu] = pr.maskForm()
	verifier(proof, &pr.ch, labelC)
	proof.Scalars[scalarPhi] = pr.respond()
	verifier(proof, &pr.ch, labelKappa)
	var xi scalar
	for k := range p.rounds() {
		must.Do(t, pr.cross(ctx, ex, proof.Points[headPoints+2*k:headPoints+2*k+2]))
		next := challenges[scalar]{xi: []scalar{xi}}
		verifier(proof, &next, fmt.Sprint(labelXi, k))
		pr.fold(next.xi[0])
	}
	copy(proof.Scalars[headScalars:], pr.folded())
	return proof
}

// runWith drives the prover with challenges that are known in advance.
func runWith(t testing.TB, pr *prover[scalar, point], ch challenges[scalar]) *prf {
	t.Helper()
	k := 0
	return run(t, pr, func(_ *prf, out *challenges[scalar], step string) {
		switch step {
		case labelX:
			out.link, out.x = ch.link, ch.x
		case labelTheta:
			out.theta = ch.theta
		case labelC:
			out.c = ch.c
		case labelKappa:
			out.kappa = ch.kappa
		default:
			out.xi[0] = ch.xi[k]
			k++
		}
	})
}

// runTranscript drives the prover with challenges from the transcript.
func runTranscript(t testing.TB, pr *prover[scalar, point], tr *transcript.Transcript, V point) *prf {
	t.Helper()
	msg := newMessages(pr.p.basis.Group, tr, pr.p.Shape(1).Scalars)
	msg.points(labelV, V)
	k := 0
	return run(t, pr, func(proof *prf, out *challenges[scalar], step string) {
		switch step {
		case labelX:
			msg.points(labelP, proof.Points[pointP])
			msg.points(labelM, proof.Points[pointM])
			out.link, out.x = msg.challenge(labelLink), msg.challenge(labelX)
		case labelTheta:
			msg.scalars(labelAx, proof.Scalars[scalarAx])
			out.theta = msg.challenge(labelTheta)
		case labelC:
			msg.scalars(labelMu, proof.Scalars[scalarMu])
			out.c = msg.challenge(labelC)
		case labelKappa:
			msg.scalars(labelPhi, proof.Scalars[scalarPhi])
			out.kappa = msg.challenge(labelKappa)
		default:
			msg.points(labelA, proof.Points[headPoints+2*k])
			msg.points(labelB, proof.Points[headPoints+2*k+1])
			out.xi[0] = msg.challenge(labelXi)
			k++
		}
	})
}

// prepare returns a prover ready for run, with nonces determined by name.
func prepare(p *proto, name string, v uint64, r scalar) *prover[scalar, point] {
	pr := p.newProver(v, r)
	pr.draw(transcript.XOF("csp-test/nonces", []byte(name)))
	p.values.fill(pr.w, v, &pr.mask, pr.tmp)
	return pr
}

// equationHolds checks a proof under given challenges.
func equationHolds(t testing.TB, p *proto, V point, proof *prf, ch challenges[scalar]) bool {
	t.Helper()
	e := p.newEquation(V, proof)
	e.ch = ch
	must.Do(t, e.collect())
	return check(p, []byte("chosen"), e) == nil
}
