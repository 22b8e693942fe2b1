package bulletproof

import (
	"context"
	"crypto/sha3"
	"encoding/binary"
	"slices"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// All tests run on BN254 over one basis, long enough for every parameter set
// they use.
type (
	scalar = fr.Element
	point  = bn254.G1Affine
	proof  = rangeproof.Proof[scalar, point]
	bp     = Protocol[scalar, point]
)

const testCommitments = 4

var sharedBasis = sync.OnceValues(func() (*group.Basis[scalar, point], error) {
	return group.NewBasis(group.BN254(), append(rangeproof.KeyFamilies(), Families(MaxBits, testCommitments, 1)...), group.TableOptions{})
})

func testBasis(t testing.TB) *group.Basis[scalar, point] {
	t.Helper()
	return must.Get(sharedBasis())(t)
}

func newProtocol(t testing.TB, cfg Config) *bp {
	t.Helper()
	return must.Get(New(testBasis(t), cfg))(t)
}

// statement is V with its witness and a seed for the nonces.
type statement struct {
	V      []point
	w      rangeproof.Witness[scalar]
	nonces transcript.Nonces
}

// seeded returns a stream that depends only on its arguments.
func seeded(label string, n ...uint64) *sha3.SHAKE {
	var b []byte
	for _, v := range n {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return transcript.XOF("test", []byte(label), b)
}

// newStatement commits to values with blindings drawn from seed. It does not
// check the values.
func newStatement(t testing.TB, p *bp, seed uint64, values ...uint64) statement {
	t.Helper()
	st := statement{nonces: transcript.Nonces{Protocol: p.Name(), Label: "test"}}
	xof := seeded("statement", seed)
	_, _ = xof.Read(st.nonces.Seed[:])
	st.w = rangeproof.Witness[scalar]{Values: values, Blindings: make([]scalar, len(values))}
	group.RandomScalars(p.g, st.w.Blindings, xof)
	st.V = make([]point, len(values))
	for j := range values {
		st.V[j] = commit(t, p, p.g.ScalarFromUint64(values[j]), st.w.Blindings[j])
	}
	return st
}

// commit returns v·g + r·h.
func commit(t testing.TB, p *bp, v, r scalar) point {
	t.Helper()
	s := make([]scalar, p.end)
	s[p.posValue], s[p.posBlinding] = v, r
	var out [1]point
	must.Do(t, p.basis.Table.MSM(t.Context(), executor.Serial(), out[:], [][]scalar{s}))
	return out[0]
}

// bound returns a transcript bound to the parameters and a context.
func bound(p *bp, caller string) transcript.Transcript {
	tr := transcript.New("bulletproof-test")
	p.AppendParams(&tr)
	tr.Append("context", []byte(caller))
	return tr
}

func prove(t testing.TB, p *bp, st statement) *proof {
	t.Helper()
	tr := bound(p, "ctx")
	return must.Get(p.Prove(t.Context(), executor.Serial(), &tr, st.V, st.w, st.nonces))(t)
}

// verify replays one proof and checks its equations with weights that depend
// on the final transcript.
func verify(t testing.TB, p *bp, tr transcript.Transcript, V []point, pf *proof) (bool, error) {
	t.Helper()
	eq, err := p.Replay(&tr, V, pf)
	if err != nil {
		return false, err
	}
	acc := group.NewAccumulator(p.basis, len(V)+len(pf.Points))
	state := tr.State()
	eq.Accumulate(acc, group.NewWeights(p.g, transcript.XOF("weights", state[:])))
	return acc.IsZero(context.Background(), executor.Serial())
}

func accepts(t testing.TB, p *bp, st statement, pf *proof) bool {
	t.Helper()
	ok, err := verify(t, p, bound(p, "ctx"), st.V, pf)
	return err == nil && ok
}

func clone(pf *proof) *proof {
	return &proof{Points: slices.Clone(pf.Points), Scalars: slices.Clone(pf.Scalars)}
}

func encode(p *bp, pf *proof) []byte { return rangeproof.AppendProof(p.g, nil, pf) }

func maxValue(bits int) uint64 { return ^uint64(0) >> (64 - bits) }
