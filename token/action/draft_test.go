package action_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/exectest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
)

// TestSenderRefuses: tokens that cannot be spent together.
func TestSenderRefuses(t *testing.T) {
	t.Parallel()
	pp := newParams(t, token.Bulletproof)
	good := owned(t, pp, "sender", 10, 20)
	for name, change := range map[string]func(o []action.Owned) []action.Owned{
		"nil":            func([]action.Owned) []action.Owned { return nil },
		"too many":       func(o []action.Owned) []action.Owned { return make([]action.Owned, token.MaxTokens+1) },
		"value":          func(o []action.Owned) []action.Owned { o[1].Opening.Value++; return o },
		"type":           func(o []action.Owned) []action.Owned { o[1].Opening.Type = "EUR"; return o },
		"same token":     func(o []action.Owned) []action.Owned { o[1] = o[0]; return o },
		"same id":        func(o []action.Owned) []action.Owned { o[1].ID = o[0].ID; return o },
		"types":          func(o []action.Owned) []action.Owned { o[0].Opening.Type, o[1].Opening.Type = "EUR", "EUR"; return o },
		"blinding":       func(o []action.Owned) []action.Owned { o[0].Opening.Blinding = o[1].Opening.Blinding; return o },
		"short blinding": func(o []action.Owned) []action.Owned { o[0].Opening.Blinding = nil; return o },
	} {
		_, err := action.NewSender(ctx, serial, pp, change(append([]action.Owned(nil), good...)))
		if !errors.Is(err, zkbench.ErrParams) && !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRefusedSpecs: what neither an issue nor a transfer of 30 can be made of, and what
// a transfer cannot, is refused before there is a draft.
func TestRefusedSpecs(t *testing.T) {
	t.Parallel()
	pp := newParams(t, token.CSP)
	sender := must.Get(action.NewSender(ctx, serial, pp, owned(t, pp, "specs", 10, 20)))(t)
	outputs := func(o ...action.Output) action.Spec { return action.Spec{Outputs: o, Anchor: "anchor"} }
	edited := func(edit func(*action.Spec)) action.Spec {
		s := outputs(action.Output{Value: 30})
		edit(&s)
		return s
	}
	for name, c := range map[string]struct {
		spec         action.Spec
		want         error
		transferOnly bool
	}{
		"no outputs":    {spec: outputs(), want: zkbench.ErrParams},
		"many outputs":  {spec: outputs(make([]action.Output, token.MaxTokens+1)...), want: zkbench.ErrParams},
		"range":         {spec: outputs(action.Output{Value: 1 << 8}), want: zkbench.ErrParams},
		"long owner":    {spec: outputs(action.Output{Value: 30, Owner: make([]byte, token.MaxOwner+1)}), want: zkbench.ErrLimit},
		"long metadata": {spec: edited(func(s *action.Spec) { s.Metadata = make([]byte, token.MaxMetadata+1) }), want: zkbench.ErrLimit},
		"no anchor":     {spec: edited(func(s *action.Spec) { s.Anchor = "" }), want: zkbench.ErrParams},
		"long anchor":   {spec: edited(func(s *action.Spec) { s.Anchor = token.Anchor(make([]byte, token.MaxBound+1)) }), want: zkbench.ErrLimit},
		"long note": {spec: outputs(action.Output{Value: 30, Note: func(token.Opening) ([]byte, error) {
			return make([]byte, token.MaxNote+1), nil
		}}), want: zkbench.ErrLimit},
		"no note": {spec: outputs(action.Output{Value: 30, Note: func(token.Opening) ([]byte, error) { return nil, zkbench.ErrEnv }}), want: zkbench.ErrEnv},
		"sum":     {spec: outputs(action.Output{Value: 29}), want: zkbench.ErrParams, transferOnly: true},
	} {
		must.FailGet(sender.Transfer(ctx, c.spec))(t, c.want, "transfer, %s", name)
		if _, err := action.NewIssue(ctx, serial, pp, "USD", c.spec); !errors.Is(err, c.want) && !c.transferOnly {
			t.Errorf("issue, %s: %v", name, err)
		}
	}
	short := edited(func(s *action.Spec) { s.Rand = bytes.NewReader(make([]byte, 31)) })
	must.FailGet(sender.Transfer(ctx, short))(t, io.ErrUnexpectedEOF, "31 bytes of randomness")
	must.FailGet(action.NewIssue(ctx, serial, pp, "", outputs(action.Output{Value: 1})))(t, zkbench.ErrParams, "no type")
	for _, n := range []int{token.MaxType + 1, 1 << 17} {
		must.FailGet(action.NewIssue(ctx, serial, pp, string(make([]byte, n)), outputs(action.Output{Value: 1})))(t, zkbench.ErrLimit, "type of %d bytes", n)
	}
}

// TestKeyHidesFromTheSource: who knows what Rand gave finds the value of an issue by
// trying, unless a key has entered; a key changes nothing for who has none.
func TestKeyHidesFromTheSource(t *testing.T) {
	t.Parallel()
	pp := newParams(t, token.CSP)
	issue := func(value uint64, key string) *action.Draft {
		d := must.Get(action.NewIssue(ctx, serial, pp, "USD", action.Spec{
			Outputs: []action.Output{{Owner: []byte("alice"), Value: value}}, Anchor: "known",
			Rand: bytes.NewReader(make([]byte, 32)), Key: []byte(key),
		}))(t)
		return d
	}
	guessed := func(d *action.Draft) bool {
		for value := range uint64(256) {
			if reflect.DeepEqual(issue(value, "").Outputs, d.Outputs) {
				return true
			}
		}
		return false
	}
	if !guessed(issue(200, "")) {
		t.Error("the value was not found without a key: the test tries the wrong thing")
	}
	for _, key := range []string{"key", "another"} {
		if guessed(issue(200, key)) {
			t.Errorf("the value was found by trying, although %q had entered", key)
		}
	}
	if reflect.DeepEqual(issue(200, "key").Outputs, issue(200, "another").Outputs) {
		t.Error("two keys give one blinding")
	}
	golden.Equal(t, "proofs of one key and one source", proven(t, issue(200, "key")), proven(t, issue(200, "key")))
}

// TestNotesStandAtTheirOutputs: an output without a note leaves the others' notes at their outputs.
func TestNotesStandAtTheirOutputs(t *testing.T) {
	t.Parallel()
	pp := newParams(t, token.CSP)
	for _, without := range []int{0, 1, 2} {
		spec := action.Spec{Anchor: "notes"}
		want := make([]string, 3)
		for i := range want {
			o := action.Output{Owner: fmt.Appendf(nil, "owner %d", i), Value: uint64(i + 1)}
			if i != without {
				o.Note, want[i] = noteOf, fmt.Sprintf("note on %d USD", i+1)
			}
			spec.Outputs = append(spec.Outputs, o)
		}
		raw := proven(t, must.Get(action.NewIssue(ctx, exectest.Wide(2), pp, "USD", spec))(t))
		a := must.Get(action.Decode(pp, token.Issue, raw))(t)
		got := make([]string, len(a.Notes))
		for i, note := range a.Notes {
			got[i] = string(note)
		}
		golden.Equal(t, fmt.Sprintf("notes, none of output %d", without), want, got)
	}
}
