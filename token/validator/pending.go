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

// basis is the policy under which a request is checked, even if the validator adopts another meanwhile, and its
// digest.
type basis struct {
	policy *token.Policy
	digest [transcript.StateLen]byte
}

// pending is a request on its way through the checks.
type pending struct {
	v   *Validator
	raw []byte
	at  time.Time
	basis
	// anyTime is set if there is no block time. A script is then checked at a time that allows what its
	// witness asks for.
	anyTime bool
	err     error // the first check that failed

	update  *policy.Update // nil for a request
	request *request.Request
	message [transcript.StateLen]byte
	// auditMessage is the message that auditors sign in place of message.
	auditMessage [transcript.StateLen]byte
	actions      []*action.Action
	signatures   []signature
	toVerify     []identity.Signed // signatures with what they sign
	spends       []token.ID
	named        int // identities that outputs name so far
	result       *Valid
}

// maxNamed is the maximum number of identities that the outputs of a request may name. It is the maximum
// number of signatures if all owners are plain, so thresholds do not make more keys to parse.
const maxNamed = request.MaxSignatures

// signature is a signature that the request needs.
type signature struct {
	check         string
	action, index int
	signer        identity.Identity // byte for byte as in the token, its script or the policy
	signature     []byte
	role          request.Role
	number        uint64 // the number of request.ToSign
	nth           int    // of an input that has several, from 1
}

// signed returns the bytes that a signature covers.
func (c *pending) signed(s *signature) [transcript.StateLen]byte {
	message := c.message
	if s.role == request.Auditor {
		message = c.auditMessage
	}
	return request.ToSign(message, s.role, s.number, s.signer)
}

// fail keeps the first error, if any.
func (c *pending) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// examine runs all checks that need no curve arithmetic and no ledger. It collects the signatures that are to
// be verified, except those of auditors.
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
	c.message = c.request.Message(c.v.ledger) // last, because it hashes the whole request
	c.auditMessage = c.request.AuditMessage(c.message)
	return nil
}

// rules runs the checks that depend only on the request, the parameters and the policy.
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

// structure decodes the request and parses its actions, without arithmetic.
func (c *pending) structure() (err error) {
	if c.request, err = request.Decode(c.raw); err != nil {
		return failed(Structure, -1, -1, err)
	}
	if policy.Reserved(c.request.Anchor) {
		return failed(Structure, -1, -1, refuse("the anchor is reserved for policy updates"))
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

// validity refuses a request that has expired at the block's time.
func (c *pending) validity() error {
	until := c.request.Until
	if until == 0 || c.anyTime {
		return nil
	}
	if now := c.at.Unix(); now < 0 || uint64(now) > until {
		return failed(Validity, -1, -1, refuse("expired: its validity ends at %d Unix seconds, the block's time is %d", until, now))
	}
	return nil
}

// duplicates refuses a request in which two inputs, of any actions, name the same token.
func (c *pending) duplicates() error {
	seen := make(map[string]bool)
	for i := range c.actions {
		for j := range c.actions[i].Inputs {
			id := string(c.actions[i].Inputs[j].ID)
			if seen[id] {
				return failed(DuplicateInputs, i, j, refuse("an earlier input names the same token"))
			}
			seen[id] = true
		}
	}
	return nil
}

// issuer checks that an action has an issuer's signature exactly if it needs one: if it is an issue, or a
// redemption and the policy requires it.
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
		return failed(check, i, -1, refuse("an issuer's signature that is not needed"))
	case given == nil:
		return nil
	case c.policy.Issuer(given.Identity) == nil:
		return failed(check, i, -1, refuse("the identity is not one of the %d issuers of policy %d", len(c.policy.Issuers), c.policy.Version))
	}
	c.signatures = append(c.signatures, signature{Issuers, i, -1, given.Identity, given.Signature, request.IssuerRole, uint64(i), 0})
	return nil
}

// inputs compares the tokens that the request spends with the ledger's answers, one for each.
func (c *pending) inputs(found []ledger.Found) error {
	for i := range c.actions {
		for j := range c.actions[i].Inputs {
			stored := found[0]
			found = found[1:]
			switch err := stored.Err; {
			case errors.Is(err, zkbench.ErrSpent) || errors.Is(err, zkbench.ErrPolicy):
				return failed(Inputs, i, j, err)
			case err != nil: // the request may be valid
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

// scripts returns who must sign for each input of an action: its owner, or the signers that its script names
// at this time. It refuses outputs whose owners are not allowed there.
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
		return failed(Owners, i, j, refuse("%d signatures, want one for each of %d signers", len(given), len(signers)))
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

// owners refuses outputs that nobody could ever spend: an owner, and each identity in a script, must be a
// valid identity. The keys that it parses are not cached.
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

// unlocks reports whether an action takes a token out of a hash time lock. Such a lock names the identity
// that may own the output. That identity was checked when the lock was made, under the policy of that time. A
// later policy must not keep the token from its owner.
func unlocks(a *action.Action) bool {
	return len(a.Inputs) > 0 && identity.Identity(a.Inputs[0].Token.Owner).Type() == script.TypeHashLock
}

// allowed refuses an output's owner if the policy does not allow its kind.
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

// updates runs all checks of a policy update.
func (c *pending) updates() (err error) {
	if c.update, err = policy.Decode(c.raw); err != nil {
		return failed(Structure, -1, -1, err)
	}
	return c.update.Verify(c.v.ledger, c.policy)
}

// valid returns the request as a Valid.
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
	digest := c.digest
	if c.update != nil {
		digest = e.PolicyDigest
	}
	v := &Valid{
		Request: c.request, Update: c.update, Anchor: e.Anchor, Policy: c.policy.Version, Raw: c.raw, Digest: e.Digest, At: c.at, Spends: e.Spends,
		PolicyDigest: digest,
	}
	for _, created := range e.Creates {
		v.Creates = append(v.Creates, Output(created))
	}
	return v, nil
}
