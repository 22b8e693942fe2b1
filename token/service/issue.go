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
	"github.com/zkbench/zkbench/token/request"
)

// IssueService issues tokens and approves redemptions. It is safe for concurrent use.
type IssueService struct {
	*system
	issuer identity.Signer
	secret []byte // enters the derivation of blindings and nonces
}

// NewIssueService returns a service that issues with the given signer. The service makes proofs of the type
// proofType, or of the first range-proof system of the parameters if proofType is empty. The signer need not
// be an issuer yet: Sync follows policy updates, and Issue and Approve check the signer against the current
// policy. NewIssueService returns ErrParams if the parameters have no such proof system, or if they are not
// those of the vault's ledger.
func NewIssueService(params *token.PublicParams, proofType string, tuning token.Tuning, ex executor.Executor, vault *Vault, issuer identity.Signer) (*IssueService, error) {
	s, err := newSystem(params, proofType, tuning, ex, vault)
	if err != nil {
		return nil, err
	}
	secret, err := signerSecret(issuer)
	if err != nil {
		return nil, err
	}
	return &IssueService{s, issuer, secret}, nil
}

// identityOf returns the identity in a list of the policy for which a signer signs. It has the signer's key,
// and the bytes that the policy has.
func identityOf(set *identity.Set, list string, ids [][]byte, signer identity.Signer) (identity.Identity, error) {
	for _, id := range ids {
		if set.SameKey(id, signer.Identity()) {
			return id, nil
		}
	}
	return nil, refuse("the signer is not one of the %d %s of the policy", len(ids), list)
}

// Issue makes one request that issues tokens, with an action for each order, proves it, and signs it as issuer.
// When Issue returns a nil error, the submission is durable. Issue returns ErrParams if the signer is not an
// issuer, ErrPolicy if the signer may not issue the type of an order, and ErrAnchorConflict if another
// submission has the anchor of the orders. If an order is refused, errors are as for Transfer.
func (s *IssueService) Issue(ctx context.Context, orders ...Order) (*Submission, error) {
	plans, err := s.plans(0, orders)
	if err != nil {
		return nil, err
	}
	sub, err := s.prove(ctx, 0, plans)
	if err != nil {
		return nil, err
	}
	for i := range sub.Request.Actions {
		if err := s.signAction(sub.Request, i); err != nil {
			return nil, err
		}
	}
	if err := s.keep(ctx, sub, sub.Request.Digest(s.ledger)); err != nil {
		return nil, err // a submission that is not stored must not be sent
	}
	return sub, nil
}

// Rules returns the ledger's policy as far as Sync has followed it. The caller must not modify it.
func (s *IssueService) Rules() *token.Policy { return s.rules() }

// Identity returns the issuer's identity as Rules names it, or the signer's own if Rules does not name it.
func (s *IssueService) Identity() identity.Identity {
	if id, err := identityOf(s.ids, "issuers", s.rules().IssuerIdentities(), s.issuer); err == nil {
		return id
	}
	return s.issuer.Identity()
}

// IssueOnce issues one order like Issue; its anchor says which issue it is. If the vault has made an issue under that anchor,
// IssueOnce makes no other. If that issue is on the ledger, as far as Sync has seen, it returns the issue's entry in the
// history. Else it returns the submission, to be submitted again. So an order that is given twice, also after a crash, is
// issued once.
//
// IssueOnce returns ErrParams if the order has no anchor. It returns ErrAnchorConflict if the vault has issued something
// else under the anchor, or has discarded the issue, or if the ledger can never record it.
func (s *IssueService) IssueOnce(ctx context.Context, o Order) (*Submission, *Movement, error) {
	if len(o.Anchor) == 0 {
		return nil, nil, refuse("an order without an anchor, which says which issue it is")
	}
	for first := true; ; first = false {
		sub, m, err := s.issuedBefore(&o)
		if sub != nil || m != nil || err != nil {
			return sub, m, err
		}
		sub, err = s.Issue(ctx, o)
		if first && errors.Is(err, zkbench.ErrAnchorConflict) { // another call was faster
			continue
		}
		return sub, nil, err
	}
}

// issuedBefore returns the issue that the vault has made under an order's anchor: the submission if it waits for the
// ledger, else the movement; or nil and nil if there is none.
func (s *IssueService) issuedBefore(o *Order) (sub *Submission, landed *Movement, err error) {
	var m *move
	var k *pendingRecord
	err = s.vault.view(func(tx *bbolt.Tx) (err error) {
		if _, m, err = lastMove(tx, o.Anchor); err == nil {
			k, err = getPending(tx, o.Anchor)
		}
		return err
	})
	switch {
	case err != nil || m == nil || !m.Made:
		return nil, nil, err
	case !slices.EqualFunc(o.Payments, m.Paid, func(p Payment, made Paid) bool {
		return bytes.Equal(p.To.Owner, made.Owner) && p.Value == made.Value && o.Type == made.Type
	}):
		return nil, nil, fmt.Errorf("%w: in this vault, of an issue of another type or to other payees", zkbench.ErrAnchorConflict)
	case m.Status == Landed:
		return nil, &m.Movement, nil
	case m.Status != Pending || k == nil:
		return nil, nil, fmt.Errorf("%w: the issue under it is %v, and the ledger can never record it", zkbench.ErrAnchorConflict, m.Status)
	}
	pending, err := k.decode(o.Anchor)
	return &pending.Submission, nil, err
}

// prove returns the submission of plans, without signatures. first is the index of the first action in the
// request.
func (s *IssueService) prove(ctx context.Context, first int, plans []*plan) (*Submission, error) {
	rules := plans[0].rules
	issuer, err := identityOf(s.ids, "issuers", rules.IssuerIdentities(), s.issuer)
	if err != nil {
		return nil, err
	}
	sub := plans[0].submission()
	for i, p := range plans {
		if !rules.Issuer(issuer).MayIssue(p.Type) {
			return nil, deny("tokens of this type are not the issuer's")
		}
		if p.From != nil || p.Change != nil || p.Issuer != nil {
			return nil, refuse("an issue with tokens to spend, an address for change, or an issuer to approve")
		}
		out := new(outputs)
		for j, pay := range p.Payments {
			if len(pay.To.Owner) == 0 {
				return nil, refuse("payment %d: an issue to nobody", j)
			}
			out.tos, out.values = append(out.tos, pay.To), append(out.values, pay.Value)
		}
		if err := p.allowed(out.tos); err != nil {
			return nil, err
		}
		if n := len(out.tos); p.locks && n != 1 {
			return nil, deny("%d outputs with a hash time lock as an owner, accepted is 1", n)
		}
		draft, err := action.NewIssue(ctx, s.ex, s.pp, p.Type, s.spec(p, first+i, out, s.secret))
		if err != nil {
			return nil, err
		}
		a := request.Action{Kind: token.Issue, Issuer: &request.Issuer{Identity: issuer}}
		if err := s.add(ctx, sub, a, draft, audit.Action{}, out.tos); err != nil {
			return nil, err
		}
	}
	return sub, nil
}

// signAction signs an action as the issuer that it names, which must be this one.
func (s *IssueService) signAction(r *request.Request, index int) (err error) {
	named := r.Actions[index].Issuer
	id, err := identityOf(s.ids, "issuers", s.rules().IssuerIdentities(), s.issuer)
	if err != nil {
		return err
	}
	if named == nil || !bytes.Equal(named.Identity, id) {
		return deny("action %d names another issuer, or none", index)
	}
	named.Signature, err = s.system.sign(r, s.issuer, request.IssuerRole, uint64(index), id, nil)
	return err
}

// keep makes a submission durable.
func (s *IssueService) keep(ctx context.Context, sub *Submission, digest [32]byte) error {
	k, err := newPending(sub, digest, nil)
	if err != nil {
		return err
	}
	return s.vault.update(ctx, func(tx *bbolt.Tx) error { return addPending(tx, sub.Request.Anchor, k) })
}

// Approve signs the action of r that has the given index and redeems tokens. Policies with token.RedeemIssuer
// require this signature. The action names the issuer that approves (Order.Issuer). The issuer must see what
// is redeemed, so the parameter redeemed must have the openings of the outputs without an owner, in order
// (Submission.Redeemed).
//
// Approve returns ErrPolicy if the action redeems anything but the tokens with these openings, if the action
// names another issuer, or if the action redeems a type that this issuer may not issue. The signature is good
// only for this request under its anchor. Pay out only when the request is on the ledger.
func (s *IssueService) Approve(ctx context.Context, r *request.Request, index int, redeemed ...token.Opening) error {
	if s.rules().Redeem != token.RedeemIssuer {
		return deny("the policy lets owners redeem")
	}
	if r == nil || index < 0 || index >= len(r.Actions) || r.Actions[index].Kind != token.Transfer {
		return refuse("action %d is not a transfer of the request", index)
	}
	a, err := action.Parse(s.pp.PointLen(), token.Transfer, r.Actions[index].Raw)
	if err != nil {
		return err
	}
	commitments, err := s.pp.Commit(ctx, s.ex, redeemed)
	if err != nil {
		return err
	}
	next := 0
	for j := range a.Outputs {
		if len(a.Outputs[j].Owner) > 0 {
			continue
		}
		if next == len(redeemed) || !bytes.Equal(commitments[next], a.Outputs[j].Commitment) {
			return deny("output %d is redeemed, and not opened", j)
		}
		next++
	}
	if next == 0 || next < len(redeemed) {
		return deny("%d outputs are redeemed, %d opened", next, len(redeemed))
	}
	rules := s.rules() // once: Sync may adopt others meanwhile
	id, err := identityOf(s.ids, "issuers", rules.IssuerIdentities(), s.issuer)
	if err != nil {
		return err
	}
	if !rules.Issuer(id).MayIssue(redeemed[0].Type) {
		return deny("tokens of this type are not the issuer's")
	}
	return s.signAction(r, index)
}

// issued returns what an action of this issuer's proposal issues, as stakes that the deal gives.
func (s *IssueService) issued(ctx context.Context, r *request.Request, index int) (issued []Stake, err error) {
	a, err := action.Parse(s.pp.PointLen(), token.Issue, r.Actions[index].Raw)
	if err != nil {
		return nil, err
	}
	openings, err := made(s.vault, r.Anchor)
	if err != nil {
		return nil, err
	}
	commitments, err := s.pp.Commit(ctx, s.ex, openings)
	if err != nil {
		return nil, err
	}
	for j := range a.Outputs {
		at := slices.IndexFunc(commitments, func(c []byte) bool { return bytes.Equal(c, a.Outputs[j].Commitment) })
		if at < 0 {
			return nil, deny("output %d was not proposed by this issuer", j)
		}
		issued = append(issued, Stake{UnspentToken: UnspentToken{Type: openings[at].Type, Value: openings[at].Value}})
	}
	return issued, nil
}

// made returns the openings of the outputs that the vault has made in the request with an anchor, from its
// history.
func made(v *Vault, anchor []byte) (openings []token.Opening, err error) {
	err = v.view(func(tx *bbolt.Tx) error {
		_, m, err := lastMove(tx, anchor)
		if m == nil || err != nil {
			return err
		}
		for _, p := range m.Paid {
			openings = append(openings, p.Opening)
		}
		return nil
	})
	return openings, err
}
