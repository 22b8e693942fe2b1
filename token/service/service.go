// Package service is what a participant of a token system runs: an issuer, a wallet
// that pays, an auditor, each with a vault that keeps its secrets through a crash.
// docs/service.md says what is durable when, and how tokens are selected.
//
// A payee makes an Address and hands it to the payer. The payer's service returns a
// Submission: the request, which goes to the auditors and then to a validator; the
// information for the auditors; and a Delivery for each payee, without which the
// token is lost. The payee's wallet receives the delivery and counts the token when
// Sync has found it on the ledger.
//
// What this package does not promise: secrets are neither wiped from memory nor
// encrypted in the vault; one request makes one action.
package service

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/snapshot"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/transcript"
)

// AnchorLen is the length in bytes of an anchor that a service draws.
const AnchorLen = 32

// cachedIdentities bounds the parsed identities that a service keeps.
const cachedIdentities = 1024

// Address is where a payment goes. The payee makes it and hands it over; whoever has
// two of a payee's with the same owner knows that they are one payee's.
type Address struct {
	Owner []byte        // an identity, or a script; empty: the payment is redeemed
	Audit []audit.Owner // one for each identity of the owner
}

// Locked is the address of a hash time lock between two others: recipient claims what is paid to it with the preimage of
// image before the deadline, in Unix seconds, and sender reclaims it from then on. Both wallets keep what they need for it until it
// is spent: the payer's, whose own address sender is, by itself, the payee's when it receives the delivery. The error
// is that of script.NewHashLock.
func Locked(image [script.ImageLen]byte, deadline uint64, sender, recipient Address) (Address, error) {
	lock, err := script.NewHashLock(image, deadline, sender.Owner, recipient.Owner)
	if err != nil {
		return Address{}, err
	}
	return Address{Owner: lock.Owner(), Audit: slices.Concat(sender.Audit, recipient.Audit)}, nil
}

// Payment gives a value, below 2^bits of the parameters, to an address.
type Payment struct {
	To    Address
	Value uint64
}

// Order is what a service is asked to do, in one action.
type Order struct {
	Anchor   []byte // the transaction's id, 1 to token.MaxAnchor bytes; nil: AnchorLen random ones
	Type     string // 1 to token.MaxType bytes
	Payments []Payment
	Metadata []byte    // the application's, public
	Rand     io.Reader // nil: the system's
}

// Submission is what came of an order. All of it but the request is secret.
type Submission struct {
	Request     *request.Request // it lacks the auditors' signatures, and an issuer's on a redemption that needs one
	Information *audit.Information
	Deliveries  []Delivery // one for each payment, in order; for a redemption, what an issuer approves
}

// FundsError says that the tokens that are free to be spent do not suffice. It is a
// zkbench.ErrPolicy.
type FundsError struct {
	Have uint64 // their sum, which is below Want
	Want uint64
}

func (e *FundsError) Error() string {
	return fmt.Sprintf("%v: insufficient funds: have %d, want %d", zkbench.ErrPolicy, e.Have, e.Want)
}

func (e *FundsError) Unwrap() error { return zkbench.ErrPolicy }

// system is what the services of one participant share: the public parameters, and
// what proves under them.
type system struct {
	params *token.PublicParams
	ledger token.LedgerID
	pp     token.CryptoParams
	ex     executor.Executor
	ids    *identity.Set
}

// newSystem builds the system of a vault's ledger that proves with proofType, the parameters' first if
// that is empty.
func newSystem(params *token.PublicParams, proofType string, tuning token.Tuning, ex executor.Executor, vault *Vault) (*system, error) {
	params, id, err := snapshot.Params(params, vault.genesis)
	if err != nil {
		return nil, err
	}
	if proofType == "" {
		proofType = params.Systems[0].ProofType
	}
	s := &system{params: params, ledger: id, ex: ex}
	if s.pp, err = params.Crypto(proofType, tuning); err != nil {
		return nil, err
	}
	scheme, err := identity.NewScheme(params.Curve)
	if err != nil {
		return nil, err
	}
	s.ids, err = identity.NewSet(cachedIdentities, scheme)
	return s, err
}

// plan is an order that has been checked.
type plan struct {
	Order             // Rand nil: the prover takes the parameters' source
	rand    io.Reader // for all else
	sum     uint64
	scripts bool // some payment goes to a script
}

// plan checks an order and draws its anchor.
func (s *system) plan(o Order) (*plan, error) {
	p := &plan{Order: o}
	switch n, limits := len(o.Payments), s.params.Policy.Limits; {
	case len(o.Type) < 1 || len(o.Type) > token.MaxType:
		return nil, refuse("type of %d bytes, accepted are 1 to %d", len(o.Type), token.MaxType)
	case n < 1:
		return nil, refuse("no payments")
	case n > limits.Outputs:
		return nil, tooMany("payments", n, limits.Outputs)
	case len(o.Metadata) > limits.Metadata:
		return nil, &zkbench.LimitError{What: "bytes of metadata", Estimate: int64(len(o.Metadata)), Max: int64(limits.Metadata)}
	case o.Anchor != nil && (len(o.Anchor) < 1 || len(o.Anchor) > token.MaxAnchor):
		return nil, refuse("anchor of %d bytes, accepted are 1 to %d", len(o.Anchor), token.MaxAnchor)
	}
	for i := range o.Payments {
		if n := bits.Len64(o.Payments[i].Value); n > s.params.Bits {
			return nil, refuse("payment %d: value of %d bits, accepted are up to %d", i, n, s.params.Bits)
		}
		var carry uint64
		if p.sum, carry = bits.Add64(p.sum, o.Payments[i].Value, 0); carry != 0 {
			return nil, refuse("payments whose sum is 2^64 or more")
		}
		scripted, err := s.payee(&o.Payments[i].To)
		if err != nil {
			return nil, fmt.Errorf("payment %d: %w", i, err)
		}
		p.scripts = p.scripts || scripted
	}
	if p.rand = o.Rand; p.rand == nil {
		p.rand = rand.Reader
	}
	if p.Anchor == nil {
		p.Anchor = make([]byte, AnchorLen)
		if _, err := io.ReadFull(p.rand, p.Anchor); err != nil {
			return nil, fmt.Errorf("drawing the anchor: %w", err)
		}
	}
	return p, nil
}

// payee refuses an address that a validator or an auditor would refuse, before
// tokens are bound to it, and tells whether it is a script.
func (s *system) payee(to *Address) (scripted bool, err error) {
	var ids []identity.Identity
	switch scripted = script.IsScript(to.Owner); {
	case len(to.Owner) == 0:
	case scripted:
		lock, err := script.ParseHashLock(to.Owner)
		if err != nil {
			return true, err
		}
		ids = []identity.Identity{lock.Sender(), lock.Recipient()}
	default:
		ids = []identity.Identity{to.Owner}
	}
	if len(to.Audit) != len(ids) {
		return scripted, refuse("audit information on %d identities, the owner has %d", len(to.Audit), len(ids))
	}
	for _, id := range ids {
		v, err := s.ids.Verifier(id)
		if err != nil {
			return scripted, err
		}
		if identity.AnybodySigns(v) {
			return scripted, refuse("a key of small order, for which anybody can sign")
		}
	}
	return scripted, nil
}

// spec is what the action of a plan is drafted from.
func (s *system) spec(p *plan, outputs []action.Output, secret []byte) action.Spec {
	return action.Spec{Outputs: outputs, Metadata: p.Metadata, Anchor: request.ActionAnchor(s.ledger, p.Anchor, 0), Rand: p.Rand, Key: secret}
}

// signerSecret is a secret of a signer's, for action.Spec: the hash of a signature that
// nobody else gets to see. It lasts where signatures are deterministic; a pseudonym's
// depends on 32 bytes of rand (nil: the system's) too.
func signerSecret(signer identity.Signer, rand io.Reader) ([]byte, error) {
	signature, err := signer.Sign([]byte("zkbench/v1/service/secret"), rand)
	if err != nil {
		return nil, err
	}
	secret := make([]byte, transcript.SeedLen)
	_, err = transcript.XOF("zkbench/v1/service/secret", signature).Read(secret)
	return secret, err
}

// submission proves a draft and puts it into a request, and its openings into the audit
// information. deliveries are those of all outputs, which tos are the addresses of.
func (s *system) submission(ctx context.Context, anchor []byte, a request.Action, draft *action.Draft, tos []Address) (sub *Submission, deliveries []Delivery, err error) {
	if a.Raw, err = draft.Prove(ctx); err != nil {
		return nil, nil, err
	}
	sub = &Submission{
		Request:     &request.Request{Anchor: anchor, Actions: []request.Action{a}, Auditors: make([][]byte, len(s.params.Policy.Auditors))},
		Information: &audit.Information{Actions: make([]audit.Action, 1)},
	}
	info := &sub.Information.Actions[0]
	for j, opening := range draft.Openings {
		info.Outputs = append(info.Outputs, audit.Item{Opening: opening, Owners: tos[j].Audit})
		d := Delivery{ID: request.OutputID(anchor, 0, j), Token: draft.Outputs[j], Opening: opening}
		if script.IsScript(d.Token.Owner) {
			d.Audit = tos[j].Audit
		}
		deliveries = append(deliveries, d)
	}
	return sub, deliveries, nil
}

// toSign is what is signed of a request in a role.
func (s *system) toSign(r *request.Request, role request.Role, action int) []byte {
	message := request.ToSign(r.Message(s.ledger), role, action)
	return message[:]
}

// refuse is an ErrParams with its reason.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{zkbench.ErrParams}, args...)...)
}

// policy is an ErrPolicy with its reason.
func policy(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{zkbench.ErrPolicy}, args...)...)
}

// tooMany is an ErrParams that says by how much.
func tooMany(what string, n, most int) error {
	return fmt.Errorf("%w: %w", zkbench.ErrParams, &zkbench.LimitError{What: what, Estimate: int64(n), Max: int64(most)})
}
