// Package validator decides whether a request may be applied to a ledger. A request passes a sequence of
// named checks, cheap ones first. If a check fails, the error is of type *zkbench.CheckError: it names the
// check, the action and the index within the action, and wraps the cause.
//
// A Validator reads no clock. The caller gives the time of the block, which is recorded in the ledger with
// the request, so that a replay decides in the same way. A Submitter, which applies requests to a ledger, and
// a Queue choose that time themselves.
//
// A Validator reads the tokens that a request spends from a view of the ledger, and changes nothing. Two
// requests that it accepts may spend the same token; the ledger then applies only one of them.
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
	"github.com/zkbench/zkbench/transcript"
)

// Names of the checks, in the order in which they run.
const (
	Structure       = "structure"        // encodings, counts, limits, nothing missing and nothing superfluous
	Validity        = "validity"         // the request has not expired
	DuplicateInputs = "duplicate inputs" // the request spends no token twice
	Metadata        = "metadata"
	RedeemPolicy    = "redeem policy"
	Scripts         = "scripts"       // conditions of scripts, and which outputs may have one
	Issuers         = "issuers"       // signatures of issuers
	Owners          = "owners"        // signatures of owners
	Auditors        = "auditors"      // signatures of auditors
	Inputs          = "inputs"        // the inputs are unspent on the ledger, and equal to those in the request
	OutputOwners    = "output owners" // the owners of outputs parse, and are of kinds that the policy allows
	Proofs          = "proofs"
)

// Tokens is a view of a ledger's tokens. It must be safe for concurrent use, as a ledger.Reader is.
type Tokens interface {
	// Tokens returns the encodings of unspent tokens, one for each id. If there is no such token, its error
	// must wrap zkbench.ErrSpent or zkbench.ErrPolicy, and the request fails the check Inputs. Any other
	// error is not the request's fault, so the validator returns it without a *zkbench.CheckError.
	Tokens(ctx context.Context, ids []token.ID) ([]ledger.Found, error)
}

// TokenFunc is a view that looks up one token at a time. It must be safe for concurrent use.
type TokenFunc func(ctx context.Context, id token.ID) ([]byte, error)

// Tokens implements the interface Tokens.
func (f TokenFunc) Tokens(ctx context.Context, ids []token.ID) ([]ledger.Found, error) {
	found := make([]ledger.Found, len(ids))
	for i, id := range ids {
		found[i].Token, found[i].Err = f(ctx, id)
	}
	return found, nil
}

// Validator validates the requests of one ledger. It uses the ledger's public parameters, and the newest
// policy that Follow has adopted. It is safe for concurrent use.
type Validator struct {
	params   *token.PublicParams
	ledger   token.LedgerID
	current  *policy.Current
	pointLen int
	crypto   map[string]token.CryptoParams // by proof type
	ids      *identity.Set
	ex       executor.Executor
}

// New returns a validator for the ledger with the given genesis. The validator starts with the policy of the
// parameters; Follow adopts later policies. New derives all generators again.
//
// The parameter local tunes this process only; it is not part of the public parameters. The parameter cache
// is the number of owners whose parsed keys are cached; the parsed keys of issuers and auditors are always
// cached.
//
// New returns ErrParams if the parameters are not accepted, if they belong to another ledger, or if the
// identity of an issuer or auditor is not valid. The error names the field.
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

// Policy returns a copy of the policy that requests are checked under now.
func (v *Validator) Policy() *token.Policy { return v.current.Load().Clone() }

// Follow adopts the policy updates on the ledger l that come after the current policy. A validation that is
// running continues under the policy that it began with; the ledger rejects the request if the ledger's
// policy is newer by then. Follow returns an error if an update is not valid or if l returns an error.
func (v *Validator) Follow(ctx context.Context, l policy.Source) error {
	return v.current.Follow(ctx, l)
}

// Valid is a request or policy update that may be applied, with the tokens that it spends and creates.
type Valid struct {
	Request *request.Request // nil for an update
	Update  *policy.Update   // nil for a request
	Anchor  []byte
	Policy  uint64 // the version under which it was accepted
	Raw     []byte
	Digest  [32]byte
	At      time.Time
	Spends  []token.ID
	Creates []Output // outputs with an owner; those without are redeemed

	PolicyDigest [transcript.StateLen]byte // of the policy after it: of that version, or of the update's own
}

// Entry returns the entry that a ledger stores for v.
func (v *Valid) Entry() ledger.Entry {
	e := ledger.Entry{
		Anchor: v.Anchor, Digest: v.Digest, Time: v.At, Request: v.Raw, Policy: v.Policy, PolicyDigest: v.PolicyDigest, Update: v.Update != nil, Spends: v.Spends,
	}
	for _, c := range v.Creates {
		e.Creates = append(e.Creates, ledger.Created(c))
	}
	return e
}

// Output is a token that a request creates.
type Output struct {
	ID    token.ID
	Token []byte // its encoding, as Tokens returns it
}

// Validate validates an encoded request or policy update for a block with the given time. Errors are as for
// ValidateBatch.
func (v *Validator) Validate(ctx context.Context, tokens Tokens, raw []byte, at time.Time) (*Valid, error) {
	results := v.ValidateBatch(ctx, tokens, [][]byte{raw}, at)
	return results[0].Valid, results[0].Err
}

// Result is the outcome for one request of a batch: either Valid or Err.
type Result struct {
	Valid *Valid
	Err   error
}

// ValidateBatch validates requests for one block with the given time. It uses one multi-scalar multiplication
// for the proofs of each range-proof system, one for all Ed25519 signatures, and one for all signatures of
// pseudonyms. If one of these multiplications fails, ValidateBatch finds the bad proofs or signatures by
// bisection. On an executor that has idle processors it does so for several parts of a large batch at once,
// and then asks for the tokens of each part separately.
//
// ValidateBatch accepts or rejects each request as Validate would, on the current ledger. So requests of one
// batch that spend the same token or have the same anchor may all be accepted. If ctx ends, all requests that
// have not been refused by then get the context's cause as their error.
func (v *Validator) ValidateBatch(ctx context.Context, tokens Tokens, raws [][]byte, at time.Time) []Result {
	own := make([][]byte, len(raws)) // the caller may use its buffers again
	for i, raw := range raws {
		if own[i] = raw; len(raw) <= token.MaxRequest {
			own[i] = slices.Clone(raw)
		}
	}
	return v.validate(ctx, tokens, own, at)
}

// leastTogether is the least number of requests that are validated together in one task of several. In smaller
// parts, verifying proofs and signatures takes much more processor time (BenchmarkValidatorBatch).
const leastTogether = 16

// errUnchecked is the result of a request that no task has checked.
var errUnchecked = errors.New("validator: the request was not checked")

// validate does the work of ValidateBatch on buffers that no longer change. If several processors are idle, it
// validates parts of a large batch at the same time. If a part panics, its requests are validated again one by
// one, so that only the request that causes the panic fails.
func (v *Validator) validate(ctx context.Context, tokens Tokens, raws [][]byte, at time.Time) []Result {
	var current basis
	current.policy, current.digest = v.current.LoadDigest()
	results := slices.Repeat([]Result{{Err: errUnchecked}}, len(raws))
	err := executor.Ranges(ctx, v.ex, len(raws), leastTogether, func(ctx context.Context, lo, hi int) error {
		own := results[lo:hi]
		copy(own, v.together(ctx, tokens, raws[lo:hi], at, current))
		for i := range own {
			if _, panicked := errors.AsType[*executor.PanicError](own[i].Err); panicked && len(own) > 1 {
				own[i] = v.together(ctx, tokens, raws[lo+i:lo+i+1], at, current)[0]
			}
		}
		return nil
	})
	for i, r := range results {
		if err != nil && (r.Err == nil || r.Err == errUnchecked) { // as in each
			results[i] = Result{Err: err}
		}
	}
	return results
}

// together validates requests together. If that panics, all results have the *executor.PanicError.
func (v *Validator) together(ctx context.Context, tokens Tokens, raws [][]byte, at time.Time, current basis) (results []Result) {
	err := executor.Serial().Do(context.WithoutCancel(ctx), 1, func(context.Context, int) error {
		results = v.batch(ctx, tokens, raws, at, current)
		return nil
	})
	if err != nil {
		results = slices.Repeat([]Result{{Err: err}}, len(raws))
	}
	return results
}

func (v *Validator) batch(ctx context.Context, tokens Tokens, raws [][]byte, at time.Time, current basis) []Result {
	cases := make([]*pending, len(raws))
	for i, raw := range raws {
		cases[i] = &pending{v: v, raw: raw, at: at, basis: current}
	}
	v.each(ctx, cases, func(c *pending) {
		if policy.IsUpdate(c.raw) {
			c.fail(c.updates()) // an update has no actions and needs no further checks
		} else if c.fail(c.examine()); c.err == nil {
			c.auditors()
		}
	})
	v.signatures(ctx, cases)
	v.inputs(ctx, tokens, cases)
	v.outputs(ctx, cases)
	v.proofs(ctx, cases)
	results := make([]Result, len(raws))
	v.each(ctx, standing(cases), func(c *pending) {
		var err error
		c.result, err = c.valid()
		c.fail(err)
	})
	for i, c := range cases {
		if results[i].Err = c.err; c.err == nil {
			results[i].Valid = c.result
		}
	}
	return results
}

// leastCases is the least number of requests in a task of each. Fewer take no longer than waking a processor.
const leastCases = 4

// each calls check for each case, in tasks. If the context ends or a check panics, all cases fail with that
// error: none passes that was not checked.
func (v *Validator) each(ctx context.Context, cases []*pending, check func(c *pending)) {
	err := executor.Ranges(ctx, v.ex, len(cases), leastCases, func(ctx context.Context, lo, hi int) error {
		for _, c := range cases[lo:hi] {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			check(c)
		}
		return nil
	})
	if err != nil {
		for _, c := range cases {
			c.fail(err)
		}
	}
}

// failed returns the error of a check.
func failed(check string, action, index int, err error) error {
	return &zkbench.CheckError{Check: check, Action: action, Index: index, Err: err}
}

// refuse returns an error that wraps ErrPolicy.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{zkbench.ErrPolicy}, args...)...)
}

// standing returns the cases that have not failed a check so far.
func standing(cases []*pending) []*pending {
	var rest []*pending
	for _, c := range cases {
		if c.err == nil {
			rest = append(rest, c)
		}
	}
	return rest
}

// signatures verifies the signatures of all requests that have not failed so far.
func (v *Validator) signatures(ctx context.Context, cases []*pending) {
	v.each(ctx, standing(cases), func(c *pending) {
		c.toVerify = make([]identity.Signed, len(c.signatures))
		for i, s := range c.signatures {
			message := c.signed(&s)
			c.toVerify[i] = identity.Signed{ID: s.signer, Message: message[:], Signature: s.signature}
		}
	})
	if cases = standing(cases); len(cases) == 0 {
		return
	}
	batch := identity.NewBatch(v.ids)
	for _, c := range cases {
		batch.Add(c.toVerify...)
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

// askedTogether is the maximum number of tokens in one look-up. The inputs of one request are never split,
// even if they are more.
const askedTogether = 4096

// inputs compares the tokens that requests spend with the ledger's. It queries the ledger only after the
// signatures were verified, so that a request without valid signatures costs no look-up.
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
			if err != nil { // the request may be valid
				c.fail(fmt.Errorf("ledger: %w", err))
				continue
			}
			c.fail(c.inputs(found[:len(c.spends)]))
			found = found[len(c.spends):]
		}
		cases = cases[n:]
	}
}

// outputs parses the owners of outputs. The author of the request chose them freely, so this comes after the
// signatures were verified.
func (v *Validator) outputs(ctx context.Context, cases []*pending) {
	v.each(ctx, standing(cases), func(c *pending) { c.fail(c.owners()) })
}

// proofs decodes and verifies the proofs of all requests that have not failed so far.
func (v *Validator) proofs(ctx context.Context, cases []*pending) {
	type place struct {
		c        *pending
		index    int // of the action
		received *action.Received
		err      error
	}
	for _, s := range v.params.RangeProofs {
		pp := v.crypto[s.ProofType]
		var decoded []place
		for _, c := range standing(cases) {
			for i := range c.actions {
				if c.request.Actions[i].ProofType == s.ProofType {
					decoded = append(decoded, place{c: c, index: i})
				}
			}
		}
		if len(decoded) == 0 {
			continue
		}
		err := executor.Ranges(ctx, v.ex, len(decoded), leastCases, func(ctx context.Context, lo, hi int) error {
			for i := lo; i < hi && ctx.Err() == nil; i++ {
				p := &decoded[i]
				p.received, p.err = action.Receive(pp, p.c.actions[p.index])
			}
			return context.Cause(ctx)
		})
		var items []action.Item
		var places []place
		var verified []*pending
		for _, p := range decoded {
			switch {
			case err != nil:
				p.c.fail(err)
			case p.err != nil:
				p.c.fail(failed(Proofs, p.index, -1, p.err))
			case p.c.err == nil:
				items = append(items, action.Item{Action: p.received, Anchor: request.ActionAnchor(v.ledger, p.c.request.Anchor, p.index)})
				places, verified = append(places, p), append(verified, p.c)
			}
		}
		if len(items) == 0 {
			continue
		}
		// These requests have passed inputs, so they were compared with the ledger.
		forEachFailed(action.VerifyBatch(ctx, v.ex, pp, action.NothingLookedUp(), items), verified, func(bad *zkbench.CheckError) {
			p := places[bad.Action]
			p.c.fail(failed(Proofs, p.index, -1, bad.Err))
		})
	}
}

// forEachFailed calls f with every *zkbench.CheckError of a batch. If err concerns the whole batch, all cases
// fail with it.
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

// Authorized checks in an encoded request what can be checked without a ledger and a clock. An auditor
// calls it before signing. It checks encodings, proof types, limits, the policy's rules, and the signatures
// of issuers and owners. If a script owns an input, the identities that the input's witness selects
// (script.Signers) must have signed. Authorized does not check the times in the script.
//
// Authorized does not verify proofs or auditors' signatures. Auditors' signatures and preimages may be
// missing. It does not check that the tokens exist: anyone can invent a token and sign as its owner. Errors
// are as for Validate.
func (v *Validator) Authorized(ctx context.Context, raw []byte) error {
	c := &pending{v: v, raw: raw, anyTime: true, basis: basis{policy: v.current.Load()}}
	c.err = c.examine()
	v.signatures(ctx, []*pending{c})
	v.outputs(ctx, []*pending{c})
	return c.err
}

// Ledger returns the id of the validator's ledger.
func (v *Validator) Ledger() token.LedgerID { return v.ledger }

// First returns a validator for another ledger with the same parameters, for example for the parent from
// which v's ledger was forked. The new validator starts with the first policy, which is that of the
// parameters, and follows updates independently of v. It shares the tables and parsed keys of v. First
// returns ErrParams if the ledger has other parameters.
func (v *Validator) First(genesis ledger.Genesis) (*Validator, error) {
	digest, err := v.params.Digest()
	if err != nil {
		return nil, err
	}
	if err := genesis.CheckParams(digest); err != nil {
		return nil, err
	}
	first := *v
	first.ledger = genesis.ID()
	first.current, err = policy.NewCurrent(genesis, &v.params.Policy, first.pin)
	return &first, err
}

// PointLen returns the length of a commitment in bytes.
func (v *Validator) PointLen() int { return v.pointLen }
