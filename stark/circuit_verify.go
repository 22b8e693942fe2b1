package stark

import (
	"slices"

	"github.com/zkbench/zkbench/internal/arith/step"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

type value = circuit.Value

// circuitVerifier is a verifier that writes down what it does as a program.
type circuitVerifier[X extension[X]] struct {
	*circuit.Builder
	system     *system[cell, X]
	layout     *layout
	claim      *claim[cell]
	proof      *proof[cell, X]
	shown      *shown // nil before positions are drawn
	challenger *circuit.Duplex

	statement []circuit.Cell
	caps      [phases][]circuit.Digest
	values    [phases][][2][]value
	layers    [][]circuit.Digest
	rs        [][]value // for each layer, the challenges r of its folds
	halves    [][]value // (1 - r) / 2 for each of them
	final     []value
	y         value
	weights   []value      // of the codewords
	over      []value      // OverUnit of the weights, for SecondTimes
	members   [][2][]value // for each table, minus the weighted values at y and g y, member by member
}

// pairs returns cells of elements, two in each. If the number is odd, the last cell is constrained to end
// with 0.
func (v *circuitVerifier[X]) pairs(elements []cell) (pairs []value) {
	for i := 0; i < len(elements); i += 2 {
		var x number
		n := copy(x[:2], elements[i:])
		pair := v.Hint(x)
		if n == 1 {
			pair = v.First(pair)
		}
		pairs = append(pairs, pair)
	}
	return pairs
}

// numbers returns elements of the extension, and the pairs of their coordinates in which they are absorbed
// and hashed.
func (v *circuitVerifier[X]) numbers(all []X) (numbers, pairs []value) {
	var elements []cell
	for _, x := range all {
		for i := range len(x) {
			elements = append(elements, x[i])
		}
	}
	return v.numbersOf(elements)
}

// numbersOf is numbers for the coordinates of elements.
func (v *circuitVerifier[X]) numbersOf(elements []cell) (numbers, pairs []value) {
	if pairs = v.pairs(elements); v.Degree == 2 {
		return pairs, pairs
	}
	return v.Triples(pairs, len(elements)/int(v.Degree)), pairs
}

// absorbed absorbs elements of the extension and returns them.
func (v *circuitVerifier[X]) absorbed(label string, all []X) []value {
	numbers, pairs := v.numbers(all)
	v.challenger.Pairs(label, v.layout.degree*len(all), pairs)
	return numbers
}

func (v *circuitVerifier[X]) digest(d tree.Digest) circuit.Digest {
	pair := func(i int) value { return v.Hint(number{cell(d[i]), cell(d[i+1])}) }
	return circuit.Digest{pair(0), pair(2)}
}

func (v *circuitVerifier[X]) digests(all []tree.Digest) (digests []circuit.Digest) {
	for _, d := range all {
		digests = append(digests, v.digest(d))
	}
	return digests
}

// absorbStatement absorbs elements of the statement and records their cells.
func (v *circuitVerifier[X]) absorbStatement(label string, elements []cell) []value {
	pairs := v.pairs(elements)
	v.challenger.Pairs(label, len(elements), pairs)
	for _, pair := range pairs {
		v.statement = append(v.statement, v.Cell(pair))
	}
	return pairs
}

// addWeighted adds the elements of pairs to a sum, each times its weight.
func (v *circuitVerifier[X]) addWeighted(sum value, pairs, weights []value) value {
	for i, w := range weights {
		if i%2 == 0 {
			sum = v.FirstTimes(pairs[i/2], w, sum)
		} else {
			sum = v.SecondTimes(pairs[i/2], v.OverUnit(w), sum)
		}
	}
	return sum
}

func (v *circuitVerifier[X]) drawWeights(label string, n int) []value {
	w := []value{circuit.One}
	for len(w) < n {
		r := v.challenger.Challenge(label)
		for i := range len(w) {
			high := v.Mul(w[i], r)
			w = append(w, high)
			w[i] = v.Sub(w[i], high)
		}
	}
	return w[:n]
}

func (v *circuitVerifier[X]) verify() ([]circuit.Cell, error) {
	l, p := v.layout, v.proof
	c := circuit.NewDuplex(v.Builder, protocol)
	v.challenger = c
	c.Bytes("system", l.digest[:])
	c.Bytes("heights", heightBytes(l.rows))
	publics := v.absorbStatement("publics", v.claim.publics)
	var tuples [][]value
	for i, m := range v.claim.Messages {
		c.Bytes("bus", []byte(m.Bus))
		c.Bytes("times", m.timesBytes())
		tuples = append(tuples, v.absorbStatement("message", v.claim.tuples[i]))
	}
	v.absorbStatement("context", challenger.Elements(v.claim.Context))
	if image := v.claim.Image; image != nil {
		v.caps[ofImage] = v.digests(image.top)
		c.Digests("image", v.caps[ofImage])
		for _, d := range v.caps[ofImage] {
			for _, pair := range d {
				v.statement = append(v.statement, v.Cell(pair))
			}
		}
	}

	commit := func(phase int, label string) {
		if l.leaf(phase) > 0 {
			v.caps[phase] = v.digests(p.caps[phase])
			c.Digests(label, v.caps[phase])
		}
	}
	for _, d := range v.system.fixed.top {
		pair := func(i int) value { return circuit.Constant(number{cell(d[i]), cell(d[i+1])}) }
		v.caps[ofFixed] = append(v.caps[ofFixed], circuit.Digest{pair(0), pair(2)})
	}
	commit(ofColumns, "columns")
	d := drawn[value]{gamma: c.Challenge("gamma"), tuple: v.drawWeights("tuple", 1+l.longest)}
	for _, w := range d.tuple {
		d.minus = append(d.minus, w.Neg())
	}
	var sums []value
	for _, sum := range p.sums {
		sums = append(sums, v.absorbed("sum", []X{sum})...)
	}
	v.balanced(sums, tuples, d)
	commit(ofSums, "sums")
	alpha := c.Challenge("alpha")
	commit(ofQuotients, "quotients")
	v.y = c.Challenge("point")
	v.Inverse(v.SecondTimes(v.y, circuit.One, circuit.Zero), "the point is in the field")
	for phase, shapes := range l.phases {
		for t, s := range shapes {
			var sent []X
			read := func(which, column int) bool { return which == 0 || l.next[phase][t][column>>s.stack] }
			for which, values := range p.values[phase][t] {
				for i, x := range values {
					if read(which, i) {
						sent = append(sent, x)
					}
				}
			}
			var all [2][]value
			var numbers []value
			if !l.absent(phase) {
				numbers = v.absorbed("values", sent)
			}
			for which, values := range p.values[phase][t] {
				all[which] = make([]value, len(values))
				for i := range values {
					if read(which, i) {
						all[which][i], numbers = numbers[0], numbers[1:]
					}
				}
			}
			v.values[phase] = append(v.values[phase], all)
		}
	}
	for t := range l.programs {
		v.identity(t, alpha, publics, sums, d)
	}
	v.weights = v.drawWeights("word", l.batched())
	v.collect()
	v.receive()
	places := v.query()
	if v.shown == nil {
		var err error
		if v.shown, err = v.apart(v.placesOf(places)); err != nil {
			_, v.shown = nothing[X](v.layout) // zeros, for which the rows fail
		}
	}
	_, err := v.Fork(len(places), func(b *circuit.Builder, q int) []circuit.Cell {
		part := *v
		part.Builder = b
		part.follow(q, places[q])
		return nil
	})
	return v.statement, err
}

// placesOf returns positions, given their bits.
func (v *circuitVerifier[X]) placesOf(places [][]value) (all []int) {
	for _, place := range places {
		n := 0
		for i, bit := range place {
			n |= int(v.Eval(bit)[0]) << i
		}
		all = append(all, n)
	}
	return all
}

// balanced does what verifier.balanced does.
func (v *circuitVerifier[X]) balanced(sums []value, tuples [][]value, d drawn[value]) {
	total := circuit.Zero
	for _, sum := range sums {
		total = v.Add(total, sum)
	}
	for i, m := range v.claim.Messages {
		number := cell(v.layout.buses[m.Bus].number)
		denominator := v.Add(d.gamma, d.minus[0].Times(number))
		denominator = v.addWeighted(denominator, tuples[i], d.minus[1:][:len(m.Tuple)])
		times := v.system.field.New(uint64(max(m.Times, -m.Times)))
		if m.Times < 0 {
			times = cell(0).Sub(times)
		}
		total = v.Add(total, v.Inverse(denominator, "message %d", i).Times(times))
	}
	v.Equal(total, circuit.Zero, "a tuple is not answered as often as it is asked for")
}

// run runs a table's code at the point. It returns the values of its constraints, and those of its registers,
// which include messages.
func (v *circuitVerifier[X]) run(t int, publics []value) (zeros, registers []value) {
	c := v.system.codes[t].all
	registers = make([]value, c.registers)
	for i, e := range c.constants {
		registers[i] = circuit.Base(e)
	}
	for i, p := range c.publics {
		of := v.First
		if p%2 == 1 {
			of = v.Second
		}
		registers[len(c.constants)+i] = of(publics[p/2])
	}
	for which, cells := range [][]cellAt{c.here, c.next} {
		for _, at := range cells {
			registers[at.register] = v.values[at.phase][t][which][at.column]
		}
	}
	zeros = make([]value, len(c.program.Constraints))
	for _, p := range c.passes {
		for _, s := range p.steps {
			switch dst, x, y := &registers[s.Dst], registers[s.X], registers[s.Y]; s.Op {
			case step.Add:
				*dst = v.Add(x, y)
			case step.Sub:
				*dst = v.Sub(x, y)
			case step.Mul:
				if int(s.Y) < len(c.constants) {
					*dst = x.Times(c.constants[s.Y])
				} else {
					*dst = v.Mul(x, y)
				}
			case step.Xor:
				*dst = v.Xor(x, y)
			case step.AndNot:
				*dst = v.Mul(x, y.Neg().Plus(number{1}))
			}
		}
		switch p.then {
		case thenPacked:
			sum := circuit.Zero
			for _, r := range slices.Backward(p.x) {
				sum = v.Add(sum.Times(2), registers[r])
			}
			registers[p.dst] = sum
		case thenSummed:
			for i, bound := range p.bounds {
				zeros[bound] = registers[p.x[i]]
			}
		}
	}
	return zeros, registers
}

// power returns x^n.
func power(b *circuit.Builder, x value, n uint64) value {
	r := circuit.One
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			r = b.Mul(r, x)
		}
		if n > 1 {
			x = b.Mul(x, x)
		}
	}
	return r
}

// horner evaluates polynomials in x, one for each kind of rows, by Horner's rule from the highest term down.
type horner struct {
	b      *circuit.Builder
	x      value
	powers map[int]value
	sums   [kinds]value
	at     [kinds]int // exponent of the term that was added last
}

func (h *horner) power(n int) value {
	p, ok := h.powers[n]
	if !ok {
		p = power(h.b, h.x, uint64(n))
		h.powers[n] = p
	}
	return p
}

// add adds a term of x^n.
func (h *horner) add(kind air.Where, n int, term value) {
	if h.sums[kind] != circuit.Zero {
		term = h.b.MulAdd(h.sums[kind], h.power(h.at[kind]-n), term)
	}
	h.sums[kind], h.at[kind] = term, n
}

// sum returns the value of the whole polynomial.
func (h *horner) sum(kind air.Where) value { return h.b.Mul(h.sums[kind], h.power(h.at[kind])) }

// identity does what verifier.identity does.
func (v *circuitVerifier[X]) identity(t int, alpha value, publics, allSums []value, d drawn[value]) {
	l, f := v.layout, v.system.field
	program, rows := l.programs[t], l.rows[t]
	zeros, registers := v.run(t, publics)
	step := func(i int) value { return registers[v.system.codes[t].all.values[i]] }
	sums := &horner{b: v.Builder, x: alpha, powers: make(map[int]value)}
	for kind := range sums.sums {
		sums.sums[kind] = circuit.Zero
	}
	if groups := l.groups[t]; len(groups) > 0 {
		cells := v.values[ofSums][t]
		share := allSums[l.sumOf(t)].Times(f.New(uint64(l.used(t))).Inverse())
		own := v.Add(v.Sub(v.joined(cells[1], 0), v.joined(cells[0], 0)), share)
		for g := len(groups) - 1; g >= 0; g-- {
			h := own
			if g > 0 {
				h = v.joined(cells[0], g)
				own = v.Sub(own, h)
			}
			numerator, denominator := circuit.Zero, circuit.One
			for _, index := range groups[g] {
				m := program.Messages[index]
				e := v.Add(d.gamma, d.minus[0].Times(cell(l.buses[m.Bus].number)))
				for i, of := range m.Tuple {
					e = v.MulAdd(step(of), d.minus[i+1], e)
				}
				numerator = v.MulAdd(numerator, e, v.Mul(step(m.Multiplicity), denominator))
				denominator = v.Mul(denominator, e)
			}
			sums.add(air.Everywhere, len(program.Constraints)+g, v.Sub(v.Mul(h, denominator), numerator))
		}
	}
	for i := len(program.Constraints) - 1; i >= 0; i-- {
		sums.add(program.Constraints[i].Where, i, zeros[i])
	}
	one := f.New(1)
	first := v.y.Plus(number{cell(0).Sub(one)})
	last := v.y.Plus(number{cell(0).Sub(f.Root(rows).Inverse())})
	power := power(v.Builder, v.y, 1<<rows)
	vanishing := power.Plus(number{cell(0).Sub(one)})
	want := v.MulAdd(last, sums.sum(air.Transition), sums.sum(air.Everywhere))
	for _, end := range []struct {
		where air.Where
		less  value
	}{{air.First, first}, {air.Last, last}} {
		if sum := sums.sum(end.where); sum != circuit.Zero {
			want = v.MulAdd(v.Mul(vanishing, sum), v.Inverse(end.less, "the point is a row's"), want)
		}
	}
	quotient := circuit.Zero
	for i := l.chunks(t) - 1; i >= 0; i-- {
		quotient = v.MulAdd(quotient, power, v.joined(v.values[ofQuotients][t][0], i))
	}
	v.IsProduct(quotient, vanishing, want, "table %q: its constraints do not hold", l.tables[t].Name)
}

// joined does what verifier.joined does.
func (v *circuitVerifier[X]) joined(values []value, column int) value {
	return v.Joined(values[column*v.layout.degree:][:v.layout.degree])
}

// collect sums the weighted values, member by member.
func (v *circuitVerifier[X]) collect() {
	l := v.layout
	v.members = make([][2][]value, len(l.rows))
	for t := range l.rows {
		slots := 0
		for _, shapes := range l.phases {
			slots = max(slots, shapes[t].slots())
		}
		for which := range v.members[t] {
			v.members[t][which] = slices.Repeat([]value{circuit.Zero}, 1<<slots)
		}
	}
	for i, word := range l.words() {
		which := 0
		if word.next {
			which = 1
		}
		from, to := l.phases[word.phase][word.table].members(word.stack)
		members := v.members[word.table][which]
		for j := from; j < to; j++ {
			members[j-from] = v.MulAdd(v.values[word.phase][word.table][which][j], v.weights[i].Neg(), members[j-from])
		}
		v.over = append(v.over, v.OverUnit(v.weights[i]))
	}
}
