package identity

import (
	"bytes"
	"context"
	"fmt"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// kindSignature separates signatures from the other statements about a point.
const kindSignature = "signature"

// pseudonymClaim is a decoded signature (A, zKey, zBlinding): the claim that
//
//	zKey·G + zBlinding·H - A - c·P = 0.
type pseudonymClaim[S, P any] struct {
	p, a P
	z    []S
	c    S
}

// respond returns z = k + c·secret.
func respond[S, P any](g group.Group[S, P], k, secret []S, c *S) []S {
	z := make([]S, len(k))
	g.ScaleVec(z, secret, c)
	g.AddVec(z, z, k)
	return z
}

// prove signs message with a signature of knowledge of secret = (sk, r), where point encodes sk·G + r·H.
// Statements of different kinds have different transcripts.
func (s *scheme[S, P]) prove(kind string, point []byte, secret []S, message []byte, seed [transcript.SeedLen]byte) ([]byte, error) {
	t := s.start(kind, point, message)
	nonces := transcript.Nonces{Protocol: protocol, Label: kind, Seed: seed}
	k := make([]S, generators)
	group.RandomScalars(s.g, k, nonces.Stream(s.g.AppendScalars(nil, secret...), &t))
	first, err := s.sums(k)
	if err != nil {
		return nil, err
	}
	c := s.challenge(&t, first)
	return s.g.AppendScalars(first, respond(s.g, k, secret, &c)...), nil
}

// decode decodes a signature under a point, except A, and returns the transcript's final state. point is the
// point's encoding.
func (s *scheme[S, P]) decode(cl *pseudonymClaim[S, P], kind string, point, message, signature []byte) (state []byte, err error) {
	if len(signature) != s.SignatureLen() {
		return nil, rejected(fmt.Sprintf("%d bytes, want %d", len(signature), s.SignatureLen()))
	}
	n := s.g.PointLen()
	var ok bool
	if cl.z, ok = s.decodeScalars(generators, signature[n:]); !ok {
		return nil, rejected("response is not below the order")
	}
	t := s.start(kind, point, message)
	cl.c = s.challenge(&t, signature[:n])
	t.Append("z", signature[n:])
	final := t.State()
	return final[:], nil
}

// decodeA decodes the A of each signature. A may be outside the prime-order subgroup: it is absorbed before c,
// and it enters one equation whose result is cleared (docs/token.md, section 8).
func (s *scheme[S, P]) decodeA(signatures ...[]byte) ([]P, error) {
	n := s.g.PointLen()
	flat := make([]byte, 0, len(signatures)*n)
	for _, signature := range signatures {
		flat = append(flat, signature[:n]...)
	}
	out := make([]P, len(signatures))
	return out, s.g.DecodePoints(out, flat, group.OnCurve)
}

// accumulate adds the claim's equation with weight w.
func (cl *pseudonymClaim[S, P]) accumulate(acc *group.Accumulator[S, P], w *S) {
	g := acc.Basis.Group
	var x S
	for i := range cl.z {
		g.Mul(&x, &cl.z[i], w)
		acc.AddFixed(i, &x)
	}
	g.Neg(&x, w)
	acc.AddPoint(&cl.a, &x)
	g.Mul(&x, &x, &cl.c)
	acc.AddPoint(&cl.p, &x)
}

// check verifies one signature under a decoded point.
func (s *scheme[S, P]) check(kind string, p *P, point, message, signature []byte) error {
	cl := pseudonymClaim[S, P]{p: *p}
	if _, err := s.decode(&cl, kind, point, message, signature); err != nil {
		return err
	}
	a, err := s.decodeA(signature)
	if err != nil {
		return rejected("A is not a point of the group")
	}
	cl.a = a[0]
	acc := group.NewAccumulator(s.basis, 2)
	one := s.g.ScalarFromUint64(1)
	cl.accumulate(acc, &one)
	zero, err := acc.IsZero(context.Background(), executor.Serial())
	if err != nil {
		return err
	}
	if !zero {
		return rejected("not by this pseudonym")
	}
	return nil
}

type pseudonymVerifier[S, P any] struct {
	s     *scheme[S, P]
	p     P
	point []byte
}

func (s *scheme[S, P]) verifier(payload []byte) (Verifier, error) {
	point, err := s.payload(append(Identity{byte(TypePseudonym)}, payload...))
	if err != nil {
		return nil, err
	}
	var p [1]P
	if err := s.g.DecodePoints(p[:], point, group.Subgroup); err != nil {
		return nil, malformed("point", 1, "not the encoding of a point of the group")
	}
	return &pseudonymVerifier[S, P]{s, p[0], point}, nil
}

func (v *pseudonymVerifier[S, P]) Verify(message, signature []byte) error {
	return v.s.check(kindSignature, &v.p, v.point, message, signature)
}

func (v *pseudonymVerifier[S, P]) sameKey(other Verifier) bool {
	o, ok := other.(*pseudonymVerifier[S, P])
	return ok && bytes.Equal(v.point, o.point)
}

// pseudonymClaims are claims that are verified together.
type pseudonymClaims[S, P any] struct {
	s      *scheme[S, P]
	claims []pseudonymClaim[S, P]
}

// claims decodes the signatures of items whose type is pseudonym. For each it returns the final state, or the
// error. A task takes all its square roots at once. If that fails, it takes them one by one.
func (s *scheme[S, P]) claims(ctx context.Context, ex executor.Executor, items []item) (claims, []error, [][]byte, error) {
	cs := &pseudonymClaims[S, P]{s, make([]pseudonymClaim[S, P], len(items))}
	errs, states := make([]error, len(items)), make([][]byte, len(items))
	err := executor.Ranges(ctx, ex, len(items), leastSignatures, func(_ context.Context, lo, hi int) error {
		var points []byte
		var signatures [][]byte
		var at []int // of what is well-formed so far
		for i := lo; i < hi; i++ {
			it := &items[i]
			point, err := s.payload(it.id)
			if err == nil {
				states[i], err = s.decode(&cs.claims[i], kindSignature, point, it.message, it.signature)
				if err != nil { // an identity that does not parse is the first cause
					if _, cause := s.verifier(point); cause != nil {
						err = cause
					}
				}
			}
			if errs[i] = err; err == nil {
				at, points, signatures = append(at, i), append(points, point...), append(signatures, it.signature)
			}
		}
		p := make([]P, len(at))
		errP := s.g.DecodePoints(p, points, group.Subgroup)
		a, errA := s.decodeA(signatures...)
		for j, i := range at {
			if errP == nil && errA == nil {
				cs.claims[i].p, cs.claims[i].a = p[j], a[j]
				continue
			}
			errs[i] = cs.decodePoints(i, &items[i])
		}
		return nil
	})
	return cs, errs, states, err
}

// decodePoints decodes the points of one claim.
func (cs *pseudonymClaims[S, P]) decodePoints(i int, it *item) error {
	v, err := cs.s.verifier(it.id[1:])
	if err != nil {
		return err
	}
	a, err := cs.s.decodeA(it.signature)
	if err != nil {
		return rejected("A is not a point of the group")
	}
	cs.claims[i].p, cs.claims[i].a = v.(*pseudonymVerifier[S, P]).p, a[0]
	return nil
}

// holds checks Σ w_i·(equation of claim i) = 0 over the claims at indices.
func (cs *pseudonymClaims[S, P]) holds(ctx context.Context, ex executor.Executor, indices []int, weights []weight) (bool, error) {
	acc := group.NewAccumulator(cs.s.basis, 2*len(indices))
	for j, i := range indices {
		var wide [group.WideLen]byte
		copy(wide[group.WideLen-len(weights[j]):], weights[j][:])
		w := cs.s.g.ScalarFromWide(wide[:])
		cs.claims[i].accumulate(acc, &w)
	}
	return acc.IsZero(ctx, ex)
}
