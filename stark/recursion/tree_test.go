package recursion_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/recursion"
)

// few returns parameters whose verifier does little.
func few(degree int) stark.Params {
	s := small(degree)
	s.Queries, s.Grinding, s.LogCap = 1, 0, 0
	return s
}

// TestTrees: of any number of proofs there is one, of their statements in their order.
func TestTrees(t *testing.T) {
	t.Parallel()
	config := poseidon()
	config.Params = few(2)
	s := powersOf(t, config, 1)
	params := recursion.TreeParams{Child: few(2), Inner: few(2), Last: few(3)}
	for n, layers := range testsize.Pick(map[int][]int{2: {1, 1}}, map[int][]int{1: {1}, 9: {2, 1, 1}}, map[int][]int{8: {1, 1}, 65: {9, 2, 1, 1}}) {
		var proofs []recursion.Proof
		var statements []stark.Statement
		for i := range n {
			proofs = append(proofs, power(t, s, uint64(2+i), 4))
			statements = append(statements, proofs[i].Statement)
		}
		tree := must.Get(recursion.NewTree(params, recursion.NewChild(s, statements[0]), n))(t)
		golden.Equal(t, fmt.Sprintf("layers over %d proofs", n), layers, tree.Layers())
		about := []byte("transaction 7")
		proof := must.Get(tree.Prove(t.Context(), executor.Serial(), proofs, about, stark.Options{}))(t)
		must.Do(t, tree.Verify(proof, statements, about))
		must.Fail(t, tree.Verify(proof, statements, []byte("transaction 8")), zkbench.ErrProof, "another transaction")
		must.Fail(t, tree.Verify(proof, statements, nil), zkbench.ErrProof, "no transaction")
		for i := 1; i < n; i += 7 {
			other := slices.Clone(statements)
			other[0], other[i] = other[i], other[0]
			must.Fail(t, tree.Verify(proof, other, about), zkbench.ErrProof, "statements 0 and %d exchanged", i)
		}
		refused(t, "a statement less", tree.Verify(proof, statements[1:], about), zkbench.ErrParams, "proofs, accepted are")
		_, err := tree.Prove(t.Context(), executor.Serial(), append(proofs, proofs[0]), about, stark.Options{})
		refused(t, "a proof more", err, zkbench.ErrParams, "proofs, accepted are")
		bad := slices.Clone(proofs)
		bad[n-1].Statement = power(t, s, 1000, 4).Statement
		_, err = tree.Prove(t.Context(), executor.Serial(), bad, about, stark.Options{})
		refused(t, "a bad proof", err, zkbench.ErrProof, fmt.Sprintf("layer 1, proof %d: proof %d: ", (n-1)/8, (n-1)%8))
	}
	tree := must.Get(recursion.NewTree(params, recursion.NewChild(s, power(t, s, 2, 4).Statement), 2))(t)
	var greatest uint64
	for _, l := range tree.Systems() {
		greatest = max(greatest, must.Get(l.Memory())(t))
	}
	golden.Equal(t, "memory", greatest, must.Get(tree.Memory())(t))
	golden.Within(t, "memory of the last proof", 1<<20, int(must.Get(tree.System().Memory())(t)), 64<<20)
	_, err := recursion.NewTree(params, recursion.NewChild(s, stark.Statement{}), 0)
	refused(t, "no proof", err, zkbench.ErrParams, "0 proofs")
}

// TestConjectured: parameters for comparison have the 100 bits that were believed of them, a query's worth of the rate and grinding.
func TestConjectured(t *testing.T) {
	t.Parallel()
	params := recursion.Compare100()
	for _, s := range []stark.Params{params.Child, params.Long, params.Inner, params.Last} {
		golden.Equal(t, s.Name, 100, s.Queries*s.LogBlowup+s.Grinding)
		golden.Equal(t, s.Name+": proved bits that are promised", stark.Unproven, s.Bits)
	}
	golden.Equal(t, "columns a stack of what a program verifies", [2]int{4, 4}, [2]int{params.Child.Stack, params.Long.Stack})
	for rows, want := range map[int]stark.Params{recursion.LongRows / 2: params.Child, recursion.LongRows: params.Long} {
		golden.Equal(t, fmt.Sprintf("of %d rows", rows), want, params.Children(rows).Params)
	}
	golden.Equal(t, "without longer children", recursion.Secure100().Child, recursion.Secure100().Children(1<<20).Params)
}

// TestSecure: what the parameters of a tree promise is proved of all layers.
func TestSecure(t *testing.T) {
	t.Parallel()
	testsize.Full(t)
	for bits, params := range map[int]recursion.TreeParams{100: recursion.Secure100(), 128: recursion.Secure128()} {
		s := powersOf(t, params.Children(64), 1)
		tree := must.Get(recursion.NewTree(params, recursion.NewChild(s, power(t, s, 2, 64).Statement), 2))(t)
		golden.Within(t, "bits", float64(bits), float64(must.Get(tree.System().Bits())(t)), float64(bits)+10)
	}
}
