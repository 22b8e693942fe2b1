package identity

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/fp256bn"
	"github.com/zkbench/zkbench/group/kilic"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/transcript"
)

// protocol names transcripts ("zkbench/v1/pseudonym") and nonces.
const protocol = "pseudonym"

// The generators: a pseudonym is sk·G + r·H.
const (
	keyFamily      = "pseudonym/key"      // G
	blindingFamily = "pseudonym/blinding" // H
)

// generators is the number of generators, in the order G, H.
const generators = 2

// Scheme makes and checks one-time pseudonyms over one group, with generators of its own. It is immutable and
// safe for concurrent use. All methods take and return bytes, so the curve's types do not appear outside this
// package. NewScheme makes one. Other packages cannot implement Scheme.
type Scheme interface {
	Curve() string
	// Digest returns a hash of the group and the generators. Every signature and proof is bound to it.
	Digest() [transcript.StateLen]byte
	SignatureLen() int // bytes of a pseudonym's signature
	// ConstantTime reports whether the time and the memory accesses of sums of secrets are independent of the
	// secrets, within the limits that SECURITY.md describes. It returns true on BN254 and
	// BLS12_381_BBS_GURVY.
	ConstantTime() bool

	// NewHolder returns a holder with a new secret from 32 bytes of rand, or of the operating system's source
	// of randomness if rand is nil.
	NewHolder(rand io.Reader) (Holder, error)
	// Holder restores a holder from what Holder.Secret returned. It returns a *zkbench.DecodeError if secret is
	// something else.
	Holder(secret []byte) (Holder, error)

	// Enrol returns a certificate which says that the holder who made the request is enrolled under the given
	// name, of 1 to MaxName bytes. The authority must have checked that this is the holder's name. It signs
	// with an X.509 or Ed25519 key. Enrol returns ErrSignature if the request was made for another name, or
	// without knowledge of the secret.
	Enrol(name string, request []byte, authority Signer) (certificate []byte, err error)
	// Certificate decodes a certificate and checks that one of the given authorities signed it. It returns
	// ErrSignature if none of them signed it.
	Certificate(certificate []byte, authorities ...Identity) (*Certificate, error)
	// CheckAudit checks an audit proof. The proof shows that its maker knows the secret key to which both the
	// pseudonym id and the certificate commit, and that the maker made the proof for the given bytes.
	// CheckAudit returns ErrProof if the proof does not show this, and ErrMalformed if something does not
	// decode.
	CheckAudit(id Identity, certificate *Certificate, bound, proof []byte) error

	verifier(payload []byte) (Verifier, error)
	claims(ctx context.Context, ex executor.Executor, items []item) (claims, []error, [][]byte, error)
}

// NewScheme returns a scheme over a curve, and derives its generators. The curve is one of token.Curves or a
// name that token.Curve knows; NewScheme returns ErrParams if it is not.
func NewScheme(curve string) (Scheme, error) {
	switch token.Curve(curve) {
	case "BN254":
		return newScheme(group.BN254())
	case "BLS12_381_BBS_GURVY", "BLS12_381_BBS_GURVY_FAST_RNG": // one group
		return newScheme(group.BLS12381())
	case "BLS12_381_BBS":
		return newScheme(kilic.BLS12381())
	case "FP256BN_AMCL":
		return newScheme(fp256bn.AMCL())
	case "FP256BN_AMCL_MIRACL":
		return newScheme(fp256bn.Miracl())
	}
	return nil, fmt.Errorf("%w: curve %q, accepted: %s", zkbench.ErrParams, curve, token.AcceptedCurves(token.Curves()...))
}

// scheme implements Scheme over one group.
type scheme[S, P any] struct {
	g            group.Group[S, P]
	basis        *group.Basis[S, P] // for sums of public scalars
	secret       *group.Basis[S, P] // for sums of secrets
	constantTime bool
	digest       [transcript.StateLen]byte
	bound        transcript.Transcript // has absorbed the digest
}

func newScheme[S, P any](g group.Group[S, P]) (*scheme[S, P], error) {
	basis, err := group.NewBasis(g, []group.Family{{Name: keyFamily, Count: 1}, {Name: blindingFamily, Count: 1}}, group.TableOptions{})
	if err != nil {
		return nil, err
	}
	s := &scheme[S, P]{g: g, basis: basis, secret: basis.ConstantTime()}
	_, err = s.sums(make([]S, generators)) // a group without constant-time sums says so
	if s.constantTime = err == nil; err != nil {
		s.secret = basis
	}
	t := transcript.New("pseudonym/params")
	t.Append("group", []byte(g.Domain()))
	t.Append("generators", g.AppendPoints(nil, basis.Points...))
	s.digest = t.State()
	s.bound = transcript.New(protocol)
	s.bound.Append("params", s.digest[:])
	return s, nil
}

func (s *scheme[S, P]) Curve() string                     { return s.g.Name() }
func (s *scheme[S, P]) Digest() [transcript.StateLen]byte { return s.digest }
func (s *scheme[S, P]) SignatureLen() int                 { return s.g.PointLen() + generators*s.g.ScalarLen() }
func (s *scheme[S, P]) ConstantTime() bool                { return s.constantTime }

// start opens the transcript of a statement about the points.
func (s *scheme[S, P]) start(kind string, points, message []byte) transcript.Transcript {
	t := s.bound
	t.Append("kind", []byte(kind))
	t.Append("points", points)
	t.Append("message", message)
	return t
}

// challenge absorbs first messages and draws c.
func (s *scheme[S, P]) challenge(t *transcript.Transcript, first []byte) S {
	t.Append("A", first)
	c := t.Challenge("c")
	return s.g.ScalarFromWide(c[:])
}

// sums returns the encodings of Σ rows[j][i]·generator_i, one after the other. The rows are secret.
func (s *scheme[S, P]) sums(rows ...[]S) ([]byte, error) {
	points := make([]P, len(rows))
	if err := s.secret.Table.MSM(context.Background(), executor.Serial(), points, rows); err != nil {
		return nil, err
	}
	return s.g.AppendPoints(make([]byte, 0, len(rows)*s.g.PointLen()), points...), nil
}

// readSeed draws the 32 bytes from which a secret, or the nonces of one proof, are derived.
func readSeed(rand io.Reader) (seed [transcript.SeedLen]byte, err error) {
	if _, err = io.ReadFull(source(rand), seed[:]); err != nil {
		return seed, fmt.Errorf("reading randomness: %w", err)
	}
	return seed, nil
}

func (s *scheme[S, P]) decodeScalars(n int, src []byte) ([]S, bool) {
	out := make([]S, n)
	return out, len(src) == n*s.g.ScalarLen() && s.g.DecodeScalars(out, src) == nil
}

// payload returns the encoding of a pseudonym's point.
func (s *scheme[S, P]) payload(id Identity) ([]byte, error) {
	if id.Type() != TypePseudonym {
		return nil, malformed("type", 0, "not a pseudonym")
	}
	if n := len(id) - 1; n != s.g.PointLen() {
		return nil, malformed("point", 1, fmt.Sprintf("%d bytes, want %d", n, s.g.PointLen()))
	}
	return slices.Clone(id[1:]), nil
}
