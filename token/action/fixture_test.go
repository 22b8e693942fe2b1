package action_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/transcript"
)

var (
	ctx    = context.Background()
	serial = executor.Serial()
)

func newParams(t testing.TB, proofType string) token.CryptoParams {
	t.Helper()
	pp := must.Get(token.NewCryptoParams(token.Config{
		Curve: "BN254", Bits: 8, ProofType: proofType,
	}, token.Tuning{Table: group.TableOptions{Window: 4, Spacing: 8}}))(t)
	return pp
}

// minted drafts an issue of tokens.
func minted(t testing.TB, pp token.CryptoParams, label string, anchor token.Anchor, values ...uint64) *action.Draft {
	t.Helper()
	spec := action.Spec{Metadata: []byte("metadata"), Anchor: anchor, Rand: transcript.XOF("zkbench/v1/test", []byte(label))}
	for i, v := range values {
		spec.Outputs = append(spec.Outputs, action.Output{Owner: fmt.Appendf(nil, "owner %d", i), Value: v})
	}
	return must.Get(action.NewIssue(ctx, serial, pp, "USD", spec))(t)
}

// owned makes tokens of one type that a sender may spend.
func owned(t testing.TB, pp token.CryptoParams, label string, values ...uint64) []action.Owned {
	t.Helper()
	d := minted(t, pp, label, "minted", values...)
	out := make([]action.Owned, len(values))
	for i := range out {
		out[i] = action.Owned{Input: action.Input{ID: fmt.Appendf(nil, "%s/%d", label, i), Token: d.Outputs[i]}, Opening: d.Openings[i]}
	}
	return out
}

// draft drafts an issue of 2 tokens, or a transfer of 3 inputs to 2 outputs, the
// second of which redeems.
func draft(t testing.TB, pp token.CryptoParams, kind token.Kind, label string, anchor token.Anchor) *action.Draft {
	t.Helper()
	if kind == token.Issue {
		return minted(t, pp, label, anchor, 200, 255)
	}
	s := must.Get(action.NewSender(ctx, serial, pp, owned(t, pp, label, 100, 20, 3)))(t)
	return must.Get(s.Transfer(ctx, action.Spec{Outputs: []action.Output{{Owner: []byte("alice"), Value: 120, Note: noteOf}, {Value: 3}}, Metadata: []byte("metadata"), Anchor: anchor}))(t)
}

// noteOf makes a note of an opening.
func noteOf(o token.Opening) ([]byte, error) {
	return fmt.Appendf(nil, "note on %d %s", o.Value, o.Type), nil
}

// sent proves draft and returns its encoding.
func sent(t testing.TB, pp token.CryptoParams, kind token.Kind, label string, anchor token.Anchor) []byte {
	t.Helper()
	return proven(t, draft(t, pp, kind, label, anchor))
}

func proven(t testing.TB, d *action.Draft) []byte {
	t.Helper()
	return must.Get(d.Prove(ctx))(t)
}

func receive(pp token.CryptoParams, kind token.Kind, raw []byte, anchor token.Anchor) error {
	a, err := action.Decode(pp, kind, raw)
	if err != nil {
		return err
	}
	return a.Verify(ctx, serial, action.NothingLookedUp(), anchor)
}

// kinds are those of all actions.
var kinds = []token.Kind{token.Issue, token.Transfer}
