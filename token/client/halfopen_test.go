package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/server"
)

// network forwards connections until they vanish: from then on nothing that one end sends reaches the other, and neither is told.
type network struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	ends  []net.Conn
	gone  chan struct{} // closed: those that have been accepted have vanished
	count int           // connections until now
}

func newNetwork(t *testing.T, to string) *network {
	n := &network{listener: must.Get(net.Listen("tcp", "127.0.0.1:0"))(t), to: to, gone: make(chan struct{})}
	t.Cleanup(func() {
		must.Do(t, n.listener.Close())
		n.vanish()
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, c := range n.ends {
			_ = c.Close()
		}
	})
	go func() {
		for {
			in, err := n.listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", n.to)
			if err != nil {
				return
			}
			n.mu.Lock()
			n.ends, n.count = append(n.ends, in, out), n.count+1
			gone := n.gone
			n.mu.Unlock()
			go forward(in, out, gone)
			go forward(out, in, gone)
		}
	}()
	return n
}

// forward copies until gone is closed, and then takes what comes without forwarding it. It closes nothing that has vanished.
func forward(to, from net.Conn, gone <-chan struct{}) {
	for data := make([]byte, 32<<10); ; {
		n, err := from.Read(data)
		select {
		case <-gone:
		default:
			if _, failed := to.Write(data[:n]); err != nil || failed != nil {
				_ = to.Close()
				_ = from.Close()
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// vanish makes all connections vanish. Later ones are forwarded.
func (n *network) vanish() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.gone)
	n.gone = make(chan struct{})
}

// connections returns how many there were until now.
func (n *network) connections() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.count
}

const (
	silence = 200 * time.Millisecond // after which both ends test a connection
	bound   = 20 * time.Second       // for what takes twice the silence: without a test of the connection it would take longer
)

// distant is a server that is reached through a network, with the metrics of what it holds.
type distant struct {
	*serving
	*network
	metrics *prometheus.Registry
}

func newDistant(t *testing.T, limits server.Limits, submitter ledger.Submitter) *distant {
	d := &distant{metrics: prometheus.NewRegistry()}
	d.serving = serveBy(t, server.Options{Limits: limits, Metrics: d.metrics}, nil, submitter)
	h := d.serving.http.Handler.(*server.Server).HTTP()
	h.HTTP2.SendPingTimeout, h.HTTP2.PingTimeout = silence, silence
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	go h.Serve(l)
	t.Cleanup(func() { must.Do(t, h.Close()) })
	d.network = newNetwork(t, l.Addr().String())
	return d
}

func (d *distant) url() string { return "http://" + d.listener.Addr().String() }

func (d *distant) dial(t *testing.T, patience time.Duration) *client.Client {
	t.Helper()
	c := must.Get(client.Dial(t.Context(), d.url(), client.Options{Patience: patience}.WithPing(silence)))(t)
	t.Cleanup(func() { must.Do(t, c.Close()) })
	return c
}

// until waits until the sum of a gauge over its labels is as wanted.
func (d *distant) until(t *testing.T, name string, wanted func(sum float64) bool) {
	t.Helper()
	for end := time.Now().Add(bound); ; time.Sleep(time.Millisecond) {
		sum := 0.0
		for _, f := range must.Get(d.metrics.Gather())(t) {
			for _, m := range f.GetMetric() {
				if f.GetName() == name {
					sum += m.GetGauge().GetValue()
				}
			}
		}
		if wanted(sum) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is %v", name, sum)
		}
	}
}

func none(sum float64) bool { return sum == 0 }
func some(sum float64) bool { return sum > 0 }

func (d *distant) apply(t *testing.T, anchor string) {
	e := ledgertest.Issue(anchor, 1)
	e.PolicyDigest = d.store.Genesis().Policy
	ledgertest.Apply(t, d.store, e)
}

// TestServerVanishes: a client notices that nothing comes from its server any more. A call fails with the error that says what may
// have happened, or goes on over another connection, and so does a stream.
func TestServerVanishes(t *testing.T) {
	testsize.Full(t)
	for what, test := range map[string]func(t *testing.T, ctx context.Context, d *distant, begun chan struct{}){
		"a call that waits": func(t *testing.T, ctx context.Context, d *distant, _ chan struct{}) {
			c := d.dial(t, -1)
			failed := make(chan error)
			go func() {
				_, _, err := c.WaitRecord(ctx, []byte("first"), time.Minute)
				failed <- err
			}()
			d.until(t, "zkbench_calls_running", some)
			d.vanish()
			err := <-failed
			if must.Fail(t, err, zkbench.ErrEnv, "the call"); errors.Is(err, zkbench.ErrOutcomeUnknown) {
				t.Errorf("a call that changes nothing: %v", err)
			}
			must.Get(c.Head(ctx))(t)
			golden.Equal(t, "connections", 2, d.connections())
		},
		"a call that submits": func(t *testing.T, ctx context.Context, d *distant, begun chan struct{}) {
			c := d.dial(t, -1)
			failed := make(chan error)
			go func() {
				_, err := c.Submit(ctx, [][]byte{[]byte("a")})
				failed <- err
			}()
			<-begun
			d.vanish()
			must.Fail(t, <-failed, zkbench.ErrOutcomeUnknown, "the call")
		},
		"a call that submits again": func(t *testing.T, ctx context.Context, d *distant, begun chan struct{}) {
			c := d.dial(t, bound)
			verdict := make(chan error)
			go func() {
				verdicts, err := c.Submit(ctx, [][]byte{[]byte("a")})
				if err == nil {
					err = verdicts[0].Err
				}
				verdict <- err
			}()
			<-begun
			d.vanish()
			must.Fail(t, <-verdict, zkbench.ErrMalformed, "the verdict")
			golden.Equal(t, "connections", 2, d.connections())
		},
		"a stream": func(t *testing.T, ctx context.Context, d *distant, _ chan struct{}) {
			d.apply(t, "first")
			for r, err := range d.dial(t, bound).Follow(ctx, 1) {
				must.Do(t, err)
				if r.Seq == 2 {
					break
				}
				d.vanish()
				d.apply(t, "second")
			}
			golden.Equal(t, "connections", 2, d.connections())
		},
		"no call": func(t *testing.T, ctx context.Context, d *distant, _ chan struct{}) {
			c := d.dial(t, bound)
			d.vanish()
			must.Get(c.Head(ctx))(t)
			golden.Equal(t, "connections", 2, d.connections())
		},
		"before the first call": func(t *testing.T, ctx context.Context, _ *distant, _ chan struct{}) {
			l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t) // connects, and answers nothing
			defer l.Close()
			o := client.Options{Patience: -1}.WithPing(silence)
			must.FailGet(client.Dial(ctx, "http://"+l.Addr().String(), o))(t, zkbench.ErrEnv, "dialling")
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), bound)
			defer cancel()
			submitter := &counts{begun: make(chan struct{}, 1), takes: silence}
			test(t, ctx, newDistant(t, server.Limits{}, submitter), submitter.begun)
			must.Do(t, ctx.Err())
		})
	}
}

// TestClientVanishes: a server notices that nothing comes from a client any more, and gives back what the client held: its call
// that waits, its stream, its memory and its connection.
func TestClientVanishes(t *testing.T) {
	testsize.Full(t)
	t.Parallel()
	d := newDistant(t, server.Limits{Open: 8, ClientStreams: 1}, refuses{}) // two connections of one address
	d.apply(t, "first")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, o := d.dial(t, -1), client.Options{Patience: -1}.WithPing(silence)
	var calls sync.WaitGroup
	defer calls.Wait()
	defer cancel()
	begun := make(chan struct{})
	calls.Go(func() {
		for _, err := range c.Follow(ctx, 1) {
			if err != nil {
				return
			}
			close(begun)
		}
	})
	calls.Go(func() { _, _, _ = c.WaitRecord(ctx, []byte("none"), time.Minute) })
	<-begun

	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	sends := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	body, part := io.Pipe()
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, d.url()+"/zkbench.token.v1.LedgerService/Submit", body))(t)
	r.Header.Set("Content-Type", "application/proto")
	calls.Go(func() {
		if answer, err := sends.Do(r); err == nil {
			_ = answer.Body.Close()
		}
	})
	must.Get(part.Write(make([]byte, 1<<20)))(t)
	d.until(t, "zkbench_streams", some)
	d.until(t, "zkbench_memory_bytes", func(sum float64) bool { return sum >= 1<<20 })
	golden.Equal(t, "connections", 2, d.connections())
	must.FailGet(client.Dial(ctx, d.url(), o))(t, zkbench.ErrEnv, "a third connection")

	d.vanish()
	d.until(t, "zkbench_streams", none)
	d.until(t, "zkbench_calls_running", none)
	d.until(t, "zkbench_memory_bytes", none)
	for end := time.Now().Add(bound); ; time.Sleep(10 * time.Millisecond) { // the connections are closed after their calls
		again, err := client.Dial(ctx, d.url(), o)
		if err == nil {
			for _, err := range again.Follow(ctx, 1) {
				must.Do(t, err)
				break
			}
			must.Do(t, again.Close())
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	must.Do(t, part.Close())
}
