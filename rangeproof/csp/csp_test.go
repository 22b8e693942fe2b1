package csp

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/faulttest"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/testsize"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

func TestEveryBitLength(t *testing.T) {
	t.Parallel()
	for bits := 1; bits <= MaxBits; bits += testsize.Pick(9, 1, 1) {
		t.Run(fmt.Sprintf("bits=%d", bits), func(t *testing.T) {
			p := newProtocol(t, bits, 0)
			s := randomScalar(t.Name())
			for _, v := range []uint64{0, s.Bits()[0] >> (MaxBits - bits), 1<<bits - 1} {
				V, proof := prove(t, p, t.Name(), v)
				if err := verify(p, t.Name(), V, proof); err != nil {
					t.Fatalf("value %d: %v", v, err)
				}
			}
		})
	}
}

func TestCompleteness(t *testing.T) {
	t.Parallel()
	g := group.BN254()
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.IntRange(1, MaxBits).Draw(t, "bits")
		stop := rapid.IntRange(1, 2*bits+6).Draw(t, "stop")
		v := rapid.Uint64().Draw(t, "v") >> (MaxBits - bits)
		r := fr.NewElement(rapid.Uint64().Draw(t, "r"))
		if rapid.Bool().Draw(t, "full blinding") {
			g.Inverse(&r, &r)
		}
		p := must.Get(New(testBasis(), Config{Bits: bits, Stop: stop}))(t)
		V := []point{commitTo(p, fr.NewElement(v), r)}
		tp := start(p, "rapid")
		tv := tp
		proof := must.Get(p.Prove(context.Background(), executor.Serial(), &tp, V,
			rangeproof.Witness[scalar]{Values: []uint64{v}, Blindings: []scalar{r}}, nonces("rapid")))(t)
		eq := must.Get(p.Replay(&tv, V, proof))(t)
		if tp != tv {
			t.Fatal("prover's and verifier's transcripts differ")
		}
		must.Do(t, check(p, nil, eq))
	})
}

func TestOtherCurve(t *testing.T) {
	t.Parallel()
	g := group.BLS12381()
	const bits = 9
	b := must.Get(group.NewBasis(g, append(families()[:2:2], Families(bits)...), group.TableOptions{}))(t)
	p := must.Get(New(b, Config{Bits: bits, Stop: 3}))(t)
	s := randomScalarOf(g, t.Name())
	V, term := b.Points[p.posG], b.Points[p.posH]
	v := g.ScalarFromUint64(300)
	g.MulPoint(&V, &V, &v)
	g.MulPoint(&term, &term, &s)
	g.AddPoints(&V, &V, &term)
	for _, value := range []uint64{300, 301} {
		tp := transcript.New("csp-test")
		tv := tp
		proof, err := p.Prove(context.Background(), executor.Serial(), &tp, sliceOf(V), witnessOf(value, s), nonces("bls"))
		if err != nil {
			t.Fatal(err)
		}
		eq := must.Get(p.Replay(&tv, sliceOf(V), proof))(t)
		acc := group.NewAccumulator(b, 16)
		eq.Accumulate(acc, group.NewWeights(g, transcript.XOF("csp-test/weights")))
		ok, err := acc.IsZero(context.Background(), executor.Serial())
		if want := value == 300; err != nil || ok != want {
			t.Fatalf("value %d: accepted %v, want %v (%v)", value, ok, want, err)
		}
	}
}

func randomScalarOf[S, P any](g group.Group[S, P], name string) S {
	s := make([]S, 1)
	group.RandomScalars(g, s, transcript.XOF("csp-test/scalars", []byte(name)))
	return s[0]
}

func sliceOf[T any](v T) []T { return []T{v} }

func witnessOf[S any](v uint64, r S) rangeproof.Witness[S] {
	return rangeproof.Witness[S]{Values: []uint64{v}, Blindings: []S{r}}
}

// The bytes of a proof do not depend on the executor.
func TestExecutors(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, 16, 2)
	r := randomScalar("executors")
	V := []point{commitTo(p, fr.NewElement(77), r)}
	var want *prf
	for _, ex := range []executor.Executor{executor.Serial(), executor.Unbounded(), executor.Pool()} {
		tr := start(p, "executors")
		got := must.Get(p.Prove(context.Background(), ex, &tr, V, witnessOf(77, r), nonces("executors")))(t)
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("executor=%s: proof differs from serial:\n%s", ex.Name(), diff)
		}
	}
}

// One seed used for two statements, or two witnesses of one, gives unrelated masks.
func TestNoncesDependOnStatement(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, 8, 100)
	r := randomScalar("nonces")
	masks := make(map[point]string)
	for _, tc := range []struct {
		context      string
		committed, v uint64
	}{{"a", 1, 1}, {"b", 1, 1}, {"a", 2, 2}, {"a", 1, 2}} {
		tr := start(p, tc.context)
		proof := must.Get(p.Prove(context.Background(), executor.Serial(), &tr,
			[]point{commitTo(p, fr.NewElement(tc.committed), r)}, witnessOf(tc.v, r), nonces("same")))(t)
		name := fmt.Sprint(tc)
		if other, seen := masks[proof.Points[pointM]]; seen {
			t.Errorf("%s and %s have the same mask", name, other)
		}
		masks[proof.Points[pointM]] = name
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, 8, 4)
	const size, bad = 5, 3
	var eqs []rangeproof.Equations[scalar, point]
	for i := range size {
		name := fmt.Sprint("batch", i)
		V, proof := prove(t, p, name, uint64(40*i))
		if i == bad {
			proof.Scalars[scalarMu].SetUint64(9)
		}
		tr := start(p, name)
		eq := must.Get(p.Replay(&tr, []point{V}, proof))(t)
		eqs = append(eqs, eq)
	}
	if check(p, nil, eqs...) == nil {
		t.Fatal("batch with one bad proof accepted")
	}
	// The same equations, accumulated again, name the bad one.
	for i, eq := range eqs {
		if got, want := check(p, nil, eq) == nil, i != bad; got != want {
			t.Errorf("proof %d alone: accepted %v, want %v", i, got, want)
		}
	}
	good := append(eqs[:bad:bad], eqs[bad+1:]...)
	if err := check(p, nil, good...); err != nil {
		t.Errorf("good batch: %v", err)
	}
	// Errors of two proofs do not make up for each other.
	one := fr.One()
	more, less := &good[0].(*equation[scalar, point]).coefK, &good[1].(*equation[scalar, point]).coefK
	more.Add(more, &one)
	less.Sub(less, &one)
	if check(p, nil, good...) == nil {
		t.Error("batch with errors that cancel accepted")
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	g := group.BN254()
	small := must.Get(group.NewBasis(g, append(families()[:2:2], Families(1)...), group.TableOptions{Window: 2}))(t)
	noKey := must.Get(group.NewBasis(g, Families(1), group.TableOptions{Window: 2}))(t)
	for _, tc := range []struct {
		name  string
		basis *group.Basis[scalar, point]
		cfg   Config
		ok    bool
	}{
		{"bits=0", testBasis(), Config{Bits: 0}, false},
		{"bits=65", testBasis(), Config{Bits: 65}, false},
		{"bits=-1", testBasis(), Config{Bits: -1}, false},
		{"stop=-1", testBasis(), Config{Bits: 8, Stop: -1}, false},
		{"basis=short", small, Config{Bits: 2}, false},
		{"basis=no-key", noKey, Config{Bits: 1}, false},
		{"basis=exact", small, Config{Bits: 1}, true},
		{"stop=huge", testBasis(), Config{Bits: 64, Stop: 1 << 40}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := New(tc.basis, tc.cfg)
			if tc.ok != (err == nil) || !tc.ok && !errors.Is(err, zkbench.ErrParams) {
				t.Fatalf("New: %v, want ok=%v", err, tc.ok)
			}
			if tc.ok && (p.Name() != "csp" || p.Bits() != tc.cfg.Bits || p.MaxCommitments() != 1) {
				t.Errorf("protocol describes itself as %s, %d bits, %d commitments", p.Name(), p.Bits(), p.MaxCommitments())
			}
		})
	}
	if got := newProtocol(t, 8, 0).Stop(); got != DefaultStop {
		t.Errorf("default stop %d, want %d", got, DefaultStop)
	}
}

func TestParametersAreAbsorbed(t *testing.T) {
	t.Parallel()
	states := make(map[[transcript.StateLen]byte]Config)
	for _, cfg := range []Config{{8, 4}, {8, 5}, {9, 4}} {
		tr := transcript.New("csp-test")
		newProtocol(t, cfg.Bits, cfg.Stop).AppendParams(&tr)
		if other, seen := states[tr.State()]; seen {
			t.Errorf("%v and %v leave the same transcript", cfg, other)
		}
		states[tr.State()] = cfg
	}
}

func TestProveRefuses(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, 8, 0)
	var r scalar
	V := make([]point, 2)
	for _, tc := range []struct {
		name string
		V    []point
		w    rangeproof.Witness[scalar]
	}{
		{"value=256", V[:1], witnessOf(256, r)},
		{"value=max", V[:1], witnessOf(1<<64-1, r)},
		{"commitments=0", V[:0], witnessOf(1, r)},
		{"commitments=2", V, witnessOf(1, r)},
		{"values=0", V[:1], rangeproof.Witness[scalar]{Blindings: []scalar{r}}},
		{"blindings=2", V[:1], rangeproof.Witness[scalar]{Values: []uint64{1}, Blindings: []scalar{r, r}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := start(p, "refuse")
			proof, err := p.Prove(context.Background(), executor.Serial(), &tr, tc.V, tc.w, nonces("refuse"))
			if !errors.Is(err, zkbench.ErrParams) || proof != nil {
				t.Errorf("Prove = %v, %v, want ErrParams", proof, err)
			}
		})
	}
}

// TestFaults: a sum that could not be computed, whichever it was, is an error and no proof.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, 8, 4)
	if err := faulttest.Each(t, executor.Serial(), func(ex executor.Executor) error {
		tr := start(p, "fault")
		var r scalar
		pf, err := p.Prove(t.Context(), ex, &tr, make([]point, 1), witnessOf(1, r), nonces("fault"))
		if (pf == nil) != (err != nil) {
			t.Errorf("got %v, %v", pf, err)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// A node as evaluation point would reveal a bit: both sides refuse it.
func TestNodesAreRefused(t *testing.T) {
	t.Parallel()
	const bits = 5
	p := newProtocol(t, bits, 4)
	V, proof := prove(t, p, "node", 21)
	for x := range uint64(2*bits + 2) {
		want := x <= 2*bits
		pr := prepare(p, "node", 21, randomScalar("node"))
		pr.ch.x = fr.NewElement(x)
		if _, err := pr.evaluate(); errors.Is(err, zkbench.ErrProof) != want {
			t.Errorf("x=%d: prover: %v, want refused=%v", x, err, want)
		}
		e := p.newEquation(V, proof)
		e.ch = chosen(p, "node")
		e.ch.x = fr.NewElement(x)
		if err := e.collect(); errors.Is(err, zkbench.ErrProof) != want {
			t.Errorf("x=%d: verifier: %v, want refused=%v", x, err, want)
		}
	}
}
