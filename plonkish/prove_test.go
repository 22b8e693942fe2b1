package plonkish_test

import (
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/srs"
)

// sums makes rows of additions and multiplications from x on, so many, and a last row that ties
// the result to a public value.
func sums(t testing.TB, rows int, x uint64) *plonkish.Circuit {
	b := plonkish.NewBuilder(plonkish.Plonk())
	one, minus := fr.One(), fr.NewElement(0)
	minus.Sub(&minus, &one)
	zero := fr.Element{}
	mul := b.Kind(plonkish.Arithmetic(), one, zero, zero, minus)
	add := b.Kind(plonkish.Arithmetic(), zero, one, one, minus)
	value := fr.NewElement(x)
	start := b.Public(value)
	before, now := start, start
	for i := range rows {
		p, q := b.Value(before), b.Value(now)
		kind := add
		if i%4 == 3 {
			kind = mul
			p.Mul(&p, &q)
		} else {
			p.Add(&p, &q)
		}
		next := b.Var(p)
		b.Row(kind, []plonkish.Var{before, now, next})
		before, now = now, next
	}
	b.Equal(now, b.Public(b.Value(now)))
	return must.Get(b.Build())(t)
}

func TestProve(t *testing.T) {
	for _, rows := range testsize.Pick([]int{1, 5, 250}, []int{1, 250, 1 << 15}, []int{1, 5, 250, 1 << 15, 1 << 16}) {
		c := sums(t, rows, 7)
		s := must.Get(srs.Insecure(t.Context(), executor.Serial(), c.Size(), 1))(t)
		k := must.Get(plonkish.Setup(t.Context(), executor.Serial(), c, s))(t)
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		alone := must.Get(plonkish.SetupVerifying(t.Context(), executor.Serial(), c, s))(t)
		golden.Equal(t, "a verifying key that is made alone", k.Verifying().Bytes(), alone.Bytes())
		proof := must.Get(k.Prove(t.Context(), executor.Serial(), c, plonkish.Options{}))(t)
		if len(proof) != 480 {
			t.Errorf("%d rows: %d bytes", rows, len(proof))
		}
		if err := k.VerifyInsecure(proof, c.Public(), nil); err != nil {
			t.Error(err)
		}
	}
}
