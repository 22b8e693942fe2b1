package stark

import (
	"bytes"
	"context"
	"crypto/aes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// factors has two factors of a public product in every row and sends them.
func factors() *air.Table {
	return &air.Table{Name: "factors", Columns: 2, State: func(b *air.Builder) {
		b.Zero(air.Everywhere, "product", b.Here(0).Mul(b.Here(1)).Sub(b.Public(0)))
		b.Zero(air.Transition, "constant", b.Next(0).Sub(b.Here(0)))
		b.Answer("factor", air.Constant(1), b.Here(0))
	}}
}

// received receives what factors sends.
func received() *air.Table {
	return &air.Table{Name: "received", Columns: 1, State: func(b *air.Builder) {
		b.Ask("factor", air.Constant(1), b.Here(0))
	}}
}

type hidingProver = prover[goldilocks.Element, ext.Quadratic]

// hiding makes proofs of "I know factors of 6" with one witness or another.
type hiding struct {
	*System
	params Params
}

func newHiding(t *testing.T, zero bool, stack int) hiding {
	t.Helper()
	params := Params{Name: "hiding", Bits: Unproven, Degree: 2, LogBlowup: 3, Queries: 4, Stack: stack, LogFold: 2, LogFinal: 2, LogCap: 1, ZeroKnowledge: zero}
	return hiding{must.Get(New(Config{Goldilocks, Keccak, params}, factors(), received()))(t), params}
}

const hidingRows = 32

func (h hiding) traces(witness uint64) ([]Trace, Statement) {
	fill := func(cells ...uint64) Trace {
		return Trace{Rows: hidingRows, Fill: func(_ context.Context, _ executor.Executor, c *Cells) error {
			for row := range c.Rows() {
				for i, v := range cells {
					c.Set(row, i, v)
				}
			}
			return nil
		}}
	}
	traces := []Trace{fill(witness, 6/witness), fill(witness)}
	return traces, StatementOf(traces, Statement{Publics: []uint64{6}})
}

// prove returns a prover that is done.
func (h hiding) prove(t *testing.T, witness uint64, number int, src io.Reader) *hidingProver {
	t.Helper()
	traces, about := h.traces(witness)
	about.Context = binary.LittleEndian.AppendUint64(nil, uint64(number))
	y := h.engine.(*system[goldilocks.Element, ext.Quadratic])
	p := must.Get(y.prover(t.Context(), executor.Serial(), h.statement, traces, about, Options{Rand: src}))(t)
	must.Do(t, p.run())
	must.Do(t, h.Verify(p.encode(), about))
	return p
}

// TestOpenings: what proofs open is distributed as if it were uniform, whatever the witness; without the
// option, as if it were not.
func TestOpenings(t *testing.T) {
	t.Parallel()
	runs := testsize.Pick(200, 400, 2000)
	for _, zero := range []bool{true, false} {
		h := newHiding(t, zero, 1)
		for _, witness := range []uint64{2, 3} {
			// Of each part of a proof, how often its elements are in each of 16 intervals.
			counts := make(map[string]*[16]int)
			count := func(part string, all ...goldilocks.Element) {
				if counts[part] == nil {
					counts[part] = new([16]int)
				}
				for _, e := range all {
					counts[part][uint64(e)>>60]++
				}
			}
			for run := range runs {
				p := h.prove(t, witness, run, nil).proof
				for phase, name := range phaseNames[:ofFixed] {
					for i, leaf := range p.leaves[phase][:1] {
						for j, e := range leaf {
							count(fmt.Sprintf("leaf %d of %s, element %d", i, name, j), e)
						}
					}
					for table, values := range p.values[phase] {
						for which := range values {
							for i, x := range values[which] {
								if x != (ext.Quadratic{}) {
									count(fmt.Sprintf("value %d of %s, table %d, point %d", i, name, table, which), x[0], x[1])
								}
							}
						}
					}
				}
				count("sum", field.Coordinates(nil, p.sums[0])...)
				for i, x := range p.fri.final {
					count(fmt.Sprintf("coefficient %d", i), x[0], x[1])
				}
				count("fold", p.fri.folds[0][0]...)
			}
			worst, where := 0.0, ""
			for part, c := range counts {
				n, chi := 0, 0.0
				for _, k := range c {
					n += k
				}
				for _, k := range c {
					d := float64(k) - float64(n)/16
					chi += d * d / (float64(n) / 16)
				}
				if chi > worst {
					worst, where = chi, part
				}
			}
			// Of 15 degrees of freedom: 70 is exceeded once in 10^8 times.
			if uniform := worst < 70; uniform != zero {
				t.Errorf("zero knowledge %t, witness %d: χ² %.0f at %s", zero, witness, worst, where)
			}
		}
	}
}

// TestWitnesses: to all values of a column on which a proof depends, there are random rows beside each witness
// that has them. Without the option there are for one witness alone.
func TestWitnesses(t *testing.T) {
	t.Parallel()
	for _, zero := range []bool{true, false} {
		h := newHiding(t, zero, 0)
		for run := range 20 {
			p := h.prove(t, 2, run, nil)
			for _, witness := range []uint64{2, 3} {
				if may := explains(p, witness); may != (zero || witness == 2) {
					t.Fatalf("zero knowledge %t, run %d: witness %d explains what is opened of 2: %t", zero, run, witness, may)
				}
			}
		}
	}
}

// explains reports whether the first column can hold a witness in all rows that are not random. It can if Σ
// λ_j(z) f_j equals the values at all z, for some f_j in the random rows. Here λ_j are the Lagrange
// polynomials of rows. The z are the points that are opened and, because the quotient depends on them, the
// next row's points of the positions.
func explains(p *hidingProver, witness uint64) bool {
	l, f := p.layout, p.field
	n, used := 1<<l.rows[0], l.used(0)
	var rows [][]goldilocks.Element
	equation := func(z, value ext.Quadratic) {
		coefficients := make([]ext.Quadratic, n-used)
		g := f.New(1)
		scale := field.Power(p.one(), z, uint64(n)).Sub(p.one()).MulBase(f.New(uint64(n)).Inverse())
		for j := range n {
			lambda := scale.MulBase(g).Mul(z.Sub(embed[goldilocks.Element, ext.Quadratic](g)).Inverse())
			if j < used {
				value = value.Sub(lambda.MulBase(f.New(witness)))
			} else {
				coefficients[j-used] = lambda
			}
			g = g.Mul(f.Root(l.rows[0]))
		}
		for k := range 2 {
			var row []goldilocks.Element
			for _, c := range coefficients {
				row = append(row, c[k])
			}
			rows = append(rows, append(row, value[k]))
		}
	}
	values := p.proof.values[ofColumns][0]
	equation(p.y, values[0][0])
	equation(p.y.MulBase(f.Root(l.rows[0])), values[1][0])
	for _, place := range places(p) {
		coset, row := place>>l.rows[0], place&(n-1) // of stacks of one column
		for _, row := range []int{row, (row + 1) & (n - 1)} {
			u := p.points.all(coset, l.rows[0])[row]
			value := p.points.opened(nil, p.extended[ofColumns][0], coset<<l.rows[0]|row)[0]
			equation(embed[goldilocks.Element, ext.Quadratic](u), embed[goldilocks.Element, ext.Quadratic](value))
		}
	}
	return solvable(rows)
}

// places returns the positions that were opened. The challenger's are gone, but the leaves determine them.
func places(p *hidingProver) (places []int) {
	for place := range 1 << (p.layout.size + p.points.blowup) {
		row := []goldilocks.Element{}
		for _, x := range p.extended[ofColumns] {
			row = p.points.opened(row, x, place)
		}
		for _, leaf := range p.proof.leaves[ofColumns] {
			if slices.Equal(leaf[:len(row)], row) {
				places = append(places, place)
			}
		}
	}
	return places
}

// solvable reports whether linear equations have a solution. Each has its right side last.
func solvable(rows [][]goldilocks.Element) bool {
	columns := len(rows[0]) - 1
	for c := range columns {
		at := slices.IndexFunc(rows, func(r []goldilocks.Element) bool { return r[c] != 0 })
		if at < 0 {
			continue
		}
		pivot := rows[at]
		rows = slices.Delete(rows, at, at+1)
		for _, r := range rows {
			by := r[c].Mul(pivot[c].Inverse())
			for i := range r {
				r[i] = r[i].Sub(by.Mul(pivot[i]))
			}
		}
	}
	return !slices.ContainsFunc(rows, func(r []goldilocks.Element) bool { return r[columns] != 0 })
}

// coefficientsOf returns the coefficients of an extended column, in bit-reversed order. valuesOf returns its
// values in the table's rows.
func coefficientsOf(t *testing.T, p *hidingProver, x *extended[goldilocks.Element], i int) []goldilocks.Element {
	t.Helper()
	f, c := p.field, slices.Clone(x.column(0, i))
	must.Get(f.Transform(x.rows))(t).Interpolate(c)
	f.Mul(c, c, reversedPowers(x.rows, f.New(1), p.points.shift(0, x.rows).Inverse()))
	return c
}

func valuesOf(t *testing.T, p *hidingProver, x *extended[goldilocks.Element], i int) []goldilocks.Element {
	t.Helper()
	values := coefficientsOf(t, p, x, i)
	must.Get(p.field.Transform(x.rows))(t).Evaluate(values)
	return values
}

// TestRandomness: what hides is drawn once for each use, depends on the source, on the statement and on the
// trace, and on nothing else, and stands where it hides.
func TestRandomness(t *testing.T) {
	t.Parallel()
	h := newHiding(t, true, 1)
	drawn := func(witness uint64, source byte, number int) (all []goldilocks.Element) {
		p := h.prove(t, witness, number, bytes.NewReader(bytes.Repeat([]byte{source}, 32)))
		l := p.layout
		for table := range l.rows {
			used := l.used(table)
			for _, phase := range []int{ofColumns, ofSums} {
				x := p.extended[phase][table]
				for i := range x.width {
					values := valuesOf(t, p, x, i)
					from := used + 1 // the row before it is where sums end
					if phase == ofColumns && i < l.programs[table].Columns {
						from = used
					}
					all = append(all, values[from:]...)
				}
			}
			x := p.extended[ofQuotients][table]
			for i := range x.width - l.degree { // the last piece has no end
				c := coefficientsOf(t, p, x, i)
				for j := used; j < 1<<x.rows; j++ {
					all = append(all, c[reversedBits(j, x.rows)])
				}
			}
			mask := p.masks[table]
			for k := range l.degree {
				if next := p.masks[(table+1)%2]; mask[1][k] != next[0][k] {
					t.Error("a table's sum ends with another tuple than the next one's begins")
				}
				all = append(all, mask[0][k][0])
			}
		}
		for k := range l.masks {
			all = append(all, coefficientsOf(t, p, p.extended[ofQuotients][len(l.rows)], k)...)
		}
		for phase := range phases {
			for _, columns := range p.salts[phase] {
				for _, c := range columns {
					all = append(all, c...)
				}
			}
			for i, leaf := range p.proof.leaves[phase] {
				if !slices.Contains(all, leaf[len(leaf)-1]) || len(leaf)-l.leaf(phase)<<l.shared[phase] != 3 {
					t.Errorf("leaf %d of %s is not salted", i, phaseNames[phase])
				}
			}
		}
		return all
	}
	first := drawn(2, 1, 0)
	if !slices.Equal(first, drawn(2, 1, 0)) {
		t.Error("one source, one trace, two proofs")
	}
	all := make(map[goldilocks.Element]bool)
	for _, more := range [][]goldilocks.Element{first, drawn(2, 2, 0), drawn(3, 1, 0), drawn(2, 1, 1)} {
		for _, e := range more {
			if e == 0 || all[e] {
				t.Fatal("something random was drawn twice")
			}
			all[e] = true
		}
	}
	traces, about := h.traces(2)
	_, err := h.Prove(t.Context(), executor.Serial(), traces, about, Options{Rand: bytes.NewReader(nil)})
	must.Fail(t, err, io.EOF, "a source that has nothing")
}

// TestRandomKey: what is random depends on every cell of a trace, and on every byte of the source.
func TestRandomKey(t *testing.T) {
	t.Parallel()
	h := newHiding(t, true, 1)
	y := h.engine.(*system[goldilocks.Element, ext.Quadratic])
	begin := func(source []byte, change func(table int, c *Cells)) (goldilocks.Element, error) {
		traces, about := h.traces(2)
		for i, trace := range traces {
			traces[i].Fill = func(ctx context.Context, ex executor.Executor, c *Cells) error {
				err := trace.Fill(ctx, ex, c)
				change(i, c)
				return err
			}
		}
		p, err := y.prover(t.Context(), executor.Serial(), h.statement, traces, about, Options{Rand: bytes.NewReader(source)})
		if err != nil {
			return 0, err
		}
		return p.columns[0][0][p.layout.used(0)], nil
	}
	seen := make(map[goldilocks.Element]string)
	note := func(name string, source []byte, change func(table int, c *Cells)) {
		first := must.Get(begin(source, change))(t)
		if other, is := seen[first]; is {
			t.Errorf("%s and %s: the same is random", name, other)
		}
		seen[first] = name
	}
	nothing := func(int, *Cells) {}
	note("nothing", make([]byte, 32), nothing)
	for i := range 32 {
		source := make([]byte, 32)
		source[i] = 1
		note(fmt.Sprintf("byte %d of the source", i), source, nothing)
	}
	for table, width := range []int{2, 1} {
		for column := range width {
			for row := range hidingRows - h.params.Random() {
				note(fmt.Sprintf("table %d, row %d, column %d", table, row, column), make([]byte, 32), func(at int, c *Cells) {
					if at == table {
						c.Set(row, column, 7)
					}
				})
			}
		}
	}
	must.FailGet(begin(make([]byte, 31), nothing))(t, io.ErrUnexpectedEOF, "a source of 31 bytes")
}

// fifth is an element of a field of five, in which rare cases of drawing are frequent.
type fifth uint8

func (e fifth) Add(fifth) fifth { return e }
func (e fifth) Sub(fifth) fifth { return e }
func (e fifth) Mul(fifth) fifth { return e }
func (e fifth) Inverse() fifth  { return e }
func (e fifth) Canonical() bool { return e < 5 }

type fifths [2]fifth

func (x fifths) Add(fifths) fifths    { return x }
func (x fifths) Sub(fifths) fifths    { return x }
func (x fifths) Mul(fifths) fifths    { return x }
func (x fifths) MulBase(fifth) fifths { return x }
func (x fifths) Inverse() fifths      { return x }

type fieldOfFive struct{ field.Field[fifth, fifths] }

func (fieldOfFive) Order() uint64         { return 5 }
func (fieldOfFive) Bytes() int            { return 1 }
func (fieldOfFive) Word(e fifth) uint64   { return uint64(e) }
func (fieldOfFive) OfWord(w uint64) fifth { return fifth(w) }

// TestDraw: what is drawn is below the field's order, each element as often as another, whatever was there.
func TestDraw(t *testing.T) {
	t.Parallel()
	r := &random[fifth, fifths]{fieldOfFive{}, must.Get(aes.NewCipher(make([]byte, 32)))(t)}
	drawn, over := make([]fifth, 10_000), slices.Repeat([]fifth{4}, 10_000)
	r.draw(drawn, forWord, 1)
	r.draw(over, forWord, 1)
	var counts [256]int
	for _, e := range drawn {
		counts[e]++
	}
	for e, n := range counts {
		if e < 5 && (n < 1800 || n > 2200) || e >= 5 && n > 0 { // 2000, and five times the deviation of 40
			t.Errorf("%d was drawn %d times of 10,000", e, n)
		}
	}
	if !slices.Equal(drawn, over) {
		t.Error("what is drawn depends on what was there")
	}
}

// TestSums: the sum of a table does not tell whose it is; without the option it does.
func TestSums(t *testing.T) {
	t.Parallel()
	for _, zero := range []bool{true, false} {
		h := newHiding(t, zero, 1)
		p := h.prove(t, 2, 0, nil)
		d := p.drawn.gamma.Sub(p.drawn.tuple[0].MulBase(p.field.New(1))).Sub(p.drawn.tuple[1].MulBase(p.field.New(2)))
		want := d.Inverse().MulBase(p.field.New(uint64(p.layout.used(0))))
		if is := p.proof.sums[0] == want; is == zero {
			t.Errorf("zero knowledge %t: the sum is that of the messages: %t", zero, is)
		}
	}
}

// TestRandomSums: behind the rows that are used columns of sums are random on their own, and not what the
// random rows there send.
func TestRandomSums(t *testing.T) {
	t.Parallel()
	h := newHiding(t, true, 1)
	p := h.prove(t, 2, 0, nil)
	for table := range p.layout.rows {
		cells := valuesOf(t, p, p.extended[ofColumns][table], 0)
		sums := [2][]goldilocks.Element{valuesOf(t, p, p.extended[ofSums][table], 0), valuesOf(t, p, p.extended[ofSums][table], 1)}
		for row := p.layout.used(table) + 1; row < hidingRows; row++ {
			d := p.drawn.gamma.Sub(p.drawn.tuple[0].MulBase(p.field.New(1))).Sub(p.drawn.tuple[1].MulBase(cells[row]))
			sum := ext.Quadratic{sums[0][row], sums[1][row]}
			if one := sum.Mul(d); one == p.one() || one == neg[goldilocks.Element](p.one()) {
				t.Errorf("table %d, row %d: the sum is the fraction of a random row", table, row)
			}
		}
	}
}

// TestHidingLimits: what zero knowledge has no room for is refused, and what tables may not state then.
func TestHidingLimits(t *testing.T) {
	t.Parallel()
	h := newHiding(t, true, 1)
	random := h.params.Random()
	for rows, want := range map[int]int{1: 32, 32 - random: 32, 33 - random: 64} {
		if got := h.params.Height(rows); got != want {
			t.Errorf("a table of %d rows has %d, want %d", rows, got, want)
		}
	}
	traces, about := h.traces(2)
	traces[0].Rows = 16
	_, err := h.Prove(t.Context(), executor.Serial(), traces, about, Options{})
	must.Fail(t, err, zkbench.ErrParams, "a table that is random by more than a half")
	for name, state := range map[string]func(b *air.Builder){
		"everywhere": func(b *air.Builder) { b.Zero(air.Everywhere, "wraps", b.Here(0).Sub(b.Next(0))) },
		"last":       func(b *air.Builder) { b.Zero(air.Last, "wraps", b.Here(0).Sub(b.Next(0))) },
		"message":    func(b *air.Builder) { b.Answer("bus", air.Constant(1), b.Next(0)) },
		"times":      func(b *air.Builder) { b.Answer("bus", b.Next(0), b.Here(0)) },
	} {
		table := &air.Table{Name: name, Columns: 1, State: state}
		params := h.params
		must.FailGet(New(Config{Goldilocks, Keccak, params}, table))(t, zkbench.ErrParams, "%s", name)
		params.ZeroKnowledge = false
		must.Get(New(Config{Goldilocks, Keccak, params}, table))(t)
	}
	// What is proved counts what zero knowledge adds, and it is of another system.
	plain := newHiding(t, false, 1)
	if h.Digest() == plain.Digest() {
		t.Error("one digest with the option and without")
	}
	rows := []int{hidingRows, hidingRows}
	with, without := must.Get(h.Security(rows, 0))(t), must.Get(plain.Security(rows, 0))(t)
	// Of degree 3 at least, with a factor of its own; both tables' masks, and the word that hides.
	if with.Degree != without.Degree+2 || with.Lookups[0].Fractions != without.Lookups[0].Fractions+4 || with.Constraints != without.Constraints+2 || with.Functions <= without.Functions {
		t.Errorf("%+v, without %+v", with, without)
	}
	// A wrong row is named, and no random one is.
	traces, about = h.traces(2)
	fill := traces[0].Fill
	traces[0].Fill = func(ctx context.Context, ex executor.Executor, c *Cells) error {
		err := fill(ctx, ex, c)
		c.Set(c.Rows()-1, 1, 4)
		return err
	}
	_, err = h.Prove(t.Context(), executor.Serial(), traces, about, Options{})
	must.Fail(t, err, zkbench.ErrWitness, "a wrong row")
	if want := fmt.Sprintf("row %d: product", 31-random); err == nil || !bytes.Contains([]byte(err.Error()), []byte(want)) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestHiddenForgeries: what is not random is bound as ever, and sums begin and end with what tables pass on.
func TestHiddenForgeries(t *testing.T) {
	t.Parallel()
	h := newHiding(t, true, 1)
	used := hidingRows - h.params.Random()
	begin := func(change func(table int, c *Cells)) (*hidingProver, Statement) {
		traces, about := h.traces(2)
		for i, trace := range traces {
			traces[i].Fill = func(ctx context.Context, ex executor.Executor, c *Cells) error {
				err := trace.Fill(ctx, ex, c)
				change(i, c)
				return err
			}
		}
		y := h.engine.(*system[goldilocks.Element, ext.Quadratic])
		source := Options{Rand: bytes.NewReader(make([]byte, 32))}
		p := must.Get(y.prover(t.Context(), executor.Serial(), h.statement, traces, about, source))(t)
		must.Do(t, p.commitColumns())
		return p, about
	}
	end := func(name string, p *hidingProver, about Statement) {
		for _, step := range []func() error{p.sums, p.quotients, p.open, p.batch, p.queries} {
			must.Do(t, step())
		}
		must.Fail(t, h.Verify(p.encode(), about), zkbench.ErrProof, "%s", name)
	}
	for _, row := range []int{0, 1, used - 1} {
		p, about := begin(func(table int, c *Cells) {
			if table == 0 {
				c.Set(row, 1, 4)
			}
		})
		end(fmt.Sprintf("a wrong product in row %d", row), p, about)
	}
	// A factor that is not received, and a sum that begins or ends so that nobody sees it.
	unbalanced := func(table int, c *Cells) {
		if table == 1 {
			c.Set(5, 0, 3)
		}
	}
	p, _ := begin(unbalanced)
	must.Do(t, p.sumUp())
	drawn, gone := p.drawn, p.proof.sums[0].Add(p.proof.sums[1])
	for which, name := range []string{"begins", "ends"} {
		p, about := begin(unbalanced)
		tuple := p.masks[0][which]
		fraction := unmasked[goldilocks.Element](drawn, tuple).Inverse()
		if which == 0 {
			fraction = fraction.Sub(gone)
		} else {
			fraction = fraction.Add(gone)
		}
		tuple[0] = ext.Quadratic{}
		tuple[0] = unmasked[goldilocks.Element](drawn, tuple).Sub(fraction.Inverse()).Mul(drawn.tuple[1].Inverse())
		must.Do(t, p.sums())
		must.Do(t, p.balanced())
		for _, step := range []func() error{p.quotients, p.open, p.batch, p.queries} {
			must.Do(t, step())
		}
		err := h.Verify(p.encode(), about)
		must.Fail(t, err, zkbench.ErrProof, "a sum that %s as it likes", name)
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte("constraints")) {
			t.Errorf("a sum that %s as it likes: %v", name, err)
		}
	}
	// An extra word of a degree too high.
	p, about := begin(func(int, *Cells) {})
	for _, step := range []func() error{p.sums, p.extendQuotients} {
		must.Do(t, step())
	}
	for _, coset := range p.extended[ofQuotients][len(p.layout.rows)].cosets[1:] {
		clear(coset[0])
	}
	for _, step := range []func() error{func() error { return p.commit(ofQuotients, "quotients") }, p.open, p.batch, p.queries} {
		must.Do(t, step())
	}
	must.Fail(t, h.Verify(p.encode(), about), zkbench.ErrProof, "a word that is no polynomial")
}

// TestHidingLeaves: in zero knowledge a leaf has no more places than stacks have columns, since with more it would
// have a column's value at one point more than once; without, narrow leaves have as many as FRI folds.
func TestHidingLeaves(t *testing.T) {
	t.Parallel()
	for stack := range 3 {
		plain, hidden := newHiding(t, false, stack), newHiding(t, true, stack)
		rows := Form{hidingRows, hidingRows}
		of := func(h hiding) (shared [phases]int) { return must.Get(h.layoutOf(rows))(t).shared }
		shared := of(plain)
		golden.Within(t, fmt.Sprintf("stacks of 2^%d, quotients", stack), 1, shared[ofQuotients], 2)
		for phase, log := range of(hidden) {
			golden.Within(t, fmt.Sprintf("stacks of 2^%d, phase %d", stack, phase), 0, log, stack)
		}
	}
}
