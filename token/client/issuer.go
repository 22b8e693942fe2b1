package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1/tokenv1connect"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

// Issuer is a connection to the server of one issuer. It is safe for concurrent use.
type Issuer struct {
	*link
	calls tokenv1connect.IssuerServiceClient
	ids   *identity.Set
	who   identity.Identity
}

// DialIssuer reaches an issuer's server. URLs and errors are as for Dial; Options.Params has no effect.
func DialIssuer(ctx context.Context, address string, o Options) (*Issuer, error) {
	l, err := newLink(address, o)
	if err != nil {
		return nil, err
	}
	i := &Issuer{link: l, calls: tokenv1connect.NewIssuerServiceClient(l.http, l.url, l.connect()...)}
	if i.ids, err = identity.NewSet(1, nil); err != nil {
		return nil, err
	}
	answer, err := retry(ctx, l, "GetIssuer", func(ctx context.Context) (*tokenv1.GetIssuerResponse, error) {
		return i.calls.GetIssuer(ctx, &tokenv1.GetIssuerRequest{})
	})
	if err == nil {
		err = i.expectBytes(answer.GetProtocol(), answer.GetLedger())
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	i.who = answer.GetIdentity()
	return i, nil
}

// Identity returns the identity that the server said it issues under, for Order.Issuer.
func (i *Issuer) Identity() identity.Identity { return i.who }

// Issue makes the server issue tokens of a type, and returns the anchor of the request and the number of its record. The
// idempotency key, of 1 to 128 bytes of UTF-8, says which issue it is: the server issues once under a key of this client,
// and a call with the same arguments has the same answer. Choose keys at random: somebody who guesses one can use up its
// anchor, so that nothing can be issued under it.
//
// Issue tries again what may succeed later. If it gives up, the error wraps zkbench.ErrOutcomeUnknown: call it again with
// the same key. It returns ErrAnchorConflict if the key was used for other payments, or if its anchor is used up; the
// refusal of an auditor or of the validator; and the errors of service.IssueService.Issue.
func (i *Issuer) Issue(ctx context.Context, key, typ string, payments ...service.Payment) (anchor []byte, number uint64, err error) {
	m := &tokenv1.IssueRequest{Key: key, Type: typ}
	for n, p := range payments {
		to, err := service.FormatAddress(i.options.Ledger, p.To)
		if err != nil {
			return nil, 0, fmt.Errorf("payment %d: %w", n, err)
		}
		m.Payments = append(m.Payments, &tokenv1.Payment{To: to, Value: p.Value})
	}
	sent, refused := false, false
	answer, err := retry(ctx, i.link, "Issue", func(ctx context.Context) (*tokenv1.IssueResponse, error) {
		answer, err := i.calls.Issue(ctx, m)
		if err != nil {
			later, _, _ := judge(err)
			refused = !later && rpc.GetError(err) != nil
			sent = sent || mayHaveActed(err)
		}
		return answer, err
	})
	if err != nil {
		// A refusal by the issuer answers the calls before it, too. No other error does.
		if sent && (!refused || ctx.Err() != nil) {
			err = unknown(err)
		}
		return nil, 0, err
	}
	if n := len(answer.GetAnchor()); n != service.AnchorLen || answer.GetNumber() < 1 || answer.GetNumber() > ledger.MaxRecords {
		return nil, 0, unknown(i.lied(malformed("issue", "an anchor of %d bytes in record %d", n, answer.GetNumber())))
	}
	return answer.GetAnchor(), answer.GetNumber(), nil
}

// Approve has the issuer sign an action of a request that redeems tokens, and puts the signature into the request.
// Arguments and errors are as for service.IssueService.Approve. Approve verifies the signature: it is of the issuer that
// the action names.
func (i *Issuer) Approve(ctx context.Context, r *request.Request, index int, redeemed ...token.Opening) error {
	if r == nil || index < 0 || index >= len(r.Actions) || r.Actions[index].Issuer == nil {
		return fmt.Errorf("%w: action %d is not one of the request that names an issuer", zkbench.ErrParams, index)
	}
	raw, err := r.Encode()
	if err != nil {
		return err
	}
	m := &tokenv1.ApproveRequest{Request: raw, Action: uint32(index)}
	for _, o := range redeemed {
		m.Redeemed = append(m.Redeemed, &tokenv1.Opening{Type: []byte(o.Type), Value: o.Value, Blinding: o.Blinding})
	}
	answer, err := retry(ctx, i.link, "Approve", func(ctx context.Context) (*tokenv1.ApproveResponse, error) { return i.calls.Approve(ctx, m) })
	if err != nil {
		return err
	}
	named := r.Actions[index].Issuer
	key, err := i.ids.Verifier(named.Identity)
	if err != nil {
		return err
	}
	signed := request.ToSign(r.Message(i.options.Ledger), request.IssuerRole, uint64(index), named.Identity)
	if err := key.Verify(signed[:], answer.GetSignature()); err != nil {
		return i.lied(fmt.Errorf("the issuer's signature of action %d: %w", index, err))
	}
	named.Signature = answer.GetSignature()
	return nil
}
