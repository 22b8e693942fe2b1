package plonkish

import (
	"fmt"
	"slices"
	"sync"
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
			k.passes = s.cut(at, s.layout.reads())
			k.setKernels()
			golden.Equal(t, fmt.Sprintf("%s: two passes, cut at term %d", s.name, at), want, prove(k))
		}
		must.Do(t, k.Expand(t.Context(), executor.Pool()))
		golden.Equal(t, s.name+": the same with an expanded key", want, prove(k))
		must.Do(t, k.Close())
		large := *s.layout
		large.n = manyRows
		best, one := large.newPasses(s.elementBytes()), large.cut(0, large.reads())
		if whole := large.mostBytes(one, s.elementBytes()); large.mostBytes(best, s.elementBytes()) >= whole {
			t.Errorf("%s: %d passes take no less memory than one, %d bytes a row", s.name, len(best), whole)
		}
	}
}

// TestPassesInParts: the same with several parts of a coset, next rows and look-ups, and a key that makes its columns again,
// also if three goroutines prove at once.
func TestPassesInParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arith Arithmetization
		rows  func(b *Builder)
	}{
		"bitwise": {bitwise(3), func(b *Builder) { looks(b, 1<<14+5000, 7) }},
		"unusual": {unusual(), func(b *Builder) { powers(b, 1<<12+1000, 7) }},
	} {
		b := NewBuilder(c.arith)
		c.rows(b)
		circuit := must.Get(b.Build())(t)
		key := setup(t, circuit)
		if name == "bitwise" && key.partCount() < 2 {
			t.Fatal("one part")
		}
		prove := func(k ProvingKey, ex executor.Executor) []byte {
			return must.Get(k.Prove(t.Context(), ex, circuit, Options{Context: bound, Rand: zeros{}}))(t)
		}
		want := prove(*key, executor.Pool())
		must.Do(t, key.VerifyInsecure(want, circuit.Public(), bound))
		for _, at := range []int{1, len(key.terms) / 2, len(key.terms) - 1} {
			k := *key
			k.columns, k.passes = nil, k.cut(at, k.reads())
			k.setKernels()
			var proofs [3][]byte
			var wg sync.WaitGroup
			for i, ex := range []executor.Executor{executor.Pool(), executor.Unbounded(), executor.Serial()} {
				wg.Go(func() { proofs[i] = prove(k, ex) })
			}
			wg.Wait()
			for i := range proofs {
				golden.Equal(t, fmt.Sprintf("%s, cut at term %d, proof %d", name, at, i), true, slices.Equal(want, proofs[i]))
			}
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
