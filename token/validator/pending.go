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
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/transcript"
)

// pending is a request on its way through the checks.
type pending struct {
	v   *Validator
	raw []byte
	at  time.Time
	// anyTime: at says nothing, and a script is judged at a time that allows what its
	// witness asks for.
	anyTime bool
	err     error // the first check that failed

	request    *request.Request
	message    [transcript.StateLen]byte
	actions    []*action.Action
	signatures []signature
	spends     []token.ID
	creates    []Output
}

// signature is one that the request needs.
type signature struct {
	check         string
	action, index int
	signer        identity.Identity
	signature     []byte
	role          request.Role
	of            int // the action that an issuer signs
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
	for i := range c.actions {
		if err := c.locks(i); err != nil {
			return err
		}
		for j := range c.actions[i].Inputs {
			c.spends = append(c.spends, c.actions[i].Inputs[j].ID)
		}
	}
	c.message = c.request.Message(c.v.ledger) // hashes all of it, so when all else is well
	return nil
}

// rules does the checks that the request and the parameters decide by themselves.
func (c *pending) rules() error {
	if err := c.structure(); err != nil {
		return err
	}
	if err := c.duplicates(); err != nil {
		return err
	}
	for i := range c.actions {
		if n, most := len(c.actions[i].Metadata), c.v.params.Policy.Limits.Metadata; n > most {
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
	limits := c.v.params.Policy.Limits
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
			return failed(Structure, i, -1, policy("%d signatures of owners for %d inputs", len(a.Spends), len(p.Inputs)))
		}
		if a.Kind == token.Issue {
			for j := range p.Outputs {
				if len(p.Outputs[j].Owner) == 0 {
					return failed(Structure, i, j, policy("an issued output has no owner"))
				}
			}
		}
	}
	if n, want := len(c.request.Auditors), len(c.v.params.Policy.Auditors); n != want {
		return failed(Structure, -1, -1, policy("%d signatures of auditors, the parameters have %d", n, want))
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
				return failed(DuplicateInputs, i, j, policy("an input before names the same token"))
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
			if len(c.actions[i].Outputs[j].Owner) == 0 && c.v.params.Policy.Redeem == token.RedeemIssuer {
				needed = true
			}
		}
	}
	given := c.request.Actions[i].Issuer
	switch {
	case needed && given == nil:
		return failed(check, i, -1, policy("no issuer's signature"))
	case !needed && given != nil:
		return failed(check, i, -1, policy("an issuer's signature that nothing asks for"))
	case given == nil:
		return nil
	case given.Index >= len(c.v.params.Policy.Issuers):
		return failed(check, i, -1, policy("issuer %d, the parameters have %d", given.Index, len(c.v.params.Policy.Issuers)))
	}
	c.signatures = append(c.signatures, signature{Issuers, i, -1, c.v.params.Policy.Issuers[given.Index].Identity, given.Signature, request.IssuerRole, i})
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
				return failed(Inputs, i, j, policy("the ledger has another token under this id"))
			}
		}
	}
	return nil
}

// locks decides who must sign for each input: its owner, or whom its script names
// at this time. A transfer that gives a token to a script or takes it from one has
// one input and one output.
func (c *pending) locks(i int) error {
	a := c.actions[i]
	for j := range a.Outputs {
		if !script.IsScript(a.Outputs[j].Owner) {
			continue
		}
		lock, err := script.Parse(a.Outputs[j].Owner)
		if err == nil && !c.anyTime {
			err = lock.CheckLock(c.at)
		}
		if err == nil {
			err = script.CheckShape(max(len(a.Inputs), 1), len(a.Outputs))
		}
		if err != nil {
			return failed(TimeLocks, i, j, err)
		}
	}
	for j := range a.Inputs {
		if n := len(c.request.Actions[i].Spends[j].Signatures); n != 1 {
			return failed(Owners, i, j, policy("%d signatures for 1 signer", n))
		}
		spend, owner := &c.request.Actions[i].Spends[j], a.Inputs[j].Token.Owner
		signer := identity.Identity(owner)
		if script.IsScript(owner) {
			var err error
			if signer, err = c.unlock(owner, spend.Unlock); err == nil {
				err = script.CheckShape(len(a.Inputs), len(a.Outputs))
			}
			if err == nil {
				err = script.CheckOutput(signer, a.Outputs[0].Owner)
			}
			if err != nil {
				return failed(TimeLocks, i, j, err)
			}
		} else if len(spend.Unlock) > 0 {
			return failed(TimeLocks, i, j, policy("an input whose owner is no script is unlocked"))
		}
		c.signatures = append(c.signatures, signature{Owners, i, j, signer, spend.Signatures[0], request.Owner, 0})
	}
	return nil
}

func (c *pending) unlock(owner, witness []byte) (identity.Identity, error) {
	lock, err := script.Parse(owner)
	if err != nil {
		return nil, err
	}
	u, err := script.DecodeUnlock(witness)
	if err != nil {
		return nil, err
	}
	at := c.at
	if c.anyTime {
		at = time.Unix(int64(lock.Deadline()), 0) // at most script.MaxTime
		if u.Kind == script.Claim {
			at = at.Add(-time.Second)
		}
	}
	return lock.Signer(at, u)
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
	encoded, err := output.Encode()
	if err != nil {
		return err
	}
	c.creates = append(c.creates, Output{request.OutputID(c.request.Anchor, i, j), encoded})
	if err := c.allowed(output.Owner); err != nil {
		return err
	}
	ids := []identity.Identity{output.Owner}
	if script.IsScript(output.Owner) {
		lock, err := script.Parse(output.Owner)
		if err != nil {
			return err
		}
		ids = []identity.Identity{lock.Sender(), lock.Recipient()}
	}
	for _, id := range ids {
		if err := c.allowed(id); err != nil {
			return err
		}
		key, err := c.v.ids.Verifier(id)
		if err != nil {
			return err
		}
		if identity.AnybodySigns(key) {
			return policy("a key of small order, for which anybody can sign")
		}
	}
	return nil
}

// ownerKinds are the kinds of owners by the type byte.
var ownerKinds = map[identity.Type]token.OwnerKinds{
	identity.TypeX509: token.OwnerX509, identity.TypeEd25519: token.OwnerEd25519, identity.TypePseudonym: token.OwnerPseudonym,
	script.TypeHashLock: token.OwnerHashLock,
}

// allowed refuses an owner of a kind that the policy does not allow; of a type that nobody knows, parsing says it.
func (c *pending) allowed(owner identity.Identity) error {
	kind, known := ownerKinds[owner.Type()]
	if known && kind&c.v.params.Policy.Owners == 0 {
		return policy("an owner of kind %s, accepted: %s", kind, c.v.params.Policy.Owners)
	}
	return nil
}

func (c *pending) auditors() {
	for k, s := range c.request.Auditors {
		c.signatures = append(c.signatures, signature{Auditors, -1, k, c.v.params.Policy.Auditors[k].Identity, s, request.Auditor, 0})
	}
}

// valid is what the request does.
func (c *pending) valid() *Valid {
	return &Valid{Request: c.request, Raw: c.raw, Digest: sha256.Sum256(c.message[:]), At: c.at, Spends: c.spends, Creates: c.creates}
}
