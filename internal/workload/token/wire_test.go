package token

import (
	"testing"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/request"
)

// TestWireSizes: what LedgerApply takes for a request and a token is as long as one.
func TestWireSizes(t *testing.T) {
	c := workload.NewCase(
		record.Axis{Key: "curve", Value: "BN254"}, record.Axis{Key: "bits", Value: "32"}, record.Axis{Key: "in", Value: "2"}, record.Axis{Key: "out", Value: "2"},
		record.Axis{Key: "proof", Value: "bulletproof"}, record.Axis{Key: "exec", Value: "serial"}, record.Axis{Key: "owner", Value: ownersEd25519},
	)
	v := must.Get(newValidation(c, 1))(t)
	s := must.Get(v.submit(t.Context(), 0, ""))(t)
	r := must.Get(request.Decode(s.raw))(t)
	// Ids of the corpus are its anchor and a byte; a ledger's are the anchor and 4.
	longer := anchorLen - len(r.Anchor)
	if n := len(s.raw) + longer + perRequest*(longer+3); n != requestLen {
		t.Errorf("a request has %d bytes, want %d", n, requestLen)
	}
	payee := must.Get(note.NewReader(nil, v.ledger).Payee(note.Nonce{}, token.X25519))(t)
	sealed := must.Get(note.Seal(note.Place{}, []note.Payee{payee}, token.Opening{Type: tokenType, Blinding: make([]byte, 32)}))(t)
	golden.Equal(t, "bytes of a note", noteLen, len(sealed))
	valid := must.Get(v.validator.Validate(t.Context(), s.ledger, s.raw, blockTime))(t)
	for _, c := range valid.Creates {
		golden.Equal(t, "bytes of a token", tokenLen, len(c.Token))
	}
}
