package token_test

import (
	"encoding/binary"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload/token"
)

// TestLogFollow: a log longer than what a vault writes at once is followed to its end, with the same input twice. The
// check knows whether records are proved, and refuses an operation that ended early.
func TestLogFollow(t *testing.T) {
	const records = 5000
	for _, proofs := range []string{"on", "off"} {
		t.Run("proofs="+proofs, func(t *testing.T) {
			instance := newInstance(t, token.LogFollow(), map[string]string{"records": "5000", "proofs": proofs}, 1)
			input := must.Get(instance.Input(t.Context(), 0))(t)
			for range 2 {
				output := must.Get(instance.Run(t.Context(), input))(t)
				golden.Equal(t, "records followed", records, int(binary.BigEndian.Uint64(output)))
				must.Do(t, instance.Check(t.Context(), input, output))
			}
			must.Fail(t, instance.Check(t.Context(), input, binary.BigEndian.AppendUint64(nil, records-1)), must.ErrAny, "a wallet that stopped early")
		})
	}
}
