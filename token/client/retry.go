package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"connectrpc.com/connect"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/peer"
)

// The time between attempts begins with firstPause and doubles up to maxPause.
const (
	firstPause = 50 * time.Millisecond
	maxPause   = 5 * time.Second
)

// maxSkew is how much earlier than the client a server may end a call at the client's deadline.
const maxSkew = 100 * time.Millisecond

// attemptTime bounds one attempt of a call that answers once, and the silence of a stream. It is longer than rpc.Heartbeat.
const attemptTime = 2 * time.Minute

// retry makes a call until it succeeds, cannot succeed, or the link's patience ends.
func retry[T any](ctx context.Context, l *link, method string, call func(ctx context.Context) (T, error)) (T, error) {
	w := l.begin(method)
	for {
		attempt, cancel := context.WithTimeout(ctx, attemptTime)
		answer, err := call(attempt)
		cancel()
		if err == nil {
			return answer, nil
		}
		if err := w.failed(ctx, err); err != nil {
			var none T
			return none, err
		}
	}
}

// attempts are the attempts of one call.
type attempts struct {
	link   *link
	method string
	until  time.Time
	pause  time.Duration
}

func (l *link) begin(method string) *attempts {
	return &attempts{l, method, time.Now().Add(max(0, l.options.Patience)), firstPause}
}

// failed waits until the call may be made again, and returns nil; or it returns the error of the call.
func (a *attempts) failed(ctx context.Context, err error) error {
	if end, ok := ctx.Deadline(); ok && connect.CodeOf(err) == connect.CodeDeadlineExceeded && time.Until(end) < maxSkew {
		<-ctx.Done() // the server's clock for the same deadline was a little faster
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	later, after, told := judge(err)
	if !later {
		if e, ok := told.(*connect.Error); ok { // a server that passes it on must not take it for its own
			told = fmt.Errorf("%s: %w", a.link.url, e)
		}
		return told
	}
	pause := max(after, a.pause/2+rand.N(a.pause/2+1))
	a.pause = min(2*a.pause, maxPause)
	at := time.Now().Add(pause)
	if at.After(a.until) {
		return fmt.Errorf("%w: %s: %s failed, tried until %s: %w", zkbench.ErrEnv, a.link.url, a.method, time.Now().UTC().Format(time.TimeOnly), told)
	}
	if a.link.options.Report != nil {
		a.link.options.Report(Retry{Method: a.method, Err: told, At: at, Until: a.until})
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pause):
		return nil
	}
}

// judge returns whether a failed call may succeed later, the least time until then, and the error that it means.
func judge(err error) (later bool, after time.Duration, told error) {
	if _, lag := errors.AsType[*LagError](err); lag {
		return true, 0, err
	}
	if problem := rpc.GetError(err); problem != nil {
		if busy, ok := errors.AsType[*rpc.Busy](problem); ok {
			return true, busy.After, problem
		}
		_, check := errors.AsType[*zkbench.CheckError](problem)
		return !check && (errors.Is(problem, zkbench.ErrEnv) || errors.Is(problem, zkbench.ErrOutcomeUnknown) || errors.Is(problem, fs.ErrClosed)), 0, problem
	}
	if hopeless(err) {
		return false, 0, err
	}
	if broken(err) {
		return true, 0, err
	}
	switch connect.CodeOf(err) {
	case connect.CodeUnavailable, connect.CodeDeadlineExceeded, connect.CodeAborted, connect.CodeCanceled:
		return true, 0, plain(err)
	case connect.CodeResourceExhausted: // of the server; an answer that is too long has the same code
		if connect.IsWireError(err) {
			return true, 0, plain(err)
		}
	}
	if _, ok := errors.AsType[*connect.Error](err); ok {
		cause := zkbench.ErrParams
		if !connect.IsWireError(err) { // the answer is not a message
			cause = zkbench.ErrMalformed
		}
		return false, 0, fmt.Errorf("%w: %w", cause, plain(err))
	}
	return errors.Is(err, errEnded), 0, err
}

// plain returns an error that a server has answered as one short line: its words may move the cursor of a terminal.
func plain(err error) error {
	if e, ok := errors.AsType[*connect.Error](err); ok && connect.IsWireError(e) {
		return connect.NewError(e.Code(), errors.New(rpc.Printable(e.Message())))
	}
	return err
}

// broken reports whether an answer ended before it was complete, because the connection did.
func broken(err error) bool {
	if _, reset := errors.AsType[streamError](err); reset {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return true
	}
	e, ok := errors.AsType[*connect.Error](err)
	return ok && !connect.IsWireError(e) && (e.Code() == connect.CodeUnknown || e.Code() == connect.CodeInternal)
}

// streamError is the error of a stream of HTTP/2 that its server has reset, in the form that the error of package net/http
// converts itself to.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string {
	return fmt.Sprintf("stream %d was reset: code %d", e.StreamID, e.Code)
}

// hopeless reports whether the server is not the one expected, or does not accept this client.
func hopeless(err error) bool {
	if _, ok := errors.AsType[*ServerError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*peer.RoleError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error" && slices.ContainsFunc(certificateAlerts, func(a tls.AlertError) bool { return op.Err.Error() == a.Error() })
}

// certificateAlerts are the TLS alerts with which a server refuses a client's certificate (RFC 8446, section 6.2). Others
// can be due to somebody who changes what is sent.
var certificateAlerts = []tls.AlertError{42, 43, 44, 45, 46, 48, 49, 116}

// mayHaveActed reports whether a server may have done what a failed call asks for: unless the server itself says that a
// limit kept it from that, or the client refused the server's certificate.
func mayHaveActed(err error) bool {
	if problem := rpc.GetError(err); problem != nil {
		return !errors.Is(problem, zkbench.ErrLimit)
	}
	if _, ok := errors.AsType[*ServerError](err); ok { // of its answer
		return true
	}
	return !hopeless(err)
}

// unknown adds to the error of a call that something may have been done.
func unknown(err error) error {
	if errors.Is(err, zkbench.ErrOutcomeUnknown) {
		return err
	}
	return fmt.Errorf("%w: %w", zkbench.ErrOutcomeUnknown, err)
}
