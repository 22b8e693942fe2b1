package token

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/server"
)

// serveTransfer is the name of the workload ServeTransfer, by which its server's process knows what to serve.
const serveTransfer = "ServeTransfer"

// ServeTransfer returns the workload that submits requests to a ledger's server, over TLS to a process of its own on the
// same machine. Processor time and memory are the server's alone.
func ServeTransfer() workload.Def {
	return defineLanding(serveTransfer, "submitting transfers to a server", "submit one-transfer requests to a ledger's server in a process of its own, over TLS on a loopback address, until they are durable in a bbolt ledger in the directory for temporary files; "+
		"--batch is the number of requests of one call; processor time and memory are the server's; "+freshRequests,
		func(ctx context.Context, v *validation, c workload.Case) (*landing, workload.Instance, error) {
			p, err := startServer(ctx, serveTransfer, c, v.seed)
			if err != nil {
				return nil, nil, err
			}
			p.adopt()
			s := &serving{newLanding(v, &remote{serverProcess: p}), p}
			return s.landing, s, nil
		})
}

// remote is a host in a server's process.
type remote struct {
	*serverProcess
	client *client.Client // nil: no ledger is open
}

func (r *remote) open(ctx context.Context, path string) (err error) {
	if err := r.show(ctx, path); err != nil || r.client != nil {
		return err
	}
	r.client, err = r.dial(ctx)
	return err
}

func (r *remote) Submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	return r.client.Submit(ctx, requests)
}

func (r *remote) Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error) {
	return r.client.Record(ctx, anchor)
}

func (r *remote) Close() (err error) {
	if r.client != nil {
		err = r.client.Close()
	}
	return errors.Join(err, r.serverProcess.Close())
}

// serving is a landing whose host is a server.
type serving struct {
	*landing
	server *serverProcess
}

// Whose implements workload.Measured.
func (s *serving) Whose() record.Whose { return record.OfServer }

// Measured implements workload.Measured. The runner reports the processor time, that of the window only.
func (s *serving) Measured() (figures []record.Metric, findings []record.Finding) {
	if peak := s.server.process.Look().PeakRSS; peak > 0 {
		figures = append(figures, record.PeakRSS.Metric(float64(peak)).WithWhose(record.OfServer))
	}
	return figures, nil
}

// servedLedger opens the ledgers that the server of ServeTransfer serves one after the other.
func servedLedger(ctx context.Context, c workload.Case, seed uint64) (opener, error) {
	v, err := newValidation(ctx, c, seed)
	if err != nil {
		return nil, err
	}
	e := &embedded{validator: v.validator}
	return func(ctx context.Context, path string) (server.Ledger, error) {
		if err := e.open(ctx, path); err != nil {
			return server.Ledger{}, fmt.Errorf("open the ledger: %w", err)
		}
		return server.Ledger{Store: e.store, Submitter: e.Submitter, Params: v.params, Policy: v.validator.Policy}, nil
	}, nil
}
