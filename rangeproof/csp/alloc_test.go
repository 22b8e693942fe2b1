//go:build !race

package csp

import (
	"context"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/must"
)

// The race detector makes sync.Pool drop what it holds, so the counts mean
// something only without it.
func TestAllocations(t *testing.T) {
	p := newProtocol(t, 64, 0)
	r := randomScalar("alloc")
	V := []point{commitTo(p, fr.NewElement(5), r)}
	w := witnessOf(5, r)
	tr := start(p, "alloc")
	var proof *prf
	if got := testing.AllocsPerRun(5, func() {
		tr := tr
		var err error
		if proof, err = p.Prove(context.Background(), executor.Serial(), &tr, V, w, nonces("alloc")); err != nil {
			t.Fatal(err)
		}
	}); got > 80 {
		t.Errorf("%v allocations per proof, want at most 80", got)
	}
	if got := testing.AllocsPerRun(5, func() {
		tr := tr
		eq := must.Get(p.Replay(&tr, V, proof))(t)
		must.Do(t, check(p, nil, eq))
	}); got > 50 {
		t.Errorf("%v allocations per verification, want at most 50", got)
	}
}
