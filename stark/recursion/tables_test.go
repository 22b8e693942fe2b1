package recursion_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	boxes "github.com/zkbench/zkbench/stark/poseidon"
	"github.com/zkbench/zkbench/stark/recursion"
)

// tiny returns a program with all kinds of rows, and the cells that a statement reads: the bits of a pair's
// first element, two permutations of it, in an order that depends on one of the bits, and an inverse.
func tiny(degree circuit.Degree) (*circuit.Builder, []circuit.Cell) {
	b := circuit.New(degree)
	b.Hint(circuit.X{7, 7}) // which nothing reads
	x := b.Hint(circuit.X{0x123456789abcdef1, 5})
	bits := b.Bits(b.First(x), 0, "bits")
	out := b.Permute([circuit.Pairs]circuit.Value{x, b.Second(x), b.Xor(bits[0], bits[3]), x, circuit.One, circuit.Zero}, bits[0])
	out = b.Permute([circuit.Pairs]circuit.Value{out[0], out[0], out[1], out[2], out[4], x}, circuit.Zero)
	y := b.Select(bits[1], b.MulAdd(out[0], x, out[1]), b.BothLess(x, out[2], out[3]))
	b.Equal(b.Mul(y, y), b.MulAdd(y, y, circuit.Zero), "squares")
	if degree == 3 {
		y = b.Triples([]circuit.Value{x, out[3], y}, 2)[1]
	}
	return b, []circuit.Cell{b.Cell(b.Inverse(y, "inverse")), b.Cell(out[5])}
}

// laid is a program in tables with its statement.
type laid struct {
	recursion.Program
	*stark.System
	traces []stark.Trace
	about  stark.Statement
}

// about returns the statement that reads cells.
func about(b *circuit.Builder, cells []circuit.Cell) (about stark.Statement) {
	for _, c := range cells {
		tuple := []uint64{uint64(c)}
		for _, e := range b.Values[c][:b.Degree] {
			tuple = append(tuple, uint64(e))
		}
		about.Messages = append(about.Messages, stark.Message{Bus: "memory", Times: -1, Tuple: tuple})
	}
	return about
}

func lay(t *testing.T, b *circuit.Builder, statement []circuit.Cell, rows int, of boxes.Boxes) laid {
	t.Helper()
	params := small(2)
	if of == boxes.Plain {
		params.LogBlowup = 3
	}
	p := recursion.NewProgram(b, statement, rows, of)
	s := must.Get(stark.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: params}, p.Tables()...))(t)
	said := about(b, statement)
	said.Forms = []stark.Form{{rows, rows}}
	return laid{p, s, p.Traces(b.Values), said}
}

// check returns what Check reports for traces in which one cell is increased by 1.
func (l laid) check(t *testing.T, table, row, column int) error {
	t.Helper()
	traces := slices.Clone(l.traces)
	fill := traces[table].Fill
	traces[table].Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
		err := fill(ctx, ex, cells)
		x := goldilocks.Element(stark.Columns[uint64](cells)[column][row])
		cells.Set(row, column, uint64(x.Add(1)))
		return err
	}
	return l.Check(t.Context(), executor.Serial(), traces, l.about)
}

// degrees are the degrees of the extensions of programs.
var degrees = []circuit.Degree{2, 3}

// TestProgram: a program is proved in any number of rows, with S-boxes of both kinds.
func TestProgram(t *testing.T) {
	t.Parallel()
	for _, degree := range degrees {
		b, statement := tiny(degree)
		must.Do(t, b.Err())
		must.Do(t, circuittest.New(b).Check())
		for _, rows := range []int{2, 4, 32, 256} {
			for _, of := range []boxes.Boxes{boxes.Plain, boxes.Cubed} {
				l := lay(t, b, statement, rows, of)
				must.Do(t, l.Check(t.Context(), executor.Serial(), l.traces, l.about))
				proof := must.Get(l.Prove(t.Context(), executor.Serial(), l.traces, l.about, stark.Options{}))(t)
				must.Do(t, l.Verify(proof, l.about))
				golden.Equal(t, "lanes", [2]int{(len(b.Rows) + rows - 1) / rows, (len(b.Permutations) + rows - 1) / rows}, l.Lanes())
			}
		}
	}
}

// TestTimes: what is in a cell is sent by one place as often as all others, and the statement, receive it.
func TestTimes(t *testing.T) {
	t.Parallel()
	b, statement := tiny(2)
	places := make(map[circuit.Cell][]uint64)
	times := recursion.NewProgram(b, statement, 4, boxes.Cubed).Times()
	stand := func(cells ...circuit.Cell) {
		for _, c := range cells {
			if c == circuit.None {
				golden.Equal(t, "times of no cell", 0, times[0])
			}
			places[c], times = append(places[c], times[0]), times[1:]
		}
	}
	for _, r := range b.Rows {
		stand(r.Cells[:]...)
	}
	for _, q := range b.Permutations {
		stand(q.In[:]...)
		stand(q.Out[:]...)
		stand(q.Swap)
	}
	golden.Equal(t, "times of nothing", 0, len(times))
	for _, c := range statement {
		places[c] = append(places[c], goldilocks.Modulus-1)
	}
	for c, all := range places {
		if c == circuit.None {
			continue
		}
		want := slices.Repeat([]uint64{goldilocks.Modulus - 1}, len(all))
		want[0] = uint64(len(all) - 1)
		golden.Equal(t, fmt.Sprintf("times of cell %d", c), want, all)
	}
}

// TestPlaces: a place has what its cell has, or Check names the row or the bus; and so does every other cell of a table
// that is not free.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const rows = 8
	names := []string{"operations", "permutations"}
	for i, of := range []boxes.Boxes{boxes.Plain, boxes.Cubed} {
		b, statement := tiny(degrees[i])
		l := lay(t, b, statement, rows, of)
		swap := make(map[int]bool)
		for i, p := range l.Places() {
			coordinates := int(b.Degree)
			if p.Table == 1 {
				coordinates = 2
			}
			for k := range coordinates {
				if k == 1 && i >= len(b.Rows)*circuit.Operands && (i-len(b.Rows)*circuit.Operands)%(circuit.Pairs+1) == circuit.Pairs {
					swap[p.Column] = true
					continue // a bit has one column
				}
				if (i+k)%testsize.Pick(7, 1, 1) != 0 && p.Cell != circuit.None {
					continue
				}
				err := l.check(t, p.Table, p.Row, p.Column+k)
				if p.Cell == circuit.None {
					must.Do(t, err, "an operand that is not there")
					continue
				}
				must.Fail(t, err, zkbench.ErrWitness, "%+v, element %d", p, k)
				if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("table %q, row %d: ", names[p.Table], p.Row)) && !strings.Contains(err.Error(), `bus "memory"`) {
					t.Errorf("%+v, element %d: %v", p, k, err)
				}
			}
		}
		for row := range rows {
			for column := row % testsize.Pick(11, 3, 1); column < l.Lanes()[1]*(12+8+1+of.Columns()); column += testsize.Pick(11, 3, 1) {
				err := l.check(t, 1, row, column)
				if swap[column] && row >= len(b.Permutations) {
					continue // a permutation that is not there is one of zeros, in either order
				}
				must.Fail(t, err, zkbench.ErrWitness, "row %d, column %d of permutations", row, column)
			}
		}
	}
}

// TestHints: of a program that is run for other hints Check names the first row that does not hold, or what the
// statement reads.
func TestHints(t *testing.T) {
	t.Parallel()
	for _, degree := range degrees {
		checkHints(t, degree)
	}
}

func checkHints(t *testing.T, degree circuit.Degree) {
	b, statement := tiny(degree)
	l := lay(t, b, statement, 8, boxes.Cubed)
	p := circuittest.New(b)
	for i, hint := range p.Hints()[1:] {
		for k := range int(degree) {
			var more circuit.X
			more[k] = 1
			values := p.With(map[circuit.Cell]circuit.X{hint: b.Values[hint].Add(more)})
			want := `bus "memory"`
			if broken := p.Broken(values); len(broken) > 0 {
				n := l.Lanes()[0]
				want = fmt.Sprintf(`table "operations", row %d: `, broken[0]/n)
			}
			err := l.Check(t.Context(), executor.Serial(), l.Traces(values), l.about)
			refused(t, fmt.Sprintf("hint %d, element %d", i, k), err, zkbench.ErrWitness, want)
		}
	}
}

// TestFixed: programs that differ in anything are different systems, and a proof is of one.
func TestFixed(t *testing.T) {
	t.Parallel()
	b, statement := tiny(3)
	const rows = 8
	l := lay(t, b, statement, rows, boxes.Cubed)
	proof := must.Get(l.Prove(t.Context(), executor.Serial(), l.traces, l.about, stark.Options{}))(t)
	must.Do(t, l.Verify(proof, l.about))
	type change = func(rows []circuit.Row, boxes []circuit.Permutation, times []uint64)
	changes := map[string]change{
		"a product":      func(rows []circuit.Row, _ []circuit.Permutation, _ []uint64) { rows[9].Product++ },
		"a coordinate":   func(rows []circuit.Row, _ []circuit.Permutation, _ []uint64) { rows[9].First++ },
		"crossed":        func(rows []circuit.Row, _ []circuit.Permutation, _ []uint64) { rows[9].Crossed++ },
		"left":           func(rows []circuit.Row, _ []circuit.Permutation, _ []uint64) { rows[9].Left++ },
		"right":          func(rows []circuit.Row, _ []circuit.Permutation, _ []uint64) { rows[9].Right++ },
		"a constant":     func(rows []circuit.Row, _ []circuit.Permutation, _ []uint64) { rows[9].Constant[0]++ },
		"its second":     func(rows []circuit.Row, _ []circuit.Permutation, _ []uint64) { rows[9].Constant[1]++ },
		"its third":      func(rows []circuit.Row, _ []circuit.Permutation, _ []uint64) { rows[9].Constant[2]++ },
		"a bit":          func(rows []circuit.Row, _ []circuit.Permutation, _ []uint64) { rows[9].Bit = !rows[9].Bit },
		"rows exchanged": func(rows []circuit.Row, _ []circuit.Permutation, _ []uint64) { rows[9], rows[11] = rows[11], rows[9] },
		"permutations": func(_ []circuit.Row, boxes []circuit.Permutation, _ []uint64) {
			boxes[0], boxes[1] = boxes[1], boxes[0]
		},
		"what is exchanged": func(_ []circuit.Row, boxes []circuit.Permutation, _ []uint64) { boxes[0].Swap++ },
		"times":             func(_ []circuit.Row, _ []circuit.Permutation, times []uint64) { times[4*9+3]++ },
		"times, the last":   func(_ []circuit.Row, _ []circuit.Permutation, times []uint64) { times[len(times)-1]-- },
	}
	full := slices.IndexFunc(b.Rows, func(r circuit.Row) bool { return !slices.Contains(r.Cells[:], circuit.None) })
	for i := range circuit.Operands {
		changes[fmt.Sprintf("operand %d", i)] = func(rows []circuit.Row, _ []circuit.Permutation, _ []uint64) { rows[full].Cells[i]++ }
	}
	for i := range circuit.Pairs {
		changes[fmt.Sprintf("in %d", i)] = func(_ []circuit.Row, boxes []circuit.Permutation, _ []uint64) { boxes[1].In[i]++ }
		changes[fmt.Sprintf("out %d", i)] = func(_ []circuit.Row, boxes []circuit.Permutation, _ []uint64) { boxes[1].Out[i]++ }
	}
	for name, change := range changes {
		other := *b
		other.Rows, other.Permutations = slices.Clone(b.Rows), slices.Clone(b.Permutations)
		p := recursion.NewProgram(&other, statement, rows, boxes.Cubed)
		change(other.Rows, other.Permutations, p.Times())
		s := must.Get(stark.New(poseidon(), p.Tables()...))(t)
		if s.Digest() == l.Digest() {
			t.Errorf("%s: one digest", name)
		}
		must.Fail(t, s.Verify(proof, l.about), zkbench.ErrProof, "%s", name)
	}
}

// TestReads: the statement reads cells once each, with what is in them.
func TestReads(t *testing.T) {
	t.Parallel()
	b, statement := tiny(2)
	l := lay(t, b, statement, 8, boxes.Cubed)
	proof := must.Get(l.Prove(t.Context(), executor.Serial(), l.traces, l.about, stark.Options{}))(t)
	for name, change := range map[string]func(m []stark.Message) []stark.Message{
		"another value": func(m []stark.Message) []stark.Message { m[0].Tuple[1]++; return m },
		"its second":    func(m []stark.Message) []stark.Message { m[1].Tuple[2]++; return m },
		"another cell":  func(m []stark.Message) []stark.Message { m[0].Tuple[0]++; return m },
		"another one right": func([]stark.Message) []stark.Message {
			return about(b, []circuit.Cell{0, statement[1]}).Messages
		},
		"cells exchanged": func(m []stark.Message) []stark.Message {
			m[0].Tuple[0], m[1].Tuple[0] = m[1].Tuple[0], m[0].Tuple[0]
			return m
		},
		"a cell twice":  func(m []stark.Message) []stark.Message { return append(m, m[0]) },
		"two times":     func(m []stark.Message) []stark.Message { m[0].Times--; return m },
		"one cell":      func(m []stark.Message) []stark.Message { return m[:1] },
		"nothing":       func([]stark.Message) []stark.Message { return nil },
		"one for other": func(m []stark.Message) []stark.Message { return []stark.Message{m[0], m[0]} },
	} {
		other := stark.Statement{Forms: l.about.Forms, Messages: change(about(b, statement).Messages)}
		must.Fail(t, l.Verify(proof, other), zkbench.ErrProof, "%s", name)
		_, err := l.Prove(t.Context(), executor.Serial(), l.traces, other, stark.Options{})
		refused(t, name, err, zkbench.ErrWitness, `bus "memory"`)
	}
}

// TestBit: of a bit all elements are held to it: those of its square alone are the bit's for other numbers too.
func TestBit(t *testing.T) {
	t.Parallel()
	eighth := goldilocks.Element(8).Inverse()
	for i, c := range []struct {
		degree circuit.Degree
		x      circuit.X
		says   int
	}{
		{2, circuit.X{}, -1},
		{2, circuit.X{1}, -1},
		{2, circuit.X{2}, 0},
		{2, circuit.X{eighth, eighth}, 1},
		{2, circuit.X{eighth, eighth.Neg()}, 1},
		{3, circuit.X{}, -1},
		{3, circuit.X{1}, -1},
		{3, circuit.X{2}, 0},
		{3, circuit.X{0, 0, 1}, 1},
		{3, circuit.X{4, 17130065393378484212, 1208031150725833489}, 2}, // whose square has its first two
	} {
		b := circuit.New(c.degree)
		bit := b.Cell(b.Hint(c.x))
		same := b.Cell(b.Hint(c.x))
		b.Rows = append(b.Rows, circuit.Row{Cells: [circuit.Operands]circuit.Cell{circuit.None, circuit.None, bit, same}, Right: 1, Bit: true})
		b.Permute([circuit.Pairs]circuit.Value{}, b.FromCell(bit))
		l := lay(t, b, []circuit.Cell{same}, 2, boxes.Cubed)
		err := l.Check(t.Context(), executor.Serial(), l.traces, l.about)
		if c.says < 0 {
			must.Do(t, err, i)
			continue
		}
		refused(t, fmt.Sprint(c.x), err, zkbench.ErrWitness, fmt.Sprintf("bit of lane 0, element %d", c.says))
	}
}
