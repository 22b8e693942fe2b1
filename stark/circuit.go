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

// The verifier in a circuit does what verify.go does, in the same order, but handles each query separately.
// Positions stay in the order in which they were drawn, perhaps with duplicates, and each has its own path.

type (
	cell   = goldilocks.Element
	number = circuit.X
)

// extension is an extension of Goldilocks.
type extension[X any] interface{ field.Extension[cell, X] }

// shown holds what a proof opens, for each query separately.
type shown struct {
	leaves [phases][][]cell
	paths  [phases][][]tree.Digest
	folds  [][][]cell // for each layer
	routes [][][]tree.Digest
}

// circuitVerify is embedded in System, for circuit.Verify.
type circuitVerify = circuit.Verifier[Statement]

// verifyInCircuit writes down the verifier of a proof as a program, and runs it. circuit.Verify documents it.
func (s *System) verifyInCircuit(b *circuit.Builder, proof []byte, about Statement) ([]circuit.Cell, error) {
	if _, err := s.inCircuit(); err != nil {
		return nil, err
	}
	if b.Degree != circuit.Degree(s.params.Degree) {
		return nil, fmt.Errorf("%w: circuit over an extension of degree %d, accepted is %d", zkbench.ErrParams, b.Degree, s.params.Degree)
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
		return nil, fmt.Errorf("%w: the statement has %d forms, accepted is 1", zkbench.ErrParams, n)
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
		return nil, fmt.Errorf("%w: the nonce is not below the field's order", zkbench.ErrMalformed)
	}
	return v.verify()
}

// StatementElements returns the numbers of a statement in the order in which package recursion reads them: the
// public values, the tuple of each message, and the context with its length, with a 0 after a list of odd
// length, and the digests of the image's cap. It returns zkbench.ErrParams if package recursion cannot verify proofs of the system, or if the
// statement does not fit the system.
func (s *System) StatementElements(about Statement) (values []uint64, err error) {
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
			values = append(values, uint64(e))
		}
		if len(elements)%2 == 1 {
			values = append(values, 0)
		}
	}
	if about.Image != nil {
		for _, d := range about.Image.top {
			values = append(values, d[:]...)
		}
	}
	return values, nil
}

// claimer is an engine over Goldilocks.
type claimer interface {
	claim(s *statement, about Statement) (*claim[cell], error)
}

// inCircuit returns the engine of a system whose verifier has a circuit.
func (s *System) inCircuit() (claimer, error) {
	var hash tree.Hash[cell]
	switch y := s.engine.(type) {
	case *system[cell, ext.Quadratic]:
		hash = y.hash
	case *system[cell, ext.Cubic]:
		hash = y.hash
	}
	if hash != tree.Poseidon() || s.params.ZeroKnowledge {
		return nil, fmt.Errorf("%w: only systems over Goldilocks with Poseidon, without zero knowledge, have a circuit", zkbench.ErrParams)
	}
	return s.engine.(claimer), nil
}

// nothing returns a proof of the layout's form whose numbers are all 0.
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
			p.caps[phase] = make([]tree.Digest, l.capOf(l.depth(phase)))
			of.leaves[phase] = elements(l.shown(phase))
			of.paths[phase] = paths(l.depth(phase))
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

// apart splits what the proof opens by position. The positions are in the order in which they were drawn.
func (v *circuitVerifier[X]) apart(places []int) (of *shown, err error) {
	l, p := v.layout, v.proof
	of = &shown{}
	for phase := range phases {
		if l.leaf(phase) == 0 {
			continue
		}
		of.leaves[phase], of.paths[phase], err = v.leavesOf(leavesAt(places, l.size, l.leaves(phase)), l.depth(phase), p.caps[phase], p.leaves[phase], p.paths[phase])
		if err != nil {
			return nil, fmt.Errorf("tree %d: %w", phase, err)
		}
	}
	at, size := places, l.size
	for i, fold := range l.folds {
		at = leavesAt(at, size, size-fold)
		size -= fold
		folds, routes, err := v.leavesOf(at, size+l.params.LogBlowup, p.fri.layers[i], p.fri.folds[i], p.fri.routes[i])
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
		of.folds, of.routes = append(of.folds, folds), append(of.routes, routes)
	}
	return of, nil
}

// leavesOf returns the row and the path of each leaf in a tree of 2^log leaves.
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
