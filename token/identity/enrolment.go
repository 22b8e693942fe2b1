package identity

import (
	"bytes"
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// MaxName is the maximum length in bytes of the name in a certificate.
const MaxName = 256

// maxCertificate bounds a certificate before it is parsed.
const maxCertificate = MaxLen + 1024

// certificateVersion is the version of the certificate's encoding.
const certificateVersion = 1

const kindEnrolment = "enrolment"

// authoritySignatureLen is the length in bytes of an authority's signature, whether ECDSA or Ed25519.
const authoritySignatureLen = 64

// Certificate is an authority's statement that it has enrolled a holder under a name. The holder's commitment
// is E = sk·G + e·H, where sk is the holder's secret key, e is a blinding, and G and H are the generators of
// a Scheme. Only the holder, the authority and auditors see a certificate: anyone who has it can tell which
// audit proofs are the holder's. Its encoding is as follows, where each uint16 is the length in bytes of the
// next field:
//
//	version(1) uint16 name  E  uint16 authority  signature(64)
type Certificate struct {
	Name       string
	Commitment []byte // E, compressed
	Authority  Identity
}

// signed returns the message that the authority signs.
func (c *Certificate) signed(digest [transcript.StateLen]byte) []byte {
	t := transcript.New("pseudonym/certificate")
	t.Append("params", digest[:])
	t.Append("name", []byte(c.Name))
	t.Append("commitment", c.Commitment)
	t.Append("authority", c.Authority)
	state := t.State()
	return append([]byte("zkbench/v1/pseudonym/certificate\x00"), state[:]...)
}

func checkAuthority(id Identity) error {
	if t := id.Type(); t != TypeX509 && t != TypeEd25519 {
		return fmt.Errorf("%w: enrolment authority of %v, accepted: X.509, Ed25519", zkbench.ErrParams, t)
	}
	v, err := parse(id, nil)
	if err != nil {
		return err
	}
	if AnybodySigns(v) {
		return fmt.Errorf("%w: enrolment authority has a key of small order, for which anybody can sign", zkbench.ErrParams)
	}
	return nil
}

func (s *scheme[S, P]) Enrol(name string, request []byte, authority Signer) ([]byte, error) {
	if len(name) < 1 || len(name) > MaxName {
		return nil, fmt.Errorf("%w: name of %d bytes, accepted are 1 to %d", zkbench.ErrParams, len(name), MaxName)
	}
	n := s.g.PointLen()
	if want := n + s.SignatureLen(); len(request) != want {
		return nil, &zkbench.DecodeError{Path: "enrolment request", Reason: fmt.Sprintf("%d bytes, want %d", len(request), want)}
	}
	c := &Certificate{Name: name, Commitment: slices.Clone(request[:n]), Authority: authority.Identity()}
	if err := checkAuthority(c.Authority); err != nil {
		return nil, err
	}
	var e [1]P
	if err := s.g.DecodePoints(e[:], c.Commitment, group.Subgroup); err != nil {
		return nil, &zkbench.DecodeError{Path: "enrolment request.commitment", Reason: "not the encoding of a point of the group"}
	}
	if err := s.check(kindEnrolment, &e[0], c.Commitment, []byte(name), request[n:]); err != nil {
		return nil, fmt.Errorf("enrolment request: %w", err)
	}
	signature, err := authority.Sign(c.signed(s.digest), nil)
	if err != nil {
		return nil, err
	}
	var b cryptobyte.Builder
	b.AddUint8(certificateVersion)
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte(c.Name)) })
	b.AddBytes(c.Commitment)
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(c.Authority) })
	b.AddBytes(signature)
	return b.Bytes()
}

func (s *scheme[S, P]) Certificate(certificate []byte, authorities ...Identity) (*Certificate, error) {
	if len(certificate) > maxCertificate {
		return nil, &zkbench.LimitError{What: "bytes of certificate", Estimate: int64(len(certificate)), Max: maxCertificate}
	}
	in := cryptobyte.String(bytes.Clone(certificate))
	fail := func(field, reason string) error {
		return &zkbench.DecodeError{Path: "certificate." + field, Offset: len(certificate) - len(in), Reason: reason}
	}
	var version uint8
	var name, authority cryptobyte.String
	c := new(Certificate)
	var signature []byte
	switch {
	case !in.ReadUint8(&version) || version != certificateVersion:
		return nil, fail("version", fmt.Sprintf("only version %d is known", certificateVersion))
	case !in.ReadUint16LengthPrefixed(&name) || len(name) < 1 || len(name) > MaxName:
		return nil, fail("name", fmt.Sprintf("truncated, or not 1 to %d bytes", MaxName))
	case !in.ReadBytes(&c.Commitment, s.g.PointLen()):
		return nil, fail("commitment", "truncated")
	case !in.ReadUint16LengthPrefixed(&authority):
		return nil, fail("authority", "truncated")
	case !in.ReadBytes(&signature, authoritySignatureLen):
		return nil, fail("signature", "truncated")
	case !in.Empty():
		return nil, fail("signature", "trailing bytes")
	}
	c.Name, c.Authority = string(name), Identity(authority)
	if !slices.ContainsFunc(authorities, func(id Identity) bool { return bytes.Equal(id, authority) }) {
		return nil, fmt.Errorf("certificate: %w: by an authority that is not accepted", zkbench.ErrSignature)
	}
	if err := checkAuthority(c.Authority); err != nil {
		return nil, err
	}
	v, err := parse(c.Authority, nil)
	if err != nil {
		return nil, err
	}
	if err := v.Verify(c.signed(s.digest), signature); err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	var e [1]P
	if err := s.g.DecodePoints(e[:], c.Commitment, group.Subgroup); err != nil {
		return nil, fail("commitment", "not the encoding of a point of the group")
	}
	return c, nil
}
