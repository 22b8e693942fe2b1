package stark_test

import (
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/circuittest"
)

// TestCircuitCoordinates: of what a prover chooses in a program over the cubic extension no third coordinate is free: a
// cell stands where a permutation has it, whose tuples end with a 0, or a row does not hold, or nothing but its first
// coordinate is read. What is taken for a pair of elements, by rows that read its second one, is in a permutation.
func TestCircuitCoordinates(t *testing.T) {
	t.Parallel()
	cubic := 0
	for _, s := range circuitSystems(t, testsize.Pick(8, 16, 80)) {
		if s.Params().Degree != 3 {
			continue
		}
		b, err := s.run(s.proof, s.about)
		must.Do(t, err)
		p := circuittest.New(b)
		permuted, read := make(map[circuit.Cell]bool), make(map[circuit.Cell]bool)
		for _, q := range b.Permutations {
			for i := range q.In {
				permuted[q.In[i]], permuted[q.Out[i]] = true, true
			}
			permuted[q.Swap] = true
		}
		points := 0
		for i, r := range b.Rows {
			first := r.First != 0 && r.Product == 0
			for j, c := range r.Cells {
				if c != circuit.None && !(first && j == circuit.B) {
					read[c] = true
				}
			}
			if second := r.First != 0 && r.Product != 0; second && !permuted[r.Cells[circuit.B]] {
				// The point, of which it is said that it is outside the field.
				if points++; points > 1 {
					t.Errorf("row %d reads the second element of cell %d, which is in no permutation", i, r.Cells[circuit.B])
				}
			}
		}
		golden.Equal(t, "points that are said to be outside the field", 1, points)
		for i, c := range p.Hints() {
			if permuted[c] || !read[c] || (cubic+i)%testsize.Pick(5, 1, 1) != 0 {
				continue
			}
			for _, by := range []goldilocks.Element{1, goldilocks.Modulus - 1} {
				x := b.Values[c].Add(circuit.X{0, 0, by})
				if len(p.Broken(p.With(map[circuit.Cell]circuit.X{c: x}))) == 0 {
					t.Errorf("the third coordinate of cell %d, hint %d, may be another", c, i)
				}
			}
		}
		cubic++
	}
	if cubic == 0 {
		t.Error("no system is over the cubic extension")
	}
}

// TestCircuitBound: what a prover chooses is held where it is read, and not only by what is read far behind it, which
// a prover could solve for: it is in a permutation, or a bit, or a factor of a product of which a row says that it is a
// constant (what is divided by, and, of an element's bits, what says that there is but one form of it).
func TestCircuitBound(t *testing.T) {
	t.Parallel()
	for _, s := range circuitSystems(t, 8) {
		b, err := s.run(s.proof, s.about)
		must.Do(t, err)
		made, constant := make(map[circuit.Cell]int), make(map[circuit.Cell]bool)
		bound := make(map[circuit.Cell]bool)
		for _, q := range b.Permutations {
			for i := range q.In {
				bound[q.In[i]] = true
			}
		}
		for i, r := range b.Rows {
			if _, ok := made[r.Cells[circuit.Out]]; !ok {
				made[r.Cells[circuit.Out]] = i
			}
			if r.Cells == [circuit.Operands]circuit.Cell{circuit.None, circuit.None, circuit.None, r.Cells[circuit.Out]} {
				constant[r.Cells[circuit.Out]] = true
			}
			if r.Bit {
				bound[r.Cells[circuit.C]] = true
			}
		}
		p := circuittest.New(b)
		hint := make(map[circuit.Cell]bool)
		for _, c := range p.Hints() {
			hint[c] = true
		}
		for i, r := range b.Rows {
			if out := r.Cells[circuit.Out]; r.Product == 0 || made[out] == i || !constant[out] {
				continue
			}
			for _, c := range []circuit.Cell{r.Cells[circuit.A], r.Cells[circuit.B]} {
				bound[c] = true
				if by, ok := made[c]; ok && b.Rows[by].Product != 0 && b.Values[r.Cells[circuit.Out]] == (circuit.X{}) {
					bound[b.Rows[by].Cells[circuit.A]], bound[b.Rows[by].Cells[circuit.B]] = true, true
				}
			}
		}
		for _, r := range b.Rows {
			for j, c := range r.Cells {
				first := r.First != 0 && r.Product == 0 && j == circuit.B
				if c != circuit.None && hint[c] && !bound[c] && !first {
					t.Errorf("cell %d, a hint, is read by %+v, and held by nothing near it", c, r)
					hint[c] = false
				}
			}
		}
	}
}

// TestCircuitDigests: of a digest to which a tree's leaf leads both pairs are compared with the cap's.
func TestCircuitDigests(t *testing.T) {
	t.Parallel()
	for _, s := range circuitSystems(t, 8) {
		b, err := s.run(s.proof, s.about)
		must.Do(t, err)
		read := make(map[circuit.Cell]bool)
		for _, r := range b.Rows {
			for _, c := range r.Cells {
				read[c] = true
			}
		}
		for _, q := range b.Permutations {
			for _, c := range q.In {
				read[c] = true
			}
		}
		halves := 0
		for _, q := range b.Permutations {
			if read[q.Out[circuit.Pairs-1]] { // a sponge goes on
				continue
			}
			if read[q.Out[0]] != read[q.Out[1]] {
				halves++
			}
		}
		golden.Equal(t, "permutations of which one pair is read: that of the last place", 1, halves)
	}
}
