package token

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/request"
)

// TestReportedSizes: the sizes of an action and of a request that workloads report are those of what they make.
func TestReportedSizes(t *testing.T) {
	t.Parallel()
	c := workload.NewCase(
		record.Axis{Key: "curve", Value: "BN254"}, record.Axis{Key: "bits", Value: "8"}, record.Axis{Key: "in", Value: "2"}, record.Axis{Key: "out", Value: "2"},
		record.Axis{Key: "proof", Value: "csp"}, record.Axis{Key: "exec", Value: "serial"}, record.Axis{Key: "owner", Value: ownersEd25519},
	)
	for _, def := range []workload.Def{Sender(), Issuer(), ValidatorTransfer()} {
		instance := must.Get(def.New(t.Context(), c, 1))(t)
		input := must.Get(instance.Input(t.Context(), 1))(t)
		output := must.Get(instance.Run(t.Context(), input))(t)
		q, want := record.ActionSize, len(output)
		if s, ok := input.(*submitted); ok {
			q, want = record.RequestSize, len(s.raw)
		}
		golden.Equal(t, def.Name+": size", fmt.Sprint(q.Metric(float64(want))), fmt.Sprint(metricOf(must.Get(instance.Metrics(t.Context()))(t), q)))
	}
}

// metricOf returns the metric of quantity q in all.
func metricOf(all []record.Metric, q record.Quantity) (found record.Metric) {
	for _, m := range all {
		if m.Name() == q.Name() {
			found = m
		}
	}
	return found
}

// TestWireSizes: what LedgerApply takes for a request and a token is as long as one.
func TestWireSizes(t *testing.T) {
	c := workload.NewCase(
		record.Axis{Key: "curve", Value: "BN254"}, record.Axis{Key: "bits", Value: "32"}, record.Axis{Key: "in", Value: "2"}, record.Axis{Key: "out", Value: "2"},
		record.Axis{Key: "proof", Value: "bulletproof"}, record.Axis{Key: "exec", Value: "serial"}, record.Axis{Key: "owner", Value: ownersEd25519},
	)
	v := must.Get(newValidation(t.Context(), c, 1))(t)
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
