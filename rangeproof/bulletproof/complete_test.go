package bulletproof

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/testsize"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

var testStops = []int{1, 2, 4, 8}

// Every bit length, with the extreme values and one between; single proofs at
// every stop, aggregates at a stop that rotates.
func TestCompleteness(t *testing.T) {
	t.Parallel()
	for bits := 1; bits <= MaxBits; bits += testsize.Pick(9, 1, 1) {
		values := []uint64{maxValue(bits), 0, maxValue(bits) / 3, 1}
		for i, stop := range testStops {
			m := i + 1
			for _, cfg := range []Config{
				{Bits: bits, MaxCommitments: 1, Stop: stop},
				{Bits: bits, MaxCommitments: testCommitments, Stop: testStops[(bits+m)%len(testStops)]},
			} {
				count := min(m, cfg.MaxCommitments)
				p := newProtocol(t, cfg)
				st := newStatement(t, p, uint64(bits), values[i:i+1]...)
				if count > 1 {
					st = newStatement(t, p, uint64(bits), values[:count]...)
				}
				if !accepts(t, p, st, prove(t, p, st)) {
					t.Errorf("bits=%d/m=%d/stop=%d: honest proof rejected", bits, count, cfg.Stop)
				}
			}
		}
	}
}

func TestCompletenessRandom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		cfg := Config{
			Bits:           rapid.IntRange(1, 24).Draw(rt, "bits"),
			MaxCommitments: rapid.IntRange(1, testCommitments).Draw(rt, "max"),
			Stop:           rapid.IntRange(1, 12).Draw(rt, "stop"),
		}
		m := rapid.IntRange(1, cfg.MaxCommitments).Draw(rt, "m")
		values := rapid.SliceOfN(rapid.Uint64Range(0, maxValue(cfg.Bits)), m, m).Draw(rt, "values")
		p := newProtocol(t, cfg)
		st := newStatement(t, p, rapid.Uint64().Draw(rt, "seed"), values...)
		pf := prove(t, p, st)
		if got := (rangeproof.Shape{Points: len(pf.Points), Scalars: len(pf.Scalars)}); got != p.Shape(m) {
			rt.Fatalf("proof has shape %v, want %v", got, p.Shape(m))
		}
		if !accepts(t, p, st, pf) {
			rt.Fatal("honest proof rejected")
		}
	})
}

// The bytes depend on seed, witness and transcript only, and prover and verifier
// leave their transcripts in one state.
func TestProofIsDeterministic(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, Config{Bits: 13, MaxCommitments: 3})
	st := newStatement(t, p, 1, 5, 8191, 77)

	proverEnd := bound(p, "ctx")
	pf := must.Get(p.Prove(t.Context(), executor.Serial(), &proverEnd, st.V, st.w, st.nonces))(t)
	if !bytes.Equal(encode(p, prove(t, p, st)), encode(p, pf)) {
		t.Error("two proofs from one seed differ")
	}
	verifierEnd := bound(p, "ctx")
	must.Get(p.Replay(&verifierEnd, st.V, pf))(t)
	if proverEnd.State() != verifierEnd.State() {
		t.Error("prover and verifier end in different transcript states")
	}
}

func TestPaddedLengths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ bits, m, stop, N, rounds int }{
		{64, 1, 1, 64, 6},
		{64, 1, 4, 64, 4},
		{33, 1, 4, 48, 4},
		{5, 1, 4, 6, 1},
		{5, 1, 1, 8, 3},
		{3, 3, 2, 16, 3},
		{7, 3, 8, 24, 2},
		{4, 1, 8, 4, 0},
	} {
		d := Config{Bits: tc.bits, MaxCommitments: tc.m, Stop: tc.stop}.dims(tc.m)
		if d.N != tc.N || d.rounds != tc.rounds || d.last<<d.rounds != d.N || d.last > tc.stop {
			t.Errorf("bits=%d/m=%d/stop=%d: %+v, want N=%d and %d rounds", tc.bits, tc.m, tc.stop, d, tc.N, tc.rounds)
		}
	}
	for bits := 1; bits <= MaxBits; bits++ {
		for stop := 1; stop <= 16; stop++ {
			c := Config{Bits: bits, MaxCommitments: 9, Stop: stop}
			for m := 2; m <= 9; m++ {
				if c.dims(m-1).N > c.dims(m).N {
					t.Fatalf("bits=%d/stop=%d: N shrinks from m=%d to m=%d", bits, stop, m-1, m)
				}
			}
		}
	}
}

func TestBadParameters(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{
		{Bits: 0, MaxCommitments: 1},
		{Bits: 65, MaxCommitments: 1},
		{Bits: -8, MaxCommitments: 1},
		{Bits: 8, MaxCommitments: 0},
		{Bits: 8, MaxCommitments: MaxAggregate + 1},
		{Bits: 8, MaxCommitments: 1, Stop: -1},
		{Bits: 64, MaxCommitments: testCommitments + 1}, // longer than the basis
	} {
		t.Run(fmt.Sprintf("bits=%d/max=%d/stop=%d", cfg.Bits, cfg.MaxCommitments, cfg.Stop), func(t *testing.T) {
			if _, err := New(testBasis(t), cfg); !errors.Is(err, zkbench.ErrParams) {
				t.Errorf("New: %v, want ErrParams", err)
			}
			if cfg.MaxCommitments == testCommitments+1 {
				return
			}
			fam := Families(cfg.Bits, cfg.MaxCommitments, cfg.Stop)
			if _, err := group.NewBasis(group.BN254(), fam, group.TableOptions{}); !errors.Is(err, zkbench.ErrParams) {
				t.Errorf("NewBasis: %v, want ErrParams", err)
			}
		})
	}
	bare := must.Get(group.NewBasis(group.BN254(), Families(4, 1, 0), group.TableOptions{}))(t)
	if _, err := New(bare, Config{Bits: 4, MaxCommitments: 1}); !errors.Is(err, zkbench.ErrParams) {
		t.Errorf("basis without commitment key: %v, want ErrParams", err)
	}
}

func TestBadWitness(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, Config{Bits: 8, MaxCommitments: 2})
	good := newStatement(t, p, 1, 200, 3)
	wide := newStatement(t, p, 1, 200, 256)
	none := statement{}
	many := newStatement(t, p, 1, 1, 2, 3)
	short := newStatement(t, p, 1, 200, 3)
	short.w.Blindings = short.w.Blindings[:1]
	fewer := newStatement(t, p, 1, 200, 3)
	fewer.w.Values = fewer.w.Values[:1]
	for _, tc := range []struct {
		name string
		st   statement
		want error
	}{
		{"good", good, nil},
		{"value=2^n", wide, zkbench.ErrParams},
		{"m=0", none, zkbench.ErrParams},
		{"m=max+1", many, zkbench.ErrParams},
		{"blindings=1", short, zkbench.ErrParams},
		{"values=1", fewer, zkbench.ErrParams},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := bound(p, "ctx")
			before := tr.State()
			_, err := p.Prove(t.Context(), executor.Serial(), &tr, tc.st.V, tc.st.w, tc.st.nonces)
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if err != nil && tr.State() != before {
				t.Error("a refused witness changed the transcript")
			}
		})
	}
}

// At most 80 allocations a proof, its sums included, and 50 a verification up
// to the accumulator: the counts are exact under the serial executor.
func TestAllocations(t *testing.T) {
	p := newProtocol(t, Config{Bits: 64, MaxCommitments: 1})
	st := newStatement(t, p, 1, 1<<63+12345)
	pf := prove(t, p, st)
	start := bound(p, "ctx")
	ctx := t.Context()
	proving := testing.AllocsPerRun(5, func() {
		tr := start
		must.Get(p.Prove(ctx, executor.Serial(), &tr, st.V, st.w, st.nonces))(t)
	})
	acc := group.NewAccumulator(p.basis, 32)
	weights := group.NewWeights(p.g, transcript.XOF("weights"))
	verifying := testing.AllocsPerRun(5, func() {
		tr := start
		acc.Points, acc.Scalars = acc.Points[:0], acc.Scalars[:0]
		eq := must.Get(p.Replay(&tr, st.V, pf))(t)
		eq.Accumulate(acc, weights)
	})
	t.Logf("allocations: prove %v, replay and accumulate %v", proving, verifying)
	if proving > 80 || verifying > 50 {
		t.Errorf("prove allocates %v times, replay and accumulate %v; want at most 80 and 50", proving, verifying)
	}
}

func encode(p *bp, pf *proof) []byte {
	return p.g.AppendScalars(p.g.AppendPoints(nil, pf.Points...), pf.Scalars...)
}
