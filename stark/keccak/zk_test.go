package keccak

import (
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
)

// TestZeroKnowledge: proofs in zero knowledge verify, for what they say and under no other parameters.
func TestZeroKnowledge(t *testing.T) {
	t.Parallel()
	messages := [][]byte{[]byte("abc"), make([]byte, 300)}
	for _, field := range []stark.Field{stark.KoalaBear, stark.Goldilocks} {
		c := config(field)
		plain := must.Get(New(c, stark.Exposed))(t)
		must.FailGet(New(c, stark.Hidden))(t, zkbench.ErrParams, "%s, hidden by parameters that hide nothing", field)
		must.FailGet(New(c, 0))(t, zkbench.ErrParams, "%s, nothing said of messages", field)
		c.Params.ZeroKnowledge = true
		must.FailGet(NewSpongeTable(c, stark.Hidden))(t, zkbench.ErrParams, "%s, hidden beside public states", field)
		s := must.Get(New(c, stark.Hidden))(t)
		proof := must.Get(s.Prove(t.Context(), executor.Serial(), messages, nil, stark.Options{}))(t)
		claims := Claims(messages, stark.Hidden)
		must.Do(t, s.Verify(proof, claims, nil))
		must.Fail(t, s.Verify(proof, claims[:1], nil), zkbench.ErrProof, "%s, a message less", field)
		must.Fail(t, plain.Verify(proof, claims, nil), zkbench.ErrProof, "%s, as if it were not in zero knowledge", field)
	}
}
