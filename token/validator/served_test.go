package validator_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/validator"
)

// TestServed holds a client of a validator's server to the contract of a submitter.
func TestServed(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, openings := g.issue("money", 100)
	id := g.land(raw, openings...).Creates[0].ID
	var q ledgertest.Requests
	for i := range 3 {
		raw, _ := g.issue(fmt.Sprint("good ", i), uint64(i+1))
		q.Good = append(q.Good, raw)
	}
	q.Other, _ = g.issue("good 0", 77)
	q.Rivals = [2][]byte{g.pays("one", id, 100), g.pays("two", id, 100)}
	submitter := must.Get(validator.NewSubmitter(g.v, g.l, func() time.Time { return g.at }))(t)
	service := must.Get(server.NewLedger(server.Ledger{Store: g.l, Submitter: submitter, Params: g.params, Policy: g.v.Policy}))(t)
	handler := must.Get(server.New(server.Options{}, service))(t)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := handler.HTTP()
	go s.Serve(listener)
	defer func() {
		handler.Stop()
		must.Do(t, s.Shutdown(context.Background()))
	}()
	c := must.Get(client.Dial(t.Context(), "http://"+listener.Addr().String(), client.Options{Params: g.params, Ledger: g.l.Genesis().ID()}))(t)
	defer c.Close()
	ledgertest.Submitter(t, c, c, q)
	ledgertest.Verify(t, g.l)
}
