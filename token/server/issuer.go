package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"connectrpc.com/connect"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1/tokenv1connect"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/transcript"
)

// Issuer configures the service of an issuer: zkbench.token.v1.IssuerService. A field is needed unless its comment says
// otherwise.
type Issuer struct {
	Service   *service.IssueService
	Ledger    ledger.Reader // which the issuer follows, for example a client.Client
	Submitter ledger.Submitter
	Auditors  []service.AuditSigner // those of the ledger's policy; none if it has none
}

// NewIssuer returns the service. The server that it is given to makes the issuer follow the ledger until it stops, and
// compares its vault with the ledger. NewIssuer returns ErrParams if a field is missing.
func NewIssuer(i Issuer) (Service, error) {
	if i.Service == nil || i.Ledger == nil || i.Submitter == nil {
		return Service{}, refused("a service of an issuer needs the issuer, a ledger and a submitter")
	}
	key, err := identity.Key(i.Service.Identity())
	if err != nil {
		return Service{}, err
	}
	s := &issuerService{Issuer: i, ledger: i.Ledger.Genesis().ID(), key: key}
	s.follower = newFollower(peer.Issuer, func(ctx context.Context) error { return i.Service.Sync(ctx, i.Ledger) }, i.Service.Followed)
	s.checker = newChecker(s.follower, func(ctx context.Context) ([]service.Finding, error) { return i.Service.Compare(ctx, i.Ledger) })
	return Service{
		name:    tokenv1connect.IssuerServiceName,
		clients: []peer.Role{peer.Issuer, peer.Wallet},
		methods: map[string][]peer.Role{tokenv1connect.IssuerServiceIssueProcedure: {peer.Issuer}},
		handler: func(opts ...connect.HandlerOption) (string, http.Handler) {
			return tokenv1connect.NewIssuerServiceHandler(s, opts...)
		},
		header: ledgerHeader(s.ledger),
		attach: func(server *Server) error {
			s.server = server
			return errors.Join(s.follower.begin(server), s.checker.begin(server))
		},
	}, nil
}

// issuerService implements IssuerService.
type issuerService struct {
	Issuer
	ledger   token.LedgerID
	key      []byte // public
	server   *Server
	follower *follower
	checker  *checker
}

var _ tokenv1connect.IssuerServiceHandler = (*issuerService)(nil)

func (s *issuerService) GetIssuer(context.Context, *tokenv1.GetIssuerRequest) (*tokenv1.GetIssuerResponse, error) {
	last, err := s.Service.Followed()
	return &tokenv1.GetIssuerResponse{
		Protocol: rpc.Protocol, Ledger: s.ledger[:], Identity: s.Service.Identity(), Policy: s.Service.Rules().Version, Followed: last,
	}, err
}

func (s *issuerService) Issue(ctx context.Context, r *tokenv1.IssueRequest) (*tokenv1.IssueResponse, error) {
	rules, err := s.rules(ctx)
	if err != nil {
		return nil, err
	}
	o, err := s.order(ctx, rules, r)
	if err != nil {
		return nil, err
	}
	sub, landed, err := s.Service.IssueOnce(ctx, o)
	switch {
	case err != nil:
		return nil, err
	case landed != nil:
		return &tokenv1.IssueResponse{Anchor: o.Anchor, Number: landed.Number}, nil
	}
	number, err := s.submit(ctx, rules, sub)
	s.server.metrics.verdict(err, "landed")
	if err != nil {
		return nil, err
	}
	return &tokenv1.IssueResponse{Anchor: o.Anchor, Number: number}, nil
}

// rules returns the ledger's policy, to which it makes the issuer follow the ledger.
func (s *issuerService) rules(ctx context.Context) (*token.Policy, error) {
	ctx, stop := s.server.until(ctx)
	defer stop()
	next, err := policy.Next(ctx, s.Ledger, s.Ledger.Genesis(), s.Service.Rules())
	if err != nil {
		return nil, err
	}
	if next != nil {
		if err := s.follower.now(ctx, func() bool { return s.Service.Rules().Version >= next.Version }); err != nil {
			return nil, err
		}
	}
	return s.Service.Rules(), nil
}

// order checks what to issue.
func (s *issuerService) order(ctx context.Context, rules *token.Policy, r *tokenv1.IssueRequest) (o service.Order, err error) {
	if err := checkKey(r.GetKey()); err != nil {
		return o, err
	}
	if n, most := len(r.GetPayments()), rules.Limits.Outputs; n > most {
		return o, &zkbench.LimitError{What: "payments of one issue", Estimate: int64(n), Max: int64(most)}
	}
	o = service.Order{Anchor: s.anchor(CallerOf(ctx), r.GetKey()), Type: r.GetType()}
	for i, p := range r.GetPayments() {
		id, to, err := service.ParseAddress(p.GetTo())
		if err == nil && id != s.ledger {
			err = refused("an address of ledger %x, this one is %x", id[:8], s.ledger[:8])
		}
		if err != nil {
			return o, fmt.Errorf("payment %d: %w", i, err)
		}
		o.Payments = append(o.Payments, service.Payment{To: to, Value: p.GetValue()})
	}
	return o, nil
}

// anchor returns the anchor of an issue: always the same one for a key of a caller, so the ledger itself records it only
// once, even if the issuer's vault is lost. It depends on the issuer's key and on the name in the caller's certificate,
// which stay the same when certificates are renewed.
func (s *issuerService) anchor(caller peer.Peer, key string) []byte {
	t := transcript.New("server/issue")
	t.Append("ledger", s.ledger[:])
	t.Append("issuer", s.key)
	t.Append("caller", []byte(caller.Name))
	t.Append("key", []byte(key))
	state := t.State()
	return state[:service.AnchorLen]
}

// submit has the auditors sign a submission, and puts it on the ledger. It returns the number of its record.
func (s *issuerService) submit(ctx context.Context, rules *token.Policy, sub *service.Submission) (uint64, error) {
	if err := sub.Audit(ctx, rules, s.Auditors...); err != nil {
		return 0, err
	}
	raw, err := sub.Request.Encode()
	if err != nil {
		return 0, err
	}
	verdicts, err := s.Submitter.Submit(ctx, [][]byte{raw})
	if err != nil {
		return 0, err
	}
	if err := verdicts[0].Err; err != nil {
		return 0, err
	}
	return verdicts[0].Record.Seq, nil
}

func (s *issuerService) Approve(ctx context.Context, r *tokenv1.ApproveRequest) (*tokenv1.ApproveResponse, error) {
	if err := callOf(ctx).proofs(r.GetRequest()); err != nil {
		return nil, err
	}
	parsed, err := request.Decode(r.GetRequest())
	if err != nil {
		return nil, err
	}
	if n := len(r.GetRedeemed()); n > token.MaxTokens {
		return nil, &zkbench.LimitError{What: "openings of one action", Estimate: int64(n), Max: token.MaxTokens}
	}
	openings := make([]token.Opening, len(r.GetRedeemed()))
	for i, o := range r.GetRedeemed() {
		openings[i] = token.Opening{Type: string(o.GetType()), Value: o.GetValue(), Blinding: o.GetBlinding()}
	}
	index := int(min(r.GetAction(), request.MaxActions)) // which Approve refuses
	err = s.Service.Approve(ctx, parsed, index, openings...)
	s.server.metrics.verdict(err, "signed")
	if err != nil {
		return nil, err
	}
	return &tokenv1.ApproveResponse{Signature: parsed.Actions[index].Issuer.Signature}, nil
}
