package rangeproof_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/exectest"
	"github.com/zkbench/zkbench/internal/testing/faulttest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/rangeproof"
)

// Every bit length with the extreme values and two between, at every stop, by
// themselves and aggregated.
func TestEveryBitLength(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		for bits := 1; bits <= 64; bits += testsize.Pick(9, 1, 1) {
			values := []uint64{maxValue(bits), 0, maxValue(bits) / 3, 1}
			for i, stop := range []int{0, 1, 2, 8} {
				for _, m := range slices.Compact([]int{1, min(i+1, c.maxM)}) {
					params := parameters{bits, m, stop}
					p := c.protocol(t, params)
					st := newStatement(uint64(bits), values[i:i+1]...)
					if m > 1 {
						st = newStatement(uint64(bits), values[:m]...)
					}
					if err := verify(p, bound(p, "ctx"), st.V, prove(t, p, st)); err != nil {
						t.Errorf("%v: %v", params, err)
					}
				}
			}
		}
	})
}

// Random statements are accepted, proofs have their protocol's shape, and prover and verifier
// leave their transcripts in one state.
func TestCompleteness(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		rapid.Check(t, func(rt *rapid.T) {
			largest := rapid.IntRange(1, c.maxM).Draw(rt, "max")
			bits := rapid.IntRange(1, 64/largest).Draw(rt, "bits")
			p := c.protocol(t, parameters{bits, largest, rapid.IntRange(1, 2*bits+6).Draw(rt, "stop")})
			m := rapid.IntRange(1, largest).Draw(rt, "m")
			st := newStatement(rapid.Uint64().Draw(rt, "seed"), rapid.SliceOfN(rapid.Uint64Range(0, maxValue(bits)), m, m).Draw(rt, "values")...)
			prover, verifier := bound(p, "ctx"), bound(p, "ctx")
			pf := must.Get(p.Prove(ctx, serial, &prover, st.V, st.w, st.nonces))(rt)
			if got := (rangeproof.Shape{Points: len(pf.Points), Scalars: len(pf.Scalars)}); got != p.Shape(m) {
				rt.Fatalf("proof has shape %v, want %v", got, p.Shape(m))
			}
			eq := must.Get(p.Replay(&verifier, st.V, pf))(rt)
			if prover.State() != verifier.State() {
				rt.Fatal("prover and verifier end in different transcript states")
			}
			must.Do(rt, hold(longBasis(), nil, eq))
		})
	})
}

// The bytes of a proof depend on seed, witness and transcript only, and not on the executor,
// which schedules.
func TestExecutorsGiveTheSameProof(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		p := c.protocol(t, parameters{64, c.maxM, 2})
		st := newStatement(1, []uint64{1 << 63, 12345, 0, 1}[:c.maxM]...)
		want := encode(prove(t, p, st))
		exectest.Each(t, func(t *testing.T, ex executor.Executor) {
			tr := bound(p, "ctx")
			pf := must.Get(p.Prove(t.Context(), ex, &tr, st.V, st.w, st.nonces))(t)
			if encode(pf) != want {
				t.Error("other proof bytes")
			}
		})
	})
}

// Seed, label, index, witness, commitments and transcript each give nonces of their own: no
// point of two such proofs is equal.
func TestNoncesDiffer(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		p := c.protocol(t, parameters{8, 1, 4})
		base := newStatement(1, 7)
		seed, label, index, witness, commitments := base, base, base, base, base
		seed.nonces.Seed[31] ^= 1
		label.nonces.Label = "other"
		index.nonces.Index = 1
		witness.w.Values = []uint64{8} // V no longer opens to it: only the nonces are of interest
		commitments.V = newStatement(2, 7).V
		seen := map[point]string{}
		for name, st := range map[string]statement{
			"base": base, "seed": seed, "label": label, "index": index, "witness": witness, "commitments": commitments,
		} {
			for _, context := range []string{"a", "b"} {
				tr := bound(p, context)
				pf := must.Get(p.Prove(t.Context(), serial, &tr, st.V, st.w, st.nonces))(t)
				for i, q := range pf.Points {
					if other, ok := seen[q]; ok {
						t.Errorf("point %d of %s/%s is also in %s", i, name, context, other)
					}
					seen[q] = name + "/" + context
				}
			}
		}
	})
}

// A witness that does not fit is refused, and the transcript stays as it was.
func TestBadWitness(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		p := c.protocol(t, parameters{8, c.maxM, 0})
		good := newStatement(1, []uint64{200, 3, 0, 255}[:c.maxM]...)
		short, fewer, more := good, good, good
		more.V = append(slices.Clone(good.V), good.V[0])
		short.w.Blindings = good.w.Blindings[1:]
		fewer.w.Values = good.w.Values[1:]
		for name, st := range map[string]statement{
			"value=2^n":    newStatement(1, 256),
			"value=max":    newStatement(1, 1<<64-1),
			"last value":   newStatement(1, []uint64{3, 3, 3, 256}[4-c.maxM:]...),
			"m=0":          {},
			"m=max+1":      newStatement(1, make([]uint64, c.maxM+1)...),
			"blindings=-1": short,
			"values=-1":    fewer,
			"V=+1":         more,
		} {
			tr := bound(p, "ctx")
			before := tr.State()
			pf, err := p.Prove(t.Context(), serial, &tr, st.V, st.w, st.nonces)
			if !errors.Is(err, zkbench.ErrParams) || pf != nil {
				t.Errorf("%s: %v, %v, want ErrParams", name, pf, err)
			}
			golden.Equal(t, name+": the transcript after a refused witness", before, tr.State())
		}
	})
}

// TestFaults: a sum that could not be computed, whichever it was, is an error and no proof.
func TestFaults(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		p := c.protocol(t, parameters{8, 1, 4})
		st := newStatement(1, 7)
		must.Do(t, faulttest.Each(t, serial, func(ex executor.Executor) error {
			tr := bound(p, "ctx")
			pf, err := p.Prove(t.Context(), ex, &tr, st.V, st.w, st.nonces)
			if (pf == nil) != (err != nil) {
				t.Errorf("got %v, %v", pf, err)
			}
			return err
		}))
	})
}

// Eight proofs of several sizes in one accumulator: all good, then each of them bad in turn;
// and two bad ones whose errors cancel where weights are equal.
func TestBatch(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		p := c.protocol(t, parameters{16, c.maxM, 0})
		one := group.BN254().ScalarFromUint64(1)
		var good, wrong, less []rangeproof.Equations[scalar, point]
		for i := range 8 {
			st := newStatement(uint64(i), []uint64{uint64(i) * 1000, 65535, 0}[:min(1+i%3, c.maxM)]...)
			replayed := func(pf *bnProof) rangeproof.Equations[scalar, point] {
				tr := bound(p, "ctx")
				return must.Get(p.Replay(&tr, st.V, pf))(t)
			}
			pf := prove(t, p, st)
			more, minus := clone(pf), clone(pf)
			more.Scalars[i%3].Add(&more.Scalars[i%3], &one)
			minus.Scalars[i%3].Sub(&minus.Scalars[i%3], &one)
			good, wrong, less = append(good, replayed(pf)), append(wrong, replayed(more)), append(less, replayed(minus))
		}
		must.Do(t, hold(longBasis(), nil, good...), "batch of good proofs")
		for i := range good {
			if err := hold(longBasis(), nil, good[i]); err != nil {
				t.Errorf("good proof %d alone: %v", i, err)
			}
			batch := slices.Clone(good)
			if batch[i] = wrong[i]; hold(longBasis(), nil, batch...) == nil || hold(longBasis(), nil, wrong[i]) == nil {
				t.Errorf("bad proof %d accepted, in a batch or alone", i)
			}
		}
		batch := slices.Clone(good)
		batch[0], batch[3] = wrong[0], less[3]
		if hold(longBasis(), nil, batch...) == nil {
			t.Error("batch of two proofs with opposite errors accepted")
		}
	})
}

// Parameters that no protocol has are refused, and a basis that lacks generators.
func TestParameters(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		two := group.TableOptions{Window: 2}
		exact := must.Get(group.NewBasis(group.BN254(), c.families(1, 0), two))(t)
		keyless := must.Get(group.NewBasis(group.BN254(), c.families(1, 0)[2:], two))(t)
		refused := func(name string, b *bnBasis, params parameters) {
			t.Helper()
			must.FailGet(c.build(b, params))(t, zkbench.ErrParams, "%s, %v", name, params)
		}
		for _, params := range append([]parameters{{0, 1, 0}, {65, 1, 0}, {-8, 1, 0}, {8, 1, -1}}, c.refused...) {
			refused("basis=long", longBasis(), params)
		}
		refused("basis=short", exact, parameters{2, 1, 0})
		refused("basis=keyless", keyless, parameters{1, 1, 0})
		must.Get(c.build(exact, parameters{1, 1, 0}))(t)
		p := c.protocol(t, parameters{64, c.maxM, 1 << 40})
		if p.Bits() != 64 || p.MaxCommitments() != c.maxM {
			t.Errorf("protocol describes itself by %d bits and %d commitments", p.Bits(), p.MaxCommitments())
		}
	})
}
