package group

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// Family names a sequence of generators. Family{"bulletproof/G", 64} stands for the 64 points that
// the function Generator returns for this name and the indices 0 to 63.
type Family struct {
	Name  string
	Count int
}

// Basis is an ordered list of independent generators, with a table of their multiples. A protocol
// finds its generators by the names of their families, and writes the scalar of each generator at
// the generator's position in the list. One fixed-base sum over the basis then serves all
// protocols at once.
type Basis[S, P any] struct {
	Group    Group[S, P]
	Table    Table[S, P]
	Points   []P
	families []Family
	offsets  map[string]int
}

// GeneratorDomain returns the RFC 9380 domain separation tag for the generators of a group, given
// the group's Domain.
func GeneratorDomain(groupDomain string) string { return "zkbench/v1/generators/" + groupDomain }

// NewBasis derives the generators of all families by hashing to the curve, and builds their table.
// It returns ErrParams if a family is empty or named twice, or if a generator is the identity or
// equals another one.
func NewBasis[S, P any](g Group[S, P], families []Family, opts TableOptions) (*Basis[S, P], error) {
	b := &Basis[S, P]{Group: g, families: append([]Family(nil), families...), offsets: make(map[string]int)}
	seen := make(map[string]bool)
	for _, f := range families {
		if _, dup := b.offsets[f.Name]; dup || f.Count < 1 {
			return nil, fmt.Errorf("%w: generator family %q named twice or empty", zkbench.ErrParams, f.Name)
		}
		b.offsets[f.Name] = len(b.Points)
		for i := range f.Count {
			p, err := Generator(g, f.Name, uint32(i))
			if err != nil {
				return nil, err
			}
			key := string(g.AppendPoints(nil, p))
			if g.IsIdentity(&p) || seen[key] {
				return nil, fmt.Errorf("%w: generator %s[%d] is the identity or repeated", zkbench.ErrParams, f.Name, i)
			}
			seen[key] = true
			b.Points = append(b.Points, p)
		}
	}
	var err error
	b.Table, err = g.NewTable(b.Points, opts)
	return b, err
}

// Generator derives one generator: the hash_to_curve of frame(name) || index. Here frame(name) is
// the length of the name followed by the name. Both the length and the index are encoded as uint32
// little-endian.
func Generator[S, P any](g Group[S, P], name string, index uint32) (P, error) {
	msg := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
	msg = append(msg, name...)
	msg = binary.LittleEndian.AppendUint32(msg, index)
	return g.HashToPoint(GeneratorDomain(g.Domain()), msg)
}

// Offset returns the position of the family's first generator. It panics if the basis was built
// without the family, which is a programming error.
func (b *Basis[S, P]) Offset(family string) int {
	off, ok := b.offsets[family]
	if !ok {
		panic("group: basis has no family " + family)
	}
	return off
}

// Len returns the number of generators.
func (b *Basis[S, P]) Len() int { return len(b.Points) }

// Families returns a copy of the families, in order.
func (b *Basis[S, P]) Families() []Family { return append([]Family(nil), b.families...) }

// ConstantTime returns a copy of the basis whose table computes every MSM with
// MSMConstantTime. The time and the memory accesses of a prover's sums over this basis do not
// depend on the scalars, within the limits that SECURITY.md gives.
func (b *Basis[S, P]) ConstantTime() *Basis[S, P] {
	return b.WithTable(constantTimeTable[S, P]{b.Table})
}

// WithTable returns a copy of the basis that uses the given table for its points.
func (b *Basis[S, P]) WithTable(table Table[S, P]) *Basis[S, P] {
	c := *b
	c.Table = table
	return &c
}

type constantTimeTable[S, P any] struct{ Table[S, P] }

func (t constantTimeTable[S, P]) MSM(ctx context.Context, _ executor.Executor, dst []P, scalars [][]S) error {
	return t.MSMConstantTime(ctx, dst, scalars)
}
