package keccak

import (
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/stark"
)

// TestZeroKnowledge: proofs in zero knowledge verify, for what they say and under no other set.
func TestZeroKnowledge(t *testing.T) {
	t.Parallel()
	messages := [][]byte{[]byte("abc"), make([]byte, 300)}
	for _, field := range []stark.Field{stark.KoalaBear, stark.Goldilocks} {
		c := config(field)
		plain := must.Get(New(c, false))(t)
		c.Set.ZeroKnowledge = true
		s := must.Get(New(c, false))(t)
		proof := must.Get(s.Prove(t.Context(), executor.Serial(), messages, nil, stark.Options{}))(t)
		claims := Claims(messages, false)
		must.Do(t, s.Verify(proof, claims, nil))
		must.Fail(t, s.Verify(proof, claims[:1], nil), zkbench.ErrProof, "%s, a message less", field)
		must.Fail(t, plain.Verify(proof, claims, nil), zkbench.ErrMalformed, "%s, as if it were not in zero knowledge", field)
	}
}
