package poly

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestExecutorsAgree: every executor, on any number of processors, computes what the serial one does. It sets
// GOMAXPROCS, so it is not parallel.
func TestExecutorsAgree(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := source()
	shift := fr.NewElement(5)
	for _, f := range Forms() {
		for _, log := range []int{6, 12, 13, 14, 15, 17} {
			d, err := f.NewDomain(1 << log)
			if err != nil {
				t.Fatal(err)
			}
			e := random(rng, 1<<log)
			all := func(ex executor.Executor) []fr.Element {
				v, got := f.New(1<<log), make([]fr.Element, 1<<log)
				for _, err := range []error{
					v.SetOn(t.Context(), ex, e),
					v.BitReverseOn(t.Context(), ex),
					d.NTT(t.Context(), ex, v, BitReversed, &shift),
					v.ScaleOn(t.Context(), ex, &shift),
					v.BitReverseOn(t.Context(), ex),
					d.InverseNTT(t.Context(), ex, v, BitReversed, &shift),
					v.GetOn(t.Context(), ex, got),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
				return got
			}
			want := all(executor.Serial())
			for _, cpus := range []int{1, 2, 3, 16} {
				runtime.GOMAXPROCS(cpus)
				for _, ex := range []executor.Executor{executor.Pool(), executor.Unbounded(), executor.NewRecorder(cpus)} {
					same(t, fmt.Sprintf("%v, 2^%d by %s on %d processors", f, log, ex.Name(), cpus), want, all(ex))
				}
			}
		}
	}
}

// TestPieces: the ranges cover all elements once, and end when the context does.
func TestPieces(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, Piece - 1, Piece, Piece + 1, 5*Piece + 7} {
		var at int
		err := InPieces(t.Context(), executor.Serial(), n, func(lo, hi int) {
			golden.Equal(t, "begins", at, lo)
			at = hi
		})
		if err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, "elements", n, at)
	}
	ctx, cancel := context.WithCancel(t.Context())
	pieces := 0
	err := InPieces(ctx, executor.Serial(), 1<<20, func(int, int) {
		cancel()
		pieces++
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ends: %v", err)
	}
	golden.Equal(t, "pieces", 1, pieces)
}
