package stark_test

import (
	"bytes"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
)

// TestKept: where not all cosets are kept, as at rate 1/16, proofs hold, one on all executors, in zero knowledge as
// well: values that are made again are those that were hashed.
func TestKept(t *testing.T) {
	t.Parallel()
	for _, zero := range []bool{false, true} {
		for _, c := range configs() {
			c.Params.LogBlowup, c.Params.Queries, c.Params.ZeroKnowledge = 4, 9, zero
			s := must.Get(stark.New(c, squares(), walk()))(t)
			rows := c.Params.Height(32)
			all, about := traces(rows, c.Params.Random())
			prove := func(ex executor.Executor) []byte {
				t.Helper()
				options := stark.Options{Rand: bytes.NewReader(make([]byte, 32))}
				proof := must.Get(s.Prove(t.Context(), ex, all, about, options))(t)
				must.Do(t, s.Verify(proof, about))
				return proof
			}
			proof := prove(executor.Serial())
			if !bytes.Equal(proof, prove(executor.Pool())) {
				t.Errorf("%s, %s, zero knowledge %t: another proof on another executor", c.Field, c.Hash, zero)
			}
		}
	}
}
