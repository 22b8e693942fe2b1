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
	pp, err := params.Crypto(params.Systems[0].ProofType, local)
	if err != nil {
		return nil, err
	}
	scheme, err := identity.NewScheme(params.Curve)
	if err != nil {
		return nil, err
	}
	current, err := policy.NewCurrent(id, &params.Policy, nil)
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
	Policy  uint64 // version of the policy under which it was checked
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
	// Owners are the enrolled names of pseudonyms, and type and payload of other
	// identities: none of a redeemed token, all that it names of one that a script holds; of an input those
	// who sign for it.
	Owners []string
	Value  uint64
}

// Check holds a request against the information that came with it. The error is a
// *zkbench.CheckError that names check, action and token; nothing of an opening
// stands in it.
func (a *Auditor) Check(ctx context.Context, r *request.Request, info *Information) (*Report, error) {
	if len(info.Actions) != len(r.Actions) {
		return nil, failed(Structure, -1, -1, refuse("information on %d actions, the request has %d", len(info.Actions), len(r.Actions)))
	}
	rules := a.current.Load()
	report := &Report{Policy: rules.Version}
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
	if ra.Issuer != nil && ra.Issuer.Index >= len(rules.Issuers) {
		return nil, failed(Structure, i, -1, refuse("issuer %d, the policy has %d", ra.Issuer.Index, len(rules.Issuers)))
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
	if ra.Issuer != nil {
		issuer := &rules.Issuers[ra.Issuer.Index]
		if !issuer.MayIssue(report.Type) {
			return nil, failed(Issuers, i, -1, refuse("issuer %d signs for a type that is not its own", ra.Issuer.Index))
		}
		report.Issuer = issuer.Identity
	}
	for j := range tokens {
		ids, err := script.Identities(tokens[j].Owner)
		if j < inputs {
			// Who else a script names was seen when the token was made.
			place := &script.Place{AnyTime: true, Inputs: inputs, Outputs: parsed.Outputs}
			ids, err = script.Signers(tokens[j].Owner, ra.Spends[j].Unlock, place)
		}
		var owners []string
		if err == nil {
			owners, err = a.owners(ids, items[j].Owners)
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

// owners tells who identities are.
func (a *Auditor) owners(ids []identity.Identity, known []Owner) ([]string, error) {
	if len(known) != len(ids) {
		return nil, refuse("information on %d identities, want %d", len(known), len(ids))
	}
	var names []string
	for k, id := range ids {
		name, err := a.name(id, &known[k])
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

func (a *Auditor) name(id identity.Identity, known *Owner) (string, error) {
	if id.Type() != identity.TypePseudonym {
		if len(known.Certificate) > 0 || len(known.Proof) > 0 || known.Sealed != nil {
			return "", refuse("a certificate for an identity that is no pseudonym")
		}
		return fmt.Sprintf("%v %x", id.Type(), []byte(id[min(1, len(id)):])), nil
	}
	known, err := known.open(a.key, a.ledger, id)
	if err != nil {
		return "", err
	}
	certificate, err := a.certificate(known.Certificate)
	if err != nil {
		return "", err
	}
	if err := a.scheme.CheckAudit(id, certificate, Context(a.ledger), known.Proof); err != nil {
		return "", err
	}
	return certificate.Name, nil
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
