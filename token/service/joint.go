package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
)

// Shared is the address of a token that k of the owners of addresses spend together (script.Threshold). All of their wallets find the
// token, and have it among Vault.Shared. The error is that of script.NewThreshold.
func Shared(k int, members ...Address) (Address, error) {
	ids := make([]identity.Identity, len(members))
	for i := range members {
		if len(members[i].Members) != 1 {
			return Address{}, refuse("member %d: the address of %d identities, accepted is 1", i, len(members[i].Members))
		}
		ids[i] = members[i].Owner
	}
	t, err := script.NewThreshold(k, ids...)
	if err != nil {
		return Address{}, err
	}
	shared := Address{Owner: t.Owner()}
	for _, id := range t.Identities() {
		i := slices.IndexFunc(members, func(a Address) bool { return bytes.Equal(a.Owner, id) })
		shared.Members = append(shared.Members, members[i].Members[0])
	}
	return shared, nil
}

// HeldShared is a token that the wallet owns together with others.
type HeldShared struct {
	Held
	Owner *script.Threshold
}

// Shared yields the tokens that the wallet owns together with others, that are on the ledger and that no submission holds, by id. They are
// no part of a balance. After an error it stops.
func (v *Vault) Shared() iter.Seq2[HeldShared, error] {
	return func(yield func(HeldShared, error) bool) {
		for h, err := range v.ofScripts(script.TypeThreshold) {
			var out HeldShared
			if err == nil {
				out.Held = h.held()
				out.Owner, err = script.ParseThreshold(h.Token.Owner)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// Propose is Transfer of one party to a request that several make, or sign: its actions from a place in it on, without signatures, under an anchor
// that all have agreed on. Tokens that are owned together with others are spent by it: Order.From names them, Order.Change who gets the
// rest. It is durable when it returns, and holds the tokens as Transfer does.
//
// The information is sealed to the auditors, so that others learn nothing from it; but in clear where members of a threshold, who know all
// of it, must say who they are.
func (s *TransferService) Propose(ctx context.Context, first int, orders ...Order) (*Submission, error) {
	parts, end, err := s.parts(first, orders)
	defer end()
	if err != nil {
		return nil, err
	}
	sub, err := s.prove(ctx, parts)
	if err != nil {
		return nil, err
	}
	for n, p := range parts {
		for i := range p.tokens {
			if script.IsScript(p.tokens[i].Token.Owner) {
				continue // who signs is not known yet
			}
			_, known, err := s.known(p, i)
			if err != nil {
				return nil, fmt.Errorf("input %d: %w", i, err)
			}
			sub.Information.Actions[n].Inputs[i].Owners = []audit.Owner{known}
		}
		if p.shared {
			continue
		}
		if err := s.seal(p.rules, sub, n, p.place); err != nil {
			return nil, err
		}
	}
	if err := s.keep(ctx, parts, sub, [32]byte{}); err != nil {
		return nil, err
	}
	return sub, nil
}

// Propose is Issue of one party to a request that several make: its actions from a place in it on, without signatures, under an anchor that all have
// agreed on. Sign signs them.
func (s *IssueService) Propose(ctx context.Context, first int, orders ...Order) (*Submission, error) {
	plans, err := s.plans(first, orders)
	if err != nil {
		return nil, err
	}
	sub, err := s.prove(ctx, first, plans)
	if err != nil {
		return nil, err
	}
	for n, p := range plans {
		if err := s.seal(p.rules, sub, n, first+n); err != nil {
			return nil, err
		}
	}
	if err := s.keep(ctx, sub, [32]byte{}); err != nil {
		return nil, err
	}
	return sub, nil
}

// seal encrypts the information on the action n of a submission, which stands at a place in the request, if there are auditors.
func (s *system) seal(rules *token.Policy, sub *Submission, n, place int) (err error) {
	if len(rules.Auditors) == 0 {
		return nil
	}
	info := &sub.Information.Actions[n]
	*info, err = info.Seal(rules, s.ledger, sub.Request.Anchor, place)
	return err
}

// Join is the request of the actions that its parties propose, in their order. Another anchor than that of the first is an ErrParams.
func Join(parts ...*Submission) (*Submission, error) {
	joined := new(Submission)
	for i, p := range parts {
		if i == 0 {
			joined.Request = &request.Request{Anchor: p.Request.Anchor, Auditors: make([][]byte, len(p.Request.Auditors))}
			joined.Information = new(audit.Information)
		}
		if !bytes.Equal(p.Request.Anchor, joined.Request.Anchor) {
			return nil, refuse("part %d: another anchor than that of part 0", i)
		}
		joined.Request.Actions = append(joined.Request.Actions, p.Request.Actions...)
		joined.Information.Actions = append(joined.Information.Actions, p.Information.Actions...)
	}
	if joined.Request == nil || len(joined.Request.Actions) > request.MaxActions {
		return nil, refuse("a request of %d parts, accepted are 1 to %d actions", len(parts), request.MaxActions)
	}
	return joined, nil
}

// Effect is what a request does to a wallet once it is on the ledger.
type Effect struct {
	Spends   []Held // tokens that the wallet owns, alone or with others
	Receives []Held // tokens that it will own alone
	Shares   []Held // tokens that it will own with others
}

// Net is what the wallet has more of a type after the request, or less: what it receives alone, less what it spends.
func (e *Effect) Net(typ string) *big.Int {
	net, value := new(big.Int), new(big.Int)
	for _, h := range e.Receives {
		if h.Type == typ {
			net.Add(net, value.SetUint64(h.Value))
		}
	}
	for _, h := range e.Spends {
		if h.Type == typ {
			net.Sub(net, value.SetUint64(h.Value))
		}
	}
	return net
}

// Sign signs a request of several parties for the wallet's inputs: those that it has proposed, and tokens that it owns with others, of whom
// enough have not signed yet. approve decides, by what the request does to the wallet: outputs count in it whose notes are the wallet's and open their
// tokens, so they are money if the request lands. Its error keeps the wallet from signing.
//
// When Sign returns nil, what it has signed is durable, and the submission has the signatures; after an error it is as it was. One
// anchor is signed for one request: another one is an ErrAnchorConflict. A request in which nothing is the wallet's to sign is an ErrPolicy.
func (s *TransferService) Sign(ctx context.Context, sub *Submission, approve func(*Effect) error) error {
	if approve == nil {
		return refuse("nobody to approve: a signature is of all that the request does")
	}
	j, err := s.joint(ctx, sub)
	if err != nil {
		return err
	}
	if err := approve(&j.effect); err != nil {
		return fmt.Errorf("%w: not approved: %w", zkbench.ErrPolicy, err)
	}
	if err := s.signJoint(j); err != nil {
		return err
	}
	var ids []token.ID
	for _, in := range j.inputs {
		ids = append(ids, in.ID)
	}
	if err := keepSigned(ctx, s.vault, j.signed, j.signed.Request.Digest(s.ledger), ids); err != nil {
		return err
	}
	*sub = *j.signed
	return nil
}

// Sign signs the issues of a request of several parties that this issuer has proposed. approve (nil: everything) is asked with the request as it will
// be submitted. Durability and errors are as of TransferService's Sign.
func (s *IssueService) Sign(ctx context.Context, sub *Submission, approve func(*request.Request) error) error {
	signed, err := sub.clone()
	if err != nil {
		return err
	}
	if approve != nil {
		if err := approve(signed.Request); err != nil {
			return fmt.Errorf("%w: not approved: %w", zkbench.ErrPolicy, err)
		}
	}
	r := signed.Request
	proposed, err := proposals(s.vault, r)
	if err != nil {
		return err
	}
	for _, i := range proposed {
		if r.Actions[i].Kind != token.Issue {
			return deny("action %d is no issue", i)
		}
		if err := s.sign(r, i); err != nil {
			return err
		}
	}
	if len(proposed) == 0 {
		return deny("nothing in the request is this issuer's to sign")
	}
	if err := keepSigned(ctx, s.vault, signed, r.Digest(s.ledger), nil); err != nil {
		return err
	}
	*sub = *signed
	return nil
}

// clone is a copy of a submission.
func (s *Submission) clone() (*Submission, error) {
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

// proposals are the places of the actions in a request that the vault has proposed under its anchor.
func proposals(v *Vault, r *request.Request) (places []int, err error) {
	k, err := lookUp(v, r.Anchor, getKept)
	if k == nil || err != nil {
		return nil, err
	}
	mine, err := request.Decode(k.request)
	if err != nil {
		return nil, damaged(bucketSubmissions, err)
	}
	for i := range r.Actions {
		if slices.ContainsFunc(mine.Actions, func(a request.Action) bool { return bytes.Equal(a.Raw, r.Actions[i].Raw) }) {
			places = append(places, i)
		}
	}
	return places, nil
}

// joint is a request of several parties that a wallet is to sign.
type joint struct {
	signed *Submission // a copy, with the wallet's signatures in the end
	effect Effect
	inputs []jointInput
}

// jointInput is an input that the wallet signs for.
type jointInput struct {
	action, input int
	*held
	signers []identity.Signer // of its nonces
}

// joint finds what of a request is the wallet's. A signature is of the whole request: so the wallet must know every
// input that it could count for, and Sync if it does not.
func (s *TransferService) joint(ctx context.Context, sub *Submission) (*joint, error) {
	signed, err := sub.clone()
	if err != nil {
		return nil, err
	}
	j := &joint{signed: signed}
	r := signed.Request
	if len(signed.Information.Actions) != len(r.Actions) {
		return nil, refuse("information on %d actions, the request has %d", len(signed.Information.Actions), len(r.Actions))
	}
	proposed, err := proposals(s.vault, r)
	if err != nil {
		return nil, err
	}
	var others [][]byte // owners of the inputs that are not the wallet's
	for i := range r.Actions {
		a, err := action.Parse(s.pp.PointLen(), r.Actions[i].Kind, r.Actions[i].Raw)
		if err != nil {
			return nil, err
		}
		if len(r.Actions[i].Spends) != len(a.Inputs) {
			return nil, refuse("action %d: %d spends of %d inputs", i, len(r.Actions[i].Spends), len(a.Inputs))
		}
		for k := range a.Inputs {
			h, err := lookUp(s.vault, a.Inputs[k].ID, getToken)
			if err != nil {
				return nil, err
			}
			if h == nil {
				others = append(others, a.Inputs[k].Token.Owner)
				continue
			}
			if err := h.mayJoin(&a.Inputs[k], r.Anchor, slices.Contains(proposed, i)); err != nil {
				return nil, fmt.Errorf("action %d, input %d: %w", i, k, err)
			}
			signers, err := s.wallet.keys.signers(h.nonces...)
			if err != nil {
				return nil, err
			}
			j.inputs = append(j.inputs, jointInput{i, k, h, signers})
			j.effect.Spends = append(j.effect.Spends, h.held())
		}
		for k := range a.Outputs {
			h, err := s.wallet.openNote(ctx, request.OutputID(r.Anchor, i, k), &a.Outputs[k], a.Notes[k])
			switch {
			case err != nil:
				return nil, err
			case h == nil:
			case script.IsScript(h.Token.Owner):
				j.effect.Shares = append(j.effect.Shares, h.held())
			default:
				j.effect.Receives = append(j.effect.Receives, h.held())
			}
		}
	}
	if len(j.inputs) == 0 {
		return nil, deny("nothing in the request is the wallet's to sign")
	}
	for _, in := range j.inputs {
		for _, signer := range in.signers {
			if slices.ContainsFunc(others, func(owner []byte) bool { return owns(owner, signer.Identity()) }) {
				return nil, deny("the request spends a token of the wallet's that it does not know: Sync first, or somebody wants the signature for it")
			}
		}
	}
	return j, nil
}

// mayJoin refuses a token of the wallet's that a request spends and the wallet may not sign for.
func (h *held) mayJoin(in *action.Input, anchor []byte, proposed bool) error {
	mine := h.state == reserved && bytes.Equal(h.anchor, anchor)
	switch {
	case !bytes.Equal(h.Token.Owner, in.Token.Owner) || !bytes.Equal(h.Token.Commitment, in.Token.Commitment):
		return deny("the ledger has another token under this id")
	case identity.Identity(h.Token.Owner).Type() == script.TypeHashLock:
		return deny("a token that is locked: Claim and Reclaim spend it")
	case script.IsScript(h.Token.Owner):
		if !mine && h.state != unspent {
			return deny("a token that another submission holds")
		}
	case !mine || !proposed:
		return deny("a token of the wallet's that it has not proposed to spend here")
	}
	return nil
}

// signJoint signs for the wallet's inputs, and says to auditors who it is.
func (s *TransferService) signJoint(j *joint) error {
	r := j.signed.Request
	message := s.toSign(r, request.Owner, 0)
	signatures := make(map[string][]byte)
	sign := func(signer identity.Signer) (_ []byte, err error) {
		id := string(signer.Identity())
		if signatures[id] == nil {
			signatures[id], err = signer.Sign(message, nil)
		}
		return signatures[id], err
	}
	for _, in := range j.inputs {
		spend, info := &r.Actions[in.action].Spends[in.input], &j.signed.Information.Actions[in.action]
		if !script.IsScript(in.Token.Owner) {
			signature, err := sign(in.signers[0])
			if err != nil {
				return err
			}
			*spend = request.Spend{Signatures: [][]byte{signature}}
			continue
		}
		t, err := script.ParseThreshold(in.Token.Owner)
		if err != nil {
			return damaged(bucketTokens, err)
		}
		if info.Sealed != nil || len(info.Inputs) <= in.input || len(info.Inputs[in.input].Owners) != len(spend.Signatures) {
			return refuse("action %d: the information on a token that is owned together is sealed, or not of those who have signed", in.action)
		}
		joined := false
		for i, signer := range in.signers { // as many of the wallet's identities as are wanted
			unlock, at, err := t.Join(spend.Unlock, len(spend.Signatures), signer.Identity())
			if errors.Is(err, zkbench.ErrPolicy) {
				continue
			}
			if err != nil {
				return err
			}
			signature, err := sign(signer)
			if err != nil {
				return err
			}
			known, err := s.wallet.keys.own(s.rules(), in.nonces[i], signer, nil)
			if err != nil {
				return err
			}
			spend.Unlock, spend.Signatures = unlock, slices.Insert(spend.Signatures, at, signature)
			owners := &info.Inputs[in.input].Owners
			*owners, joined = slices.Insert(*owners, at, known), true
		}
		if !joined {
			return deny("action %d, input %d: the wallet has signed, or enough have", in.action, in.input)
		}
	}
	return nil
}

// keepSigned notes that a request is signed, which holds tokens of the vault's.
func keepSigned(ctx context.Context, v *Vault, sub *Submission, digest [32]byte, ids []token.ID) error {
	k, err := newKept(sub, digest, ids)
	if err != nil {
		return err
	}
	anchor := sub.Request.Anchor
	return v.update(ctx, func(tx *bbolt.Tx) error {
		before, err := getKept(tx, anchor)
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
			if err := reserve(tx, id, anchor); err != nil {
				return err
			}
		}
		if before != nil {
			for _, id := range before.inputs {
				if !slices.ContainsFunc(k.inputs, func(other token.ID) bool { return bytes.Equal(other, id) }) {
					k.inputs = append(k.inputs, id)
				}
			}
			if err := dropKept(tx, anchor, before); err != nil {
				return err
			}
		}
		return keepNew(tx, anchor, k)
	})
}

// owns tells whether an identity is one of an owner's.
func owns(owner []byte, id identity.Identity) bool {
	ids, err := script.Identities(owner)
	return err == nil && slices.ContainsFunc(ids, func(one identity.Identity) bool { return bytes.Equal(one, id) })
}
