// Package audit lets an auditor see what a request does before signing it: every
// commitment is recomputed from its opening, every owner is matched with who it is,
// and values are added up.
//
// An auditor who signs says that the openings were those of the request. That the
// proofs hold, that the inputs are on the ledger and that owners have signed is the
// validator's to check: an auditor's signature replaces none of it. Package service has
// the auditor who signs, and remembers what.
package audit

import (
	"bytes"
	"context"
	"crypto/hpke"
	"crypto/sha256"
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

// The checks that a *zkbench.CheckError names.
const (
	Structure   = "audit structure"   // as many actions, tokens and owners as the request has
	Commitments = "audit commitments" // Index: inputs first, then outputs
	Owners      = "audit owners"      // Index as above
	Values      = "audit values"      // one type, and no value made or lost
	Issuers     = "audit issuers"     // of the type that they sign for
)

// Context is what audit proofs of pseudonyms are bound to: the ledger. They are
// made once for each pseudonym, by its holder, who need not know the request.
func Context(ledger token.LedgerID) []byte {
	return append([]byte("audit"), ledger[:]...)
}

// Auditor checks the requests of one ledger under its public parameters and the policy that it
// has followed them to. It is safe for concurrent use.
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
	enrolled map[[sha256.Size]byte]*identity.Certificate // certificates that were verified lately, by their hashes
}

// maxEnrolled is how many certificates an auditor keeps: one more takes the place of any other.
const maxEnrolled = 1 << 12

// New returns the auditor whose private key of HPKE it is, and who accepts enrolments of these authorities. local gives the
// choices that are no part of the parameters. The error is an ErrParams.
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

// Follow adopts the updates of the policy that are on the ledger, as validator.Validator.Follow does: an auditor who has not
// followed takes an issuer for the one who had the index before.
func (a *Auditor) Follow(ctx context.Context, l policy.Source) error { return a.current.Follow(ctx, l) }

// Report is what a request does.
type Report struct {
	Anchor  []byte
	Digest  [sha256.Size]byte // of the request, as a ledger stores it: with the anchor it names the request
	Policy  uint64            // version of the policy under which it was checked
	Actions []ActionReport
}

// ActionReport is what one action does: all its tokens are of one type.
type ActionReport struct {
	Kind            token.Kind
	Type            string
	Issuer          identity.Identity // who signs as issuer, if somebody does
	Inputs, Outputs []Holding
}

// Holding is a token as the auditor sees it.
type Holding struct {
	// Owners are the parties behind the identities of the token's owner: none of a redeemed token; of an
	// output all that a script names; of an input those that sign for it.
	Owners []Party
	Value  uint64
}

// Party is who stands behind an identity, as far as the auditor is shown it. Names are unique within one
// authority at most: compare Authority and Name together, or Key.
type Party struct {
	Type identity.Type // of the identity
	// Name and Authority are those of the enrolment of a pseudonym's holder. They are empty for X.509
	// certificates and Ed25519 keys: nobody has verified what a certificate says beside its key.
	Name      string
	Authority identity.Identity
	// Key is the public key of the identity (identity.Key); of a pseudonym the holder's commitment that
	// the authority has certified, which is the same for all pseudonyms of one enrolment.
	Key []byte
}

// String returns name and authority, or type and key, for people to read.
func (p Party) String() string {
	if p.Authority != nil {
		return fmt.Sprintf("%s (authority %x)", p.Name, []byte(p.Authority[1:min(len(p.Authority), 5)]))
	}
	return fmt.Sprintf("%v %x", p.Type, p.Key)
}

// Check holds a request against the information that came with it. The error is a
// *zkbench.CheckError that names check, action and token; nothing of an opening
// stands in it.
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
			return nil, failed(Structure, i, -1, refuse("an identity that is none of the %d issuers of policy %d", len(rules.Issuers), rules.Version))
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
			return nil, failed(Commitments, i, j, refuse("the opening is another commitment's"))
		}
	}
	if err := values(ra.Kind, a.params.Bits, openings, inputs); err != nil {
		return nil, failed(Values, i, -1, err)
	}
	report := &ActionReport{Kind: ra.Kind, Type: openings[0].Type}
	if issuer != nil {
		if !issuer.MayIssue(report.Type) {
			return nil, failed(Issuers, i, -1, refuse("the issuer signs for a type that is not its own"))
		}
		report.Issuer = issuer.Identity
	}
	for j := range tokens {
		ids, err := script.Identities(tokens[j].Owner)
		if j < inputs {
			// Who else a script names was seen when the token was made.
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

// notes refuses the note of an output, if it has one, unless it has a share for each identity of the owner,
// encrypted as the policy says. Only the payee sees whether it opens.
func notes(rules *token.Policy, raw []byte, identities int) error {
	if len(raw) == 0 {
		return nil // the payee is told otherwise
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
			return refuse("a note for %v, policy %d asks for %v", shares[i].KEM, rules.Version, rules.Notes)
		}
	}
	return nil
}

// values refuses more than one type, a value out of range, and a transfer whose
// outputs are not worth its inputs. Openings are those of the inputs, so many, and
// then of the outputs.
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
		return refuse("outputs that are not worth the inputs")
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
			return Party{}, refuse("a certificate for an identity that is no pseudonym")
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

// certificate parses and verifies a certificate, unless it has been lately.
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

func failed(check string, action, index int, err error) error {
	return &zkbench.CheckError{Check: check, Action: action, Index: index, Err: err}
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{zkbench.ErrPolicy}, args...)...)
}
