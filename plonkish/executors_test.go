package plonkish

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/srs"
)

// TestExecutorsAgree: keys and proofs are the same from every executor and on any number of processors, and from
// expanded keys. The circuits have several pieces of everything that is cut. It sets GOMAXPROCS, so it is not
// parallel.
func TestExecutorsAgree(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rows := testsize.Pick(9000, 20000, 20000)
	plonk, lookup := NewBuilder(Plonk()), NewBuilder(bitwise(3))
	chain(plonk, rows, 7)
	looks(lookup, rows, 1)
	for name, b := range map[string]*Builder{"plonk": plonk, "lookups": lookup} {
		c := must.Get(b.Build())(t)
		run := func(ex executor.Executor, expanded bool) []byte {
			s := must.Get(srs.Insecure(t.Context(), ex, c.Size(), 1))(t)
			k := must.Get(Setup(t.Context(), ex, c, s))(t)
			defer k.Close()
			if expanded {
				must.Do(t, k.Expand(t.Context(), ex))
			}
			proof := must.Get(k.Prove(t.Context(), ex, c, Options{Rand: bytes.NewReader(make([]byte, 32)), FullLength: expanded}))(t)
			must.Do(t, k.Verifying().VerifyInsecure(proof, c.Public(), nil))
			return append(k.Verifying().Bytes(), proof...)
		}
		want := run(executor.Serial(), false)
		for _, cpus := range testsize.Pick([]int{3, 16}, []int{1, 2, 3, 16}, []int{1, 2, 3, 16}) {
			runtime.GOMAXPROCS(cpus)
			for _, ex := range []executor.Executor{executor.Pool(), executor.Unbounded(), executor.NewRecorder(cpus)} {
				if !bytes.Equal(want, run(ex, cpus == 3)) {
					t.Errorf("circuit=%s exec=%s cpus=%d: another key or proof than that of the serial executor", name, ex.Name(), cpus)
				}
			}
		}
	}
}
