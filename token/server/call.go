package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/peer"
)

// A body must arrive at minRate at least, beginning after Server.slack; and the caller must read an answer within the slack
// after each part of it.
const (
	defaultSlack = 30 * time.Second
	minRate      = 64 << 10 // bytes a second
)

// callerKey is the key of a call's *caller in its context.
type callerKey struct{}

// CallerOf returns who made the call that a context belongs to: the zero Peer without TLS.
func CallerOf(ctx context.Context) peer.Peer {
	if c, ok := ctx.Value(callerKey{}).(*caller); ok {
		return c.Peer
	}
	return peer.Peer{}
}

// caller is who made a call, with what the limits allow it.
type caller struct {
	peer.Peer
	limits    *limiter
	allowance *allowance
	held      int64 // bytes of the answer
}

// answers counts bytes of the answer until the call ends. After an error, the call must not send them.
func (c *caller) answers(n int) error {
	c.held += int64(n)
	return c.limits.hold(c.allowance, int64(n))
}

// callOf returns the caller of a context. There is always one: admit made it.
func callOf(ctx context.Context) *caller { return ctx.Value(callerKey{}).(*caller) }

// proofs counts the proofs of requests towards what the caller may have checked.
func (c *caller) proofs(requests ...[]byte) error { return c.limits.submits(c.allowance, requests) }

// admit lets a call through to its service if its client may call it and is within the limits.
func (s *Server) admit(service Service, next http.Handler) http.Handler {
	errs := connect.NewErrorWriter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if service.header != nil {
			service.header(w.Header())
		}
		refuse := func(reason string, err error) {
			s.metrics.refused.WithLabelValues(reason).Inc()
			e := rpc.PutError(err)
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.slack)) // of what the client still sends
			switch {
			case errs.IsSupported(r):
				_ = errs.Write(w, r, e)
			case e.Code() == connect.CodePermissionDenied:
				http.Error(w, e.Message(), http.StatusForbidden)
			default:
				http.Error(w, e.Message(), http.StatusTooManyRequests)
			}
		}
		if r.TLS == nil && !ofThisMachine(r.Host) {
			refuse("host", connect.NewError(connect.CodePermissionDenied, errors.New("host: accepted without TLS: localhost, or a loopback address")))
			return
		}
		c := &caller{Peer: peer.FromState(r.TLS), limits: s.limits}
		if r.TLS != nil {
			accepted, ok := service.methods[r.URL.Path]
			if !ok {
				accepted = service.clients
			}
			if err := c.Check(accepted...); err != nil {
				refuse("role", connect.NewError(connect.CodePermissionDenied, err))
				return
			}
		}
		c.allowance = s.limits.of(keyOf(c.Peer, r))
		end, err := s.limits.call(c.allowance)
		if err != nil {
			refuse("calls", err)
			return
		}
		defer end()
		defer func() { s.limits.release(c.allowance, c.held) }()
		control := http.NewResponseController(w)
		body := &body{ReadCloser: r.Body, limits: s.limits, allowance: c.allowance, control: control, begin: time.Now().Add(s.slack)}
		defer body.release()
		r.Body = body
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
		next.ServeHTTP(&patient{ResponseWriter: w, control: control, slack: s.slack}, r)
	})
}

// ofThisMachine reports whether the host that a call names is this machine by a loopback address. Otherwise a page of a
// website whose name points at a loopback address would make calls in the browser of this machine's user.
func ofThisMachine(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// keyOf returns what a client is known by: the key of its certificate, or its address.
func keyOf(p peer.Peer, r *http.Request) string {
	if p.Key != ([32]byte{}) {
		return string(p.Key[:])
	}
	return addressOf(r.RemoteAddr)
}

// addressOf returns the address of a client without its port. The loopback addresses count as one, and so do those of one
// network of IPv6 (64 bits).
func addressOf(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return hostport
	}
	switch ip := net.ParseIP(host); {
	case ip != nil && ip.IsLoopback():
		return "loopback"
	case ip != nil && ip.To4() == nil:
		return ip.Mask(net.CIDRMask(64, 128)).String()
	}
	return host
}

// body is the body of a call, whose bytes count towards the limits as they arrive.
type body struct {
	io.ReadCloser
	limits    *limiter
	allowance *allowance
	control   *http.ResponseController
	begin     time.Time // of the least rate
	read      int64     // bytes
}

// maxBody is the greatest length of a body in bytes: a message, and what a protocol puts around it.
const maxBody = rpc.MaxMessage + 64

func (b *body) Read(p []byte) (n int, err error) {
	late := b.begin.Add(time.Duration(b.read) * time.Second / minRate)
	if err := b.control.SetReadDeadline(late); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err = b.ReadCloser.Read(p)
	if err == io.EOF { // from now on HTTP/1.1 reads on for a lost client, and takes a passed deadline for one
		_ = b.control.SetReadDeadline(time.Time{})
	}
	b.read += int64(n)
	limit := b.limits.bytes(b.allowance, int64(n))
	if b.read > maxBody {
		limit = &zkbench.LimitError{What: "bytes of a call", Estimate: b.read, Max: maxBody}
	}
	if limit != nil {
		return n, rpc.PutError(limit)
	}
	return n, err
}

// release gives back the memory of the call.
func (b *body) release() { b.limits.release(b.allowance, b.read) }

// patient is the answer of a call, each part of which the client must take within slack.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
	slack   time.Duration
}

func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *patient) Write(data []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(p.slack)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.ResponseWriter.Write(data)
}

// Flush implements http.Flusher, without which connect sends no stream. A stream may then be silent for long: HTTP/2 would
// reset it at the deadline of the last part.
func (p *patient) Flush() {
	_ = p.control.Flush()
	_ = p.control.SetWriteDeadline(time.Time{})
}

// interceptor counts and traces calls, and gives each error the form that callers can read.
type interceptor struct{ *Server }

func (i *interceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		ctx = i.traced(ctx, r.Spec(), r.Header())
		done := i.metrics.begin(r.Spec().Procedure)
		answer, err := next(ctx, r)
		return answer, i.ended(ctx, r.Spec(), done, err)
	}
}

func (i *interceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

func (i *interceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		counted, err := i.limits.stream(callOf(ctx).allowance)
		if err != nil {
			i.metrics.refused.WithLabelValues("streams").Inc()
			return rpc.PutError(err)
		}
		defer counted.release()
		ctx = i.traced(ctx, conn.Spec(), conn.RequestHeader())
		done := i.metrics.begin(conn.Spec().Procedure)
		return i.ended(ctx, conn.Spec(), done, next(ctx, &keptConn{conn, counted}))
	}
}

// keptConn ends a stream with its next message if it must make room for others.
type keptConn struct {
	connect.StreamingHandlerConn
	counted *stream
}

func (c *keptConn) Send(message any) error {
	if err := c.counted.keep(); err != nil {
		return err
	}
	return c.StreamingHandlerConn.Send(message)
}

// codeOK is the code of a call without an error.
const codeOK = "ok"

// ended counts a call that has ended, and returns its error for the caller. The log has those that are the server's fault.
func (i *interceptor) ended(ctx context.Context, spec connect.Spec, done func(code string), err error) error {
	if err == nil {
		done(codeOK)
		endSpan(ctx, codeOK, false)
		return nil
	}
	if errors.Is(err, errStopping) || errors.Is(context.Cause(ctx), errStopping) {
		err = errStopping
	}
	e := rpc.PutError(err)
	code, fault := e.Code().String(), false
	switch e.Code() {
	case connect.CodeInternal, connect.CodeUnknown, connect.CodeDataLoss, connect.CodeUnavailable:
		if fault = !errors.Is(err, errStopping); fault {
			i.log.ErrorContext(ctx, "call failed", "method", spec.Procedure, "code", code, "client", CallerOf(ctx).Name, "error", err)
		}
	}
	done(code)
	endSpan(ctx, code, fault)
	return e
}

func stack() string { return string(debug.Stack()) }
