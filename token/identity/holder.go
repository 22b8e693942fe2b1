package identity

import (
	"crypto/rand"
	"fmt"
	"io"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// Holder has a secret key sk and a blinding e. They open its commitment E = sk·G + e·H, where G and H are the
// generators of a Scheme. An authority enrols E. A Holder is immutable and safe for concurrent use. Other
// packages can implement Holder and Pseudonym, for example to keep the secret in another process.
type Holder interface {
	// Secret returns the encodings of sk and e, from which Scheme.Holder restores the holder.
	Secret() []byte
	// Request returns a request for Scheme.Enrol: E and a proof of knowledge of its opening, bound to name. If
	// rand is nil, Request uses the operating system's source of randomness.
	Request(name string, rand io.Reader) ([]byte, error)
	// Pseudonym returns a new pseudonym from 32 bytes of rand, or of the operating system's source of
	// randomness if rand is nil. Do not use one pseudonym for two tokens: everybody would see that both tokens
	// have the same owner.
	Pseudonym(rand io.Reader) (Pseudonym, error)
	// Restore returns the pseudonym with this nonce again.
	Restore(nonce [transcript.SeedLen]byte) (Pseudonym, error)
	// RestoreAll restores many pseudonyms, in a fraction of the time that Restore would take.
	RestoreAll(nonces ...[transcript.SeedLen]byte) ([]Pseudonym, error)
}

// Pseudonym signs for one point P = sk·G + r·H, where sk is the holder's secret key, r is the pseudonym's own
// blinding, and G and H are the generators of a Scheme. It is immutable and safe for concurrent use.
type Pseudonym interface {
	Signer
	// Nonce returns all that a holder must store to restore the pseudonym. Without the holder's secret it
	// reveals nothing.
	Nonce() [transcript.SeedLen]byte
	// AuditProof returns a proof for an auditor who has the certificate. It shows that the certificate's
	// commitment and P have one sk, and is bound to the given bytes, for example the transaction's anchor.
	// Without the certificate it reveals nothing, not even that two pseudonyms have one holder. If rand is
	// nil, AuditProof uses the operating system's source of randomness. AuditProof returns ErrParams if the
	// certificate is another holder's.
	AuditProof(certificate *Certificate, bound []byte, rand io.Reader) ([]byte, error)
}

// source returns r, or the system's source if r is nil.
func source(r io.Reader) io.Reader {
	if r == nil {
		return rand.Reader
	}
	return r
}

type holder[S, P any] struct {
	s      *scheme[S, P]
	secret []S    // sk, e
	point  []byte // E
}

func (s *scheme[S, P]) NewHolder(rand io.Reader) (Holder, error) {
	seed, err := readSeed(rand)
	if err != nil {
		return nil, err
	}
	secret := make([]S, generators)
	group.RandomScalars(s.g, secret, transcript.XOF("zkbench/v1/pseudonym/holder", s.digest[:], seed[:]))
	return s.holder(secret)
}

func (s *scheme[S, P]) Holder(secret []byte) (Holder, error) {
	scalars, ok := s.decodeScalars(generators, secret)
	if !ok {
		return nil, &zkbench.DecodeError{Path: "holder secret", Reason: fmt.Sprintf("not %d canonical scalars", generators)}
	}
	return s.holder(scalars)
}

func (s *scheme[S, P]) holder(secret []S) (Holder, error) {
	point, err := s.sums(secret)
	if err != nil {
		return nil, err
	}
	return &holder[S, P]{s, secret, point}, nil
}

func (h *holder[S, P]) Secret() []byte { return h.s.g.AppendScalars(nil, h.secret...) }

func (h *holder[S, P]) Request(name string, rand io.Reader) ([]byte, error) {
	seed, err := readSeed(rand)
	if err != nil {
		return nil, err
	}
	proof, err := h.s.prove(kindEnrolment, h.point, h.secret, []byte(name), seed)
	return append(slices.Clone(h.point), proof...), err
}

func (h *holder[S, P]) Pseudonym(rand io.Reader) (Pseudonym, error) {
	nonce, err := readSeed(rand)
	if err != nil {
		return nil, err
	}
	return h.Restore(nonce)
}

func (h *holder[S, P]) Restore(nonce [transcript.SeedLen]byte) (Pseudonym, error) {
	all, err := h.RestoreAll(nonce)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// RestoreAll derives r from the holder's secrets and the nonce. So a poor random source may repeat a pseudonym
// but does not reveal r.
func (h *holder[S, P]) RestoreAll(nonces ...[transcript.SeedLen]byte) ([]Pseudonym, error) {
	secrets, own := make([][]S, len(nonces)), h.Secret()
	for i := range nonces {
		secrets[i] = []S{h.secret[0], h.secret[0]}
		group.RandomScalars(h.s.g, secrets[i][1:], transcript.XOF("zkbench/v1/pseudonym/blinding", h.s.digest[:], own, nonces[i][:]))
	}
	points, err := h.s.sums(secrets...)
	if err != nil {
		return nil, err
	}
	all, n := make([]Pseudonym, len(nonces)), h.s.g.PointLen()
	for i := range all {
		all[i] = &pseudonym[S, P]{h, secrets[i], points[i*n : (i+1)*n : (i+1)*n], nonces[i]}
	}
	return all, nil
}

type pseudonym[S, P any] struct {
	h      *holder[S, P]
	secret []S    // sk, r
	point  []byte // P
	nonce  [transcript.SeedLen]byte
}

func (p *pseudonym[S, P]) Identity() Identity {
	return append(Identity{byte(TypePseudonym)}, p.point...)
}

func (p *pseudonym[S, P]) Nonce() [transcript.SeedLen]byte { return p.nonce }

func (p *pseudonym[S, P]) Sign(message []byte, rand io.Reader) ([]byte, error) {
	seed, err := readSeed(rand)
	if err != nil {
		return nil, err
	}
	return p.h.s.prove(kindSignature, p.point, p.secret, message, seed)
}
