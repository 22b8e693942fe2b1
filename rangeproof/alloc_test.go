//go:build !race

package rangeproof_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// At most 80 allocations a proof, its sums included, and 50 a verification: the counts are exact under the serial executor. The race detector makes sync.Pool
// drop what it holds, so they mean something only without it.
func TestAllocations(t *testing.T) {
	for _, c := range constructions {
		p := c.protocol(t, parameters{64, 1, 0})
		st := newStatement(1, 1<<63+12345)
		pf := prove(t, p, st)
		start := bound(p, "ctx")
		proving := testing.AllocsPerRun(5, func() {
			tr := start
			must.Get(p.Prove(ctx, serial, &tr, st.V, st.w, st.nonces))(t)
		})
		verifying := testing.AllocsPerRun(5, func() {
			tr := start
			must.Do(t, hold(longBasis(), nil, must.Get(p.Replay(&tr, st.V, pf))(t)))
		})
		t.Logf("proof=%s: prove %v, verify %v", c.name, proving, verifying)
		if proving > 80 || verifying > 50 {
			t.Errorf("proof=%s: prove allocates %v times, verify %v; want at most 80 and 50", c.name, proving, verifying)
		}
	}
}
