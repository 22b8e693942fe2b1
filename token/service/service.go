// Package service is what a participant of a token system runs: an issuer, a paying wallet, or an auditor. Each
// has a vault, a database in one file that keeps its secrets through a crash. docs/wallets.md says what is
// durable when, and how tokens are selected.
//
// A payee makes an Address and gives it to the payer. The payer's service returns a Submission. It contains the
// request, which goes to the auditors and then to a validator, and the information for the auditors. The ledger
// stores the opening of every token, encrypted to the token's owner. The payee's wallet counts a token when
// Sync has found it in the ledger's log.
//
// The package does not wipe secrets from memory, and does not encrypt them in the vault.
package service

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/snapshot"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/transcript"
)

// AnchorLen is the length in bytes of the random anchors that a service draws. An anchor is the id of a
// transaction.
const AnchorLen = 32

// cachedIdentities bounds the number of parsed identities that a service caches.
const cachedIdentities = 1024

// Payment gives a value to an address. The value is below 2^bits, where bits is the field Bits of the
// parameters.
type Payment struct {
	To    Address
	Value uint64
}

// Order asks a service for one action.
type Order struct {
	Anchor   []byte // the transaction's id, 1 to token.MaxAnchor bytes; if it is nil, the service uses the first order's anchor, or draws AnchorLen random bytes if that is nil too
	Type     string // 1 to token.MaxType bytes
	Payments []Payment
	Metadata []byte    // public data of the application
	Rand     io.Reader // the source of randomness; if it is nil, the operating system's
	// From names the tokens that a transfer spends. If it is nil, the service selects tokens that the wallet
	// owns alone. In orders for Propose, From may also name tokens that the wallet owns together with others
	// (Vault.Shared).
	From []token.ID
	// Change is the address to which the change of a transfer goes. If it is nil, the change goes to a fresh
	// address of the wallet.
	Change *Address
	// Until is the last time of the ledger at which the request may be applied, in whole seconds. The zero time
	// means that there is no end. All orders of a request must have the same Until.
	Until time.Time
	// Issuer is the issuer that must approve a redemption (a payment to the zero Address), if the policy
	// requires approval. If it is nil, the policy must have only one issuer that may issue the type; that one
	// approves.
	Issuer identity.Identity
}

// Submission is what a service makes from orders: a request, and the information for its auditors.
type Submission struct {
	Request     *request.Request   // without the signatures of auditors, and without the signature of an issuer who must approve a redemption
	Information *audit.Information // for the auditors: secret

	drawn bool   // the anchor was drawn by the service that made the submission
	paid  []Paid // the outputs, for the maker's history
}

// ForAuditors returns the encodings of the request and of the information that the auditors need. It leaves out
// the preimages of claims, which auditors need not know.
func (s *Submission) ForAuditors() (rawRequest, rawInformation []byte, err error) {
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	if rawRequest, err = s.Request.WithoutPreimages().Encode(); err != nil {
		return nil, nil, err
	}
	rawInformation, err = s.Information.Encode()
	return rawRequest, rawInformation, err
}

// Redeemed returns the openings of the outputs that an action redeems, in order, for the issuer who approves
// the redemption. The openings are secret. Redeemed returns ErrParams if the submission has no unencrypted
// information on that action.
func (s *Submission) Redeemed(action int) (openings []token.Opening, err error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if n := len(s.Information.Actions); action < 0 || action >= n {
		return nil, refuse("action %d, there is information on %d", action, n)
	}
	if s.Information.Actions[action].Sealed != nil {
		return nil, refuse("the information on action %d is sealed to the auditors", action)
	}
	for _, item := range s.Information.Actions[action].Outputs {
		if len(item.Owners) == 0 {
			openings = append(openings, item.Opening)
		}
	}
	return openings, nil
}

// check refuses a submission, perhaps of another party, that lacks a part.
func (s *Submission) check() error {
	switch {
	case s == nil || s.Request == nil:
		return refuse("a submission without a request")
	case s.Information == nil:
		return refuse("a submission without information for the auditors")
	}
	return nil
}

// FundsError says that the tokens that are free to be spent are worth less than the payments. It wraps
// zkbench.ErrPolicy.
type FundsError struct {
	Have uint64 // the sum of the free tokens, less than Want
	Want uint64
}

func (e *FundsError) Error() string {
	return fmt.Sprintf("%v: insufficient funds: have %d, want %d", zkbench.ErrPolicy, e.Have, e.Want)
}

func (e *FundsError) Unwrap() error { return zkbench.ErrPolicy }

// system is shared by the services of one participant: the public parameters, and what proves under them.
type system struct {
	vault  *Vault
	params *token.PublicParams
	ledger token.LedgerID
	pp     token.CryptoParams
	ex     executor.Executor
	ids    *identity.Set
}

// newSystem returns the system for a vault's ledger. It proves with proofType, or with the first range-proof
// system of the parameters if proofType is empty.
func newSystem(params *token.PublicParams, proofType string, tuning token.Tuning, ex executor.Executor, vault *Vault) (*system, error) {
	params, id, err := snapshot.Params(params, vault.genesis)
	if err != nil {
		return nil, err
	}
	if proofType == "" {
		proofType = params.RangeProofs[0].ProofType
	}
	if err := vault.adopt(params); err != nil {
		return nil, err
	}
	s := &system{vault: vault, params: params, ledger: id, ex: ex}
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
	Order               // Rand is nil if the prover uses the parameters' source
	rules *token.Policy // the policy under which it was checked
	rand  io.Reader     // for everything else
	sum   uint64
	until uint64
	locks bool // some payment goes to a hash time lock
	drawn bool // the anchor is fresh: no ledger has it
}

// plans checks the orders of one request and draws their anchor. first is the index of the first action in the
// request.
func (s *system) plans(first int, orders []Order) (plans []*plan, err error) {
	if first < 0 || first >= request.MaxActions {
		return nil, refuse("actions from place %d on, accepted are 0 to %d", first, request.MaxActions-1)
	}
	if n, most := len(orders), request.MaxActions-first; n < 1 || n > most {
		return nil, refuse("%d orders, accepted are 1 to %d", n, most)
	}
	rules := s.rules() // once: Sync may adopt others meanwhile
	for i, o := range orders {
		if i > 0 && o.Anchor == nil {
			o.Anchor = plans[0].Anchor
		}
		p, err := s.plan(rules, o)
		switch {
		case err != nil && len(orders) > 1:
			return nil, fmt.Errorf("order %d: %w", i, err)
		case err != nil:
			return nil, err
		case i > 0 && !bytes.Equal(p.Anchor, plans[0].Anchor):
			return nil, refuse("order %d: another anchor than that of order 0", i)
		case i > 0 && p.until != plans[0].until:
			return nil, refuse("order %d: another end of validity than that of order 0", i)
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// plan checks an order and draws its anchor.
func (s *system) plan(rules *token.Policy, o Order) (*plan, error) {
	p := &plan{Order: o, rules: rules, drawn: o.Anchor == nil && o.Rand == nil}
	switch n, limits := len(o.Payments), rules.Limits; {
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
	case policy.Reserved(o.Anchor):
		return nil, refuse("an anchor that is reserved for policy updates")
	case !o.Until.IsZero() && (o.Until.Unix() < 1 || o.Until.Unix() > script.MaxTime):
		return nil, refuse("an end of validity at %d, accepted are 1 to %d Unix seconds", o.Until.Unix(), int64(script.MaxTime))
	}
	if !o.Until.IsZero() {
		p.until = uint64(o.Until.Unix())
	}
	for i := range o.Payments {
		if n := bits.Len64(o.Payments[i].Value); n > s.params.Bits {
			return nil, refuse("payment %d: value of %d bits, accepted are up to %d", i, n, s.params.Bits)
		}
		var carry uint64
		if p.sum, carry = bits.Add64(p.sum, o.Payments[i].Value, 0); carry != 0 {
			return nil, refuse("payments whose sum is 2^64 or more")
		}
		lock, err := s.payee(rules, &o.Payments[i].To)
		if err != nil {
			return nil, fmt.Errorf("payment %d: %w", i, err)
		}
		p.locks = p.locks || lock
	}
	if o.Change != nil {
		if _, err := s.payee(rules, o.Change); err != nil {
			return nil, fmt.Errorf("change: %w", err)
		}
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

// payee refuses an address that a validator or an auditor would refuse, before tokens are bound to it. It
// reports whether the address is a hash time lock.
func (s *system) payee(rules *token.Policy, to *Address) (lock bool, err error) {
	lock = identity.Identity(to.Owner).Type() == script.TypeHashLock
	ids, err := script.Identities(to.Owner)
	if err != nil {
		return lock, err
	}
	if len(to.Members) != len(ids) {
		return lock, refuse("%d members, the owner has %d identities", len(to.Members), len(ids))
	}
	keys := make([]identity.Verifier, len(ids))
	for i, id := range ids {
		if keys[i], err = s.ids.Verifier(id); err != nil {
			return lock, err
		}
		if identity.AnybodySigns(keys[i]) {
			return lock, refuse("a key of small order, for which anybody can sign")
		}
		if slices.ContainsFunc(keys[:i], func(other identity.Verifier) bool { return identity.SameKey(keys[i], other) }) {
			return lock, refuse("a script that names one key as two identities")
		}
		if id.Type() == identity.TypePseudonym && !to.Members[i].Audit.ReadableBy(rules) {
			return lock, deny("the address has no information for the auditors of policy %d: the payee must make a new one", rules.Version)
		}
		if kem := to.Members[i].Payee.KEM; kem != rules.Notes {
			return lock, deny("the address has a key for %v, policy %d requires %v: the payee must make a new one", kem, rules.Version, rules.Notes)
		}
	}
	return lock, nil
}

// allowed refuses outputs, change included, to owners of kinds that the policy does not allow.
func (p *plan) allowed(tos []Address) error {
	kinds := p.rules.Owners
	for i := range tos {
		ids, err := script.Identities(tos[i].Owner)
		if err != nil {
			return err
		}
		for _, owner := range append(ids, tos[i].Owner) {
			if err := script.Allowed(kinds, owner); err != nil {
				return fmt.Errorf("output %d: %w", i, err)
			}
		}
	}
	return nil
}

// spec returns the spec of a plan's action. The action has the index place in the request.
func (s *system) spec(p *plan, place int, out *outputs, secret []byte) action.Spec {
	made := make([]action.Output, len(out.tos))
	for j := range made {
		to := &out.tos[j]
		made[j] = action.Output{Owner: to.Owner, Value: out.values[j]}
		if payees := to.payees(); len(payees) > 0 {
			at := note.Place{Ledger: s.ledger, ID: request.OutputID(p.Anchor, place, j), Owner: to.Owner}
			made[j].Note = func(o token.Opening) ([]byte, error) { return note.Seal(at, payees, o) }
		}
	}
	return action.Spec{Outputs: made, Metadata: p.Metadata, Anchor: request.ActionAnchor(s.ledger, p.Anchor, place), Rand: p.Rand, Key: secret}
}

// signerSecret returns a secret of a signer for action.Spec: the hash of a signature that nobody else sees. If
// signatures are deterministic, it is always the same.
func signerSecret(signer identity.Signer) ([]byte, error) {
	signature, err := signer.Sign([]byte("zkbench/v1/service/secret"), nil)
	if err != nil {
		return nil, err
	}
	secret := make([]byte, transcript.SeedLen)
	_, err = transcript.XOF("zkbench/v1/service/secret", signature).Read(secret)
	return secret, err
}

// submission returns a submission without actions.
func (p *plan) submission() *Submission {
	return &Submission{
		Request:     &request.Request{Anchor: p.Anchor, Until: p.until, Auditors: make([][]byte, len(p.rules.Auditors))},
		Information: new(audit.Information),
		drawn:       p.drawn,
	}
}

// add proves a draft and appends it to the request as its next action, and its openings to the audit
// information. tos are the addresses of its outputs.
func (s *system) add(ctx context.Context, sub *Submission, a request.Action, draft *action.Draft, known audit.Action, tos []Address) (err error) {
	if a.Raw, err = draft.Prove(ctx); err != nil {
		return err
	}
	a.ProofType = s.pp.Config().ProofType
	for j, opening := range draft.Openings {
		known.Outputs = append(known.Outputs, audit.Item{Opening: opening, Owners: tos[j].audit()})
		sub.paid = append(sub.paid, Paid{Owner: tos[j].Owner, Opening: opening})
	}
	sub.Request.Actions = append(sub.Request.Actions, a)
	sub.Information.Actions = append(sub.Information.Actions, known)
	return nil
}

// rules returns the ledger's policy as far as the vault has followed it.
func (s *system) rules() *token.Policy { return s.vault.rules() }

// sign returns a signer's signature of a request in a role. id is the identity that the token, its script or
// the policy names: the signer's own, or another certificate of its key.
func (s *system) sign(r *request.Request, signer identity.Signer, role request.Role, of uint64, id identity.Identity, rand io.Reader) ([]byte, error) {
	message := request.ToSign(r.Message(s.ledger), role, of, id)
	return signer.Sign(message[:], rand)
}

// refuse returns an ErrParams with its reason.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{zkbench.ErrParams}, args...)...)
}

// deny returns an ErrPolicy with its reason.
func deny(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{zkbench.ErrPolicy}, args...)...)
}

// tooMany returns an ErrParams with the number and its limit.
func tooMany(what string, n, most int) error {
	return fmt.Errorf("%w: %w", zkbench.ErrParams, &zkbench.LimitError{What: what, Estimate: int64(n), Max: int64(most)})
}
