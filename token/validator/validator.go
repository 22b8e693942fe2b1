// Package validator decides whether a request may be applied to a ledger: one
// pipeline of named checks, the cheap ones first. Whatever fails is a
// *zkbench.CheckError that names the check, the action and the index within it,
// and wraps the cause.
//
// A Validator reads no clock: the time of the block is given, and goes with the
// request into the ledger, so that a replay decides alike. A Submitter, which lands requests,
// chooses that time, and a Queue does. A Validator reads the tokens that
// a request spends from a view of the ledger, and changes nothing: two requests that
// it accepts may still spend one token, and the ledger lets one of them through.
package validator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/snapshot"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
)

// The checks, in their order.
const (
	Structure       = "structure"        // encodings, counts, limits, nothing missing and nothing superfluous
	Validity        = "validity"         // its end has come
	DuplicateInputs = "duplicate inputs" // one token spent twice by the request
	Metadata        = "metadata"
	RedeemPolicy    = "redeem policy"
	Scripts         = "scripts" // who must sign for an input, and where and when scripts may stand
	Issuers         = "issuers" // signatures, as the next two
	Owners          = "owners"
	Auditors        = "auditors"
	Inputs          = "inputs"        // on the ledger, and as the request says
	OutputOwners    = "output owners" // somebody can sign for them
	Proofs          = "proofs"
)

// Tokens is a view of a ledger.
type Tokens interface {
	// Tokens returns the encodings of unspent tokens, one for each id. Where there is none, its error is
	// a zkbench.ErrSpent or zkbench.ErrPolicy; any other one says nothing about the
	// request, and comes back without a *zkbench.CheckError.
	Tokens(ctx context.Context, ids []token.ID) ([]ledger.Found, error)
}

// TokenFunc is a view that is asked for one token at a time.
type TokenFunc func(ctx context.Context, id token.ID) ([]byte, error)

// Tokens implements Tokens.
func (f TokenFunc) Tokens(ctx context.Context, ids []token.ID) ([]ledger.Found, error) {
	found := make([]ledger.Found, len(ids))
	for i, id := range ids {
		found[i].Token, found[i].Err = f(ctx, id)
	}
	return found, nil
}

// Validator validates the requests of one ledger under its public parameters and the policy that
// it has followed them to. It is safe for concurrent use.
type Validator struct {
	params   *token.PublicParams
	ledger   token.LedgerID
	current  *policy.Current
	pointLen int
	crypto   map[string]token.CryptoParams // by proof type
	ids      *identity.Set
	ex       executor.Executor
}

// New returns a validator of the ledger of that genesis. local gives the choices that are no part of the
// parameters (Table); cache is the number of owners whose parsed keys are kept, beside
// those of issuers and auditors, which always are. All
// generators are derived anew. It begins under the policy of the parameters: see Follow. The error is an ErrParams that names the field, also
// for an issuer or auditor that is no identity, and for another ledger's parameters.
func New(params *token.PublicParams, genesis ledger.Genesis, ex executor.Executor, local token.Tuning, cache int) (*Validator, error) {
	params, id, err := snapshot.Params(params, genesis)
	if err != nil {
		return nil, err
	}
	v := &Validator{params: params, ledger: id, crypto: make(map[string]token.CryptoParams), ex: ex}
	for _, s := range params.RangeProofs {
		pp, err := params.Crypto(s.ProofType, local)
		if err != nil {
			return nil, err
		}
		v.crypto[s.ProofType], v.pointLen = pp, pp.PointLen()
	}
	scheme, err := identity.NewScheme(params.Curve)
	if err != nil {
		return nil, err
	}
	if v.ids, err = identity.NewSet(cache, scheme); err != nil {
		return nil, err
	}
	if v.current, err = policy.NewCurrent(genesis, &params.Policy, v.pin); err != nil {
		return nil, err
	}
	return v, nil
}

// pin keeps the parsed identities of a policy.
func (v *Validator) pin(p *token.Policy) error {
	for _, id := range append(p.IssuerIdentities(), p.AuditorIdentities()...) {
		if _, err := v.ids.Pin(id); err != nil {
			return err
		}
	}
	return nil
}

// Policy returns the policy under which requests are judged now.
func (v *Validator) Policy() *token.Policy { return v.current.Load().Clone() }

// Follow adopts the updates of the policy that are on the ledger, from the one after the current policy on. What is being
// validated meanwhile is judged under the policy that it began with, and the ledger rejects it if that is not its own any more.
// The error is that of an update that does not hold, or the ledger's.
func (v *Validator) Follow(ctx context.Context, l policy.Source) error {
	return v.current.Follow(ctx, l)
}

// Valid is a request, or an update of the policy, that may be applied, with what it does.
type Valid struct {
	Request *request.Request // nil of an update
	Update  *policy.Update   // nil of a request
	Anchor  []byte
	Policy  uint64 // the version under which it was accepted
	Raw     []byte
	Digest  [32]byte
	At      time.Time
	Spends  []token.ID
	Creates []Output // outputs with an owner; those without are redeemed
}

// Entry is what a ledger stores of it.
func (v *Valid) Entry() ledger.Entry {
	e := ledger.Entry{
		Anchor: v.Anchor, Digest: v.Digest, Time: v.At, Request: v.Raw, Policy: v.Policy, Update: v.Update != nil, Spends: v.Spends,
	}
	for _, c := range v.Creates {
		e.Creates = append(e.Creates, ledger.Created(c))
	}
	return e
}

// Output is a token that a request makes.
type Output struct {
	ID    token.ID
	Token []byte // its encoding, as Tokens returns it
}

// Validate validates an encoded request, or update of the policy, at the block's time.
func (v *Validator) Validate(ctx context.Context, tokens Tokens, raw []byte, at time.Time) (*Valid, error) {
	results := v.ValidateBatch(ctx, tokens, [][]byte{raw}, at)
	return results[0].Valid, results[0].Err
}

// Result is what a request of a batch came to: one of the two.
type Result struct {
	Valid *Valid
	Err   error
}

// ValidateBatch validates requests at one block's time. All proofs of a range-proof
// system are verified in one multi-scalar multiplication, and all signatures that
// allow it in another; the bad ones are found by bisection. Each request is accepted
// or rejected as Validate would, on the ledger as it is: requests of one batch that
// spend one token, or have one anchor, are all accepted. When ctx ends, requests
// without a verdict have its cause.
func (v *Validator) ValidateBatch(ctx context.Context, tokens Tokens, raws [][]byte, at time.Time) []Result {
	own := make([][]byte, len(raws)) // the caller may use its buffers again
	for i, raw := range raws {
		if own[i] = raw; len(raw) <= token.MaxRequest {
			own[i] = slices.Clone(raw)
		}
	}
	return v.validate(ctx, tokens, own, at)
}

// validate is ValidateBatch on buffers that do not change any more. A panic ends the request alone that it comes from:
// those of a batch are validated each by itself then.
func (v *Validator) validate(ctx context.Context, tokens Tokens, raws [][]byte, at time.Time) []Result {
	results := v.together(ctx, tokens, raws, at)
	for i := range results {
		if _, panicked := errors.AsType[*executor.PanicError](results[i].Err); panicked && len(raws) > 1 {
			results[i] = v.together(ctx, tokens, raws[i:i+1], at)[0]
		}
	}
	return results
}

// together validates a batch; a panic is the *executor.PanicError of all.
func (v *Validator) together(ctx context.Context, tokens Tokens, raws [][]byte, at time.Time) (results []Result) {
	err := executor.Serial().Do(context.WithoutCancel(ctx), 1, func(context.Context, int) error {
		results = v.batch(ctx, tokens, raws, at)
		return nil
	})
	if err != nil {
		results = slices.Repeat([]Result{{Err: err}}, len(raws))
	}
	return results
}

func (v *Validator) batch(ctx context.Context, tokens Tokens, raws [][]byte, at time.Time) []Result {
	cases := make([]*pending, len(raws))
	current := v.current.Load()
	for i, raw := range raws {
		cases[i] = &pending{v: v, raw: raw, at: at, policy: current}
		if policy.Is(raw) {
			cases[i].err = cases[i].updates() // which has no actions, and is done
		} else if cases[i].err = cases[i].examine(); cases[i].err == nil {
			cases[i].auditors()
		}
	}
	v.signatures(ctx, cases)
	v.inputs(ctx, tokens, cases)
	v.outputs(ctx, cases)
	v.proofs(ctx, cases)
	results := make([]Result, len(raws))
	for i, c := range cases {
		if results[i].Err = c.err; c.err == nil {
			results[i].Valid, results[i].Err = c.valid()
		}
	}
	return results
}

// failed is the error of a check.
func failed(check string, action, index int, err error) error {
	return &zkbench.CheckError{Check: check, Action: action, Index: index, Err: err}
}

// refuse is an ErrPolicy.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{zkbench.ErrPolicy}, args...)...)
}

// standing are the cases that no check has failed yet.
func standing(cases []*pending) []*pending {
	var rest []*pending
	for _, c := range cases {
		if c.err == nil {
			rest = append(rest, c)
		}
	}
	return rest
}

// signatures verifies the signatures of all requests that have come so far.
func (v *Validator) signatures(ctx context.Context, cases []*pending) {
	if cases = standing(cases); len(cases) == 0 {
		return
	}
	batch := identity.NewBatch(v.ids)
	for _, c := range cases {
		group := make([]identity.Signed, len(c.signatures))
		for i, s := range c.signatures {
			message := c.signed(&s)
			group[i] = identity.Signed{ID: s.signer, Message: message[:], Signature: s.signature}
		}
		batch.Add(group...)
	}
	forEachFailed(batch.Verify(ctx, v.ex), cases, func(bad *zkbench.CheckError) {
		c := cases[bad.Action]
		s, err := c.signatures[bad.Index], bad.Err
		if s.nth > 0 {
			err = fmt.Errorf("signature %d: %w", s.nth, err)
		}
		c.fail(failed(s.check, s.action, s.index, err))
	})
}

// askedTogether is how many tokens a ledger is asked for at a time, but that the inputs of a request are not torn apart.
const askedTogether = 4096

// inputs compares the tokens that requests spend with the ledger's, which is asked when their signatures hold: by somebody
// who can sign for what the request says that they are.
func (v *Validator) inputs(ctx context.Context, tokens Tokens, cases []*pending) {
	for cases = standing(cases); len(cases) > 0; {
		var ids []token.ID
		n := 0
		for n < len(cases) && (n == 0 || len(ids)+len(cases[n].spends) <= askedTogether) {
			ids = append(ids, cases[n].spends...)
			n++
		}
		var found []ledger.Found
		var err error
		if len(ids) > 0 {
			found, err = tokens.Tokens(ctx, ids)
		}
		if err == nil && len(found) != len(ids) {
			err = fmt.Errorf("%w: %d answers on %d tokens", zkbench.ErrEnv, len(found), len(ids))
		}
		for _, c := range cases[:n] {
			if err != nil { // which says nothing about the request
				c.fail(fmt.Errorf("ledger: %w", err))
				continue
			}
			c.fail(c.inputs(found[:len(c.spends)]))
			found = found[len(c.spends):]
		}
		cases = cases[n:]
	}
}

// outputs parses the owners of outputs, which nobody but the request's author has
// chosen: so when its signatures hold.
func (v *Validator) outputs(ctx context.Context, cases []*pending) {
	cases = standing(cases)
	if err := v.ex.Do(ctx, len(cases), func(_ context.Context, i int) error {
		cases[i].fail(cases[i].owners())
		return nil
	}); err != nil {
		for _, c := range cases {
			c.fail(err)
		}
	}
}

// proofs decodes and verifies the proofs of all requests that have come so far.
func (v *Validator) proofs(ctx context.Context, cases []*pending) {
	type place struct {
		c     *pending
		index int // of the action
	}
	for _, s := range v.params.RangeProofs {
		pp := v.crypto[s.ProofType]
		var items []action.Item
		var places []place
		var verified []*pending
		for _, c := range standing(cases) {
			for i := range c.actions {
				if c.request.Actions[i].ProofType != s.ProofType {
					continue
				}
				received, err := action.Receive(pp, c.actions[i])
				if err != nil {
					c.fail(failed(Proofs, i, -1, err))
					break
				}
				items = append(items, action.Item{Action: received, Anchor: request.ActionAnchor(v.ledger, c.request.Anchor, i)})
				places, verified = append(places, place{c, i}), append(verified, c)
			}
		}
		if len(items) == 0 {
			continue
		}
		// What stands here has passed inputs: it was compared with the ledger.
		forEachFailed(action.VerifyBatch(ctx, v.ex, pp, action.NothingLookedUp(), items), verified, func(bad *zkbench.CheckError) {
			p := places[bad.Action]
			p.c.fail(failed(Proofs, p.index, -1, bad.Err))
		})
	}
}

// forEachFailed calls f with every *zkbench.CheckError of a batch, and fails all cases with an
// error of the whole batch.
func forEachFailed(err error, cases []*pending, f func(bad *zkbench.CheckError)) {
	if err == nil {
		return
	}
	bad, only := zkbench.CheckErrors(err)
	if !only {
		for _, c := range cases {
			c.fail(err)
		}
		return
	}
	for _, e := range bad {
		f(e)
	}
}

// Authorized checks of an encoded request what needs neither a ledger nor a clock, and
// verifies neither proofs nor auditors' signatures, which may be missing, as preimages may: an auditor
// asks it before signing. Encodings, proof types, limits and the parameters' policies
// are right, and issuers and owners have signed; for a script's token those have whom
// it and its witness name, at whatever time. Whether the tokens exist is not asked, so
// whoever makes one up signs for it as its owner. The error is Validate's.
func (v *Validator) Authorized(ctx context.Context, raw []byte) error {
	c := &pending{v: v, raw: raw, anyTime: true, policy: v.current.Load()}
	c.err = c.examine()
	v.signatures(ctx, []*pending{c})
	v.outputs(ctx, []*pending{c})
	return c.err
}

// Ledger returns the id of the validator's ledger.
func (v *Validator) Ledger() token.LedgerID { return v.ledger }

// First returns a validator of a ledger under the same parameters, for example a parent of this one's. It begins under the policy of the
// parameters, and follows updates by itself. It shares the tables and the parsed owners of this one. First returns an ErrParams for a
// ledger under other parameters.
func (v *Validator) First(genesis ledger.Genesis) (*Validator, error) {
	digest, err := v.params.Digest()
	if err != nil {
		return nil, err
	}
	if err := genesis.Of(digest); err != nil {
		return nil, err
	}
	first := *v
	first.ledger = genesis.ID()
	first.current, err = policy.NewCurrent(genesis, &v.params.Policy, first.pin)
	return &first, err
}

// PointLen returns the length in bytes of a commitment.
func (v *Validator) PointLen() int { return v.pointLen }
