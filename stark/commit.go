package stark

import (
	"context"
	"math/bits"

	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// commit hashes what a phase has extended and sends the cap.
func (p *prover[E, X]) commit(phase int, label string) error {
	if err := p.grow(phase); err != nil {
		return err
	}
	p.challenger.Digests(label, p.proof.caps[phase])
	return nil
}

// grow hashes what a phase has extended, coset by coset.
func (p *prover[E, X]) grow(phase int) error {
	l := p.layout
	s := p.stacks(phase)
	defer s.memory.release()
	log := l.depth(phase)
	t := tree.New(p.hash, log, l.params.LogCap, s.run(), l.omitted(log), p.digests.elements)
	for c := range p.points.shifts {
		if err := p.leaves(phase, c, s, t); err != nil {
			return err
		}
	}
	top, err := t.Grow(p.ctx, p.ex)
	if err != nil {
		return err
	}
	p.trees[phase], p.proof.caps[phase] = t, top
	return nil
}

// leaves hashes a phase's leaves on coset c.
func (p *prover[E, X]) leaves(phase, c int, s *stacks[E, X], t *tree.Tree[E]) error {
	if err := p.bring(p.extended[phase], c); err != nil {
		return err
	}
	if err := s.write(c); err != nil {
		return err
	}
	salt := p.salt(phase, c)
	p.salts[phase] = append(p.salts[phase], salt)
	return s.hash(t, c, salt)
}

// bring makes sure that coset c of columns is in memory.
func (p *prover[E, X]) bring(columns []*extended[E], c int) error {
	for _, x := range columns {
		if err := p.points.bring(p.ctx, p.ex, x, c); err != nil {
			return err
		}
	}
	return nil
}

// stacks holds a phase's stacks on one coset at a time, in the order of leaves. Most of them are those of the
// highest tables. These are not written out: a tile of rows is made at a time and hashed while it is in the
// cache. If positions share a leaf, there are few stacks, and all are written out.
type stacks[E field.Element[E], X field.Extension[E, X]] struct {
	p       *prover[E, X]
	memory  *memory[E]
	size    int // logarithm of their length
	shared  int
	all     []stackOf[E]
	tiled   int // number of stacks that are not written out
	scratch scratches[*stackTile[E]]
}

// stackTile is scratch for a tile of stacks.
type stackTile[E any] struct {
	values [][][]E // for each stack, part by part
	leaves [][][]E // for each part, what is hashed
	src    [][]E
	zeros  []E
}

// stackOf is one stack of some columns, with its number.
type stackOf[E any] struct {
	columns *extended[E]
	number  int
	written bool
	word    []E // if it is written
}

func (p *prover[E, X]) stacks(phase int) *stacks[E, X] {
	l := p.layout
	s := &stacks[E, X]{p: p, memory: p.points.memory.part(), size: l.sizes[phase], shared: l.shared[phase]}
	s.scratch.make = s.newTile
	for _, x := range p.extended[phase] {
		if x == nil {
			continue
		}
		for number := range x.stacks() {
			of := stackOf[E]{columns: x, number: number, written: x.stack != l.params.Stack || s.shared > 0}
			if !of.written {
				s.tiled++
			}
			s.all = append(s.all, of)
		}
	}
	return s
}

// write writes out the stacks that are not tiled, for coset c.
func (s *stacks[E, X]) write(c int) error {
	p := s.p
	type piece struct{ stack, from, to int }
	var fresh []int
	var pieces []piece
	for i, of := range s.all {
		if !of.written {
			continue
		}
		if of.word == nil {
			fresh = append(fresh, i)
		}
		n := 1 << of.columns.rows
		size := min(n, max(leastRows, 4*chunk>>of.columns.stack))
		for from := 0; from < n; from += size {
			pieces = append(pieces, piece{i, from, from + size})
		}
	}
	err := p.ex.Do(p.ctx, len(fresh), func(_ context.Context, i int) error {
		s.all[fresh[i]].word = s.memory.vector(1, 1<<s.size)[0]
		return nil
	})
	if err != nil {
		return err
	}
	longest := 0
	for _, piece := range pieces {
		longest = max(longest, piece.to-piece.from)
	}
	zeros := make([]E, longest)
	return p.ex.Do(p.ctx, len(pieces), func(_ context.Context, i int) error {
		of := s.all[pieces[i].stack]
		p.points.stack(of.word, of.columns, of.number, c, pieces[i].from, pieces[i].to, zeros)
		return nil
	})
}

// leastRows is the least number of rows of a stack that are written at a time. With fewer, operations on vectors
// are slow.
const leastRows = 64

// inCache is the number of bytes of stacks that are made at a time, twice the size of a second-level cache. A
// smaller tile would fit into that cache. But it would have so few rows of each column that memory costs more
// than the next cache does.
const inCache = 1 << 21

// tile returns the number of rows that are made at a time, a power of two.
func (s *stacks[E, X]) tile() int {
	l := s.p.layout
	size := min(tile, 1<<(s.size-l.params.Stack))
	for size > 16 && s.tiled<<l.params.Stack*size*s.p.field.Bytes() > inCache {
		size /= 2
	}
	return size
}

// run returns the logarithm of how many leaves are set at a time.
func (s *stacks[E, X]) run() int {
	if s.tiled == 0 {
		return tree.RunOf(s.size - s.shared)
	}
	return bits.Len(uint(s.tile())) - 1
}

// hash hashes coset c's leaves, each with its salt.
func (s *stacks[E, X]) hash(t *tree.Tree[E], c int, salt [][]E) error {
	p, l := s.p, s.p.layout
	if s.tiled == 0 {
		var words [][]E
		for _, of := range s.all {
			words = append(words, of.word)
		}
		return t.Leaves(p.ctx, p.ex, c<<(s.size-s.shared), append(parted(words, s.shared), salt...))
	}
	log := s.size - l.params.Stack // logarithm of the highest tables' rows
	parts, rows, size := 1<<l.params.Stack, 1<<log, s.tile()
	return tiles(p.ctx, p.ex, rows, size, &s.scratch, func(x *stackTile[E], lo int) error {
		join := p.points.joining(l.params.Stack, c, log, lo, size)
		for i, of := range s.all {
			if !of.written {
				x.src = of.columns.parts(x.src[:0], of.number, c, lo, lo+size, x.zeros)
				join.join(x.values[i], x.src)
			}
		}
		return p.ex.Do(p.ctx, parts, func(_ context.Context, part int) error {
			leaf := x.leaves[part]
			for i, of := range s.all {
				if of.written {
					leaf[i] = of.word[part*rows+lo:][:size]
				}
			}
			for i, column := range salt {
				leaf[len(s.all)+i] = column[part*rows+lo:][:size]
			}
			t.Set(c<<s.size+part*rows+lo, leaf)
			return nil
		})
	})
}

func (s *stacks[E, X]) newTile() *stackTile[E] {
	parts, size := 1<<s.p.layout.params.Stack, s.tile()
	x := &stackTile[E]{values: make([][][]E, len(s.all)), src: make([][]E, 0, parts), zeros: s.memory.vector(1, size)[0]}
	memory := s.memory.elements(s.tiled * parts * size)
	for i, of := range s.all {
		if !of.written {
			x.values[i] = cut(memory[:parts*size], size)
			memory = memory[parts*size:]
		}
	}
	for part := range parts {
		leaf := make([][]E, len(s.all)+s.p.layout.salt)
		for i, of := range s.all {
			if !of.written {
				leaf[i] = x.values[i][part]
			}
		}
		x.leaves = append(x.leaves, leaf)
	}
	return x
}
