package bulletproof

import (
	"errors"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// Every point and scalar of a proof, altered one by one in several ways, and
// every pair of neighbours swapped.
func TestEveryItemOfAProofCounts(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{
		{Bits: 64, MaxCommitments: 1},
		{Bits: 9, MaxCommitments: 3, Stop: 2},
		{Bits: 4, MaxCommitments: 1, Stop: 8},
	} {
		t.Run(fmt.Sprintf("bits=%d/m=%d/stop=%d", cfg.Bits, cfg.MaxCommitments, cfg.Stop), func(t *testing.T) {
			p := newProtocol(t, cfg)
			st := newStatement(t, p, 5, []uint64{maxValue(cfg.Bits), 1, 6}[:cfg.MaxCommitments]...)
			good := prove(t, p, st)
			if !accepts(t, p, st, good) {
				t.Fatal("honest proof rejected")
			}
			rejected := func(name string, i int, change func(pf *proof)) {
				t.Helper()
				bad := clone(good)
				change(bad)
				if accepts(t, p, st, bad) {
					t.Errorf("%s %d: accepted", name, i)
				}
			}
			g := p.g
			for i := range good.Points {
				rejected("point plus g", i, func(pf *proof) {
					g.AddPoints(&pf.Points[i], &pf.Points[i], &p.basis.Points[p.posValue])
				})
				rejected("point plus h", i, func(pf *proof) {
					g.AddPoints(&pf.Points[i], &pf.Points[i], &p.basis.Points[p.posBlinding])
				})
				rejected("point negated", i, func(pf *proof) { g.NegPoint(&pf.Points[i], &pf.Points[i]) })
				rejected("point made identity", i, func(pf *proof) { pf.Points[i] = point{} })
				if i > 0 {
					rejected("points swapped", i, func(pf *proof) {
						pf.Points[i], pf.Points[i-1] = pf.Points[i-1], pf.Points[i]
					})
				}
			}
			for i := range good.Scalars {
				rejected("scalar plus 1", i, func(pf *proof) { pf.Scalars[i] = plus(pf.Scalars[i], num(1)) })
				rejected("scalar negated", i, func(pf *proof) { pf.Scalars[i].Neg(&pf.Scalars[i]) })
				rejected("scalar made 0", i, func(pf *proof) { pf.Scalars[i] = scalar{} })
				if i > 0 {
					rejected("scalars swapped", i, func(pf *proof) {
						pf.Scalars[i], pf.Scalars[i-1] = pf.Scalars[i-1], pf.Scalars[i]
					})
				}
			}
		})
	}
}

// Every item reaches the transcript, the last vectors too: what a caller draws
// or joins afterwards depends on all of the proof and its statement.
func TestEveryItemIsAbsorbed(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, Config{Bits: 9, MaxCommitments: 2, Stop: 2})
	st := newStatement(t, p, 5, 500, 1)
	good := prove(t, p, st)
	seen := map[[transcript.StateLen]byte]string{}
	replay := func(name string, V []point, pf *proof) {
		t.Helper()
		tr := bound(p, "ctx")
		must.Get(p.Replay(&tr, V, pf))(t)
		if other, ok := seen[tr.State()]; ok {
			t.Errorf("%s ends in the transcript state of %s", name, other)
		}
		seen[tr.State()] = name
	}
	replay("good", st.V, good)
	for j := range st.V {
		V := append([]point(nil), st.V...)
		p.g.NegPoint(&V[j], &V[j])
		replay(fmt.Sprintf("V %d", j), V, good)
	}
	for i := range good.Points {
		pf := clone(good)
		p.g.NegPoint(&pf.Points[i], &pf.Points[i])
		replay(fmt.Sprintf("point %d", i), st.V, pf)
	}
	for i := range good.Scalars {
		pf := clone(good)
		pf.Scalars[i].Neg(&pf.Scalars[i])
		replay(fmt.Sprintf("scalar %d", i), st.V, pf)
	}
}

// Every byte of an encoded proof, one bit each: not decodable, or rejected.
func TestEveryByteCounts(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, Config{Bits: 8, MaxCommitments: 2, Stop: 2})
	st := newStatement(t, p, 5, 255, 17)
	wire := encode(p, prove(t, p, st))
	shape := p.Shape(2)
	for i := range wire {
		bad := append([]byte(nil), wire...)
		bad[i] ^= 1 << (i % 8)
		pf := &proof{Points: make([]point, shape.Points), Scalars: make([]scalar, shape.Scalars)}
		split := shape.Points * p.g.PointLen()
		err := p.g.DecodePoints(pf.Points, bad[:split], group.Subgroup)
		if err == nil {
			err = p.g.DecodeScalars(pf.Scalars, bad[split:])
		}
		if err != nil {
			if !errors.Is(err, zkbench.ErrMalformed) {
				t.Errorf("byte %d: %v, want ErrMalformed", i, err)
			}
			continue
		}
		if accepts(t, p, st, pf) {
			t.Errorf("byte %d: accepted", i)
		}
	}
}

func TestOtherStatementsAreRejected(t *testing.T) {
	t.Parallel()
	cfg := Config{Bits: 8, MaxCommitments: 4, Stop: 4}
	p := newProtocol(t, cfg)
	st := newStatement(t, p, 9, 3, 200, 200)
	pf := prove(t, p, st)
	V := st.V
	other := commit(t, p, num(3), num(99)) // the same value, another blinding
	var moved point
	p.g.AddPoints(&moved, &V[0], &p.basis.Points[p.posValue])

	for _, tc := range []struct {
		name string
		V    []point
		want bool
	}{
		{"as proved", []point{V[0], V[1], V[2]}, true},
		{"swapped", []point{V[1], V[0], V[2]}, false},
		{"swapped, equal values", []point{V[0], V[2], V[1]}, false},
		{"repeated", []point{V[0], V[1], V[1]}, false},
		{"dropped", []point{V[0], V[1]}, false},
		{"one more", []point{V[0], V[1], V[2], V[2]}, false},
		{"none", nil, false},
		{"too many", []point{V[0], V[1], V[2], V[2], V[2]}, false},
		{"another blinding", []point{other, V[1], V[2]}, false},
		{"another value", []point{moved, V[1], V[2]}, false},
		{"identity", []point{{}, V[1], V[2]}, false},
	} {
		ok, err := verify(t, p, bound(p, "ctx"), tc.V, pf)
		if got := ok && err == nil; got != tc.want {
			t.Errorf("V %s: accepted %t (%v), want %t", tc.name, got, err, tc.want)
		}
	}
}

// A proof replayed under another context, label or parameter set; the shapes
// are equal in most cases, so that the transcript alone must tell them apart.
func TestOtherParametersAreRejected(t *testing.T) {
	t.Parallel()
	cfg := Config{Bits: 8, MaxCommitments: 1, Stop: 4}
	p := newProtocol(t, cfg)
	st := newStatement(t, p, 9, 77)
	pf := prove(t, p, st)
	fork := bound(p, "ctx")
	fork = fork.Fork("range", 1)
	for _, tc := range []struct {
		name string
		cfg  Config
		tr   func(p *bp) transcript.Transcript
	}{
		{"context", cfg, func(p *bp) transcript.Transcript { return bound(p, "other") }},
		{"fork", cfg, func(*bp) transcript.Transcript { return fork }},
		{"protocol", cfg, func(p *bp) transcript.Transcript { return transcript.New("bulletproof-test") }},
		{"bits=7", Config{Bits: 7, MaxCommitments: 1, Stop: 4}, nil},
		{"bits=16", Config{Bits: 16, MaxCommitments: 1, Stop: 4}, nil},
		{"stop=5", Config{Bits: 8, MaxCommitments: 1, Stop: 5}, nil},
		{"stop=2", Config{Bits: 8, MaxCommitments: 1, Stop: 2}, nil},
		{"aggregate", Config{Bits: 8, MaxCommitments: 2, Stop: 4}, nil},
	} {
		q := newProtocol(t, tc.cfg)
		tr := bound(q, "ctx")
		if tc.tr != nil {
			tr = tc.tr(q)
		}
		if ok, err := verify(t, q, tr, st.V, pf); ok && err == nil {
			t.Errorf("other %s: accepted", tc.name)
		}
	}
	// Name and every parameter are absorbed, whatever the shapes.
	seen := map[[transcript.StateLen]byte]Config{}
	for _, cfg := range []Config{
		{Bits: 8, MaxCommitments: 1, Stop: 4},
		{Bits: 7, MaxCommitments: 1, Stop: 4},
		{Bits: 8, MaxCommitments: 1, Stop: 5},
		{Bits: 8, MaxCommitments: 2, Stop: 4},
		{Bits: 8, MaxCommitments: 3, Stop: 4},
	} {
		tr := bound(newProtocol(t, cfg), "ctx")
		if other, ok := seen[tr.State()]; ok {
			t.Errorf("%+v and %+v absorb the same", cfg, other)
		}
		seen[tr.State()] = cfg
	}

	// 7 bits have the padded length of 8: only the range differs.
	small := newProtocol(t, Config{Bits: 7, MaxCommitments: 1, Stop: 4})
	if small.Shape(1) != p.Shape(1) {
		t.Fatal("the case of 7 bits does not test what it should")
	}
	if ok, err := verify(t, small, bound(p, "ctx"), st.V, pf); ok && err == nil {
		t.Error("other range, same transcript: accepted")
	}
}

func TestMisshapenProofs(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, Config{Bits: 8, MaxCommitments: 1})
	st := newStatement(t, p, 9, 77)
	good := prove(t, p, st)
	for _, tc := range []struct {
		name string
		pf   *proof
	}{
		{"nil", nil},
		{"empty", &proof{}},
		{"point missing", &proof{Points: good.Points[:len(good.Points)-1], Scalars: good.Scalars}},
		{"scalar missing", &proof{Points: good.Points, Scalars: good.Scalars[1:]}},
		{"point too many", &proof{Points: append(clone(good).Points, good.Points[0]), Scalars: good.Scalars}},
		{"identity for A", withIdentity(good, 0)},
		{"identity for the last R", withIdentity(good, len(good.Points)-1)},
		{"scalar too many", &proof{Points: good.Points, Scalars: append(clone(good).Scalars, num(0))}},
	} {
		tr := bound(p, "ctx")
		if _, err := p.Replay(&tr, st.V, tc.pf); !errors.Is(err, zkbench.ErrProof) {
			t.Errorf("%s: %v, want ErrProof", tc.name, err)
		}
	}
	tr := bound(p, "ctx")
	if _, err := p.Replay(&tr, nil, good); !errors.Is(err, zkbench.ErrParams) {
		t.Errorf("no commitments: %v, want ErrParams", err)
	}
	if (p.Shape(0) != rangeproof.Shape{}) || (p.Shape(2) != rangeproof.Shape{}) {
		t.Error("shape of an m that is not accepted is not zero")
	}
}

func withIdentity(pf *proof, i int) *proof {
	bad := clone(pf)
	bad.Points[i] = point{}
	return bad
}

// zeroGroup reduces every challenge to zero from the nth on.
type zeroGroup struct {
	group.Group[scalar, point]
	left *int
}

func (z zeroGroup) ScalarFromWide(wide []byte) scalar {
	if *z.left == 0 {
		return scalar{}
	}
	*z.left--
	return z.Group.ScalarFromWide(wide)
}

// y, z, x, cU and the x_j are refused when they are zero, by both sides.
func TestZeroChallengesAreRefused(t *testing.T) {
	t.Parallel()
	cfg := Config{Bits: 4, MaxCommitments: 1, Stop: 2}
	p := newProtocol(t, cfg)
	st := newStatement(t, p, 9, 7)
	pf := prove(t, p, st)
	basis := *testBasis(t)
	left := new(int)
	basis.Group = zeroGroup{basis.Group, left}
	q := must.Get(New(&basis, cfg))(t)
	d := cfg.dims(1)
	total := 4 + d.rounds
	for n := 0; n <= total; n++ {
		var want error
		if n < total {
			want = zkbench.ErrProof
		}
		tr := bound(p, "ctx")
		*left = n
		if _, err := q.Replay(&tr, st.V, pf); !errors.Is(err, want) {
			t.Errorf("challenge %d zero: Replay: %v, want %v", n, err, want)
		}
		tr = bound(p, "ctx")
		*left = n + 2*d.N + 4 // after the nonces
		if _, err := q.Prove(t.Context(), executor.Serial(), &tr, st.V, st.w, st.nonces); !errors.Is(err, want) {
			t.Errorf("challenge %d zero: Prove: %v, want %v", n, err, want)
		}
	}
}
