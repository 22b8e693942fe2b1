package plonkish

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/transcript"
)

// protocol names the protocol in transcripts and nonces.
const protocol = "plonkish"

// rounds is a proof's transcript. Prover and verifier call the same methods in the same order.
type rounds struct {
	transcript.Transcript
	*layout
}

// newRounds returns a transcript that has absorbed the key, the public values and the caller's context.
func (k *VerifyingKey) newRounds(public []fr.Element, context []byte) *rounds {
	r := &rounds{transcript.New(protocol), k.layout}
	r.Append("key", k.digest[:])
	r.AppendUint64("public values", uint64(len(public)))
	for i := range public {
		r.value("public", &public[i])
	}
	r.Append("context", context)
	return r
}

func (r *rounds) value(label string, v *fr.Element) {
	b := v.Bytes()
	r.Append(label, b[:])
}

func (r *rounds) points(label string, points ...bn254.G1Affine) {
	for i := range points {
		b := points[i].Bytes()
		r.Append(label, b[:])
	}
}

func (r *rounds) challenge(label string) (c fr.Element) {
	b := r.Challenge(label)
	return *c.SetBytes(b[:])
}

// early absorbs the columns that depend on no challenge, and draws the challenge of late ones.
func (r *rounds) early(p *proof, s *[challenges]fr.Element) {
	r.points("column", p.columns[:r.earlyColumns()]...)
	if r.arith.Late > 0 {
		s[drawn] = r.challenge("challenge")
	}
}

// columns absorbs the rest of the witness, and draws what the running product and the running sum
// need.
func (r *rounds) columns(p *proof, s *[challenges]fr.Element) {
	r.points("column", p.columns[r.earlyColumns():r.firstColumns()]...)
	s[beta], s[gamma], s[eta], s[rho] = r.challenge("beta"), r.challenge("gamma"), r.challenge("eta"), r.challenge("rho")
}

// running absorbs the running product and the running sum, and draws α.
func (r *rounds) running(p *proof, s *[challenges]fr.Element) {
	r.points("running", p.columns[r.firstColumns():]...)
	s[alpha] = r.challenge("alpha")
}

// quotient absorbs the quotient and draws ζ.
func (r *rounds) quotient(p *proof) fr.Element {
	r.points("quotient", p.quotient...)
	return r.challenge("zeta")
}

// values absorbs what is opened and draws ν, whose powers weigh the polynomials.
func (r *rounds) values(p *proof) fr.Element {
	for i := range p.values {
		r.value("value", &p.values[i])
	}
	return r.challenge("nu")
}

// opening absorbs the first point of the opening and draws x, where the second one opens.
func (r *rounds) opening(p *proof) fr.Element {
	r.points("opening", p.opening[0])
	return r.challenge("x")
}

// publicProduct returns δ, the running product's first value. Over all cells the product of (v + β label + γ)
// / (v + β wired + γ) is 1. Public value i is one more cell: its label is k_p ω^i, after p permuted columns,
// and it is wired to the first cell of row i, ω^i.
func (l *layout) publicProduct(public []fr.Element, beta, gamma *fr.Element) (fr.Element, error) {
	num, den, w, behind := fr.One(), fr.One(), fr.One(), label(l.arith.Permuted)
	for i := range public {
		var own, wired fr.Element
		wired.Mul(beta, &w)
		own.Mul(&wired, &behind).Add(&own, &public[i]).Add(&own, gamma)
		wired.Add(&wired, &public[i]).Add(&wired, gamma)
		num.Mul(&num, &own)
		den.Mul(&den, &wired)
		w.Mul(&w, &l.root)
	}
	if den.IsZero() {
		return num, fmt.Errorf("%w: gamma is an opposite of a public cell", zkbench.ErrProof)
	}
	return *num.Div(&num, &den), nil
}
