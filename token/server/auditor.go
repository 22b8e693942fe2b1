package server

import (
	"context"
	"errors"
	"net/http"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1/tokenv1connect"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/service"
)

// Auditor configures the service of an auditor: zkbench.token.v1.AuditorService. Both fields are needed.
type Auditor struct {
	Service *service.AuditorService
	Ledger  ledger.Reader // which the auditor follows, for example a client.Client
}

// NewAuditor returns the service. The server that it is given to makes the auditor follow the ledger until it stops, and
// compares its vault with the ledger. It logs and counts the records that the auditor has not signed. NewAuditor returns ErrParams if a field is missing.
func NewAuditor(a Auditor) (Service, error) {
	if a.Service == nil || a.Ledger == nil {
		return Service{}, refused("a service of an auditor needs the auditor and a ledger")
	}
	s := &auditorService{Auditor: a, ledger: a.Ledger.Genesis().ID()}
	s.follower = newFollower(peer.Auditor, s.reconcile, a.Service.Followed)
	s.checker = newChecker(s.follower, func(ctx context.Context) ([]service.Finding, error) { return a.Service.Compare(ctx, a.Ledger) })
	return Service{
		name:    tokenv1connect.AuditorServiceName,
		clients: []peer.Role{peer.Issuer, peer.Wallet},
		handler: func(opts ...connect.HandlerOption) (string, http.Handler) {
			return tokenv1connect.NewAuditorServiceHandler(s, opts...)
		},
		header: ledgerHeader(s.ledger),
		attach: s.attach,
	}, nil
}

// auditorService implements AuditorService.
type auditorService struct {
	Auditor
	ledger   token.LedgerID
	server   *Server
	follower *follower
	checker  *checker
	strays   prometheus.Counter
}

var _ tokenv1connect.AuditorServiceHandler = (*auditorService)(nil)

func (s *auditorService) attach(server *Server) error {
	s.server = server
	s.strays = prometheus.NewCounter(prometheus.CounterOpts{Name: "zkbench_strays_total", Help: "Records of the ledger that the auditor has not signed: its vault was lost, or a validator cannot be trusted."})
	if err := server.register.Register(s.strays); err != nil {
		return err
	}
	return errors.Join(s.follower.begin(server), s.checker.begin(server))
}

// reconcile follows the ledger.
func (s *auditorService) reconcile(ctx context.Context) error {
	n, first := 0, uint64(0)
	_, err := s.Service.Reconcile(ctx, s.Ledger, func(r ledger.Record) error {
		if n++; n == 1 {
			first = r.Seq
		}
		s.strays.Inc()
		return nil
	})
	if n > 0 {
		s.server.log.WarnContext(ctx, "the ledger has requests that the auditor has not signed", "requests", n, "first", first)
	}
	return err
}

func (s *auditorService) GetAuditor(context.Context, *tokenv1.GetAuditorRequest) (*tokenv1.GetAuditorResponse, error) {
	last, err := s.Service.Followed()
	m := &tokenv1.GetAuditorResponse{
		Protocol: rpc.Protocol, Ledger: s.ledger[:], Identity: s.Service.Identity(), Policy: s.Service.Rules().Version, Followed: last,
	}
	if key := s.Service.Key(); key != nil {
		m.Kem, m.Key = uint32(key.KEM().ID()), key.Bytes()
	}
	return m, err
}

func (s *auditorService) Sign(ctx context.Context, r *tokenv1.SignRequest) (*tokenv1.SignResponse, error) {
	if err := callOf(ctx).proofs(r.GetRequest(), r.GetInformation()); err != nil {
		return nil, err
	}
	signature, version, err := s.sign(ctx, r)
	s.server.metrics.verdict(err, "signed")
	if err != nil {
		return nil, err
	}
	return &tokenv1.SignResponse{Signature: signature, Policy: version}, nil
}

// sign signs under the policy that the caller asks for. It returns a *ledger.PolicyError if the current one is newer.
func (s *auditorService) sign(ctx context.Context, r *tokenv1.SignRequest) (signature []byte, version uint64, err error) {
	if r.Policy != nil {
		if err := s.reach(ctx, r.GetPolicy()); err != nil {
			return nil, 0, err
		}
	}
	signature, report, err := s.Service.Sign(ctx, r.GetRequest(), r.GetInformation())
	switch {
	case err != nil:
		return nil, 0, err
	case r.Policy != nil && report.Policy != r.GetPolicy(): // another one was adopted meanwhile
		return nil, 0, &ledger.PolicyError{Version: r.GetPolicy(), Current: report.Policy}
	}
	return signature, report.Policy, nil
}

// reach follows the ledger to a version of its policy.
func (s *auditorService) reach(ctx context.Context, version uint64) error {
	reached := func() bool { return s.Service.Rules().Version >= version }
	if !reached() {
		ctx, stop := s.server.until(ctx)
		defer stop()
		if err := s.follower.now(ctx, reached); err != nil {
			return err
		}
	}
	if now := s.Service.Rules().Version; now != version {
		return &ledger.PolicyError{Version: version, Current: now}
	}
	return nil
}
