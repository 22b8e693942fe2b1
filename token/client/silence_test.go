package client_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1/tokenv1connect"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/server"
)

// endless is the body of an answer whose end does not come.
type endless struct {
	io.ReadCloser
	ctx context.Context
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err == io.EOF {
		<-e.ctx.Done()
	}
	return n, err
}

// TestSilent: a server that holds the connection and sends nothing is given up, with an error that says so.
func TestSilent(t *testing.T) {
	t.Parallel()
	s := serve(t, server.Options{}, nil)
	e := ledgertest.Issue("a", 1)
	e.PolicyDigest = s.store.Genesis().Policy
	ledgertest.Apply(t, s.store, e)
	logs := func(change func(r *http.Response)) (address string) {
		return between(t, s, func(r *http.Response) error {
			if strings.HasSuffix(r.Request.URL.Path, "ReadLog") {
				change(r)
			}
			return nil
		})
	}
	silent := logs(func(r *http.Response) { <-r.Request.Context().Done() })
	open := logs(func(r *http.Response) { r.Body = &endless{r.Body, r.Request.Context()} })
	for what, call := range map[string]struct {
		address string
		follow  bool
	}{
		"a log":                        {silent, false},
		"a log without its end":        {open, false},
		"a log that is followed":       {silent, true},
		"a log that has been followed": {s.url, true}, // the server's next message comes after a heartbeat
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := must.Get(client.Dial(t.Context(), call.address, client.Options{Patience: -1}))(t)
			defer c.Close()
			c.SetSilence(200 * time.Millisecond)
			read := c.Log
			if call.follow {
				read = c.Follow
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			var err error
			for _, failed := range read(ctx, 1) {
				err = failed
			}
			if !errors.Is(err, zkbench.ErrEnv) || !strings.Contains(err.Error(), "the server has sent nothing for 200ms") {
				t.Error(err)
			}
		})
	}
}

// quiet is a server of a log that does not grow: its first stream has heartbeats for a time and breaks, the second has a
// record.
type quiet struct {
	tokenv1connect.UnimplementedLedgerServiceHandler
	ledger  tokenv1.GetLedgerResponse
	beats   int
	every   time.Duration
	streams int
	record  *ledger.Record
	code    connect.Code // of the errors of GetHead
}

func (q *quiet) GetLedger(context.Context, *tokenv1.GetLedgerRequest) (*tokenv1.GetLedgerResponse, error) {
	return &q.ledger, nil
}

func (q *quiet) ReadLog(_ context.Context, r *tokenv1.ReadLogRequest, stream *connect.ServerStream[tokenv1.ReadLogResponse]) error {
	if q.streams++; q.streams > 1 {
		return stream.Send(&tokenv1.ReadLogResponse{First: r.GetFrom(), Leaves: [][]byte{rpc.PutRecord(q.record).GetLeaf()}})
	}
	for range q.beats {
		if err := stream.Send(&tokenv1.ReadLogResponse{First: r.GetFrom()}); err != nil {
			return err
		}
		time.Sleep(q.every)
	}
	return connect.NewError(connect.CodeUnavailable, errors.New("the server stops"))
}

// serve starts the server of q, and returns its URL.
func (q *quiet) serve(t *testing.T) (url string) {
	p := params(t)
	genesis := ledgertest.Genesis(t, p)
	q.ledger.Protocol, q.ledger.Genesis, q.ledger.Params = rpc.Protocol, genesis.Append(nil), must.Get(p.Encode())(t)
	_, handler := tokenv1connect.NewLedgerServiceHandler(q)
	id := genesis.ID()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	h := &http.Server{Protocols: protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(rpc.LedgerHeader, hex.EncodeToString(id[:]))
		handler.ServeHTTP(w, r)
	})}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	go h.Serve(l)
	t.Cleanup(func() { must.Do(t, h.Close()) })
	return "http://" + l.Addr().String()
}

// TestHeartbeats: a log that does not grow is followed for longer than a silent server is, and a connection that breaks after
// that is made anew, although the call began long before.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	const patience = 300 * time.Millisecond
	q := &quiet{beats: 40, every: patience / 20, record: &ledger.Record{Seq: 1, Entry: ledgertest.Issue("a", 1)}}
	c := must.Get(client.Dial(t.Context(), q.serve(t), client.Options{Patience: patience}))(t)
	defer c.Close()
	c.SetSilence(patience)
	for r, err := range c.Follow(t.Context(), 1) {
		must.Do(t, err)
		golden.Equal(t, "record", uint64(1), r.Seq)
		break
	}
	golden.Equal(t, "streams", 2, q.streams)
}

// GetHead answers with words that are not for a terminal.
func (q *quiet) GetHead(context.Context, *tokenv1.GetHeadRequest) (*tokenv1.GetHeadResponse, error) {
	return nil, connect.NewError(q.code, errors.New("\x1b[2Jpaid\n"+strings.Repeat("x", 1<<16)))
}

// TestWords: what a server says in an error is one short line, whatever the code.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, code := range []connect.Code{connect.CodeUnavailable, connect.CodeResourceExhausted, connect.CodePermissionDenied, connect.CodeInternal} {
		q := &quiet{code: code}
		c := must.Get(client.Dial(t.Context(), q.serve(t), client.Options{Patience: -1}))(t)
		_, err := c.Head(t.Context())
		must.Do(t, c.Close())
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\n") || len(err.Error()) > 2<<10 || connect.CodeOf(err) != code {
			t.Errorf("%v: %.200q", code, fmt.Sprint(err))
		}
	}
}
