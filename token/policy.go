package token

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/transcript"
)

// PolicyFormat is the version of the encoding of policies.
const PolicyFormat = 2

// Limits of a policy.
const (
	MaxIdentities = 256     // number of issuers, of auditors, and of administrators
	MaxValidators = 80      // a signed head has room for 100 signatures: of all validators, and of 20 witnesses
	MaxTypes      = 256     // token types of one issuer
	MaxPolicy     = 4 << 20 // bytes of an encoding
	// MaxAhead is the maximum of Limits.Ahead.
	MaxAhead   = 24 * time.Hour
	maxKey     = 2 << 10   // bytes of an auditor's key
	maxVersion = 1<<63 - 1 // the last version
)

// RedeemPolicy says who may redeem a token.
type RedeemPolicy uint8

const (
	RedeemOwner  RedeemPolicy = 1 // its owner alone
	RedeemIssuer RedeemPolicy = 2 // its owner, with the signature of an issuer; the policy must name an issuer
)

func (p RedeemPolicy) String() string {
	switch p {
	case RedeemOwner:
		return "owner"
	case RedeemIssuer:
		return "issuer"
	}
	return "unknown"
}

// Limits bound the size of one action, within the limits of the wire format. They also bound how far the time
// of a ledger may be ahead of a validator's clock.
type Limits struct {
	Inputs, Outputs int // 1 to MaxTokens
	Metadata        int // bytes, 0 to MaxMetadata

	// Ahead bounds how far the time of a block may be ahead of the clock of the validator or server that
	// chooses this time. It is 1 second to MaxAhead, in whole seconds, and is checked only when a time is
	// chosen. Validating, applying and replaying entries use no clock.
	Ahead time.Duration
}

// OwnerKinds is a set of kinds of owners.
type OwnerKinds uint8

// The kinds of owners.
const (
	OwnerX509 OwnerKinds = 1 << iota
	OwnerEd25519
	OwnerPseudonym
	OwnerHashLock
	OwnerThreshold

	AllOwners   OwnerKinds = 1<<iota - 1
	plainOwners            = OwnerX509 | OwnerEd25519 | OwnerPseudonym
)

// ownerNames lists the names of kinds, in the order of their bits.
var ownerNames = []string{"x509", "ed25519", "pseudonym", "hashlock", "threshold"}

// OwnerNames lists the names of all kinds of owners.
func OwnerNames() []string { return slices.Clone(ownerNames) }

// ParseOwners returns the set of kinds with the given names. It returns ErrParams if a name is not in
// OwnerNames.
func ParseOwners(names ...string) (kinds OwnerKinds, err error) {
	for _, name := range names {
		i := slices.Index(ownerNames, name)
		if i < 0 {
			return 0, badConfig("owner kind", name, strings.Join(ownerNames, ", "))
		}
		kinds |= 1 << i
	}
	return kinds, nil
}

// Names lists the names of the kinds in the set, in the order of OwnerNames.
func (k OwnerKinds) Names() (names []string) {
	for i, name := range ownerNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

func (k OwnerKinds) String() string { return strings.Join(k.Names(), ", ") }

// Issuer is a party that may issue tokens. If Policy.Redeem is RedeemIssuer, it may also sign redemptions.
type Issuer struct {
	Identity []byte
	Types    []string // token types that it may issue, in ascending order; if there are none, it may issue all types. Auditors enforce this
}

// Auditor is a party that must sign every request.
type Auditor struct {
	Identity []byte
	KEM      KEM
	Key      []byte // a public key of the KEM; data for the auditor alone is encrypted to it
}

// Validator describes a validator of the ledger by its Ed25519 public keys. Each key has the canonical encoding
// of RFC 8032 and is not a point of small order; policy.Check checks this.
type Validator struct {
	HeadKey      [ed25519.PublicKeySize]byte // verifies its signatures of heads of the log
	ConsensusKey []byte                      // ed25519.PublicKeySize bytes, or empty; reserved for a network of validators
}

// Administrators are those who can change the policy: at least Threshold of them must sign together. Without
// identities and with threshold 0, the policy never changes.
type Administrators struct {
	Identities [][]byte
	Threshold  int
}

// Policy is the part of a token system's rules that can change while the system runs. An update that
// administrators have signed changes it (package token/policy). Lists have no duplicates. The list of
// validators is in ascending order of Validator.HeadKey, and every other list of parties is in ascending order
// of identities. Package token does not check that identities and validators' keys are well-formed;
// policy.Check does.
type Policy struct {
	Version        uint64 // 0: the policy of the public parameters
	Issuers        []Issuer
	Auditors       []Auditor // if there are none, requests are not audited
	Owners         OwnerKinds
	Redeem         RedeemPolicy
	Limits         Limits
	Notes          KEM         // openings are encrypted with it to payees, and the ledger stores the ciphertexts
	Validators     []Validator // no two keys are equal, whether head keys or consensus keys (policy.Check)
	HeadThreshold  int         // how many validators must sign a head; 0 exactly if there are no validators
	Administrators Administrators
}

// DefaultPolicy returns a policy with the limits of the wire format. The time of a block may be at most one
// minute ahead of the clock. Owners of all kinds may redeem their tokens. There are no issuers, auditors,
// validators or administrators.
func DefaultPolicy() Policy {
	return Policy{
		Owners: AllOwners, Redeem: RedeemOwner, Notes: X25519,
		Limits: Limits{Inputs: MaxTokens, Outputs: MaxTokens, Metadata: MaxMetadata, Ahead: time.Minute},
	}
}

// IssuerIdentities returns the identities of the issuers, in the order in which the policy lists the issuers.
func (p *Policy) IssuerIdentities() [][]byte {
	ids := make([][]byte, len(p.Issuers))
	for i := range p.Issuers {
		ids[i] = p.Issuers[i].Identity
	}
	return ids
}

// Issuer returns the issuer with the given identity, or nil if the policy has none.
func (p *Policy) Issuer(id []byte) *Issuer {
	for i := range p.Issuers {
		if bytes.Equal(p.Issuers[i].Identity, id) {
			return &p.Issuers[i]
		}
	}
	return nil
}

// AuditorIdentities returns the identities of the auditors, in the order in which the policy lists the
// auditors.
func (p *Policy) AuditorIdentities() [][]byte {
	ids := make([][]byte, len(p.Auditors))
	for i := range p.Auditors {
		ids[i] = p.Auditors[i].Identity
	}
	return ids
}

// MayIssue reports whether the issuer may issue tokens of the given type.
func (i *Issuer) MayIssue(tokenType string) bool {
	return len(i.Types) == 0 || slices.Contains(i.Types, tokenType)
}

// check checks each field and that they fit together. It does no curve arithmetic, so that a policy that nobody
// has signed is cheap to refuse. It returns an ErrParams that names the field.
func (p *Policy) check() error {
	switch {
	case p.Version > maxVersion:
		return badConfig("policy version", p.Version, fmt.Sprintf("0 to %d", uint64(maxVersion)))
	case p.Owners&^AllOwners != 0:
		return badConfig("owner kinds", fmt.Sprintf("%#02x", uint8(p.Owners)), strings.Join(ownerNames, ", "))
	case p.Owners&plainOwners == 0:
		return badConfig("owner kinds", fmt.Sprintf("%q", p.Owners), "one or more of "+plainOwners.String()+", or nobody could own a token")
	case p.Limits.Inputs < 1 || p.Limits.Inputs > MaxTokens:
		return badConfig("limit of inputs", p.Limits.Inputs, fmt.Sprintf("1 to %d", MaxTokens))
	case p.Limits.Outputs < 1 || p.Limits.Outputs > MaxTokens:
		return badConfig("limit of outputs", p.Limits.Outputs, fmt.Sprintf("1 to %d", MaxTokens))
	case p.Limits.Metadata < 0 || p.Limits.Metadata > MaxMetadata:
		return badConfig("limit of metadata", p.Limits.Metadata, fmt.Sprintf("0 to %d", MaxMetadata))
	case p.Limits.Ahead < time.Second || p.Limits.Ahead > MaxAhead || p.Limits.Ahead%time.Second != 0:
		return badConfig("limit of time ahead", p.Limits.Ahead, fmt.Sprintf("%v to %v, in whole seconds", time.Second, MaxAhead))
	case p.Redeem != RedeemOwner && p.Redeem != RedeemIssuer:
		return badConfig("redeem policy", uint8(p.Redeem), fmt.Sprintf("%d (%s), %d (%s)", RedeemOwner, RedeemOwner, RedeemIssuer, RedeemIssuer))
	case p.Redeem == RedeemIssuer && len(p.Issuers) == 0:
		return badConfig("redeem policy", fmt.Sprintf("%s without issuers", p.Redeem), fmt.Sprintf("%s, or issuers who can sign", RedeemOwner))
	}
	if _, err := p.Notes.HPKE(); err != nil {
		return fmt.Errorf("notes: %w", err)
	}
	for _, list := range []struct {
		name string
		ids  [][]byte
	}{
		{"issuers", p.IssuerIdentities()},
		{"auditors", p.AuditorIdentities()},
		{"administrators", p.Administrators.Identities},
	} {
		if err := checkIdentities(list.name, list.ids); err != nil {
			return err
		}
	}
	for i := range p.Issuers {
		if err := p.checkTypes(i); err != nil {
			return err
		}
	}
	for i, a := range p.Auditors {
		if err := a.KEM.checkLen(a.Key); err != nil {
			return fmt.Errorf("auditors[%d]: %w", i, err)
		}
	}
	if err := p.checkValidators(); err != nil {
		return err
	}
	return cmp.Or(
		checkThreshold("validators", p.HeadThreshold, len(p.Validators)),
		checkThreshold("administrators", p.Administrators.Threshold, len(p.Administrators.Identities)),
	)
}

// checkValidators checks the number, the order and the lengths of the validators' keys. It does not check that
// they are points.
func (p *Policy) checkValidators() error {
	if len(p.Validators) > MaxValidators {
		return badConfig("validators", len(p.Validators), fmt.Sprintf("up to %d", MaxValidators))
	}
	for i, v := range p.Validators {
		if i > 0 && bytes.Compare(p.Validators[i-1].HeadKey[:], v.HeadKey[:]) >= 0 {
			return badConfig(fmt.Sprintf("validators[%d].head key", i), "out of order", "each key once, in the order of their bytes")
		}
		if n := len(v.ConsensusKey); n != 0 && n != ed25519.PublicKeySize {
			return badConfig(fmt.Sprintf("validators[%d].consensus key", i), fmt.Sprintf("of %d bytes", n), fmt.Sprintf("0 or %d", ed25519.PublicKeySize))
		}
	}
	return nil
}

// checkThreshold checks how many members of a set must act together: 0 if the set is empty, else 1 to all of
// them.
func checkThreshold(set string, threshold, size int) error {
	if least := min(1, size); threshold < least || threshold > size {
		return badConfig("threshold of "+set, threshold, fmt.Sprintf("%d to %d for %d %s", least, size, size, set))
	}
	return nil
}

// CheckKeys checks the key of each auditor with KEM.CheckKey. It costs one curve operation per key. If a key
// fails, CheckKeys returns an ErrParams that names the auditor.
func (p *Policy) CheckKeys() error {
	for i, a := range p.Auditors {
		if err := a.KEM.CheckKey(a.Key); err != nil {
			return fmt.Errorf("auditors[%d]: %w", i, err)
		}
	}
	return nil
}

// checkIdentities checks the number, the lengths and the order of a list of identities. It does not decode
// them.
func checkIdentities(name string, ids [][]byte) error {
	if len(ids) > MaxIdentities {
		return badConfig(name, len(ids), fmt.Sprintf("up to %d", MaxIdentities))
	}
	for i, id := range ids {
		if len(id) < 1 || len(id) > MaxOwner {
			return badConfig(fmt.Sprintf("%s[%d]", name, i), fmt.Sprintf("of %d bytes", len(id)), fmt.Sprintf("1 to %d", MaxOwner))
		}
		if i > 0 && bytes.Compare(ids[i-1], id) >= 0 {
			return badConfig(fmt.Sprintf("%s[%d]", name, i), "out of order", "each identity once, in the order of their bytes")
		}
	}
	return nil
}

// checkTypes checks the types of an issuer. Validators cannot see types, so without auditors nobody would
// enforce the restriction.
func (p *Policy) checkTypes(i int) error {
	types := p.Issuers[i].Types
	field := fmt.Sprintf("issuers[%d].types", i)
	if len(types) > 0 && len(p.Auditors) == 0 {
		return badConfig(field, fmt.Sprintf("%q without auditors", types), "all types, or auditors to enforce it")
	}
	if len(types) > MaxTypes {
		return badConfig(field, len(types), fmt.Sprintf("up to %d", MaxTypes))
	}
	for j, t := range types {
		if len(t) > MaxType {
			return badConfig(fmt.Sprintf("%s[%d]", field, j), fmt.Sprintf("of %d bytes", len(t)), fmt.Sprintf("up to %d", MaxType))
		}
		if j > 0 && types[j-1] >= t {
			return badConfig(fmt.Sprintf("%s[%d]", field, j), "out of order", "each type once, in the order of their bytes")
		}
	}
	return nil
}

// Encode returns the canonical encoding:
//
//	format(1) version(8)
//	count(2) issuers  count(2) auditors  owners(1) redeem(1) inputs(2) outputs(2) metadata(3) ahead(4) notes(2)
//	count(2) validators  head threshold(2)  count(2) administrators  threshold(2)
//	issuer    = identity count(2) types
//	auditor   = identity kem(2) key
//	validator = head key(32) length(1) consensus key
//
// Numbers are big-endian, and ahead is in seconds. The head threshold is the field HeadThreshold; the last
// threshold is that of the administrators. A length of 2 bytes comes before each identity, type and
// auditor's key. Encode returns an ErrParams that names the field if the policy is not acceptable.
func (p *Policy) Encode() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	var b wire.Builder
	b.AddUint8(PolicyFormat)
	b.AddUint64(p.Version)
	b.AddUint16(uint16(len(p.Issuers)))
	for _, i := range p.Issuers {
		b.Short(i.Identity)
		b.AddUint16(uint16(len(i.Types)))
		for _, t := range i.Types {
			b.Short([]byte(t))
		}
	}
	b.AddUint16(uint16(len(p.Auditors)))
	for _, a := range p.Auditors {
		b.Short(a.Identity)
		b.AddUint16(uint16(a.KEM))
		b.Short(a.Key)
	}
	b.AddUint8(uint8(p.Owners))
	b.AddUint8(uint8(p.Redeem))
	b.AddUint16(uint16(p.Limits.Inputs))
	b.AddUint16(uint16(p.Limits.Outputs))
	b.AddUint24(uint32(p.Limits.Metadata))
	b.AddUint32(uint32(p.Limits.Ahead / time.Second))
	b.AddUint16(uint16(p.Notes))
	b.AddUint16(uint16(len(p.Validators)))
	for _, v := range p.Validators {
		b.AddBytes(v.HeadKey[:])
		b.AddUint8(uint8(len(v.ConsensusKey)))
		b.AddBytes(v.ConsensusKey)
	}
	b.AddUint16(uint16(p.HeadThreshold))
	b.AddUint16(uint16(len(p.Administrators.Identities)))
	for _, id := range p.Administrators.Identities {
		b.Short(id)
	}
	b.AddUint16(uint16(p.Administrators.Threshold))
	encoded, err := b.Bytes()
	if err == nil && len(encoded) > MaxPolicy {
		err = badConfig("policy", fmt.Sprintf("of %d bytes", len(encoded)), fmt.Sprintf("up to %d", MaxPolicy))
	}
	return encoded, err
}

// DecodePolicy decodes a policy that Encode returned. The policy does not refer to data. DecodePolicy returns a
// *zkbench.DecodeError if data is malformed, or an ErrParams if it is well-formed and a field is not
// acceptable.
func DecodePolicy(data []byte) (*Policy, error) {
	f := wire.NewFields(data, "policy", MaxPolicy)
	clone := func(path string) []byte { return slices.Clone(f.Prefixed(path, 2, 1, MaxOwner)) }
	p := new(Policy)
	if format := f.Number("policy.format", 1, 0, 255); f.OK() && format != PolicyFormat {
		f.Fail("policy.format", 0, fmt.Sprintf("format %d, only %d is known", format, PolicyFormat))
	}
	p.Version = f.Uint64("policy.version")
	for i := range f.Number("policy.issuers", 2, 0, MaxIdentities) {
		f.Item("policy.issuers", i)
		issuer := Issuer{Identity: clone(".identity")}
		for range f.Number(".types", 2, 0, MaxTypes) {
			issuer.Types = append(issuer.Types, string(f.Prefixed(".types", 2, 0, MaxType)))
		}
		p.Issuers = append(p.Issuers, issuer)
	}
	f.EndItems()
	for i := range f.Number("policy.auditors", 2, 0, MaxIdentities) {
		f.Item("policy.auditors", i)
		p.Auditors = append(p.Auditors, Auditor{
			Identity: clone(".identity"), KEM: KEM(f.Number(".kem", 2, 0, 1<<16-1)),
			Key: slices.Clone(f.Prefixed(".key", 2, 1, maxKey)),
		})
	}
	f.EndItems()
	p.Owners = OwnerKinds(f.Number("policy.owners", 1, 0, 255))
	p.Redeem = RedeemPolicy(f.Number("policy.redeem", 1, 0, 255))
	p.Limits.Inputs = f.Number("policy.inputs", 2, 0, 1<<16-1)
	p.Limits.Outputs = f.Number("policy.outputs", 2, 0, 1<<16-1)
	p.Limits.Metadata = f.Number("policy.metadata", 3, 0, 1<<24-1)
	p.Limits.Ahead = time.Duration(f.Number("policy.ahead", 4, 0, math.MaxInt32)) * time.Second
	p.Notes = KEM(f.Number("policy.notes", 2, 0, 1<<16-1))
	for i := range f.Number("policy.validators", 2, 0, MaxValidators) {
		f.Item("policy.validators", i)
		var v Validator
		copy(v.HeadKey[:], f.Bytes(".head key", len(v.HeadKey)))
		v.ConsensusKey = append(v.ConsensusKey, f.Prefixed(".consensus key", 1, 0, 255)...) // nil if empty
		p.Validators = append(p.Validators, v)
	}
	f.EndItems()
	p.HeadThreshold = f.Number("policy.head threshold", 2, 0, 1<<16-1)
	for i := range f.Number("policy.administrators", 2, 0, MaxIdentities) {
		f.Item("policy.administrators", i)
		p.Administrators.Identities = append(p.Administrators.Identities, clone(""))
	}
	f.EndItems()
	p.Administrators.Threshold = f.Number("policy.threshold", 2, 0, 1<<16-1)
	if err := f.End("policy"); err != nil {
		return nil, err
	}
	return p, p.check()
}

// Digest returns a hash of the encoding. An update contains the digest of the policy that the update replaces.
func (p *Policy) Digest() ([transcript.StateLen]byte, error) {
	encoded, err := p.Encode()
	if err != nil {
		return [transcript.StateLen]byte{}, err
	}
	t := transcript.New("policy")
	t.Append("encoding", encoded)
	return t.State(), nil
}

// Clone returns a copy that shares no memory with p.
func (p *Policy) Clone() *Policy {
	c := *p
	c.Issuers = slices.Clone(p.Issuers)
	for i := range c.Issuers {
		c.Issuers[i] = Issuer{slices.Clone(p.Issuers[i].Identity), slices.Clone(p.Issuers[i].Types)}
	}
	c.Auditors = slices.Clone(p.Auditors)
	for i := range c.Auditors {
		c.Auditors[i].Identity, c.Auditors[i].Key = slices.Clone(p.Auditors[i].Identity), slices.Clone(p.Auditors[i].Key)
	}
	c.Validators = slices.Clone(p.Validators)
	for i := range c.Validators {
		c.Validators[i].ConsensusKey = slices.Clone(p.Validators[i].ConsensusKey)
	}
	c.Administrators.Identities = slices.Clone(p.Administrators.Identities)
	for i, id := range p.Administrators.Identities {
		c.Administrators.Identities[i] = slices.Clone(id)
	}
	return &c
}
