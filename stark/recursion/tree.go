package recursion

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
)

// most is the maximum number of proofs that one proof proves. With more there are fewer layers, but proving
// takes more memory.
const most = 8

// Tree combines many proofs into one. Each layer makes one proof for each group of up to eight proofs, until
// one proof is left. The last layer turns that one into a short proof.
type Tree struct {
	layers [][]*System // for each layer the system of each group, in order; groups of one form share it
}

// NewTree returns a tree over n proofs of one form. It returns zkbench.ErrParams if n is less than 1, or if
// New returns this error for a system of the tree.
func NewTree(params TreeParams, child Child, n int) (*Tree, error) {
	return NewTreeOn(context.Background(), executor.Serial(), params, child, n)
}

// NewTreeOn returns what NewTree returns. The executor splits the work among processors.
func NewTreeOn(ctx context.Context, ex executor.Executor, params TreeParams, child Child, n int) (*Tree, error) {
	if n < 1 {
		return nil, fmt.Errorf("%w: a tree over %d proofs, accepted are 1 and more", zkbench.ErrParams, n)
	}
	t := &Tree{}
	for children := slices.Repeat([]Child{child}, n); ; {
		config := params.inner()
		if len(children) == 1 {
			config = params.last()
		}
		var layer []*System
		var above []Child
		var last []Child // of the group before
		for _, group := range groupsOf(children) {
			if !slices.EqualFunc(group, last, func(a, b Child) bool { return a.system == b.system }) {
				s, err := NewOn(ctx, ex, config, group...)
				if err != nil {
					return nil, err
				}
				layer, last = append(layer, s), group
			} else {
				layer = append(layer, layer[len(layer)-1])
			}
			above = append(above, layer[len(layer)-1].Child())
		}
		t.layers = append(t.layers, layer)
		if len(children) == 1 {
			return t, nil
		}
		children = above
	}
}

// System returns the system that makes the last proof.
func (t *Tree) System() *System { return t.layers[len(t.layers)-1][0] }

// Layers returns the number of proofs in each layer.
func (t *Tree) Layers() (proofs []int) {
	for _, layer := range t.layers {
		proofs = append(proofs, len(layer))
	}
	return proofs
}

// Memory estimates the largest amount of memory, in bytes, that proving takes at any time. This is the
// memory of the largest proof.
func (t *Tree) Memory() (bytes uint64, err error) {
	for _, layer := range t.layers {
		for _, s := range layer {
			need, err := s.Memory()
			if err != nil {
				return 0, err
			}
			bytes = max(bytes, need)
		}
	}
	return bytes, nil
}

// Prove proves that the given proofs verify. There must be n proofs, where n is the argument of NewTree.
// The last proof is bound to the bytes in bindTo, which can be, for example, the transaction
// that the proof belongs to. The function options.Span gets names of phases with their layer, such as
// "layer 1/commit".
func (t *Tree) Prove(ctx context.Context, ex executor.Executor, proofs []Proof, bindTo []byte, options stark.Options) ([]byte, error) {
	if err := t.over(len(proofs)); err != nil {
		return nil, err
	}
	for i, layer := range t.layers {
		within := options
		if options.Span != nil {
			within.Span = func(phase string) func() { return options.Span(fmt.Sprintf("layer %d/%s", i+1, phase)) }
		}
		var above []Proof
		for j, group := range groupsOf(proofs) {
			statement, err := layer[j].Statement(statementsOf(group), t.context(i, bindTo))
			if err != nil {
				return nil, err
			}
			proof, err := layer[j].Prove(ctx, ex, group, statement.Context, within)
			if err != nil {
				return nil, fmt.Errorf("layer %d, proof %d: %w", i+1, j, err)
			}
			above = append(above, Proof{proof, statement})
		}
		proofs = above
	}
	return proofs[0].Bytes, nil
}

// context returns what the proofs of a layer are bound to: bindTo in the last layer, nothing in others.
func (t *Tree) context(layer int, bindTo []byte) []byte {
	if layer < len(t.layers)-1 {
		return nil
	}
	return bindTo
}

// Verify checks a proof which states that proofs of the given statements verify. The proof must be bound
// to the bytes in bindTo.
func (t *Tree) Verify(proof []byte, statements []stark.Statement, bindTo []byte) error {
	if err := t.over(len(statements)); err != nil {
		return err
	}
	for i, layer := range t.layers[:len(t.layers)-1] {
		var above []stark.Statement
		for j, group := range groupsOf(statements) {
			statement, err := layer[j].Statement(group, t.context(i, bindTo))
			if err != nil {
				return err
			}
			above = append(above, statement)
		}
		statements = above
	}
	return t.System().Verify(proof, statements, bindTo)
}

// over refuses a number of proofs other than the tree's.
func (t *Tree) over(n int) error {
	want := 0
	for _, s := range t.layers[0] {
		want += len(s.children)
	}
	if n != want {
		return fmt.Errorf("%w: %d proofs, accepted are %d", zkbench.ErrParams, n, want)
	}
	return nil
}

func groupsOf[T any](all []T) [][]T { return slices.Collect(slices.Chunk(all, most)) }

func statementsOf(proofs []Proof) (statements []stark.Statement) {
	for _, p := range proofs {
		statements = append(statements, p.Statement)
	}
	return statements
}
