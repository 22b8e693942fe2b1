package bulletproof

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/faulttest"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

func TestNames(t *testing.T) {
	t.Parallel()
	single := newProtocol(t, Config{Bits: 8, MaxCommitments: 1})
	several := newProtocol(t, Config{Bits: 9, MaxCommitments: 3})
	if single.Name() != "bulletproof" || several.Name() != "bulletproof-agg" {
		t.Errorf("names %q, %q", single.Name(), several.Name())
	}
	if several.Bits() != 9 || several.MaxCommitments() != 3 {
		t.Errorf("bits %d, commitments %d", several.Bits(), several.MaxCommitments())
	}
}

// The executor schedules, it does not change the bytes.
func TestExecutorsGiveTheSameProof(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, Config{Bits: 64, MaxCommitments: 2})
	st := newStatement(t, p, 1, 1<<63, 12345)
	want := encode(p, prove(t, p, st))
	for _, name := range executor.Names() {
		ex := must.Get(executor.ByName(name))(t)
		tr := bound(p, "ctx")
		pf := must.Get(p.Prove(t.Context(), ex, &tr, st.V, st.w, st.nonces))(t)
		if !bytes.Equal(encode(p, pf), want) {
			t.Errorf("executor=%s: other proof bytes", name)
		}
	}
}

// countingTable counts the calls of its two ways to sum.
type countingTable struct {
	group.Table[scalar, point]
	fast, constant *int
}

func (c countingTable) MSM(ctx context.Context, ex executor.Executor, dst []point, s [][]scalar) error {
	*c.fast++
	return c.Table.MSM(ctx, ex, dst, s)
}

func (c countingTable) MSMConstantTime(ctx context.Context, dst []point, s [][]scalar) error {
	*c.constant++
	return c.Table.MSMConstantTime(ctx, dst, s)
}

// One table call for A and S, one for T1 and T2, one a round, all of the kind
// that the configuration asks for, and the same bytes.
func TestConstantTime(t *testing.T) {
	t.Parallel()
	basis := *testBasis(t)
	var fast, constant int
	basis.Table = countingTable{basis.Table, &fast, &constant}
	var proofs [2][]byte
	for i, want := range []struct {
		constantTime   bool
		fast, constant int
	}{{false, 2 + 3, 0}, {true, 0, 2 + 3}} {
		b := &basis
		if want.constantTime {
			b = b.ConstantTime()
		}
		p := must.Get(New(b, Config{Bits: 24, MaxCommitments: 1}))(t)
		st := newStatement(t, p, 1, 1<<23+1)
		fast, constant = 0, 0
		proofs[i] = encode(p, prove(t, p, st))
		if fast != want.fast || constant != want.constant {
			t.Errorf("constant time %t: %d and %d calls, want %d and %d", want.constantTime, fast, constant, want.fast, want.constant)
		}
	}
	if !bytes.Equal(proofs[0], proofs[1]) {
		t.Error("proof bytes depend on how the sums are computed")
	}
}

// TestFaults: a sum that could not be computed, whichever it was, is an error and no proof.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, Config{Bits: 8, MaxCommitments: 1})
	st := newStatement(t, p, 1, 7)
	if err := faulttest.Each(t, executor.Serial(), func(ex executor.Executor) error {
		tr := bound(p, "ctx")
		pf, err := p.Prove(t.Context(), ex, &tr, st.V, st.w, st.nonces)
		if (pf == nil) != (err != nil) {
			t.Errorf("got %v, %v", pf, err)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestWitnessEncodings: nonces are drawn from every value and every blinding.
func TestWitnessEncodings(t *testing.T) {
	p := newProtocol(t, Config{Bits: 8, MaxCommitments: 2})
	base := newStatement(t, p, 1, 7, 9).w
	seen := map[string]bool{string(p.encodeWitness(base)): true}
	for i := range base.Values {
		value, blinding := base, base
		value.Values, blinding.Blindings = slices.Clone(base.Values), slices.Clone(base.Blindings)
		value.Values[i]++
		p.g.Neg(&blinding.Blindings[i], &blinding.Blindings[i])
		seen[string(p.encodeWitness(value))], seen[string(p.encodeWitness(blinding))] = true, true
	}
	if len(seen) != 5 {
		t.Errorf("5 witnesses have %d encodings", len(seen))
	}
}

// Seed, label, index, witness and transcript each give nonces of their own: no
// point or scalar of two such proofs is equal.
func TestNoncesDiffer(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, Config{Bits: 8, MaxCommitments: 1})
	base := newStatement(t, p, 1, 7)
	seed, label, index, witness := base, base, base, base
	seed.nonces.Seed[31] ^= 1
	label.nonces.Label = "other"
	index.nonces.Index = 1
	witness.w.Values = []uint64{8} // V no longer opens to it: only the nonces are of interest
	seen := map[string]string{}
	for name, st := range map[string]statement{"base": base, "seed": seed, "label": label, "index": index, "witness": witness} {
		for _, ctx := range []string{"a", "b"} {
			tr := bound(p, ctx)
			pf := must.Get(p.Prove(t.Context(), executor.Serial(), &tr, st.V, st.w, st.nonces))(t)
			for i := range pf.Points {
				key := string(p.g.AppendPoints(nil, pf.Points[i]))
				if other, ok := seen[key]; ok {
					t.Errorf("point %d of %s/%s is also in %s", i, name, ctx, other)
				}
				seen[key] = name + "/" + ctx
			}
		}
	}
}

// The protocol is written once for all groups: another one, of other lengths.
func TestOtherGroup(t *testing.T) {
	t.Parallel()
	proveAndVerify(t, group.BLS12381())
}

func proveAndVerify[S, P any](t *testing.T, g group.Group[S, P]) {
	t.Helper()
	cfg := Config{Bits: 7, MaxCommitments: 2, Stop: 2}
	basis, err := group.NewBasis(g, append(rangeproof.KeyFamilies(), Families(cfg.Bits, cfg.MaxCommitments, cfg.Stop)...), group.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := must.Get(New(basis, cfg))(t)
	ctx, ex := t.Context(), executor.Serial()
	w := rangeproof.Witness[S]{Values: []uint64{127, 5}, Blindings: make([]S, 2)}
	group.RandomScalars(g, w.Blindings, seeded("blindings"))
	V := make([]P, 2)
	for j := range V {
		sum := []S{g.ScalarFromUint64(w.Values[j]), w.Blindings[j]} // the key stands first
		must.Do(t, basis.Table.MSM(ctx, ex, V[j:j+1], [][]S{sum}))
	}
	tr := transcript.New("test")
	pf := must.Get(p.Prove(ctx, ex, &tr, V, w, transcript.Nonces{Protocol: p.Name(), Label: g.Name()}))(t)
	check := func() bool {
		tr := transcript.New("test")
		eq := must.Get(p.Replay(&tr, V, pf))(t)
		acc := group.NewAccumulator(basis, 16)
		eq.Accumulate(acc, group.NewWeights(g, transcript.XOF("weights")))
		return must.Get(acc.IsZero(ctx, ex))(t)
	}
	if !check() {
		t.Errorf("%s: honest proof rejected", g.Name())
	}
	g.Add(&pf.Scalars[2], &pf.Scalars[2], &w.Blindings[0])
	if check() {
		t.Errorf("%s: altered proof accepted", g.Name())
	}
}
