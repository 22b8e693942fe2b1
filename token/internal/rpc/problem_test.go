package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/ledger"
)

// TestProblems: an error has at the client the cause, the type and the fields that it had at the server.
func TestProblems(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 5).UTC()
	for _, cause := range []error{
		zkbench.ErrMalformed, zkbench.ErrParams, zkbench.ErrProof, zkbench.ErrSignature, zkbench.ErrPolicy, zkbench.ErrSpent, zkbench.ErrAnchorConflict,
		zkbench.ErrOutcomeUnknown, zkbench.ErrLimit, zkbench.ErrEnv, ledger.ErrNotFound, ledger.ErrExists, ledger.ErrNoLeaf, ledger.ErrRolledBack, fs.ErrClosed,
		&ledger.PolicyError{Version: 3, Current: 4},
		&ledger.TimeError{Time: at, Last: at.Add(time.Hour)},
		&ledger.AheadError{Time: at.Add(time.Hour), Clock: at, Max: time.Minute},
		&zkbench.LimitError{What: "bytes", Estimate: 9, Max: 8},
		&zkbench.DecodeError{Path: "anchor", Offset: 7, Reason: "empty"},
		errors.New("pq: password of user bank is wrong"),
		ledger.Corruptf("page 7 of /var/lib/bank", "its checksum is wrong; password"),
	} {
		for _, sent := range []error{cause, fmt.Errorf("in words: %w", cause), &zkbench.CheckError{Check: "proofs", Action: 2, Index: -1, Err: cause}} {
			p := new(tokenv1.Problem)
			must.Do(t, proto.Unmarshal(must.Get(proto.Marshal(rpc.PutProblem(sent)))(t), p))
			got := rpc.GetProblem(p)
			if strings.Contains(got.Error(), "password") {
				t.Errorf("%v: a client sees %v", sent, got)
			}
			if known := p.Reason != tokenv1.Reason_REASON_UNSPECIFIED; known && deref(cause) == any(cause) && !errors.Is(got, cause) {
				t.Errorf("%v became %v, which has another cause", sent, got)
			} else if !known && !errors.Is(got, zkbench.ErrEnv) {
				t.Errorf("%v became %v, which says that the request is wrong", sent, got)
			}
			c, checked := errors.AsType[*zkbench.CheckError](got)
			if _, want := errors.AsType[*zkbench.CheckError](sent); want != checked || checked && (c.Check != "proofs" || c.Action != 2 || c.Index != -1) {
				t.Errorf("%v became %v, with another check", sent, got)
			}
			switch cause.(type) {
			case *ledger.PolicyError, *ledger.TimeError, *ledger.AheadError, *zkbench.LimitError, *zkbench.DecodeError:
				inner := got
				if checked {
					inner = c.Err
				}
				golden.Equal(t, "fields of the error", fmt.Sprintf("%#v", deref(cause)), fmt.Sprintf("%#v", deref(inner)))
			}
			if e := rpc.GetError(rpc.PutError(sent)); e == nil || e.Error() != got.Error() {
				t.Errorf("%v of a call became %v, of a verdict %v", sent, e, got)
			}
		}
	}
	golden.Equal(t, "code of a deadline", connect.CodeDeadlineExceeded, rpc.PutError(fmt.Errorf("read: %w", context.DeadlineExceeded)).Code())
	if text := rpc.GetProblem(&tokenv1.Problem{Reason: tokenv1.Reason_REASON_POLICY, Text: "\x1b[2Jclear\n" + strings.Repeat("x", 1<<20)}).Error(); strings.ContainsAny(text, "\x1b\n") || len(text) > 2<<10 {
		t.Errorf("a text of another party: %q", text[:40])
	}
}

func deref(err error) any {
	switch e := err.(type) {
	case *ledger.PolicyError:
		return *e
	case *ledger.TimeError:
		return *e
	case *ledger.AheadError:
		return *e
	case *zkbench.LimitError:
		return *e
	case *zkbench.DecodeError:
		return *e
	}
	return err
}

// TestBeyond: what another server answered to this one does not look like this one's answer, and its words stay here.
func TestBeyond(t *testing.T) {
	t.Parallel()
	refused := connect.NewError(connect.CodePermissionDenied, errors.New("certificate of bank at 192.0.2.7: no role"))
	for _, c := range []struct {
		err    error
		reason tokenv1.Reason
		code   connect.Code
	}{
		{fmt.Errorf("https://192.0.2.7: %w", refused), tokenv1.Reason_REASON_UNSPECIFIED, connect.CodeInternal},
		{fmt.Errorf("%w: %w", zkbench.ErrParams, refused), tokenv1.Reason_REASON_UNSPECIFIED, connect.CodeInternal},
		{fmt.Errorf("%w: tried: %w", zkbench.ErrEnv, refused), tokenv1.Reason_REASON_ENVIRONMENT, connect.CodeUnavailable},
		{fmt.Errorf("%w: %w: tried: %w", zkbench.ErrOutcomeUnknown, zkbench.ErrEnv, refused), tokenv1.Reason_REASON_OUTCOME_UNKNOWN, connect.CodeUnavailable},
		{&rpc.Beyond{Err: fmt.Errorf("https://192.0.2.7: the answer: %w", &zkbench.DecodeError{Path: "record", Reason: "empty"})}, tokenv1.Reason_REASON_UNSPECIFIED, connect.CodeInternal},
		{fmt.Errorf("%w: https://192.0.2.7: tried: %w", zkbench.ErrEnv, &rpc.Busy{LimitError: &zkbench.LimitError{What: "calls", Estimate: 2, Max: 1}}), tokenv1.Reason_REASON_LIMIT, connect.CodeResourceExhausted},
	} {
		e := rpc.PutError(c.err)
		golden.Equal(t, "code of "+c.err.Error(), c.code, e.Code())
		if strings.Contains(e.Error(), "192.0.2.7") || strings.Contains(rpc.PutProblem(c.err).GetText(), "192.0.2.7") {
			t.Errorf("%v: a client sees %v", c.err, e)
		}
		golden.Equal(t, "reason of "+c.err.Error(), c.reason, rpc.PutProblem(c.err).GetReason())
		if errors.Is(c.err, zkbench.ErrOutcomeUnknown) && !errors.Is(rpc.GetError(e), zkbench.ErrOutcomeUnknown) {
			t.Errorf("%v: a client does not learn that the outcome is unknown, but %v", c.err, rpc.GetError(e))
		}
	}
	golden.Equal(t, "code of this call", refused.Code(), rpc.PutError(refused).Code())
}

// FuzzProblem: whatever a server says is an error of one short line, without a panic.
func FuzzProblem(f *testing.F) {
	f.Add([]byte{8, 4})
	for _, err := range []error{&ledger.AheadError{}, &zkbench.CheckError{Check: "a", Err: zkbench.ErrSpent}, &zkbench.DecodeError{Path: "a"}} {
		f.Add(must.Get(proto.Marshal(rpc.PutProblem(err)))(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := new(tokenv1.Problem)
		if proto.Unmarshal(data, p) != nil {
			return
		}
		if text := rpc.GetProblem(p).Error(); text == "" || len(text) > 8<<10 || strings.ContainsAny(text, "\x1b\n\x00") {
			t.Errorf("%q", text)
		}
	})
}

// FuzzRecord: a record from another party is refused, or has one form.
func FuzzRecord(f *testing.F) {
	r := ledger.Record{Seq: 1, Entry: ledger.Entry{Anchor: []byte("a"), Creates: []ledger.Created{{ID: []byte("b"), Token: []byte("c")}}}}
	f.Add(uint64(1), rpc.PutRecord(&r).Leaf)
	f.Fuzz(func(t *testing.T, number uint64, leaf []byte) {
		got, err := rpc.Record(number, leaf)
		if err != nil {
			if _, ok := errors.AsType[*zkbench.DecodeError](err); !ok {
				t.Errorf("%v", err)
			}
			return
		}
		again := rpc.PutRecord(&got)
		if again.Number != number || string(again.Leaf) != string(leaf) {
			t.Error("another form")
		}
	})
}
