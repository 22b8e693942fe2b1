package service

import (
	"bytes"
	"context"
	"fmt"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
)

// Propose makes the actions that one party contributes to a request that several parties make or sign. The
// parameter first is the index that the party's first action gets in the request. All parties must have agreed
// on the anchor. The actions have no signatures. A proposal may spend tokens that are owned together with
// others. Order.From then names these tokens, and Order.Change is the address for the change, to which the
// other owners must agree. When Propose returns a nil error, the proposal is durable and reserves the tokens
// as Transfer does.
//
// The information for auditors is sealed to the auditors, so the other parties learn nothing from it. An
// action that spends a token owned together with others is the exception: its openings are not sealed, because
// the other owners know them. Only the information on who signs for an input (audit.Owner) is sealed.
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
			signer, id, err := s.signer(p.funds, i)
			if err != nil {
				return nil, fmt.Errorf("input %d: %w", i, err)
			}
			known, err := s.wallet.keys.auditOwner(p.rules, p.tokens[i].nonces[0], signer, p.tokens[i].proof)
			if err == nil && p.shared { // others see the information
				known, err = audit.Seal(p.rules, s.ledger, id, known)
			}
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

// Propose makes the actions that an issuer contributes to a request that several parties make. The parameter
// first is the index that the issuer's first action gets in the request. All parties must have agreed on the
// anchor. The actions have no signatures; Sign adds them. Errors are as for Issue.
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

// seal encrypts the information on the action n of a submission, which has the index place in the request.
// Without auditors seal removes the information, because the other parties must not learn it.
func (s *system) seal(rules *token.Policy, sub *Submission, n, place int) (err error) {
	info := &sub.Information.Actions[n]
	if len(rules.Auditors) == 0 {
		*info = audit.Action{}
		return nil
	}
	*info, err = info.Seal(rules, s.ledger, sub.Request.Anchor, place)
	return err
}

// Join combines the actions that the parties propose into one request, in the order of parts. It returns
// ErrParams if a part has another anchor or another end of validity than the first part.
func Join(parts ...*Submission) (*Submission, error) {
	joined := new(Submission)
	for i, p := range parts {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		if i == 0 {
			joined.Request = &request.Request{Anchor: p.Request.Anchor, Until: p.Request.Until, Auditors: make([][]byte, len(p.Request.Auditors))}
			joined.Information = new(audit.Information)
		}
		if !bytes.Equal(p.Request.Anchor, joined.Request.Anchor) {
			return nil, refuse("part %d: another anchor than that of part 0", i)
		}
		if p.Request.Until != joined.Request.Until {
			return nil, refuse("part %d: another end of validity than that of part 0", i)
		}
		joined.Request.Actions = append(joined.Request.Actions, p.Request.Actions...)
		joined.Information.Actions = append(joined.Information.Actions, p.Information.Actions...)
	}
	if joined.Request == nil || len(joined.Request.Actions) > request.MaxActions {
		return nil, refuse("a request of %d parts, accepted are 1 to %d actions", len(parts), request.MaxActions)
	}
	return joined, nil
}
