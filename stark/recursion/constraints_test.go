package recursion_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	hash "github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/circuittest"
	"github.com/zkbench/zkbench/stark/internal/starktest"
	boxes "github.com/zkbench/zkbench/stark/poseidon"
	"github.com/zkbench/zkbench/stark/recursion"
)

// TestConstraints: each kind of constraint of a program's tables is held by a witness that breaks it alone, and each
// place where a cell stands by what the statement says in its place.
func TestConstraints(t *testing.T) {
	t.Parallel()
	const rows, degree = 256, circuit.Degree(3)
	b := circuit.New(degree)
	x := b.Hint(circuit.X{0x123456789abcdef1, 5, 7})
	bits := b.Bits(b.First(x), 0, "bits")
	permuted := b.Permute([circuit.Pairs]circuit.Value{b.First(x), b.Xor(bits[0], bits[3]), circuit.One, b.First(x), circuit.Zero, circuit.Zero}, bits[1])
	permuted = b.Permute(permuted, bits[2])
	product := b.MulAdd(x, x, b.Second(x))
	// The product, and of what is permuted twice one pair: nothing else reads them.
	statement := []circuit.Cell{b.Cell(product), b.Cell(permuted[circuit.Pairs-1])}
	l := lay(t, b, statement, rows, boxes.Cubed)
	if l.Lanes() != [2]int{1, 1} {
		t.Fatalf("lanes %v, want one of each", l.Lanes())
	}
	p := circuittest.New(b)

	planted := make(map[string]func() starktest.Planted)
	// forged changes a table's cells, and what is said.
	forged := func(table int, values []circuit.X, change func(cells *stark.Cells), say func(about *stark.Statement)) starktest.Planted {
		said := about(b, statement)
		said.Forms = l.about.Forms
		if say != nil {
			say(&said)
		}
		traces := l.Traces(values)
		fill := traces[table].Fill
		traces[table].Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
			err := fill(ctx, ex, cells)
			if change != nil {
				change(cells)
			}
			return err
		}
		return starktest.Planted{System: l.System, Traces: traces, About: said}
	}
	plant := func(kind string, values []circuit.X, change func(cells *stark.Cells), say func(about *stark.Statement)) {
		planted[kind] = func() starktest.Planted { return forged(0, values, change, say) }
	}
	// A product is another, of which the statement says so.
	at := slices.IndexFunc(l.Places(), func(p recursion.Place) bool { return p.Cell == statement[0] })
	out := l.Places()[at]
	plant("operations: operation of lane #, element #", b.Values, func(cells *stark.Cells) {
		for k := range int(degree) {
			*cellOf(cells, out.Row, out.Column+k) ^= 1
		}
	}, func(about *stark.Statement) {
		for k := range int(degree) {
			about.Messages[0].Tuple[1+k] ^= 1
		}
	})
	// Of two bits of x the lower one is by 2 more, and the other by 1 less.
	low, high := b.Cell(bits[8]), b.Cell(bits[9])
	plant("operations: bit of lane #, element #", p.With(map[circuit.Cell]circuit.X{
		low: b.Values[low].Add(circuit.X{2}), high: b.Values[high].Add(circuit.X{goldilocks.Modulus - 1}),
	}), nil, nil)
	// What is permuted is not what goes in.
	const permutedColumn, boxesColumn = hash.Width, hash.Width + 2*hash.DigestLen + 1
	of := b.Permutations[1]
	var in hash.State
	for i, c := range of.In {
		in[2*i], in[2*i+1] = b.Values[c][0], b.Values[c][1]
	}
	if b.Values[of.Swap][0] == 1 {
		for i := range hash.DigestLen {
			in[i], in[i+hash.DigestLen] = in[i+hash.DigestLen], in[i]
		}
	}
	pair := func(state hash.State) func(about *stark.Statement) {
		return func(about *stark.Statement) {
			copy(about.Messages[1].Tuple[1:], []uint64{uint64(state[hash.Width-2]), uint64(state[hash.Width-1])})
		}
	}
	order := func(name string) starktest.Planted {
		var lane, i int
		if _, err := fmt.Sscanf(name, "order of lane %d, element %d", &lane, &i); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		other := in
		other[i] = other[i].Add(1)
		gives := other
		gives.Permute()
		return forged(1, b.Values, func(cells *stark.Cells) {
			cells.Set(1, permutedColumn+i, uint64(other[i]))
			boxes.Fill(cells, 1, boxes.Cubed, boxesColumn, other)
		}, pair(gives))
	}
	// A box of the last round is followed by the linear layer alone: that of the first element.
	first := boxesColumn + boxes.Cubed.Columns() - 2*hash.Width
	box := func(kind string, change func(cube, x goldilocks.Element) (newCube, newSeventh goldilocks.Element)) {
		planted[kind] = func() starktest.Planted {
			gives := in
			gives.Permute()
			var newCube, newSeventh goldilocks.Element
			traces := l.Traces(b.Values)
			// What is in the columns of an honest row.
			fill := traces[1].Fill
			var said stark.Statement
			ready := func(cells *stark.Cells) {
				cube, seventh := goldilocks.Element(*cellOf(cells, 1, first)), goldilocks.Element(*cellOf(cells, 1, first+1))
				newCube, newSeventh = change(cube, seventh.Mul(cube.Mul(cube).Inverse()))
				more := newSeventh.Sub(seventh)
				for i, row := range hash.Mix() {
					gives[i] = gives[i].Add(goldilocks.Element(row[0]).Mul(more))
				}
				cells.Set(1, first, uint64(newCube))
				cells.Set(1, first+1, uint64(newSeventh))
			}
			traces[1].Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
				err := fill(ctx, ex, cells)
				honest := in
				honest.Permute()
				gives = honest
				ready(cells)
				pair(gives)(&said)
				return err
			}
			said = about(b, statement)
			said.Forms = l.about.Forms
			return starktest.Planted{System: l.System, Traces: traces, About: said}
		}
	}
	box("permutations: round #, x³ of element #", func(cube, x goldilocks.Element) (goldilocks.Element, goldilocks.Element) {
		cube = cube.Add(1)
		return cube, cube.Mul(cube).Mul(x)
	})
	box("permutations: round #, x⁷ of element #", func(cube, x goldilocks.Element) (goldilocks.Element, goldilocks.Element) {
		return cube, cube.Mul(cube).Mul(x).Add(1)
	})
	// A place that is left out, and of which the statement says what would be there.
	times := l.Times()
	link := func(kind string, cells []circuit.Cell, times []uint64, coordinates int) {
		plant(kind, b.Values, nil, func(about *stark.Statement) {
			for i, c := range cells {
				if c == circuit.None || times[i] == 0 {
					continue
				}
				n := int64(times[i])
				if times[i] > goldilocks.Modulus/2 {
					n = -int64(goldilocks.Modulus - times[i])
				}
				tuple := make([]uint64, 1+degree)
				tuple[0] = uint64(c)
				for k := range coordinates {
					tuple[1+k] = uint64(b.Values[c][k])
				}
				about.Messages = append(about.Messages, stark.Message{Bus: "memory", Times: n, Tuple: tuple})
			}
		})
	}
	for operand := range circuit.Operands {
		var cells []circuit.Cell
		var their []uint64
		for i, r := range b.Rows {
			cells, their = append(cells, r.Cells[operand]), append(their, times[i*circuit.Operands+operand])
		}
		link(fmt.Sprintf(`operations: links "memory" %d`, 1+operand), cells, their, int(degree))
	}
	// In the order of the table's messages: pairs that go in, the bit, pairs that come out. Times have the bit last.
	times = times[len(b.Rows)*circuit.Operands:]
	const pairs = circuit.Pairs
	for i := range 2*pairs + 1 {
		place, coordinates := i, 2
		switch {
		case i == pairs:
			place, coordinates = 2*pairs, 1
		case i > pairs:
			place = i - 1
		}
		var cells []circuit.Cell
		var their []uint64
		for j, q := range b.Permutations {
			all := slices.Concat(q.In[:], q.Out[:], []circuit.Cell{q.Swap})
			cells, their = append(cells, all[place]), append(their, times[j*len(all)+place])
		}
		link(fmt.Sprintf(`permutations: links "memory" %d`, 1+i), cells, their, coordinates)
	}
	const sboxes = hash.FullRounds*hash.Width + hash.PartialRounds
	starktest.Constraints(t, "stark/recursion", l.Tables(), starktest.Forgeries{
		Planted: planted, Each: map[string]func(name string) starktest.Planted{"permutations: order of lane #, element #": order},
		Many: map[string]int{
			"operations: operation of lane #, element #": int(degree), "operations: bit of lane #, element #": int(degree),
			"permutations: round #, x³ of element #": sboxes, "permutations: round #, x⁷ of element #": sboxes,
		},
	})
}

// cellOf returns a cell of a trace over Goldilocks.
func cellOf(cells *stark.Cells, row, column int) *uint64 {
	return &stark.Columns[uint64](cells)[column][row]
}
