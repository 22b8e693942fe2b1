package plonkish

import (
	"fmt"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/poly"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestPasses: a proof does not depend on where the identity is cut.
func TestPasses(t *testing.T) {
	for _, s := range statements(t) {
		prove := func(k ProvingKey) []byte {
			return must.Get(k.Prove(t.Context(), executor.Pool(), s.Circuit, Options{Context: bound, Rand: zeros{}}))(t)
		}
		golden.Equal(t, s.name+": passes of a small circuit", 1, len(s.passes))
		want := prove(*s.ProvingKey)
		k := *s.ProvingKey
		for at := 1; at < len(s.terms); at++ {
			k.passes = s.cut(at)
			k.setKernels()
			golden.Equal(t, fmt.Sprintf("%s: two passes, cut at term %d", s.name, at), want, prove(k))
		}
		must.Do(t, k.Expand(t.Context(), executor.Pool()))
		golden.Equal(t, s.name+": the same with an expanded key", want, prove(k))
		must.Do(t, k.Close())
		large := *s.layout
		large.n = manyRows
		best, one := large.newPasses(s.elementBytes()), large.cut(0)
		if large.mostBytes(best, s.elementBytes()) > large.mostBytes(one, s.elementBytes()) {
			t.Errorf("%s: %d passes take more memory than one", s.name, len(best))
		}
	}
}

// TestTurn: by the parts of any coset, a column has the values of its polynomial, whatever coset it was on before.
func TestTurn(t *testing.T) {
	t.Parallel()
	form := poly.Fastest()
	for _, log := range []int{3, 14, 15, 16, 17, 18} {
		t.Run(fmt.Sprintf("rows=2^%d", log), func(t *testing.T) {
			t.Parallel()
			n := 1 << log
			l := &layout{n: n, root: poly.Root(n)}
			golden.Equal(t, "parts", max(1, min(maxParts, n/partPoints)), l.partCount())
			k := &ProvingKey{VerifyingKey: &VerifyingKey{layout: l}, form: form, part: must.Get(form.NewDomain(l.partSize()))(t)}
			domain, one := must.Get(form.NewDomain(n))(t), fr.One()
			rows := make([]fr.Element, n)
			for i := range rows {
				rows[i].SetUint64(uint64(i) + 1).Inverse(&rows[i])
				if i > 100 {
					rows[i].Add(&rows[i-1], &rows[i-100]).Square(&rows[i])
				}
			}
			whole := form.FromElements(rows)
			whole.BitReverse()
			must.Do(t, domain.InverseNTT(t.Context(), executor.Pool(), whole, poly.BitReversed, &one))
			want := whole.Elements()

			ctx, ex, turner, column := t.Context(), executor.Pool(), k.newTurner(), make([]fr.Element, n)
			k.setRows(column, rows, 0)
			must.Do(t, turner.interpolate(ctx, ex, column, 0, one))
			golden.Equal(t, "the leading coefficient", want[n-1], k.leadingOfRows(column))
			from := 0
			for _, to := range []int{coefficients, 2, 1, 3, 3, 0, coefficients} {
				must.Do(t, turner.turn(ctx, ex, column, from, to))
				from = to
				if to == coefficients {
					golden.Equal(t, "coefficients", true, slices.Equal(want, column))
					continue
				}
				shift := k.shift(to, 0)
				values := form.FromElements(want)
				must.Do(t, domain.NTT(ctx, ex, values, poly.Natural, &shift))
				all, back := values.Elements(), make([]fr.Element, n)
				for i := range k.partCount() {
					dst, powers, shift := form.New(k.partSize()), form.New(k.partSize()), k.shift(to, i)
					powers.SetPowers(&one, &shift)
					must.Do(t, k.evaluateOnPart(ctx, ex, dst, k.inPart(column, i), powers))
					copy(k.inPart(back, i), dst.Elements())
				}
				golden.Equal(t, fmt.Sprintf("values on coset %d", to), true, slices.Equal(all, back))
				if to > 0 { // values of rows have another order
					five := fr.NewElement(5)
					must.Do(t, turner.interpolate(ctx, ex, back, to, *five.Inverse(&five)))
					must.Do(t, turner.turn(ctx, ex, back, to, coefficients))
					five.SetUint64(5)
					for i := range back {
						back[i].Mul(&back[i], &five)
					}
					golden.Equal(t, "interpolated", true, slices.Equal(want, back))
				}
			}
		})
	}
}
