package plonkish

import (
	"context"
	"crypto/rand"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// Verify checks a proof for the given public values. The parameter bound is the context to which the proof
// must be bound. Verify returns a *zkbench.DecodeError if the proof is malformed, and zkbench.ErrProof if it
// is invalid. It returns zkbench.ErrParams if the key is the zero value or Insecure.
func (k *VerifyingKey) Verify(proof []byte, public []fr.Element, bound []byte) error {
	return (&Claim{Key: k, Proof: proof, Public: public, Context: bound}).verify()
}

// VerifyInsecure verifies a proof. Unlike Verify, it also takes a key that is Insecure. It is for tests and
// measurements: with an Insecure key, an accepted proof proves nothing.
func (k *VerifyingKey) VerifyInsecure(proof []byte, public []fr.Element, bound []byte) error {
	return (&Claim{k, proof, public, bound, true}).verify()
}

func (c *Claim) verify() error {
	e, err := c.equation()
	if err != nil {
		return err
	}
	return check(context.Background(), executor.Serial(), []*equation{e}, []fr.Element{fr.One()})
}

// Claim is a proof together with its statement. The statement consists of the key, the public values and the
// context.
type Claim struct {
	Key     *VerifyingKey
	Proof   []byte
	Public  []fr.Element
	Context []byte

	// Insecure allows a key that is Insecure. It is for tests and measurements: with such a key, an accepted
	// claim proves nothing.
	Insecure bool
}

// ClaimError reports an invalid claim of a batch.
type ClaimError struct {
	Claim int   // index of the claim
	Err   error // a *zkbench.DecodeError, a zkbench.ErrProof, or a zkbench.ErrParams for the key
}

func (e *ClaimError) Error() string { return fmt.Sprintf("claim %d: %v", e.Claim, e.Err) }

func (e *ClaimError) Unwrap() error { return e.Err }

// VerifyBatch verifies many proofs, of one key or several. It costs little more than one sum of all their
// points. If the keys of several proofs are over the same reference string, the equations of these proofs
// are added with random weights, which no prover knows. The returned error joins a *ClaimError for each
// invalid claim. VerifyBatch returns the context's cause if ctx ends, and zkbench.ErrParams if there are no
// claims. These two errors say nothing about the claims.
func VerifyBatch(ctx context.Context, ex executor.Executor, claims []Claim) error {
	if len(claims) == 0 {
		return fmt.Errorf("%w: no claims, accepted are 1 and more", zkbench.ErrParams)
	}
	equations, errs := make([]*equation, len(claims)), make([]error, len(claims))
	err := ex.Do(ctx, len(claims), func(_ context.Context, i int) error {
		var err error
		if equations[i], err = claims[i].equation(); err != nil {
			errs[i] = &ClaimError{i, err}
		}
		return nil
	})
	if err != nil {
		return err
	}
	weights, err := newWeights(equations, rand.Reader)
	if err != nil {
		return err
	}
	strings := make(map[[2]bn254.G2Affine][]int)
	for i, e := range equations {
		if e != nil {
			strings[e.key.g2] = append(strings[e.key.g2], i)
		}
	}
	for _, same := range strings {
		b := batch{ctx, ex, equations, weights}
		bad, err := b.find(same)
		if err != nil {
			return err
		}
		for _, i := range bad {
			errs[i] = &ClaimError{i, errOpening}
		}
	}
	return errors.Join(errs...)
}

// newWeights draws weights of 512 bits modulo r when all proofs are fixed: from the states of their
// transcripts and from local randomness.
func newWeights(equations []*equation, random io.Reader) (*group.Weights[fr.Element, bn254.G1Affine], error) {
	var local [transcript.SeedLen]byte
	if _, err := io.ReadFull(random, local[:]); err != nil {
		return nil, err
	}
	h := sha512.New()
	for _, e := range equations {
		if e != nil {
			h.Write(e.state[:])
		}
	}
	return group.NewWeights(group.BN254(), transcript.XOF("zkbench/v1/plonkish/weights", h.Sum(nil), local[:])), nil
}

// errOpening is the error of a proof whose equation does not hold.
var errOpening = fmt.Errorf("%w: the opening does not hold", zkbench.ErrProof)

// batch finds claims that do not hold.
type batch struct {
	ctx       context.Context
	ex        executor.Executor
	equations []*equation
	weights   *group.Weights[fr.Element, bn254.G1Affine]
}

// find returns those claims that do not hold, by bisection; each half has weights of its own.
func (b *batch) find(claims []int) ([]int, error) {
	some, weights := make([]*equation, len(claims)), make([]fr.Element, len(claims))
	for i, claim := range claims {
		some[i], weights[i] = b.equations[claim], b.weights.Next()
	}
	err := check(b.ctx, b.ex, some, weights)
	switch {
	case b.ctx.Err() != nil: // the cause may be a zkbench.ErrProof of somebody else's
		return nil, context.Cause(b.ctx)
	case !errors.Is(err, zkbench.ErrProof):
		return nil, err
	}
	if len(claims) == 1 {
		return claims, nil
	}
	half := len(claims) / 2
	left, err := b.find(claims[:half])
	if err != nil {
		return nil, err
	}
	right, err := b.find(claims[half:])
	if err == nil && len(left)+len(right) == 0 {
		return claims, nil // only the sum fails, not its parts: a computing error, so nothing is accepted
	}
	return append(left[:len(left):len(left)], right...), err
}

// equation is what remains to be checked of a proof: Σ scalars points + τ right = 0.
type equation struct {
	key    *VerifyingKey
	fixed  []fr.Element // scalars of the key's commitments, and of its generator
	points []bn254.G1Affine
	scalar []fr.Element // of points
	right  bn254.G1Affine
	state  [transcript.StateLen]byte // of the transcript: it depends on all of statement and proof
}

// equation runs the transcript and collects all commitments.
func (c *Claim) equation() (*equation, error) {
	k, public := c.Key, c.Public
	if k == nil || k.layout == nil {
		return nil, fmt.Errorf("%w: no verifying key; accepted are those of Setup, SetupVerifying and ReadVerifyingKey", zkbench.ErrParams)
	}
	if k.insecure && !c.Insecure {
		return nil, fmt.Errorf("%w: a key over an insecure reference string; accepted are those over a file with a published hash, and for tests VerifyInsecure takes any", zkbench.ErrParams)
	}
	p, err := k.decode(c.Proof)
	if err != nil {
		return nil, err
	}
	if len(public) != k.public {
		return nil, fmt.Errorf("%w: %d public values; the circuit has %d", zkbench.ErrProof, len(public), k.public)
	}
	a := atZetaAlgebra{layout: k.layout, scalars: new([challenges]fr.Element), values: p.values}
	r := k.newRounds(public, c.Context)
	r.early(p, a.scalars)
	r.columns(p, a.scalars)
	if a.scalars[delta], err = k.publicProduct(public, &a.scalars[beta], &a.scalars[gamma]); err != nil {
		return nil, err
	}
	r.running(p, a.scalars)
	a.zeta = r.quotient(p)
	nu := r.values(p)
	x := r.opening(p)
	if z := k.vanishing(&a.zeta); z.IsZero() {
		return nil, fmt.Errorf("%w: zeta is a root of the domain", zkbench.ErrProof)
	}
	factors, constant := a.linearisation()

	t := k.points(a.zeta)
	e := &equation{key: k, fixed: make([]fr.Element, len(k.fixed)+1)}
	e.points = append(slices.Concat(p.columns, p.quotient), p.opening[:]...)
	e.scalar = make([]fr.Element, len(e.points))
	quotient := e.scalar[len(p.columns):]
	opening := quotient[len(p.quotient):]
	scalars := make(map[variable]*fr.Element) // of commitments
	fixed, columns := e.fixed, e.scalar
	for _, v := range k.committed {
		from := &columns
		if v.kind.fixed() {
			from = &fixed
		}
		scalars[v], *from = &(*from)[0], (*from)[1:]
	}
	// The linearisation, of value -constant.
	weight := t.outside(atZeta, &x)
	var value, term fr.Element
	value.Mul(&weight, &constant).Neg(&value)
	for i, f := range factors {
		f.Mul(&f, &weight)
		if i < len(k.linear) {
			*scalars[k.linear[i]] = f
		} else {
			quotient[i-len(k.linear)] = f
		}
	}
	power := nu
	for _, opened := range k.claims() {
		weight := t.outside(opened.set, &x)
		weight.Mul(&weight, &power)
		power.Mul(&power, &nu)
		term = t.value(&opened, p.values, &x)
		value.Add(&value, term.Mul(&term, &weight))
		*scalars[opened.column] = *weight.Add(&weight, scalars[opened.column])
	}
	fixed[0].Neg(&value)
	opening[0].Neg(ptr(t.all(&x)))
	opening[1] = x
	e.right.Neg(&p.opening[1])
	r.points("opening", p.opening[1])
	e.state = r.State()
	return e, nil
}

// check checks the weighted sum of equations whose keys have the same reference string.
func check(ctx context.Context, ex executor.Executor, equations []*equation, weights []fr.Element) error {
	var points, rights []bn254.G1Affine
	var scalars []fr.Element
	fixed := make(map[*VerifyingKey][]fr.Element)
	for i, e := range equations {
		weigh := func(all []fr.Element) []fr.Element {
			weighed := make([]fr.Element, len(all))
			for j := range all {
				weighed[j].Mul(&all[j], &weights[i])
			}
			return weighed
		}
		points, scalars, rights = append(points, e.points...), append(scalars, weigh(e.scalar)...), append(rights, e.right)
		for j, s := range weigh(e.fixed) {
			if sum := fixed[e.key]; sum != nil {
				sum[j].Add(&sum[j], &s)
			} else {
				fixed[e.key] = make([]fr.Element, len(e.fixed))
				fixed[e.key][j] = s
			}
		}
	}
	for k, s := range fixed {
		points, scalars = append(append(points, k.fixed...), k.one), append(scalars, s...)
	}
	left, err := group.BN254().MSM(ctx, ex, points, scalars)
	if err != nil {
		return err
	}
	right, err := group.BN254().MSM(ctx, ex, rights, weights)
	if err != nil {
		return err
	}
	lines := equations[0].key.lines // a copy, which the pairing writes to
	ok, err := bn254.PairingCheckFixedQ([]bn254.G1Affine{left, right}, lines[:])
	if err != nil {
		return err
	}
	if !ok {
		return errOpening
	}
	return nil
}
