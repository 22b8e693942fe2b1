package rangeproof_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
	"github.com/zkbench/zkbench/rangeproof/csp"
	"github.com/zkbench/zkbench/transcript"
)

// Every protocol is tested for the same on BN254, over one basis that is long enough for all
// parameters. What only one of them has (rounds driven by hand, extractors, a second verifier)
// is tested in its package.
type (
	scalar     = fr.Element
	point      = bn254.G1Affine
	bnBasis    = group.Basis[scalar, point]
	bnProtocol = rangeproof.Protocol[scalar, point]
	bnProof    = rangeproof.Proof[scalar, point]
	bnWitness  = rangeproof.Witness[scalar]
)

// parameters are those of a protocol. m is the maximum number of commitments in one proof.
type parameters struct{ bits, m, stop int }

func (c parameters) String() string { return fmt.Sprintf("bits=%d/m=%d/stop=%d", c.bits, c.m, c.stop) }

const maxAggregate = 4

// construction is a way to make protocols.
type construction struct {
	name     string
	build    func(b *bnBasis, c parameters) (bnProtocol, error)
	families func(bits, stop int) []group.Family // of one commitment, with the key
	stops    func(bits int) []int                // that BenchmarkStop goes through
	maxM     int

	damaged []parameters // whose proofs are altered everywhere
	refused []parameters // no protocol has them

	// How many challenges precede each of the first points and scalars of a proof, and the
	// first of its rounds. Each round has two points and then a challenge; the scalars that
	// remain come last.
	points, scalars []int
	rounds          int
}

var constructions = []construction{
	{
		name: "bulletproof",
		build: func(b *bnBasis, c parameters) (bnProtocol, error) {
			return bulletproof.New(b, bulletproof.Config{Bits: c.bits, MaxCommitments: c.m, Stop: c.stop})
		},
		families: func(bits, stop int) []group.Family {
			return append(rangeproof.KeyFamilies(), bulletproof.Families(bits, 1, stop)...)
		},
		stops:   func(int) []int { return []int{1, 2, 4, 8} },
		maxM:    maxAggregate,
		damaged: []parameters{{64, 1, 0}, {9, 3, 2}, {4, 1, 8}},
		refused: []parameters{{8, 0, 0}, {8, bulletproof.MaxAggregate + 1, 0}, {64, maxAggregate + 1, 0}}, // the last: longer than the basis
		points:  []int{0, 0, 2, 2},
		scalars: []int{3, 3, 3},
		rounds:  4,
	},
	{
		name: "csp",
		build: func(b *bnBasis, c parameters) (bnProtocol, error) {
			return csp.New(b, csp.Config{Bits: c.bits, Stop: c.stop})
		},
		families: func(bits, _ int) []group.Family { return append(rangeproof.KeyFamilies(), csp.Families(bits)...) },
		stops: func(bits int) (lengths []int) { // of the vector after each round
			for n := 2*bits + 3; n > 1; n = (n + 1) / 2 {
				lengths = append(lengths, n)
			}
			return append(lengths, 1)
		},
		maxM:    1,
		damaged: []parameters{{64, 1, 0}, {8, 1, 2}, {8, 1, 100}},
		points:  []int{0, 0},
		scalars: []int{2, 3, 4},
		rounds:  5,
	},
}

var longBasis = sync.OnceValue(func() *bnBasis {
	families := append(rangeproof.KeyFamilies(), bulletproof.Families(bulletproof.MaxBits, maxAggregate, 1)...)
	b, err := group.NewBasis(group.BN254(), append(families, csp.Families(csp.MaxBits)...), group.TableOptions{Window: 4, Spacing: 8})
	if err != nil {
		panic(err)
	}
	return b
})

func (c construction) protocol(t testing.TB, params parameters) bnProtocol {
	t.Helper()
	return must.Get(c.build(longBasis(), params))(t)
}

// each runs a test on every construction.
func each(t *testing.T, test func(t *testing.T, c construction)) {
	t.Parallel()
	for _, c := range constructions {
		t.Run("proof="+c.name, func(t *testing.T) { test(t, c) })
	}
}

// statement is V with its witness and the seed of its nonces.
type statement struct {
	V      []point
	w      bnWitness
	nonces transcript.Nonces
}

// newStatement commits to values, which it does not check, with blindings determined by seed.
func newStatement(seed uint64, values ...uint64) statement {
	st := statement{nonces: transcript.Nonces{Protocol: "rangeproof-test", Label: "test"}}
	xof := transcript.XOF("rangeproof-test/statement", binary.LittleEndian.AppendUint64(nil, seed))
	_, _ = xof.Read(st.nonces.Seed[:])
	st.w = bnWitness{Values: values, Blindings: make([]scalar, len(values))}
	group.RandomScalars(group.BN254(), st.w.Blindings, xof)
	for j := range values {
		st.V = append(st.V, commit(values[j], st.w.Blindings[j]))
	}
	return st
}

// commit returns v·G + r·H.
func commit(v uint64, r scalar) point {
	g, b := group.BN254(), longBasis()
	value, blinding, s := b.Points[0], b.Points[1], g.ScalarFromUint64(v)
	g.MulPoint(&value, &value, &s)
	g.MulPoint(&blinding, &blinding, &r)
	return sum(value, blinding)
}

func sum(p, q point) (z point) {
	group.BN254().AddPoints(&z, &p, &q)
	return z
}

// bound returns a transcript bound to the protocol's parameters and a context.
func bound(p bnProtocol, context string) transcript.Transcript {
	tr := transcript.New("rangeproof-test")
	p.AppendParams(&tr)
	tr.Append("context", []byte(context))
	return tr
}

func prove(t testing.TB, p bnProtocol, st statement) *bnProof {
	t.Helper()
	tr := bound(p, "ctx")
	return must.Get(p.Prove(t.Context(), serial, &tr, st.V, st.w, st.nonces))(t)
}

// verify replays a proof for the statement V and checks its equations.
func verify(p bnProtocol, tr transcript.Transcript, V []point, pf *bnProof) error {
	eq, err := p.Replay(&tr, V, pf)
	if err != nil {
		return err
	}
	state := tr.State()
	return hold(longBasis(), state[:], eq)
}

// hold checks replayed equations as one batch, in two parts that are merged.
func hold(b *bnBasis, state []byte, eqs ...rangeproof.Equations[scalar, point]) error {
	weights := group.NewWeights(b.Group, transcript.XOF("rangeproof-test/weights", state))
	parts := [2]*group.Accumulator[scalar, point]{group.NewAccumulator(b, 16), group.NewAccumulator(b, 16)}
	for i, eq := range eqs {
		eq.Accumulate(parts[i%2], weights)
	}
	parts[0].Merge(parts[1])
	ok, err := parts[0].IsZero(ctx, serial)
	if err == nil && !ok {
		err = fmt.Errorf("%w: equation", zkbench.ErrProof)
	}
	return err
}

func clone(pf *bnProof) *bnProof {
	return &bnProof{Points: slices.Clone(pf.Points), Scalars: slices.Clone(pf.Scalars)}
}

func encode(pf *bnProof) string { return string(rangeproof.AppendProof(group.BN254(), nil, pf)) }

func maxValue(bits int) uint64 { return ^uint64(0) >> (64 - bits) }
