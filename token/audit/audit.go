// Package audit lets an auditor see what a request does before signing it. The auditor computes every commitment
// again from its opening, identifies every owner, and adds up the values.
//
// An auditor's signature says that the openings belong to the request. It does not replace the validator's checks:
// that the proofs are valid, that the inputs are on the ledger, and that the owners have signed. Package service
// has an auditor that signs requests and stores what it has signed.
package audit

import (
	"bytes"
	"context"
	"crypto/hpke"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/snapshot"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
)

// Names of the checks, as in a *zkbench.CheckError.
const (
	Structure   = "audit structure"   // numbers of actions, tokens and owners
	Commitments = "audit commitments" // openings; Index counts inputs first, then outputs
	Owners      = "audit owners"      // identities of owners; Index as for Commitments
	Values      = "audit values"      // one type, values in range, and equal sums in a transfer
	Issuers     = "audit issuers"     // the issuer may issue the type
)

// Context returns the bytes that an audit proof of a pseudonym is bound to. These bytes name only the ledger.
// So the holder of a pseudonym makes the proof once, and need not know the request.
func Context(ledger token.LedgerID) []byte {
	return append([]byte("audit"), ledger[:]...)
}

// Auditor checks the requests of one ledger. It uses the ledger's public parameters, and the newest policy that
// Follow has adopted. It is safe for concurrent use.
type Auditor struct {
	params      *token.PublicParams
	ledger      token.LedgerID
	current     *policy.Current
	pp          token.CryptoParams
	scheme      identity.Scheme
	key         hpke.PrivateKey
	authorities []identity.Identity
	ex          executor.Executor

	mu       sync.Mutex
	enrolled map[[sha256.Size]byte]*identity.Certificate // verified certificates, by their hashes
}

// maxEnrolled is the maximum number of certificates that an auditor caches. A further one replaces any of them.
const maxEnrolled = 1 << 12

// New returns an auditor of the ledger with the given genesis. The parameter key is the auditor's private HPKE
// key, or nil if the auditor has none. The auditor accepts certificates of the given authorities. The parameter
// local tunes this process only; it is not part of the public parameters. New returns ErrParams if the parameters
// are not accepted or belong to another ledger.
func New(params *token.PublicParams, genesis ledger.Genesis, ex executor.Executor, local token.Tuning, key hpke.PrivateKey, authorities ...identity.Identity) (*Auditor, error) {
	params, id, err := snapshot.Params(params, genesis)
	if err != nil {
		return nil, err
	}
	// Commitments are the same under all range-proof systems.
	pp, err := params.Crypto(params.RangeProofs[0].ProofType, local)
	if err != nil {
		return nil, err
	}
	scheme, err := identity.NewScheme(params.Curve)
	if err != nil {
		return nil, err
	}
	current, err := policy.NewCurrent(genesis, &params.Policy, nil)
	if err != nil {
		return nil, err
	}
	return &Auditor{params: params, ledger: id, current: current, pp: pp, scheme: scheme, key: key, authorities: authorities, ex: ex, enrolled: make(map[[sha256.Size]byte]*identity.Certificate)}, nil
}

// Follow adopts the policy updates on the ledger l that come after the current policy. The auditor learns of
// an update only through Follow. Until then it checks requests against the policy before that update.
func (a *Auditor) Follow(ctx context.Context, l policy.Source) error { return a.current.Follow(ctx, l) }

// Report says what a request does.
type Report struct {
	Anchor  []byte
	Digest  [sha256.Size]byte // of the request, as a ledger stores it under the anchor
	Policy  uint64            // version of the policy under which it was checked
	Actions []ActionReport
}

// ActionReport says what one action does. All its tokens have one type.
type ActionReport struct {
	Kind            token.Kind
	Type            string
	Issuer          identity.Identity // the issuer that signs; nil if none does
	Inputs, Outputs []Holding
}

// Holding is what the auditor knows about one token.
type Holding struct {
	// Owners are the parties behind the identities of the token's owner. A redeemed token has none. For an
	// output these are all identities that a script names, for an input the ones that sign for it.
	Owners []Party
	Value  uint64
}

// Party is the party behind an identity, as far as the audit information shows it to the auditor. Names are
// unique only within one authority, so compare Authority and Name together, or Key.
type Party struct {
	Type identity.Type // of the identity
	// Name and Authority are from the certificate of a pseudonym's holder. They are empty for X.509
	// certificates and Ed25519 keys: nobody has verified what an X.509 certificate says besides its key.
	Name      string
	Authority identity.Identity
	// Key is the public key of the identity (identity.Key). For a pseudonym it is the holder's commitment that
	// the authority has certified, which is the same for all pseudonyms of one certificate.
	Key []byte
}

// String returns, in readable form, the party's Name and Authority, or its Type and Key if it has
// no Authority.
func (p Party) String() string {
	if p.Authority != nil {
		return fmt.Sprintf("%s (authority %x)", p.Name, []byte(p.Authority[1:min(len(p.Authority), 5)]))
	}
	return fmt.Sprintf("%v %x", p.Type, p.Key)
}

// Check checks a request against the audit information that came with it. The error is of type *zkbench.CheckError
// and names the check, the action and the token; or it wraps zkbench.ErrEnv if the auditor's key is in a token that does
// not answer. The error never contains any part of an opening.
func (a *Auditor) Check(ctx context.Context, r *request.Request, info *Information) (*Report, error) {
	if r == nil || info == nil {
		return nil, failed(Structure, -1, -1, refuse("no request, or no information on it"))
	}
	if len(info.Actions) != len(r.Actions) {
		return nil, failed(Structure, -1, -1, refuse("information on %d actions, the request has %d", len(info.Actions), len(r.Actions)))
	}
	rules := a.current.Load()
	report := &Report{Anchor: r.Anchor, Digest: r.Digest(a.ledger), Policy: rules.Version}
	for i := range r.Actions {
		clear, err := info.Actions[i].open(a.key, a.ledger, r.Anchor, i)
		if err != nil {
			return nil, failed(Structure, i, -1, err)
		}
		one, err := a.action(ctx, rules, i, &r.Actions[i], clear)
		if err != nil {
			return nil, err
		}
		report.Actions = append(report.Actions, *one)
	}
	return report, nil
}

func (a *Auditor) action(ctx context.Context, rules *token.Policy, i int, ra *request.Action, info *Action) (*ActionReport, error) {
	parsed, err := action.Parse(a.pp.PointLen(), ra.Kind, ra.Raw)
	if err != nil {
		return nil, failed(Structure, i, -1, err)
	}
	var issuer *token.Issuer
	if ra.Issuer != nil {
		if issuer = rules.Issuer(ra.Issuer.Identity); issuer == nil {
			return nil, failed(Structure, i, -1, refuse("the identity is not one of the %d issuers of policy %d", len(rules.Issuers), rules.Version))
		}
	}
	inputs := len(parsed.Inputs)
	if len(ra.Spends) != inputs {
		return nil, failed(Structure, i, -1, refuse("%d spends of %d inputs", len(ra.Spends), inputs))
	}
	if len(info.Inputs) != inputs || len(info.Outputs) != len(parsed.Outputs) {
		return nil, failed(Structure, i, -1, refuse("information on %d inputs and %d outputs, the action has %d and %d",
			len(info.Inputs), len(info.Outputs), inputs, len(parsed.Outputs)))
	}
	items := append(append([]Item(nil), info.Inputs...), info.Outputs...)
	var tokens []token.Token
	for _, in := range parsed.Inputs {
		tokens = append(tokens, in.Token)
	}
	tokens = append(tokens, parsed.Outputs...)
	openings := make([]token.Opening, len(items))
	for j := range items {
		openings[j] = items[j].Opening
	}
	commitments, err := a.pp.Commit(ctx, a.ex, openings)
	if err != nil {
		return nil, failed(Commitments, i, -1, err)
	}
	for j := range tokens {
		if !bytes.Equal(commitments[j], tokens[j].Commitment) {
			return nil, failed(Commitments, i, j, refuse("the opening belongs to another commitment"))
		}
	}
	if err := values(ra.Kind, a.params.Bits, openings, inputs); err != nil {
		return nil, failed(Values, i, -1, err)
	}
	report := &ActionReport{Kind: ra.Kind, Type: openings[0].Type}
	if issuer != nil {
		if !issuer.MayIssue(report.Type) {
			return nil, failed(Issuers, i, -1, refuse("the issuer may not issue this type"))
		}
		report.Issuer = issuer.Identity
	}
	for j := range tokens {
		ids, err := script.Identities(tokens[j].Owner)
		if j < inputs {
			// The other identities of a script were checked when the token was made.
			place := &script.Place{AnyTime: true, Inputs: inputs, Outputs: parsed.Outputs}
			ids, err = script.Signers(tokens[j].Owner, script.Witness{Unlock: ra.Spends[j].Unlock, Preimage: ra.Spends[j].Preimage}, place)
		}
		var owners []Party
		if err == nil {
			owners, err = a.owners(ids, items[j].Owners)
		}
		if err == nil && j >= inputs && len(ids) > 0 {
			err = notes(rules, parsed.Notes[j-inputs], len(ids))
		}
		if err != nil {
			return nil, failed(Owners, i, j, err)
		}
		h := Holding{Owners: owners, Value: openings[j].Value}
		if j < inputs {
			report.Inputs = append(report.Inputs, h)
		} else {
			report.Outputs = append(report.Outputs, h)
		}
	}
	return report, nil
}

// notes checks the encrypted opening (note) of an output, if there is one. It must have a share for each identity
// of the owner, encrypted under the KEM of the policy. Only the payee can see whether it opens.
func notes(rules *token.Policy, raw []byte, identities int) error {
	if len(raw) == 0 {
		return nil // the payee gets the opening in another way
	}
	shares, err := note.Decode(raw)
	if err != nil {
		return err
	}
	if len(shares) != identities {
		return refuse("a note for %d identities, want %d", len(shares), identities)
	}
	for i := range shares {
		if shares[i].KEM != rules.Notes {
			return refuse("a note for %v, policy %d requires %v", shares[i].KEM, rules.Version, rules.Notes)
		}
	}
	return nil
}

// values refuses tokens of more than one type, a value out of range, and a transfer whose outputs are not worth its
// inputs. openings has the openings of the inputs, whose number is inputs, and then those of the outputs.
func values(kind token.Kind, width int, openings []token.Opening, inputs int) error {
	var sums [2]uint64
	for j := range openings {
		side := 1
		if j < inputs {
			side = 0
		}
		v := openings[j].Value
		if openings[j].Type != openings[0].Type {
			return refuse("tokens of more than one type")
		}
		if bits.Len64(v) > width {
			return refuse("a value of more than %d bits", width)
		}
		sum, carry := bits.Add64(sums[side], v, 0)
		if carry != 0 {
			return refuse("values whose sum is 2^64 or more")
		}
		sums[side] = sum
	}
	if kind == token.Transfer && sums[0] != sums[1] {
		return refuse("the outputs are not worth as much as the inputs")
	}
	return nil
}

// owners returns the parties behind identities.
func (a *Auditor) owners(ids []identity.Identity, known []Owner) ([]Party, error) {
	if len(known) != len(ids) {
		return nil, refuse("information on %d identities, want %d", len(known), len(ids))
	}
	var parties []Party
	for k, id := range ids {
		party, err := a.party(id, &known[k])
		if err != nil {
			return nil, err
		}
		parties = append(parties, party)
	}
	return parties, nil
}

func (a *Auditor) party(id identity.Identity, known *Owner) (Party, error) {
	if id.Type() != identity.TypePseudonym {
		if len(known.Certificate) > 0 || len(known.Proof) > 0 || known.Sealed != nil {
			return Party{}, refuse("a certificate for an identity that is not a pseudonym")
		}
		key, err := identity.Key(id)
		return Party{Key: key, Type: id.Type()}, err
	}
	known, err := known.open(a.key, a.ledger, id)
	if err != nil {
		return Party{}, err
	}
	certificate, err := a.certificate(known.Certificate)
	if err != nil {
		return Party{}, err
	}
	if err := a.scheme.CheckAudit(id, certificate, Context(a.ledger), known.Proof); err != nil {
		return Party{}, err
	}
	return Party{Name: certificate.Name, Authority: certificate.Authority, Key: certificate.Commitment, Type: id.Type()}, nil
}

// certificate parses and verifies a certificate, unless it is cached.
func (a *Auditor) certificate(encoded []byte) (*identity.Certificate, error) {
	sum := sha256.Sum256(encoded)
	a.mu.Lock()
	known := a.enrolled[sum]
	a.mu.Unlock()
	if known != nil {
		return known, nil
	}
	c, err := a.scheme.Certificate(encoded, a.authorities...)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for other := range a.enrolled {
		if len(a.enrolled) < maxEnrolled {
			break
		}
		delete(a.enrolled, other)
	}
	a.enrolled[sum] = c
	return c, nil
}

// failed returns the error of a check. An ErrEnv says nothing about the request, so it stays what it is.
func failed(check string, action, index int, err error) error {
	if errors.Is(err, zkbench.ErrEnv) {
		return err
	}
	return &zkbench.CheckError{Check: check, Action: action, Index: index, Err: err}
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{zkbench.ErrPolicy}, args...)...)
}
