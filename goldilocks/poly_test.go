package goldilocks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/testing/goldilockstest"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func TestEvalAll(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(13, 14))
	v := goldilockstest.Elements(random, 5)
	for _, p := range []ext.Quadratic{{}, {1}, {v[0], v[1]}, {goldilocks.Modulus - 1, goldilocks.Modulus - 1}} {
		testEvalAll(t, random, p)
	}
	for _, p := range []ext.Cubic{{}, {0, 1}, {v[2], v[3], v[4]}, {goldilocks.Modulus - 1, goldilocks.Modulus - 1, goldilocks.Modulus - 1}} {
		testEvalAll(t, random, p)
	}
}

// testEvalAll compares with Horner's rule.
func testEvalAll[E goldilocks.Extension[E]](t *testing.T, random *rand.Rand, point E) {
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		var polys [][]goldilocks.Element
		var want []E
		for _, n := range []int{0, 1, 2, 7, 64, 511, 512, 513, 1024, size(3001, 1025)} {
			f := goldilockstest.Elements(random, n)
			polys, want = append(polys, f), append(want, hornerExt(f, point))
		}
		for _, count := range []int{0, 3, len(polys)} {
			got := must.Get(goldilocks.EvalAll(context.Background(), executor.Pool(), polys[:count], point, k))(t)
			if d := cmp.Diff(want[:count], got, cmp.Transformer("values", func(e E) string { return fmt.Sprint(e) })); count > 0 && d != "" {
				t.Fatalf("%d polynomials at %v:\n%s", count, point, d)
			}
		}
	})
}

func hornerExt[E goldilocks.Extension[E]](f []goldilocks.Element, x E) (y E) {
	var one E
	one[0] = 1
	for i := len(f) - 1; i >= 0; i-- {
		y = y.Mul(x).Add(one.MulBase(f[i]))
	}
	return y
}

func TestEvalValues(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(15, 16))
	v := goldilockstest.Elements(random, 5)
	for _, p := range []ext.Quadratic{{}, {1}, {goldilocks.Generator}, {v[0], v[1]}, {0, 1}} {
		testEvalValues(t, random, p)
	}
	for _, p := range []ext.Cubic{{}, {1}, {goldilocks.Generator}, {v[2], v[3], v[4]}, {0, 1}, {0, 0, goldilocks.Modulus - 1}} {
		testEvalValues(t, random, p)
	}
}

// testEvalValues compares with the coefficients' evaluation. 1 and 7 are on cosets.
func testEvalValues[E goldilocks.Extension[E]](t *testing.T, random *rand.Rand, point E) {
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		for _, n := range []int{1, 2, 64, 512, size(16384, 1024)} {
			d := domain(t, n)
			for _, shift := range shifts {
				for _, order := range orders {
					var values [][]goldilocks.Element
					var want []E
					for range 3 {
						f := goldilockstest.Elements(random, n)
						want = append(want, hornerExt(f, point))
						f = inOrder(t, f, opposite(order))
						must.Do(t, d.NTT(f, opposite(order), shift, goldilocks.Portable()))
						values = append(values, f)
					}
					coset := goldilocks.Coset{Domain: d, Shift: shift, Order: order}
					got := must.Get(goldilocks.EvalValues(context.Background(), executor.Pool(), coset, values, point, k))(t)
					for i := range want {
						if got[i] != want[i] {
							t.Fatalf("n=%d shift=%d order=%v at %v: %v, want %v", n, shift, order, point, got[i], want[i])
						}
					}
				}
			}
		}
	})
}

func TestEvalRefused(t *testing.T) {
	t.Parallel()
	d := domain(t, 8)
	ctx, ex := context.Background(), executor.Serial()
	good := [][]goldilocks.Element{make([]goldilocks.Element, 8)}
	const p = goldilocks.Modulus
	values := func(d *goldilocks.Domain, values [][]goldilocks.Element, o goldilocks.Order, shift goldilocks.Element, point ext.Quadratic) error {
		_, err := goldilocks.EvalValues(ctx, ex, goldilocks.Coset{Domain: d, Shift: shift, Order: o}, values, point)
		return err
	}
	all := func(point ext.Cubic) error {
		_, err := goldilocks.EvalAll(ctx, ex, good, point, goldilocks.Portable())
		return err
	}
	must.Do(t, values(d, good, goldilocks.Natural, 1, ext.Quadratic{p - 1, p - 1}))
	must.Do(t, all(ext.Cubic{p - 1, p - 1, p - 1}))
	point := ext.Quadratic{1, 2}
	for what, err := range map[string]error{
		"length":  values(d, [][]goldilocks.Element{good[0], make([]goldilocks.Element, 7)}, goldilocks.Natural, 1, point),
		"order":   values(d, good, 3, 1, point),
		"shift":   values(d, good, goldilocks.Natural, 0, point),
		"shift p": values(d, good, goldilocks.Natural, p, point),
		// 1 is of the domain: p + 1 is not found there.
		"point":               values(d, good, goldilocks.Natural, 1, ext.Quadratic{p + 1}),
		"point's end":         values(d, good, goldilocks.Natural, 1, ext.Quadratic{1, p}),
		"domain":              values(new(goldilocks.Domain), nil, goldilocks.Natural, 1, point),
		"no domain":           values(nil, nil, goldilocks.Natural, 1, point),
		"coefficients' point": all(ext.Cubic{0, 0, p}),
	} {
		must.Fail(t, err, zkbench.ErrParams, "%s", what)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	must.FailGet(goldilocks.EvalAll(done, ex, good, ext.Quadratic{}, goldilocks.Portable()))(t, context.Canceled, "done context")
}
