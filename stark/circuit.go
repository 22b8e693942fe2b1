package stark

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// A verifier in a circuit does what verify.go does, in the same order, of each query apart: places are in
// the order in which they were drawn, some perhaps twice, and each has a path of its own.

type (
	cell   = goldilocks.Element
	number = circuit.X
)

// extension is one of Goldilocks.
type extension[X any] interface{ field.Extension[cell, X] }

// shown is what is shown of each query apart.
type shown struct {
	leaves [phases][][]cell
	paths  [phases][][]tree.Digest
	folds  [][][]cell // of each layer
	routes [][][]tree.Digest
}

// Circuit writes down, and runs, what a verifier does of a proof of a statement of one form; without a proof
// to no effect but that it is written down. It returns the cells, of two elements each, in which the statement's
// numbers are: public values, each message's tuple, the context with its length; of each the last cell ends
// with a 0 if it has but one. They are there beside an error that says that what is shown is of other places: the
// program is whole, and run for zeros there.
//
// What proofs of other heights, or of statements whose messages go elsewhere, are verified by is another program.
// The system is one of Poseidon over Goldilocks, without zero knowledge, and the builder's extension its own;
// others are a zkbench.ErrParams.
func (s *System) Circuit(b *circuit.Builder, proof []byte, about Statement) ([]circuit.Cell, error) {
	if _, err := s.inCircuit(); err != nil {
		return nil, err
	}
	if b.Degree != circuit.Degree(s.params.Degree) {
		return nil, fmt.Errorf("%w: a circuit over an extension of degree %d, accepted is %d", zkbench.ErrParams, b.Degree, s.params.Degree)
	}
	if y, ok := s.engine.(*system[cell, ext.Cubic]); ok {
		return circuitOf(y, s, b, proof, about)
	}
	return circuitOf(s.engine.(*system[cell, ext.Quadratic]), s, b, proof, about)
}

func circuitOf[X extension[X]](y *system[cell, X], s *System, b *circuit.Builder, proof []byte, about Statement) ([]circuit.Cell, error) {
	claim, err := y.claim(s.statement, about)
	if err != nil {
		return nil, err
	}
	if n := len(about.Forms); n != 1 {
		return nil, fmt.Errorf("%w: a statement of %d forms, accepted is 1", zkbench.ErrParams, n)
	}
	logs, err := s.logs(about.Forms[0])
	if err != nil {
		return nil, err
	}
	v := &circuitVerifier[X]{Builder: b, system: y, claim: claim}
	if proof == nil {
		if v.layout, err = y.secured(s.statement, logs, len(about.Messages)); err != nil {
			return nil, err
		}
		v.proof, v.shown = nothing[X](v.layout)
	} else if v.layout, v.proof, err = y.decode(s.statement, proof, claim); err != nil {
		return nil, err
	}
	if v.proof.fri.nonce >= goldilocks.Modulus {
		return nil, fmt.Errorf("%w: the nonce is no element", zkbench.ErrMalformed)
	}
	return v.verify(), nil
}

// Told are a statement's numbers as they are in Circuit's cells, two of each.
func (s *System) Told(about Statement) (told []uint64, err error) {
	y, err := s.inCircuit()
	if err != nil {
		return nil, err
	}
	claim, err := y.claim(s.statement, about)
	if err != nil {
		return nil, err
	}
	for _, elements := range slices.Concat([][]cell{claim.publics}, claim.tuples, [][]cell{challenger.Elements(about.Context)}) {
		for _, e := range elements {
			told = append(told, uint64(e))
		}
		if len(elements)%2 == 1 {
			told = append(told, 0)
		}
	}
	return told, nil
}

// claimer is an engine over Goldilocks.
type claimer interface {
	claim(s *statement, about Statement) (*claim[cell], error)
}

// inCircuit is the engine of a system whose verifier has a circuit.
func (s *System) inCircuit() (claimer, error) {
	var hash tree.Hash[cell]
	switch y := s.engine.(type) {
	case *system[cell, ext.Quadratic]:
		hash = y.hash
	case *system[cell, ext.Cubic]:
		hash = y.hash
	}
	if hash != tree.Poseidon() || s.params.ZeroKnowledge {
		return nil, fmt.Errorf("%w: a circuit of another system than of Goldilocks and Poseidon, without zero knowledge", zkbench.ErrParams)
	}
	return s.engine.(claimer), nil
}

// nothing is a proof of the layout's form, all of whose numbers are 0.
func nothing[X extension[X]](l *layout) (*proof[cell, X], *shown) {
	p, of := &proof[cell, X]{rows: l.rows}, &shown{}
	log := l.size + l.params.LogBlowup
	elements := func(n int) (rows [][]cell) {
		for range l.params.Queries {
			rows = append(rows, make([]cell, n))
		}
		return rows
	}
	paths := func(log int) (paths [][]tree.Digest) {
		for range l.params.Queries {
			paths = append(paths, make([]tree.Digest, log-min(log, l.params.LogCap)))
		}
		return paths
	}
	for phase, shapes := range l.phases {
		if l.leaf(phase) > 0 {
			p.caps[phase] = make([]tree.Digest, l.capOf(log-l.shared[phase]))
			of.leaves[phase] = elements(l.shown(phase))
			of.paths[phase] = paths(log - l.shared[phase])
		}
		for _, s := range shapes {
			p.values[phase] = append(p.values[phase], [2][]X{make([]X, s.width), make([]X, s.width)})
		}
	}
	for _, g := range l.groups {
		if len(g) > 0 {
			p.sums = append(p.sums, *new(X))
		}
	}
	for _, fold := range l.folds {
		log -= fold
		p.fri.layers = append(p.fri.layers, make([]tree.Digest, l.capOf(log)))
		of.folds = append(of.folds, elements(l.degree<<fold))
		of.routes = append(of.routes, paths(log))
	}
	p.fri.final = make([]X, 1<<l.final())
	return p, of
}

// apart is what is shown at places, drawn in this order, of each apart.
func (v *circuitVerifier[X]) apart(places []int) (of *shown, err error) {
	l, p := v.layout, v.proof
	of = &shown{}
	log := l.size + l.params.LogBlowup
	for phase := range phases {
		if l.leaf(phase) == 0 {
			continue
		}
		shared := l.shared[phase]
		of.leaves[phase], of.paths[phase], err = v.leavesOf(leavesAt(places, l.size, shared), log-shared, p.caps[phase], p.leaves[phase], p.paths[phase])
		if err != nil {
			return nil, fmt.Errorf("tree %d: %w", phase, err)
		}
	}
	at, size := places, l.size
	for i, fold := range l.folds {
		at = leavesAt(at, size, fold)
		size -= fold
		folds, routes, err := v.leavesOf(at, size+l.params.LogBlowup, p.fri.layers[i], p.fri.folds[i], p.fri.routes[i])
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
		of.folds, of.routes = append(of.folds, folds), append(of.routes, routes)
	}
	return of, nil
}

// leavesOf are the rows and paths of leaves of a tree of 2^log, of each apart.
func (v *circuitVerifier[X]) leavesOf(leaves []int, log int, top []tree.Digest, shown [][]cell, path []tree.Digest) (rows [][]cell, paths [][]tree.Digest, err error) {
	rising := slices.Compact(slices.Sorted(slices.Values(leaves)))
	all, err := tree.Paths(v.system.hash, log, len(top), rising, shown, path)
	if err != nil {
		return nil, nil, err
	}
	for _, leaf := range leaves {
		at, _ := slices.BinarySearch(rising, leaf)
		rows, paths = append(rows, shown[at]), append(paths, all[at])
	}
	return rows, paths, nil
}
