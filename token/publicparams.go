package token

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// PublicParamsVersion is the version of the encoding of public parameters.
const PublicParamsVersion = 2

// Limits of public parameters.
const (
	maxParams = MaxPolicy + 1<<10 // bytes of an encoding
	maxName   = 64                // bytes of the name of a curve or proof type
)

// RangeProof describes a range-proof system that actions may use. The field Digest is the digest of all
// parameters that the proofs of the system depend on, including every generator. Every proof of the system is
// bound to that digest.
type RangeProof struct {
	ProofType   string
	Aggregation int
	Stop        int
	Digest      [transcript.StateLen]byte
}

// PublicParams are the parameters that all participants of a token system share. They contain the first policy,
// which updates can replace. They also contain everything that tokens and proofs depend on; that part never
// changes. The id of a ledger depends on their digest, and a proof is bound to the digest of its RangeProof.
// Local choices (tables, constant time) are not part of the parameters.
type PublicParams struct {
	Curve       string // one of Curves
	Bits        int    // values are below 2^Bits
	RangeProofs []RangeProof
	Policy      Policy // the first policy, version 0
}

// LeastTables returns the tuning with small tables, which are built fast: for parameters of which only the digest or
// a few commitments are computed.
func LeastTables() Tuning { return Tuning{Table: group.TableOptions{Window: 2, Spacing: 64}} }

// NewPublicParams returns parameters on a curve for values below 2^bits, with the given range-proof systems and
// the default policy. The curve is a name that Curve knows. NewPublicParams derives every generator of every
// system.
func NewPublicParams(curve string, bits int, proofTypes ...string) (*PublicParams, error) {
	p := &PublicParams{Curve: Curve(curve), Bits: bits, Policy: DefaultPolicy()}
	for _, proofType := range slices.Sorted(slices.Values(proofTypes)) {
		pp, err := NewCryptoParams(Config{Curve: curve, Bits: bits, ProofType: proofType}, LeastTables())
		if err != nil {
			return nil, err
		}
		cfg := pp.Config()
		p.RangeProofs = append(p.RangeProofs, RangeProof{cfg.ProofType, cfg.Aggregation, cfg.Stop, pp.Digest()})
	}
	return p, p.check()
}

// rangeProof returns the range-proof system of that name. The error lists the names that the parameters have.
func (p *PublicParams) rangeProof(proofType string) (RangeProof, error) {
	var names []string
	for _, s := range p.RangeProofs {
		if s.ProofType == proofType {
			return s, nil
		}
		names = append(names, s.ProofType)
	}
	return RangeProof{}, badConfig("proof type", proofType, strings.Join(names, ", "))
}

// Crypto returns the CryptoParams of one of the range-proof systems. The parameter local holds the choices that
// are not part of the public parameters. Crypto derives the generators, and returns ErrParams if the digest of
// the result is not RangeProof.Digest.
func (p *PublicParams) Crypto(proofType string, local Tuning) (CryptoParams, error) {
	s, err := p.rangeProof(proofType)
	if err != nil {
		return nil, err
	}
	pp, err := NewCryptoParams(Config{Curve: p.Curve, Bits: p.Bits, ProofType: s.ProofType, Aggregation: s.Aggregation, Stop: s.Stop}, local)
	if err != nil {
		return nil, err
	}
	if cfg := pp.Config(); cfg.Aggregation != s.Aggregation || cfg.Stop != s.Stop {
		return nil, badConfig("aggregation and early stop of "+proofType, fmt.Sprint(s.Aggregation, s.Stop), fmt.Sprintf("%d %d, with all defaults filled in", cfg.Aggregation, cfg.Stop))
	}
	if pp.Digest() != s.Digest {
		return nil, fmt.Errorf("%w: digest of %s is not that of its generators", zkbench.ErrParams, proofType)
	}
	return pp, nil
}

// Validate checks everything: each field, that the fields fit together, and every range-proof system's digest.
// To check the digest, it derives all generators of the system. It returns the number of generators of each
// system, counting those of the commitments and those of the range proofs. Validate returns an ErrParams that
// names the field. If ctx ends between two systems, it returns the context's cause.
func (p *PublicParams) Validate(ctx context.Context) (generators []int, err error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if err := cmp.Or(p.Policy.check(), p.Policy.CheckKeys()); err != nil {
		return nil, err
	}
	generators = make([]int, len(p.RangeProofs))
	for i, s := range p.RangeProofs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		pp, err := p.Crypto(s.ProofType, LeastTables())
		if err != nil {
			return nil, err
		}
		for _, f := range pp.Config().families() {
			generators[i] += f.Count
		}
	}
	return generators, nil
}

// check checks everything except digests and the policy.
func (p *PublicParams) check() error {
	switch {
	case !slices.Contains(Curves(), p.Curve):
		return badConfig("curve", p.Curve, strings.Join(Curves(), ", "))
	case p.Bits < 1 || p.Bits > 64:
		return badConfig("bits", p.Bits, "1 to 64")
	case len(p.RangeProofs) == 0:
		return badConfig("range-proof systems", 0, "1 or more")
	case p.Policy.Version != 0:
		return badConfig("policy version", p.Policy.Version, "0 in parameters")
	}
	for i, s := range p.RangeProofs {
		if !slices.Contains(ProofTypes(), s.ProofType) {
			return badConfig(fmt.Sprintf("range-proof systems[%d]", i), s.ProofType, strings.Join(ProofTypes(), ", "))
		}
		if i > 0 && p.RangeProofs[i-1].ProofType >= s.ProofType {
			return badConfig(fmt.Sprintf("range-proof systems[%d]", i), s.ProofType, "each once, in the order of their names")
		}
		if s.Aggregation < 0 || s.Aggregation > MaxTokens || s.Stop < 0 || s.Stop > math.MaxUint16 {
			return badConfig(fmt.Sprintf("range-proof systems[%d]", i), s.ProofType, "an aggregation and an early stop that its proofs have")
		}
	}
	return nil
}

// Encode returns the canonical encoding:
//
//	version(2) curve bits(1) count(1) systems policy
//	system = proof type, aggregation(2) stop(2) digest(64)
//
// Numbers are big-endian. A length of 1 byte comes before each name, and a length of 3 bytes before the policy's
// encoding. Encode returns an ErrParams that names the field if a field is not acceptable. It checks neither
// digests nor auditors' keys.
func (p *PublicParams) Encode() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	policy, err := p.Policy.Encode()
	if err != nil {
		return nil, err
	}
	var b cryptobyte.Builder
	name := func(s string) {
		b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte(s)) })
	}
	b.AddUint16(PublicParamsVersion)
	name(p.Curve)
	b.AddUint8(uint8(p.Bits))
	b.AddUint8(uint8(len(p.RangeProofs)))
	for _, s := range p.RangeProofs {
		name(s.ProofType)
		b.AddUint16(uint16(s.Aggregation))
		b.AddUint16(uint16(s.Stop))
		b.AddBytes(s.Digest[:])
	}
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(policy) })
	return b.Bytes()
}

// DecodePublicParams decodes parameters and checks everything except digests and auditors' keys, which Validate
// checks. It returns a *zkbench.DecodeError if data is malformed, or an ErrParams if it is well-formed and a
// field is not acceptable.
func DecodePublicParams(data []byte) (*PublicParams, error) {
	malformed := func(s cryptobyte.String, field, reason string) error {
		return &zkbench.DecodeError{Path: "public parameters." + field, Offset: len(data) - len(s), Reason: reason}
	}
	if len(data) > maxParams {
		return nil, malformed(data, "length", fmt.Sprintf("%d bytes, accepted are up to %d", len(data), maxParams))
	}
	s := cryptobyte.String(data)
	var version uint16
	if !s.ReadUint16(&version) {
		return nil, malformed(s, "version", "truncated")
	}
	if version != PublicParamsVersion {
		return nil, malformed(data, "version", fmt.Sprintf("version %d, only %d is known", version, PublicParamsVersion))
	}
	p := new(PublicParams)
	var bits, systems uint8
	var curve cryptobyte.String
	if !s.ReadUint8LengthPrefixed(&curve) || len(curve) > maxName || !s.ReadUint8(&bits) || !s.ReadUint8(&systems) {
		return nil, malformed(s, "curve", "truncated, or a name that is too long")
	}
	p.Curve, p.Bits = string(curve), int(bits)
	for i := range int(systems) {
		var proofType cryptobyte.String
		var aggregation, stop uint16
		rp := RangeProof{}
		if !s.ReadUint8LengthPrefixed(&proofType) || len(proofType) > maxName ||
			!s.ReadUint16(&aggregation) || !s.ReadUint16(&stop) || !s.CopyBytes(rp.Digest[:]) {
			return nil, malformed(s, fmt.Sprintf("systems[%d]", i), "truncated, or a name that is too long")
		}
		rp.ProofType, rp.Aggregation, rp.Stop = string(proofType), int(aggregation), int(stop)
		p.RangeProofs = append(p.RangeProofs, rp)
	}
	var policy cryptobyte.String
	if !s.ReadUint24LengthPrefixed(&policy) {
		return nil, malformed(s, "policy", "truncated")
	}
	if len(s) > 0 {
		return nil, malformed(s, "end", "trailing bytes")
	}
	decoded, err := DecodePolicy(policy)
	if bad, ok := errors.AsType[*zkbench.DecodeError](err); ok {
		return nil, bad.Within("public parameters.", len(data)-len(policy))
	}
	if err != nil {
		return nil, err
	}
	p.Policy = *decoded
	return p, p.check()
}

// Digest returns a hash of the encoding. A ledger's genesis contains it.
func (p *PublicParams) Digest() ([transcript.StateLen]byte, error) {
	encoded, err := p.Encode()
	if err != nil {
		return [transcript.StateLen]byte{}, err
	}
	t := transcript.New("public-params")
	t.Append("encoding", encoded)
	return t.State(), nil
}
