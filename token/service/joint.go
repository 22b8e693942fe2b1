package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
)

// Effect returns what a request does to the wallet once it is on the ledger. Others may have made the request,
// so a payee that signs nothing can use Effect to check it. The request is not a payment yet: hand over goods
// only when the ledger has a request with the digest of this one. Effect returns ErrPolicy if the request
// spends a token that belongs to the wallet's keys and that the wallet has not found on the ledger. In that
// case, call Sync first.
func (w *Wallet) Effect(ctx context.Context, sub *Submission) (*Effect, error) {
	signed, err := sub.clone()
	if err != nil {
		return nil, err
	}
	j, err := w.joint(ctx, signed)
	if err != nil {
		return nil, err
	}
	return &j.effect, nil
}

// Sign signs a request of several parties for the wallet's inputs, if the request does to the wallet exactly
// what deal says, in every type (Effect). It signs for a token that the wallet owns alone if the wallet has
// proposed to spend that token in that action (Propose). It signs for a token that is owned together with
// others if deal.Shared.Spends names the token and the token still needs signatures of its owners. If the
// wallet has proposed to spend such a token, Sign signs for it only in the proposed action. If the wallet
// has proposed anything in the request, Sign accepts only the proposed end of validity.
//
// When Sign returns nil, the vault has stored durably what Sign has signed, and sub has the signatures. After
// an error sub is unchanged. Sign signs only one request per anchor and returns ErrAnchorConflict for any
// other. It returns a *DealError if the effect of the request is not what deal says, and ErrPolicy if there is
// nothing to sign.
func (s *TransferService) Sign(ctx context.Context, sub *Submission, deal Deal) error {
	signed, err := sub.clone()
	if err != nil {
		return err
	}
	j, err := s.wallet.joint(ctx, signed)
	if err != nil {
		return err
	}
	if len(j.inputs) == 0 {
		return deny("the request has nothing for this wallet to sign")
	}
	if err := s.mayJoin(j); err != nil {
		return err
	}
	if err := deal.check(&j.effect); err != nil {
		return err
	}
	if err := s.signJoint(j); err != nil {
		return err
	}
	var ids []token.ID
	for _, in := range j.inputs {
		ids = append(ids, in.ID)
	}
	if err := keepSigned(ctx, s.vault, j, j.signed.Request.Digest(s.ledger), ids); err != nil {
		return err
	}
	*sub = *j.signed
	return nil
}

// Sign signs the issues that this issuer has proposed in a request of several parties. The parameter treasury
// is the wallet that is paid for the issued tokens. In deal, the issuer and this wallet count as one party: the
// party gives the issued tokens and what the wallet spends, and gets what the wallet receives.
//
// Durability and errors are as for TransferService.Sign. If Sign is called again with the same request, it
// returns the same signatures and does not check deal. If nobody pays for an issue within the request, use
// Issue.
func (s *IssueService) Sign(ctx context.Context, sub *Submission, treasury *Wallet, deal Deal) error {
	if treasury == nil {
		return refuse("no treasury: the wallet that is paid for what is issued")
	}
	signed, err := sub.clone()
	if err != nil {
		return err
	}
	r := signed.Request
	digest := r.Digest(s.ledger)
	if again, err := s.signedBefore(r, digest); again || err != nil {
		if err == nil {
			*sub = *signed
		}
		return err
	}
	proposed, err := proposals(s.vault, r)
	if err != nil {
		return err
	}
	if len(proposed) == 0 {
		return deny("the request has nothing for this issuer to sign")
	}
	paid, err := treasury.joint(ctx, signed)
	if err != nil {
		return fmt.Errorf("treasury: %w", err)
	}
	for i := range proposed {
		a := &r.Actions[i]
		if a.Kind != token.Issue || a.Issuer == nil {
			return deny("action %d is not an issue of this issuer", i)
		}
		if err := s.signAction(r, i); err != nil {
			return err
		}
		issued, err := s.issued(ctx, r, i)
		if err != nil {
			return fmt.Errorf("action %d: %w", i, err)
		}
		paid.effect.Spends = append(paid.effect.Spends, issued...)
	}
	if err := deal.check(&paid.effect); err != nil {
		return err
	}
	if err := keepSigned(ctx, s.vault, paid, digest, nil); err != nil {
		return err
	}
	*sub = *signed
	return nil
}

// signedBefore reports whether this issuer has signed a request with that digest, and adds the signatures to r
// again.
func (s *IssueService) signedBefore(r *request.Request, digest [32]byte) (signed bool, err error) {
	k, err := lookUp(s.vault, r.Anchor, getPending)
	if k == nil || err != nil || k.digest != digest {
		return false, err
	}
	before, err := request.Decode(k.request)
	if err != nil {
		return false, damaged(bucketSubmissions, err)
	}
	for i := range r.Actions { // the digest fixes their number and their issuers
		if named := r.Actions[i].Issuer; named != nil && s.ids.SameKey(named.Identity, s.issuer.Identity()) {
			named.Signature = before.Actions[i].Issuer.Signature
			signed = signed || len(named.Signature) > 0
		}
	}
	return signed, nil
}

// clone returns a copy of a submission.
func (s *Submission) clone() (*Submission, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	raw, err := s.Request.Encode()
	if err != nil {
		return nil, err
	}
	info, err := s.Information.Encode()
	if err != nil {
		return nil, err
	}
	c := new(Submission)
	if c.Request, err = request.Decode(raw); err != nil {
		return nil, err
	}
	c.Information, err = audit.Decode(info)
	return c, err
}

// proposals returns the indices of those actions in a request that the vault has proposed under its anchor,
// with the same bytes, kind, proof type and issuer. It returns ErrPolicy if they were proposed with another end
// of validity.
func proposals(v *Vault, r *request.Request) (map[int]bool, error) {
	k, err := lookUp(v, r.Anchor, getPending)
	if k == nil || err != nil {
		return nil, err
	}
	mine, err := request.Decode(k.request)
	if err != nil {
		return nil, damaged(bucketSubmissions, err)
	}
	if mine.Until != r.Until {
		return nil, deny("the request ends at %d Unix seconds, it was proposed to end at %d (0: never)", r.Until, mine.Until)
	}
	proposed := make(map[int]bool)
	for i := range r.Actions {
		if slices.ContainsFunc(mine.Actions, func(a request.Action) bool { return sameAction(&a, &r.Actions[i]) }) {
			proposed[i] = true
		}
	}
	return proposed, nil
}

// sameAction reports whether two actions are equal, apart from signatures.
func sameAction(a, b *request.Action) bool {
	issuer := func(a *request.Action) []byte {
		if a.Issuer == nil {
			return nil
		}
		return a.Issuer.Identity
	}
	return a.Kind == b.Kind && a.ProofType == b.ProofType && bytes.Equal(issuer(a), issuer(b)) && bytes.Equal(a.Raw, b.Raw)
}

// joint is a request of several parties, from the point of view of one of them.
type joint struct {
	signed *Submission // the wallet's own copy
	effect Effect
	inputs []jointInput
	spends []token.ID // the inputs of all parties
}

// jointInput is an input that the wallet owns, alone or with others.
type jointInput struct {
	action, input int
	*tokenRecord
	signers []identity.Signer // of its nonces
}

// joint finds what of a request is the wallet's. A signature covers the whole request. So the wallet must know
// every input for which one of its keys could count.
func (w *Wallet) joint(ctx context.Context, signed *Submission) (*joint, error) {
	j := &joint{signed: signed}
	r := signed.Request
	var others [][]byte // owners of the inputs that the wallet does not know
	if len(signed.Information.Actions) != len(r.Actions) {
		return nil, refuse("information on %d actions, the request has %d", len(signed.Information.Actions), len(r.Actions))
	}
	for i := range r.Actions {
		a, err := action.Parse(w.pp.PointLen(), r.Actions[i].Kind, r.Actions[i].Raw)
		if err != nil {
			return nil, fmt.Errorf("action %d: %w", i, err)
		}
		if len(r.Actions[i].Spends) != len(a.Inputs) {
			return nil, refuse("action %d: %d spends of %d inputs", i, len(r.Actions[i].Spends), len(a.Inputs))
		}
		before := len(j.effect.Spends)
		for k := range a.Inputs {
			j.spends = append(j.spends, a.Inputs[k].ID)
			known, err := w.jointInput(j, i, k, &a.Inputs[k])
			if err != nil {
				return nil, fmt.Errorf("action %d, input %d: %w", i, k, err)
			}
			if !known {
				others = append(others, a.Inputs[k].Token.Owner)
			}
		}
		// An action with inputs of others is theirs too: its payment would count for each of them.
		mine := j.effect.Spends[before:]
		if len(mine) == len(a.Inputs) && slices.ContainsFunc(mine, func(s Stake) bool { return s.Shared != nil }) {
			if err := w.jointOutputs(ctx, j, i, a); err != nil {
				return nil, fmt.Errorf("action %d: %w", i, err)
			}
		}
		for k := range a.Outputs {
			h, err := w.openNote(ctx, request.OutputID(r.Anchor, i, k), &a.Outputs[k], a.Notes[k])
			if err != nil {
				return nil, fmt.Errorf("action %d, output %d: %w", i, k, err)
			}
			if h == nil {
				continue
			}
			s, err := h.stake()
			if err != nil {
				return nil, fmt.Errorf("action %d, output %d: %w", i, k, err)
			}
			if s.tags, err = note.Decode(a.Notes[k]); err != nil {
				return nil, err
			}
			j.effect.Receives = append(j.effect.Receives, s)
		}
	}
	return j, w.foreign(j, others)
}

// jointInput adds an input to the wallet's inputs if the wallet knows the token, and reports whether it does.
func (w *Wallet) jointInput(j *joint, i, k int, in *action.Input) (known bool, err error) {
	h, err := lookUp(w.Vault, in.ID, getToken)
	if h == nil || err != nil {
		return false, err
	}
	if !bytes.Equal(h.Token.Owner, in.Token.Owner) || !bytes.Equal(h.Token.Commitment, in.Token.Commitment) {
		return false, deny("the ledger has another token under this id")
	}
	signers, err := w.keys.signers(h.nonces...)
	if err != nil {
		return false, err
	}
	s, err := h.stake()
	if err != nil {
		return false, err
	}
	j.inputs = append(j.inputs, jointInput{i, k, h, signers})
	j.effect.Spends = append(j.effect.Spends, s)
	return true, nil
}

// jointOutputs adds the outputs of an action that spends a token owned together with others, as far as the
// information opens them.
func (w *Wallet) jointOutputs(ctx context.Context, j *joint, i int, a *action.Action) error {
	info := &j.signed.Information.Actions[i]
	if info.Sealed != nil || len(info.Outputs) != len(a.Outputs) {
		return nil
	}
	openings := make([]token.Opening, len(a.Outputs))
	for k := range openings {
		openings[k] = info.Outputs[k].Opening
	}
	commitments, err := w.pp.Commit(ctx, executor.Serial(), openings)
	if err != nil {
		return err
	}
	for k := range a.Outputs {
		if !bytes.Equal(commitments[k], a.Outputs[k].Commitment) {
			continue
		}
		h := &tokenRecord{ID: request.OutputID(j.signed.Request.Anchor, i, k), Token: a.Outputs[k], Opening: openings[k]}
		s, err := h.stake()
		if err != nil {
			return err
		}
		s.tags, _ = note.Decode(a.Notes[k]) // no tags if the output is redeemed, or if nobody can find it
		if named := j.signed.Request.Actions[i].Issuer; named != nil && len(s.Owner) == 0 {
			s.Issuer = named.Identity
		}
		j.effect.Outputs = append(j.effect.Outputs, s)
	}
	return nil
}

// foreign refuses tokens that the wallet does not know if a signature of the wallet could count for them.
// Somebody who has paid the wallet knows the opening, and could spend the token with a signature that was given
// for something else.
func (w *Wallet) foreign(j *joint, owners [][]byte) error {
	signers, err := w.keys.signers(note.Nonce{}) // the only signer of all tokens, or the signer of a pseudonym that no address has
	if err != nil {
		return err
	}
	for _, in := range j.inputs {
		for _, signer := range in.signers {
			if !slices.ContainsFunc(signers, func(other identity.Signer) bool { return bytes.Equal(other.Identity(), signer.Identity()) }) {
				signers = append(signers, signer) // once: to compare the keys of certificates takes time
			}
		}
	}
	for _, owner := range owners {
		ids, err := script.Identities(owner)
		if err != nil {
			return err
		}
		for _, signer := range signers {
			if slices.ContainsFunc(ids, func(id identity.Identity) bool { return w.keys.certificates.SameKey(id, signer.Identity()) }) {
				return deny("the request spends a token of this wallet that Sync has not found: call Sync first, or do not sign")
			}
		}
	}
	return nil
}

// stake returns a token as a Stake.
func (h *tokenRecord) stake() (s Stake, err error) {
	s = Stake{UnspentToken: h.unspentToken(), Owner: h.Token.Owner}
	switch identity.Identity(s.Owner).Type() {
	case script.TypeThreshold:
		s.Shared, err = script.ParseThreshold(s.Owner)
	case script.TypeHashLock:
		s.Lock, err = script.ParseHashLock(s.Owner)
	}
	return s, err
}

// mayJoin refuses a request that spends tokens of the wallet for which it must not sign.
func (s *TransferService) mayJoin(j *joint) error {
	r := j.signed.Request
	proposed, err := proposals(s.vault, r)
	if err != nil {
		return err
	}
	for _, in := range j.inputs {
		mine := in.state == reserved && bytes.Equal(in.anchor, r.Anchor)
		err = nil
		switch {
		case identity.Identity(in.Token.Owner).Type() == script.TypeHashLock:
			err = deny("a token that is locked: Claim and Reclaim spend it")
		case script.IsScript(in.Token.Owner) && !mine:
			if in.state != unspent {
				err = deny("another submission reserves this token")
			}
		case !mine || !proposed[in.action]:
			err = deny("the wallet has not proposed to spend this token here")
		}
		if err != nil {
			return fmt.Errorf("action %d, input %d: %w", in.action, in.input, err)
		}
	}
	return nil
}

// signJoint signs for the wallet's inputs. It adds to the information for auditors who the owner is.
func (s *TransferService) signJoint(j *joint) error {
	r, rules := j.signed.Request, s.rules()
	signatures := make(map[string][]byte)
	sign := func(signer identity.Signer, id identity.Identity) (_ []byte, err error) {
		if signatures[string(id)] == nil {
			signatures[string(id)], err = s.system.sign(r, signer, request.Owner, 0, id, nil)
		}
		return signatures[string(id)], err
	}
	done := false
	for _, in := range j.inputs {
		spend, info := &r.Actions[in.action].Spends[in.input], &j.signed.Information.Actions[in.action]
		if !script.IsScript(in.Token.Owner) {
			signature, err := sign(in.signers[0], in.Token.Owner)
			if err != nil {
				return err
			}
			*spend, done = request.Spend{Signatures: [][]byte{signature}}, true
			continue
		}
		t, err := script.ParseThreshold(in.Token.Owner)
		if err != nil {
			return damaged(bucketTokens, err)
		}
		if info.Sealed != nil || len(info.Inputs) <= in.input || len(info.Inputs[in.input].Owners) != len(spend.Signatures) {
			return refuse("action %d: the information on a token that is owned together is sealed, or not of those who have signed", in.action)
		}
		for i, signer := range in.signers { // as many of the wallet's identities as are needed
			for _, id := range s.wallet.keys.served(signer, in.Token.Owner) {
				unlock, at, err := t.Join(spend.Unlock, len(spend.Signatures), id)
				if errors.Is(err, zkbench.ErrPolicy) {
					continue
				}
				if err != nil {
					return err
				}
				signature, err := sign(signer, id)
				if err != nil {
					return err
				}
				known, err := s.wallet.keys.auditOwner(rules, in.nonces[i], signer, nil)
				if err != nil {
					return err
				}
				if known, err = audit.Seal(rules, s.ledger, id, known); err != nil { // the other owners see the information
					return err
				}
				spend.Unlock, spend.Signatures = unlock, slices.Insert(spend.Signatures, at, signature)
				owners := &info.Inputs[in.input].Owners
				*owners, done = slices.Insert(*owners, at, known), true
			}
		}
	}
	if !done {
		return deny("the wallet has signed, or enough owners have")
	}
	return nil
}

// keepSigned records that a request is signed, and reserves the vault's tokens that it spends. The request can
// never be recorded once an input of any party is spent elsewhere. So the record has the inputs of all parties.
func keepSigned(ctx context.Context, v *Vault, j *joint, digest [32]byte, ids []token.ID) error {
	k, err := newPending(j.signed, digest, j.spends)
	if err != nil {
		return err
	}
	anchor := j.signed.Request.Anchor
	return v.update(ctx, func(tx *bbolt.Tx) error {
		before, err := getPending(tx, anchor)
		switch {
		case err != nil:
			return err
		case before != nil && before.digest != [32]byte{} && before.digest != digest:
			return fmt.Errorf("%w: another request was signed under it", zkbench.ErrAnchorConflict)
		}
		for _, id := range ids {
			h, err := getToken(tx, id)
			if err != nil {
				return err
			}
			if h != nil && h.state == reserved && bytes.Equal(h.anchor, anchor) {
				continue
			}
			if err := reserve(tx, id, anchor, nil); err != nil {
				return err
			}
		}
		if before != nil {
			for _, id := range before.inputs {
				if !slices.ContainsFunc(k.inputs, func(other token.ID) bool { return bytes.Equal(other, id) }) {
					k.inputs = append(k.inputs, id)
				}
			}
			if err := removePending(tx, anchor, before); err != nil {
				return err
			}
		}
		return addPending(tx, anchor, k)
	})
}
