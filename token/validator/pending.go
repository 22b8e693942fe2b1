package validator

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/transcript"
)

// pending is a request on its way through the checks.
type pending struct {
	v   *Validator
	raw []byte
	at  time.Time
	// policy is the one under which the request is judged, whatever the validator adopts meanwhile.
	policy *token.Policy
	// anyTime: at says nothing, and a script is judged at a time that allows what its
	// witness asks for.
	anyTime bool
	err     error // the first check that failed

	update  *policy.Update // one in place of a request
	request *request.Request
	message [transcript.StateLen]byte
	// auditMessage is what auditors sign in place of message.
	auditMessage [transcript.StateLen]byte
	actions      []*action.Action
	signatures   []signature
	spends       []token.ID
	named        int // identities that outputs name so far
}

// maxNamed is how many identities the outputs of a request may name: as many as their tokens take signatures
// where all owners are plain, so that thresholds do not make more keys to parse.
const maxNamed = request.MaxSignatures

// signature is one that the request needs.
type signature struct {
	check         string
	action, index int
	signer        identity.Identity // as it stands in the token, its script or the policy
	signature     []byte
	role          request.Role
	of            uint64 // the action that an issuer signs, the policy's version that an auditor does
	nth           int    // of an input that has several, from 1
}

// signed returns what a signature is of.
func (c *pending) signed(s *signature) [transcript.StateLen]byte {
	message := c.message
	if s.role == request.Auditor {
		message = c.auditMessage
	}
	return request.ToSign(message, s.role, s.of, s.signer)
}

// fail keeps the first error, if any.
func (c *pending) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// examine does all checks that compute nothing and ask no ledger, and collects the work of the others, auditors' signatures
// apart.
func (c *pending) examine() error {
	if err := c.rules(); err != nil {
		return err
	}
	signers := make([][][]identity.Identity, len(c.actions))
	for i := range c.actions {
		var err error
		if signers[i], err = c.scripts(i); err != nil {
			return err
		}
	}
	for i := range c.actions {
		for j := range c.actions[i].Inputs {
			if err := c.signedBy(i, j, signers[i][j]); err != nil {
				return err
			}
			c.spends = append(c.spends, c.actions[i].Inputs[j].ID)
		}
	}
	c.message = c.request.Message(c.v.ledger) // hashes all of it, so when all else is well
	c.auditMessage = c.request.AuditMessage(c.message)
	return nil
}

// rules does the checks that the request and the parameters decide by themselves.
func (c *pending) rules() error {
	if err := c.structure(); err != nil {
		return err
	}
	if err := c.validity(); err != nil {
		return err
	}
	if err := c.duplicates(); err != nil {
		return err
	}
	for i := range c.actions {
		if n, most := len(c.actions[i].Metadata), c.policy.Limits.Metadata; n > most {
			return failed(Metadata, i, -1, &zkbench.LimitError{What: "bytes of metadata", Estimate: int64(n), Max: int64(most)})
		}
	}
	for i := range c.actions {
		if err := c.issuer(i); err != nil {
			return err
		}
	}
	return nil
}

// structure decodes the request and parses its actions, without any arithmetic.
func (c *pending) structure() (err error) {
	if c.request, err = request.Decode(c.raw); err != nil {
		return failed(Structure, -1, -1, err)
	}
	if policy.Reserved(c.request.Anchor) {
		return failed(Structure, -1, -1, refuse("an anchor that is kept for updates of the policy"))
	}
	limits := c.policy.Limits
	c.actions = make([]*action.Action, len(c.request.Actions))
	for i := range c.request.Actions {
		a := &c.request.Actions[i]
		pp, ok := c.v.crypto[a.ProofType]
		if !ok {
			return failed(Structure, i, -1, fmt.Errorf("%w: proof type %q, accepted: %s", zkbench.ErrParams, a.ProofType, slices.Sorted(maps.Keys(c.v.crypto))))
		}
		if c.actions[i], err = action.Parse(c.v.pointLen, a.Kind, a.Raw); err != nil {
			return failed(Structure, i, -1, err)
		}
		p, proofLen := c.actions[i], pp.ProofLen(len(c.actions[i].Inputs), len(c.actions[i].Outputs))
		switch {
		case len(p.Inputs) > limits.Inputs:
			return failed(Structure, i, -1, &zkbench.LimitError{What: "inputs", Estimate: int64(len(p.Inputs)), Max: int64(limits.Inputs)})
		case len(p.Outputs) > limits.Outputs:
			return failed(Structure, i, -1, &zkbench.LimitError{What: "outputs", Estimate: int64(len(p.Outputs)), Max: int64(limits.Outputs)})
		case len(p.Proof()) != proofLen:
			return failed(Structure, i, -1, &zkbench.DecodeError{Path: "proof", Reason: fmt.Sprintf("%d bytes, want %d", len(p.Proof()), proofLen)})
		case len(a.Spends) != len(p.Inputs):
			return failed(Structure, i, -1, refuse("%d signatures of owners for %d inputs", len(a.Spends), len(p.Inputs)))
		}
		if a.Kind == token.Issue {
			for j := range p.Outputs {
				if len(p.Outputs[j].Owner) == 0 {
					return failed(Structure, i, j, refuse("an issued output has no owner"))
				}
			}
		}
	}
	if n, want := len(c.request.Auditors), len(c.policy.Auditors); n != want {
		return failed(Structure, -1, -1, refuse("%d signatures of auditors, the policy has %d", n, want))
	}
	return nil
}

// validity refuses a request whose validity has ended at the block's time.
func (c *pending) validity() error {
	until := c.request.Until
	if until == 0 || c.anyTime {
		return nil
	}
	if now := c.at.Unix(); now < 0 || uint64(now) > until {
		return failed(Validity, -1, -1, refuse("at %d Unix seconds, its validity ends at %d", now, until))
	}
	return nil
}

// duplicates refuses a token that two inputs of the request name, in whatever
// actions.
func (c *pending) duplicates() error {
	seen := make(map[string]bool)
	for i := range c.actions {
		for j := range c.actions[i].Inputs {
			id := string(c.actions[i].Inputs[j].ID)
			if seen[id] {
				return failed(DuplicateInputs, i, j, refuse("an input before names the same token"))
			}
			seen[id] = true
		}
	}
	return nil
}

// issuer sees to it that an issue, and a redemption where the policy asks for it,
// comes with an issuer's signature, and nothing else does.
func (c *pending) issuer(i int) error {
	check, needed := Issuers, c.request.Actions[i].Kind == token.Issue
	if !needed {
		check = RedeemPolicy
		for j := range c.actions[i].Outputs {
			if len(c.actions[i].Outputs[j].Owner) == 0 && c.policy.Redeem == token.RedeemIssuer {
				needed = true
			}
		}
	}
	given := c.request.Actions[i].Issuer
	switch {
	case needed && given == nil:
		return failed(check, i, -1, refuse("no issuer's signature"))
	case !needed && given != nil:
		return failed(check, i, -1, refuse("an issuer's signature that nothing asks for"))
	case given == nil:
		return nil
	case c.policy.Issuer(given.Identity) == nil:
		return failed(check, i, -1, refuse("an identity that is none of the %d issuers of policy %d", len(c.policy.Issuers), c.policy.Version))
	}
	c.signatures = append(c.signatures, signature{Issuers, i, -1, given.Identity, given.Signature, request.IssuerRole, uint64(i), 0})
	return nil
}

// inputs compares the tokens that the request spends with the ledger's, one for each.
func (c *pending) inputs(found []ledger.Found) error {
	for i := range c.actions {
		for j := range c.actions[i].Inputs {
			stored := found[0]
			found = found[1:]
			switch err := stored.Err; {
			case errors.Is(err, zkbench.ErrSpent) || errors.Is(err, zkbench.ErrPolicy):
				return failed(Inputs, i, j, err)
			case err != nil: // which says nothing about the request
				return fmt.Errorf("ledger: %w", err)
			}
			named, err := c.actions[i].Inputs[j].Token.Encode()
			if err != nil {
				return failed(Inputs, i, j, err)
			}
			if !bytes.Equal(stored.Token, named) {
				return failed(Inputs, i, j, refuse("the ledger has another token under this id"))
			}
		}
	}
	return nil
}

// scripts decides who must sign for each input of an action, its owner or those whom its script
// names at this time, and whether outputs may be given to their owners.
func (c *pending) scripts(i int) (signers [][]identity.Identity, err error) {
	a := c.actions[i]
	place := &script.Place{At: c.at, AnyTime: c.anyTime, Inputs: len(a.Inputs), Outputs: a.Outputs}
	for j := range a.Outputs {
		if err := script.CheckGiven(a.Outputs[j].Owner, place); err != nil {
			return nil, failed(Scripts, i, j, err)
		}
		ids, err := script.Identities(a.Outputs[j].Owner)
		if err != nil {
			return nil, failed(Scripts, i, j, err)
		}
		if c.named += len(ids); c.named > maxNamed {
			return nil, failed(Scripts, i, j, &zkbench.LimitError{What: "identities that own outputs", Estimate: int64(c.named), Max: maxNamed})
		}
	}
	signers = make([][]identity.Identity, len(a.Inputs))
	for j := range a.Inputs {
		spend := &c.request.Actions[i].Spends[j]
		if signers[j], err = script.Signers(a.Inputs[j].Token.Owner, script.Witness{Unlock: spend.Unlock, Preimage: spend.Preimage}, place); err != nil {
			return nil, failed(Scripts, i, j, err)
		}
	}
	return signers, nil
}

// signedBy collects the signatures of an input's signers: one for each, in their order.
func (c *pending) signedBy(i, j int, signers []identity.Identity) error {
	given := c.request.Actions[i].Spends[j].Signatures
	if len(given) != len(signers) {
		return failed(Owners, i, j, refuse("%d signatures, want one of each of %d", len(given), len(signers)))
	}
	for k, signer := range signers {
		nth := 0
		if len(signers) > 1 {
			nth = k + 1
		}
		c.signatures = append(c.signatures, signature{Owners, i, j, signer, given[k], request.Owner, 0, nth})
	}
	return nil
}

// owners refuses outputs that nobody could ever spend: an owner must be an identity,
// and a script's identities too. Nothing that is parsed here is kept.
func (c *pending) owners() error {
	for i := range c.actions {
		for j := range c.actions[i].Outputs {
			if err := c.owner(i, j); err != nil {
				return failed(OutputOwners, i, j, err)
			}
		}
	}
	return nil
}

func (c *pending) owner(i, j int) error {
	output := &c.actions[i].Outputs[j]
	if len(output.Owner) == 0 {
		return nil // redeemed
	}
	if err := c.allowed(i, output.Owner); err != nil {
		return err
	}
	ids, err := script.Identities(output.Owner)
	if err != nil {
		return err
	}
	keys := make([]identity.Verifier, len(ids))
	for k, id := range ids {
		if err := c.allowed(i, id); err != nil {
			return err
		}
		if keys[k], err = c.v.ids.Verifier(id); err != nil {
			return err
		}
		if identity.AnybodySigns(keys[k]) {
			return refuse("a key of small order, for which anybody can sign")
		}
		if slices.ContainsFunc(keys[:k], func(other identity.Verifier) bool { return identity.SameKey(keys[k], other) }) {
			return refuse("a script that names one key as two identities")
		}
	}
	return nil
}

// unlocks tells whether an action takes a token out of a hash time lock. Its rules let one identity own the output, which the lock names: that was
// looked at when the lock was made, under the policy of that time, and a later one does not keep the token from its owner.
func unlocks(a *action.Action) bool {
	return len(a.Inputs) > 0 && identity.Identity(a.Inputs[0].Token.Owner).Type() == script.TypeHashLock
}

// allowed refuses an owner, whom an output of an action names, of a kind that the policy does not allow.
func (c *pending) allowed(i int, owner identity.Identity) error {
	if unlocks(c.actions[i]) {
		return nil
	}
	return script.Allowed(c.policy.Owners, owner)
}

func (c *pending) auditors() {
	for k, s := range c.request.Auditors {
		c.signatures = append(c.signatures, signature{Auditors, -1, k, c.policy.Auditors[k].Identity, s, request.Auditor, c.policy.Version, 0})
	}
}

// updates decides on an update of the policy, which is all that there is to check of it.
func (c *pending) updates() (err error) {
	if c.update, err = policy.Decode(c.raw); err != nil {
		return failed(Structure, -1, -1, err)
	}
	return c.update.Verify(c.v.ledger, c.policy)
}

// valid is what the request does.
func (c *pending) valid() (*Valid, error) {
	var e ledger.Entry
	var err error
	if c.update != nil {
		e, err = entry.FromUpdate(c.update, c.raw)
	} else {
		e, err = entry.FromRequest(c.request, c.actions, sha256.Sum256(c.message[:]), c.raw)
	}
	if err != nil {
		return nil, failed(Structure, -1, -1, err)
	}
	v := &Valid{
		Request: c.request, Update: c.update, Anchor: e.Anchor, Policy: c.policy.Version, Raw: c.raw, Digest: e.Digest, At: c.at, Spends: e.Spends,
	}
	for _, created := range e.Creates {
		v.Creates = append(v.Creates, Output(created))
	}
	return v, nil
}
