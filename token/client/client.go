// Package client reaches the ledger of a token system over the network: a Client is a ledger.Reader and a
// ledger.Submitter, so wallets, issuers and auditors of package service use it in place of a ledger of their own. Its
// server is that of package server.
//
// A Client checks the form of every answer, and that it is about what was asked. It does not make the server honest:
// package service checks the log against the heads that validators have signed.
package client

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"go.opentelemetry.io/otel/propagation"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1/tokenv1connect"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
)

// DefaultPatience is how long a Client tries again.
const DefaultPatience = 30 * time.Second

// Options says what a Client expects of its server. The zero value reaches a server on this machine without TLS.
type Options struct {
	TLS      *tls.Config         // for example peer.Client; nil: the URL must be http, of a loopback address
	Ledger   token.LedgerID      // the ledger's id; zero: that of the first answer
	Params   *token.PublicParams // of the ledger; nil: those that the server tells, if they are the ledger's
	Patience time.Duration       // how long a call that may succeed later is tried again; 0: DefaultPatience; negative: not at all
	Report   func(Retry)         // is told of each call that will be tried again; nil: nobody

	ping time.Duration // defaultPing
}

// defaultPing is after how long without a byte from the server a connection is tested with a ping. It is closed if the
// answer takes as long again.
const defaultPing = 15 * time.Second

// Retry says that a call has failed and will be made again.
type Retry struct {
	Method string
	Err    error
	At     time.Time // of the next attempt
	Until  time.Time // after which there are no more attempts
}

// Client is a connection to the server of one ledger. It is safe for concurrent use.
type Client struct {
	*link
	calls tokenv1connect.LedgerServiceClient

	genesis ledger.Genesis
	params  *token.PublicParams
	current *policy.Current

	last atomic.Uint64 // the greatest number of a record that the server has told
	head atomic.Uint64 // the greatest number of leaves of a head that the server has told
}

var (
	_ ledger.Reader    = (*Client)(nil)
	_ ledger.Submitter = (*Client)(nil)
)

// ServerError reports a server that is not the one expected. It wraps zkbench.ErrParams.
type ServerError struct {
	URL, What string // for example "ledger"
	Got, Want string
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("%v: %s: the server's %s is %s; expected: %s", zkbench.ErrParams, e.URL, e.What, e.Got, e.Want)
}

func (e *ServerError) Unwrap() error { return zkbench.ErrParams }

// LagError reports a server that is behind what it, or another server at the same URL, told before. It is reported once:
// then the client goes on with what the server tells. It wraps ledger.ErrRolledBack.
type LagError struct {
	URL, What  string // records, or leaves of a signed head
	Told, Seen uint64
}

func (e *LagError) Error() string {
	return fmt.Sprintf("%v: %s tells %d %s, and told %d before", ledger.ErrRolledBack, e.URL, e.Told, e.What, e.Seen)
}

func (e *LagError) Unwrap() error { return ledger.ErrRolledBack }

// Dial reaches a ledger's server. The URL is https://host:port, or http:// and a loopback address. It returns a
// *ServerError if the server has another ledger, other parameters or another protocol than expected, and zkbench.ErrEnv
// if it cannot be reached.
func Dial(ctx context.Context, address string, o Options) (*Client, error) {
	l, err := newLink(address, o)
	if err != nil {
		return nil, err
	}
	c := &Client{link: l, calls: tokenv1connect.NewLedgerServiceClient(l.http, l.url, l.connect()...)}
	if err := c.meet(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// link is the way to one server.
type link struct {
	options Options
	url     string
	http    *http.Client
	silence time.Duration // after which a stream counts as broken
}

// newLink returns a link to a URL. It returns ErrParams if the URL is not accepted.
func newLink(address string, o Options) (*link, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || !accepted(u, o.TLS != nil) {
		what := "https://host:port with certificates, or http://127.0.0.1:port without"
		if o.TLS != nil {
			what = "https://host:port"
		}
		return nil, fmt.Errorf("%w: the server's URL %q; accepted: %s", zkbench.ErrParams, address, what)
	}
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	if o.ping == 0 {
		o.ping = defaultPing
	}
	l := &link{options: o, url: u.String(), silence: attemptTime}
	l.http = &http.Client{Transport: &ofLedger{l, transport(o)}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return l, nil
}

// connect returns the options of the link's clients.
func (l *link) connect() []connect.ClientOption {
	options := []connect.ClientOption{connect.WithReadMaxBytes(rpc.MaxAnswer), connect.WithAcceptCompression("gzip", nil, nil)}
	return append(options, connect.WithCodec(rpc.Binary), connect.WithInterceptors(connect.UnaryInterceptorFunc(tells)))
}

// tells makes calls tell the server of the span in their context, if it has one. The server links its own span to it.
func tells(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(r.Header()))
		return next(ctx, r)
	}
}

// URL returns the server's URL.
func (l *link) URL() string { return l.url }

// accepted reports whether a URL may be used: without TLS, only an address of this machine.
func accepted(u *url.URL, secure bool) bool {
	if secure {
		return u.Scheme == "https"
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

func transport(o Options) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	t := &http.Transport{
		DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second,
		Protocols: protocols, DisableCompression: true, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
		HTTP2: &http.HTTP2Config{MaxReadFrameSize: 2 * rpc.ChunkBytes, SendPingTimeout: o.ping, PingTimeout: o.ping, WriteByteTimeout: 30 * time.Second},
	}
	if o.TLS != nil {
		t.TLSClientConfig = o.TLS.Clone()
	}
	return t
}

// ofLedger refuses answers of another ledger's server.
type ofLedger struct {
	link *link
	next *http.Transport
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport.
func (t *ofLedger) CloseIdleConnections() { t.next.CloseIdleConnections() }

// RoundTrip implements http.RoundTripper. After its error, the server may have done what the call asks for.
func (t *ofLedger) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	want := t.link.options.Ledger
	got := answer.Header.Get(rpc.LedgerHeader)
	if want != (token.LedgerID{}) && got != hex.EncodeToString(want[:]) && answer.StatusCode == http.StatusOK {
		_ = answer.Body.Close()
		return nil, &ServerError{URL: t.link.url, What: "ledger", Got: shown(got), Want: hex.EncodeToString(want[:])}
	}
	answer.Body = shortErrors(answer)
	return answer, nil
}

// shown returns what a server has said for an error.
func shown(text string) string {
	if len(text) != 2*len(token.LedgerID{}) {
		return "none"
	}
	if _, err := hex.DecodeString(text); err != nil {
		return "none"
	}
	return text
}

// meet asks the server for its ledger, and checks that it is the one expected.
func (c *Client) meet(ctx context.Context) error {
	answer, err := retry(ctx, c.link, "GetLedger", func(ctx context.Context) (*tokenv1.GetLedgerResponse, error) {
		return c.calls.GetLedger(ctx, &tokenv1.GetLedgerRequest{})
	})
	if err != nil {
		return err
	}
	if c.genesis, err = ledger.DecodeGenesis(answer.GetGenesis()); err != nil {
		return c.lied(err)
	}
	if err := c.expect(answer.GetProtocol(), c.genesis.ID()); err != nil {
		return err
	}
	if c.params = c.options.Params; c.params == nil {
		if c.params, err = token.DecodePublicParams(answer.GetParams()); err != nil {
			return c.lied(err)
		}
	}
	digest, err := c.params.Digest()
	if err != nil {
		return err
	}
	if digest != c.genesis.Params {
		return &ServerError{URL: c.url, What: "parameters", Got: fmt.Sprintf("%x", c.genesis.Params[:8]), Want: fmt.Sprintf("%x", digest[:8])}
	}
	c.current, err = policy.NewCurrent(c.genesis, &c.params.Policy, nil)
	c.saw(&c.last, answer.GetLast())
	return err
}

// expect checks what a server says of itself: its protocol, and its ledger, which the link then holds it to.
func (l *link) expect(protocol uint32, id token.LedgerID) error {
	if protocol != rpc.Protocol {
		return &ServerError{URL: l.url, What: "protocol", Got: fmt.Sprint(protocol), Want: fmt.Sprint(rpc.Protocol)}
	}
	switch want := l.options.Ledger; want {
	case id:
	case token.LedgerID{}:
		l.options.Ledger = id
	default:
		return &ServerError{URL: l.url, What: "ledger", Got: hex.EncodeToString(id[:]), Want: hex.EncodeToString(want[:])}
	}
	return nil
}

// expectBytes is expect for a ledger's id as bytes of a message.
func (l *link) expectBytes(protocol uint32, id []byte) error {
	if len(id) != len(token.LedgerID{}) {
		return l.lied(malformed("ledger", "%d bytes, a ledger's id has %d", len(id), len(token.LedgerID{})))
	}
	return l.expect(protocol, token.LedgerID(id))
}

// Close ends the connections to the server when their calls have ended.
func (l *link) Close() error {
	l.http.CloseIdleConnections()
	return nil
}

// Params returns the ledger's public parameters. The caller must not modify them.
func (c *Client) Params() *token.PublicParams { return c.params }

// Policy returns the ledger's current policy. It verifies the updates that led to it, each once. The caller must not
// modify it.
func (c *Client) Policy(ctx context.Context) (*token.Policy, error) {
	err := c.current.Follow(ctx, c)
	return c.current.Load(), err
}

// lied returns the error of an answer that is none: it says that it is the server's.
func (l *link) lied(err error) error {
	return &rpc.Beyond{Err: fmt.Errorf("%s: the server's answer is not accepted: %w", l.url, err)}
}

// accept makes the client believe from now on what a server told that lags: the caller has the error, once. Heads that
// validators have signed show whether the log went back.
func (c *Client) accept(err error, greatest *atomic.Uint64) {
	if lag, ok := errors.AsType[*LagError](err); ok {
		greatest.CompareAndSwap(lag.Seen, lag.Told)
	}
}

// saw keeps the greatest value that the server has told.
func (c *Client) saw(greatest *atomic.Uint64, value uint64) {
	for {
		before := greatest.Load()
		if value <= before || greatest.CompareAndSwap(before, value) {
			return
		}
	}
}

var errEnded = errors.New("the answer ended early")
