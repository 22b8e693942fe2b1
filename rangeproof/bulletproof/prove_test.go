package bulletproof

import (
	"context"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

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
	golden.Equal(t, "proof with other ways to sum", proofs[1], proofs[0])
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
	golden.Equal(t, "encodings of 5 witnesses", 5, len(seen))
}
