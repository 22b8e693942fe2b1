package recursion_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/circuittest"
	"github.com/zkbench/zkbench/stark/recursion"
)

// TestPairs: in the tables of a verifier over the cubic extension a pair of elements has no third coordinate: rows alone
// would let it be any, and what it is a part of, and the proof of such tables is rejected for what permutations have.
func TestPairs(t *testing.T) {
	t.Parallel()
	config := poseidon()
	config.Params = few(3)
	s := powersOf(t, config, 1)
	two := power(t, s, 2, height)
	b := circuit.New(3)
	must.Get(circuit.Verify(s, b, two.Bytes, two.Statement))(t)
	must.Do(t, b.Err())
	params := small(3)
	params.Queries = 30 // that a word far from the code is seen
	above := must.Get(recursion.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Params: params}, leafOf(s, two.Statement)))(t)
	traces, about, err := above.Traces([]recursion.Proof{two}, nil)
	must.Do(t, err)
	must.Do(t, above.Tables().Check(t.Context(), executor.Serial(), traces, about))
	// The parent's program begins with the child's.
	p := circuittest.New(b)
	all := must.Get(above.Values([]recursion.Proof{two}))(t)
	if !slices.Equal(all[:len(b.Values)], b.Values) {
		t.Fatal("another program")
	}
	permuted, read := make(map[circuit.Cell]bool), make(map[circuit.Cell]bool)
	for _, q := range b.Permutations {
		for _, c := range q.In {
			permuted[c] = true
		}
	}
	for _, r := range b.Rows {
		for _, c := range r.Cells {
			read[c] = true
		}
	}
	free, tried := 0, 0
	for i, c := range p.Hints() {
		if !permuted[c] || !read[c] || i%testsize.Pick(7, 3, 1) != 0 {
			continue
		}
		x := b.Values[c].Add(circuit.X{0, 0, goldilocks.Element(1 + i)})
		values := p.With(map[circuit.Cell]circuit.X{c: x})
		holds := len(p.Broken(values)) == 0
		bad := above.Program().Traces(append(values, all[len(b.Values):]...))
		err := above.Tables().Check(t.Context(), executor.Serial(), bad, about)
		must.Fail(t, err, zkbench.ErrWitness, "the third coordinate of cell %d", c)
		if holds {
			refused(t, "a pair", err, zkbench.ErrWitness, `bus "memory"`)
			free++
		}
		if holds || tried%testsize.Pick(9, 9, 1) == 0 {
			forced, err := above.Tables().Prove(t.Context(), circuittest.Careless{Executor: executor.Serial()}, bad, about, stark.Options{})
			if err == nil {
				must.Fail(t, above.Tables().Verify(forced, about), zkbench.ErrProof, "the third coordinate of cell %d", c)
			}
		}
		tried++
	}
	t.Logf("%d of %d pairs are held by permutations alone", free, tried)
}

// TestPromises: the parameters of a tree promise in all layers what they are called by, so that of heights for which fewer
// bits are proved there is no proof.
func TestPromises(t *testing.T) {
	t.Parallel()
	for bits, params := range map[int]recursion.TreeParams{100: recursion.Secure100(), 128: recursion.Secure128(), 0: recursion.Compare100()} {
		for layer, params := range map[string]stark.Params{"children": params.Child, "between": params.Inner, "last": params.Last} {
			golden.Equal(t, fmt.Sprintf("bits of %d promised by %s", bits, layer), bits, max(0, params.Bits))
		}
	}
}
