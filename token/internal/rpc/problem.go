package rpc

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"time"

	"connectrpc.com/connect"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/ledger"
)

// reasons are the causes that cross the network, the special ones before those that they wrap.
var reasons = []struct {
	reason tokenv1.Reason
	err    error
	code   connect.Code // of a call that fails for it
}{
	{tokenv1.Reason_REASON_OUTCOME_UNKNOWN, zkbench.ErrOutcomeUnknown, connect.CodeUnavailable},
	{tokenv1.Reason_REASON_ROLLED_BACK, ledger.ErrRolledBack, connect.CodeDataLoss},
	{tokenv1.Reason_REASON_NOT_FOUND, ledger.ErrNotFound, connect.CodeNotFound},
	{tokenv1.Reason_REASON_EXISTS, ledger.ErrExists, connect.CodeAlreadyExists},
	{tokenv1.Reason_REASON_NO_LEAF, ledger.ErrNoLeaf, connect.CodeOutOfRange},
	{tokenv1.Reason_REASON_MALFORMED, zkbench.ErrMalformed, connect.CodeInvalidArgument},
	{tokenv1.Reason_REASON_PARAMS, zkbench.ErrParams, connect.CodeInvalidArgument},
	{tokenv1.Reason_REASON_PROOF, zkbench.ErrProof, connect.CodeInvalidArgument},
	{tokenv1.Reason_REASON_SIGNATURE, zkbench.ErrSignature, connect.CodePermissionDenied},
	{tokenv1.Reason_REASON_SPENT, zkbench.ErrSpent, connect.CodeFailedPrecondition},
	{tokenv1.Reason_REASON_ANCHOR_CONFLICT, zkbench.ErrAnchorConflict, connect.CodeAlreadyExists},
	{tokenv1.Reason_REASON_POLICY, zkbench.ErrPolicy, connect.CodeFailedPrecondition},
	{tokenv1.Reason_REASON_LIMIT, zkbench.ErrLimit, connect.CodeResourceExhausted},
	{tokenv1.Reason_REASON_CLOSED, fs.ErrClosed, connect.CodeUnavailable},
	{tokenv1.Reason_REASON_ENVIRONMENT, zkbench.ErrEnv, connect.CodeUnavailable},
}

// hidden says in place of an error's own words what a caller may know: those words may name paths, databases and users.
var hidden = map[tokenv1.Reason]string{
	tokenv1.Reason_REASON_UNSPECIFIED:     "a fault of the server, which its log has",
	tokenv1.Reason_REASON_ENVIRONMENT:     "the server cannot answer now; its log says why",
	tokenv1.Reason_REASON_CLOSED:          "the server stops",
	tokenv1.Reason_REASON_OUTCOME_UNKNOWN: "the ledger may or may not have recorded the request",
	tokenv1.Reason_REASON_ROLLED_BACK:     "the ledger went back to an earlier state",
}

// Busy is a limit of a server that is reached for now: the same call may succeed later.
type Busy struct {
	*zkbench.LimitError
	After time.Duration // the least time until then
}

// Unwrap returns the limit.
func (b *Busy) Unwrap() error { return b.LimitError }

// Beyond is the error of an answer that a server gave to this program. If this program is a server too, the error is not
// about what its caller sent.
type Beyond struct{ Err error }

func (b *Beyond) Error() string { return b.Err.Error() }

// Unwrap returns the error.
func (b *Beyond) Unwrap() error { return b.Err }

// fromBeyond reports whether an error is due to another server, which this one called.
func fromBeyond(err error) bool {
	if _, ok := errors.AsType[*Beyond](err); ok {
		return true
	}
	_, ok := errors.AsType[*connect.Error](err)
	return ok
}

// PutProblem returns the message of an error.
func PutProblem(err error) *tokenv1.Problem {
	p := &tokenv1.Problem{}
	if c, ok := errors.AsType[*zkbench.CheckError](err); ok {
		p.Check, err = &tokenv1.Check{Name: c.Check, Action: int32(c.Action), Index: int32(c.Index)}, c.Err
	}
	_, damaged := errors.AsType[*ledger.CorruptError](err) // the server's store, not what the caller sent
	beyond := fromBeyond(err)
	for _, r := range reasons {
		if errors.Is(err, r.err) && !damaged && (!beyond || hidden[r.reason] != "") {
			p.Reason = r.reason
			break
		}
	}
	if l, ok := errors.AsType[*zkbench.LimitError](err); ok && p.Reason == tokenv1.Reason_REASON_LIMIT {
		p.Limit = &tokenv1.Limit{What: l.What, Estimate: l.Estimate, Max: l.Max}
		if b, ok := errors.AsType[*Busy](err); ok {
			p.Limit.RetryAfterMs = max(1, b.After.Milliseconds())
		}
		if errors.Is(err, zkbench.ErrEnv) { // a limit of another server, with its address
			p.Text = l.Error()
		}
	}
	if e, ok := errors.AsType[*ledger.PolicyError](err); ok {
		p.Reason, p.Policy = tokenv1.Reason_REASON_OTHER_POLICY, &tokenv1.PolicyVersions{Version: e.Version, Current: e.Current}
	}
	if e, ok := errors.AsType[*ledger.TimeError](err); ok {
		p.Reason, p.Times = tokenv1.Reason_REASON_TIME, &tokenv1.Times{Time: e.Time.UnixNano(), Last: e.Last.UnixNano()}
	}
	if e, ok := errors.AsType[*ledger.AheadError](err); ok {
		p.Reason, p.Times = tokenv1.Reason_REASON_AHEAD, &tokenv1.Times{Time: e.Clock.UnixNano(), Last: e.Time.UnixNano(), Max: int64(e.Max)}
	}
	if e, ok := errors.AsType[*zkbench.DecodeError](err); ok && p.Reason == tokenv1.Reason_REASON_MALFORMED {
		p.Place = &tokenv1.Place{Path: e.Path, Offset: int64(e.Offset), Reason: e.Reason}
	}
	p.Text = cmp.Or(hidden[p.Reason], p.Text, err.Error())
	return p
}

// told is a problem that another party told: its words, and the cause.
type told struct {
	text string
	err  error
}

func (t *told) Error() string { return t.text }

func (t *told) Unwrap() error { return t.err }

// GetProblem returns the error of a message, of the type that it had at the server. It returns an error that wraps
// zkbench.ErrEnv for a cause that is not known here.
func GetProblem(p *tokenv1.Problem) error {
	err := cause(p)
	if c := p.GetCheck(); c != nil {
		err = &zkbench.CheckError{Check: Printable(c.GetName()), Action: max(-1, int(c.GetAction())), Index: max(-1, int(c.GetIndex())), Err: err}
	}
	return err
}

func cause(p *tokenv1.Problem) error {
	switch t := p.GetTimes(); p.GetReason() {
	case tokenv1.Reason_REASON_OTHER_POLICY:
		return &ledger.PolicyError{Version: p.GetPolicy().GetVersion(), Current: p.GetPolicy().GetCurrent()}
	case tokenv1.Reason_REASON_TIME:
		return &ledger.TimeError{Time: time.Unix(0, t.GetTime()).UTC(), Last: time.Unix(0, t.GetLast()).UTC()}
	case tokenv1.Reason_REASON_AHEAD:
		return &ledger.AheadError{Clock: time.Unix(0, t.GetTime()).UTC(), Time: time.Unix(0, t.GetLast()).UTC(), Max: time.Duration(t.GetMax())}
	case tokenv1.Reason_REASON_LIMIT:
		l := p.GetLimit()
		e := &zkbench.LimitError{What: Printable(l.GetWhat()), Estimate: l.GetEstimate(), Max: l.GetMax()}
		if after := l.GetRetryAfterMs(); after > 0 {
			return &Busy{e, time.Duration(min(after, MaxWait)) * time.Millisecond}
		}
		return e
	case tokenv1.Reason_REASON_MALFORMED:
		if place := p.GetPlace(); place != nil {
			return &zkbench.DecodeError{Path: Printable(place.GetPath()), Offset: int(place.GetOffset()), Reason: Printable(place.GetReason())}
		}
	}
	for _, r := range reasons {
		if r.reason == p.GetReason() {
			return &told{cmp.Or(Printable(p.GetText()), r.err.Error()), r.err}
		}
	}
	return &told{cmp.Or(Printable(p.GetText()), "a fault of the server"), zkbench.ErrEnv}
}

// maxText is the number of bytes of a text that is shown of what another party wrote.
const maxText = 1 << 10

// Printable returns what another party wrote as one short line.
func Printable(text string) string {
	text = text[:min(len(text), maxText)]
	clean := make([]rune, 0, len(text))
	for _, r := range text {
		if r < ' ' || r == 0x7f || r == 0xfffd || r >= 0x80 && r < 0xa0 || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			r = '?'
		}
		clean = append(clean, r)
	}
	return string(clean)
}

// PutError returns the error of a call, with the Problem as its detail. An error of a context keeps its meaning. A
// *connect.Error is that of this call already. If err wraps one, another server answered with it, and its words and its code
// are not for the caller.
func PutError(err error) *connect.Error {
	if e, ok := err.(*connect.Error); ok {
		return e
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, context.DeadlineExceeded)
	case errors.Is(err, context.Canceled):
		return connect.NewError(connect.CodeCanceled, context.Canceled)
	}
	p := PutProblem(err)
	code := connect.CodeInternal
	for _, r := range reasons {
		if r.reason == p.Reason {
			code = r.code
		}
	}
	e := connect.NewError(code, errors.New(p.Text))
	if detail, err := connect.NewErrorDetail(p); err == nil {
		e.AddDetail(detail)
	}
	return e
}

// GetError returns what the error of a call has as its detail, or nil if it has no Problem.
func GetError(err error) error {
	e, ok := errors.AsType[*connect.Error](err)
	if !ok {
		return nil
	}
	for _, detail := range e.Details() {
		if detail == nil || detail.Type() != string(new(tokenv1.Problem).ProtoReflect().Descriptor().FullName()) {
			continue // nil is a null in JSON; of other types nothing is decoded
		}
		if value, err := detail.Value(); err == nil {
			if p, ok := value.(*tokenv1.Problem); ok {
				return GetProblem(p)
			}
		}
	}
	return nil
}
