package service

import (
	"bytes"
	"context"
	"slices"

	"go.etcd.io/bbolt"

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

// NewIssueService returns a service of an issuer, that proves
// with proofType (empty: the parameters' first). Whom an update of the policy names learns of it by Sync, so
// that the issuer is one is for Issue and Approve to check. The error is an ErrParams.
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

// indexOf finds a signer among the policy's identities.
func indexOf(list string, ids [][]byte, signer identity.Signer) (int, error) {
	index := slices.IndexFunc(ids, func(id []byte) bool { return bytes.Equal(id, signer.Identity()) })
	if index < 0 {
		return 0, refuse("the signer is none of the %d %s of the policy", len(ids), list)
	}
	return index, nil
}

// Issue makes tokens of each order, in an action of one request, proves, and signs as issuer. When it returns nil the
// submission is durable. The error is that of an order that is refused, an ErrParams for who is no issuer, or
// ErrAnchorConflict for the anchor of another submission.
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
		if err := s.sign(sub.Request, i); err != nil {
			return nil, err
		}
	}
	if err := s.keep(ctx, sub, sub.Request.Digest(s.ledger)); err != nil {
		return nil, err // what is not kept must not leave
	}
	return sub, nil
}

// prove makes the submission of plans, from a place in the request on, without signatures.
func (s *IssueService) prove(ctx context.Context, first int, plans []*plan) (*Submission, error) {
	rules := plans[0].rules
	index, err := indexOf("issuers", rules.IssuerIdentities(), s.issuer)
	if err != nil {
		return nil, err
	}
	sub := plans[0].submission()
	for i, p := range plans {
		if !rules.Issuers[index].MayIssue(p.Type) {
			return nil, deny("tokens of this type are not the issuer's")
		}
		if p.From != nil || p.Change != nil {
			return nil, refuse("tokens to spend, or change, of an issue")
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
		a := request.Action{Kind: token.Issue, Issuer: &request.Issuer{Index: index}}
		if err := s.add(ctx, sub, a, draft, audit.Action{}, out.tos); err != nil {
			return nil, err
		}
	}
	return sub, nil
}

// sign signs an action as issuer.
func (s *IssueService) sign(r *request.Request, index int) (err error) {
	r.Actions[index].Issuer.Signature, err = s.issuer.Sign(s.toSign(r, request.IssuerRole, uint64(index)), nil)
	return err
}

// keep makes a submission durable.
func (s *IssueService) keep(ctx context.Context, sub *Submission, digest [32]byte) error {
	k, err := newKept(sub, digest, nil)
	if err != nil {
		return err
	}
	return s.vault.update(ctx, func(tx *bbolt.Tx) error { return keepNew(tx, sub.Request.Anchor, k) })
}

// Approve signs an action of a request that redeems, as policies with
// token.RedeemIssuer ask. redeemed open its outputs without owner (Submission.Redeemed):
// the issuer sees what is redeemed. Whatever is not what they say is an ErrPolicy.
// The signature is good for this request under its anchor; that it lands, and once, is
// for the ledger to say before anything is paid out.
func (s *IssueService) Approve(ctx context.Context, r *request.Request, index int, redeemed ...token.Opening) error {
	if s.rules().Redeem != token.RedeemIssuer {
		return deny("the policy lets owners redeem")
	}
	issuer, err := indexOf("issuers", s.rules().IssuerIdentities(), s.issuer)
	if err != nil {
		return err
	}
	if index < 0 || index >= len(r.Actions) || r.Actions[index].Kind != token.Transfer {
		return refuse("action %d is no transfer of the request", index)
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
	r.Actions[index].Issuer = &request.Issuer{Index: issuer}
	return s.sign(r, index)
}
