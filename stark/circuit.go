package stark

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// A verifier in a circuit does what verify.go does, in the same order, of each query apart: places are in
// the order in which they were drawn, some perhaps twice, and each has a path of its own.

type (
	cell   = goldilocks.Element
	number = ext.Quadratic
)

// shown is what is shown of each query apart.
type shown struct {
	leaves [phases][][]cell
	paths  [phases][][]tree.Digest
	folds  [][][]cell // of each layer
	routes [][][]tree.Digest
}

// Circuit writes down, and runs, what a verifier does of a proof of tables of so many rows; without a proof
// to no effect but that it is written down. It returns the cells, of two elements each, in which the statement's
// numbers are: public values, each message's tuple, the context with its length; of each the last cell ends
// with a 0 if it has but one.
//
// What proofs of other heights, or of statements whose messages go elsewhere, are verified by is another program.
// The system is one of Poseidon over the quadratic extension of Goldilocks, without zero knowledge; others are a
// zkbench.ErrParams.
func (s *System) Circuit(b *circuit.Builder, rows []int, proof []byte, about Statement) ([]circuit.Cell, error) {
	y, ok := s.engine.(*system[cell, number])
	if !ok || y.hash != tree.Poseidon() || s.set.ZeroKnowledge {
		return nil, noCircuit()
	}
	claim, err := y.claim(s.statement, about)
	if err != nil {
		return nil, err
	}
	logs, err := s.logRows(rows)
	if err != nil {
		return nil, err
	}
	v := &circuitVerifier{Builder: b, system: y, claim: claim}
	if proof == nil {
		if v.layout, err = y.secured(s.statement, logs, len(about.Messages)); err != nil {
			return nil, err
		}
		v.proof, v.shown = nothing(v.layout)
	} else if v.layout, v.proof, err = y.decode(s.statement, proof, len(about.Messages)); err != nil {
		return nil, err
	}
	if v.proof.fri.nonce >= goldilocks.Modulus {
		return nil, fmt.Errorf("%w: the nonce is no element", zkbench.ErrMalformed)
	}
	if !slices.Equal(v.layout.rows, logs) {
		return nil, &zkbench.DecodeError{Path: "heights", Reason: fmt.Sprintf("2 to the power of %d, accepted are %d", v.layout.rows, logs)}
	}
	return v.verify()
}

// Told are a statement's numbers as they are in Circuit's cells, two of each.
func (s *System) Told(about Statement) (told []uint64, err error) {
	y, ok := s.engine.(*system[cell, number])
	if !ok {
		return nil, noCircuit()
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

func noCircuit() error {
	return fmt.Errorf("%w: a circuit of another system than of Goldilocks, its extension of degree 2, and Poseidon, without zero knowledge", zkbench.ErrParams)
}

type proofOf = proof[cell, number]

// nothing is a proof of the layout's form, all of whose numbers are 0.
func nothing(l *layout) (*proofOf, *shown) {
	p, of := &proofOf{rows: l.rows}, &shown{}
	log := l.size + l.set.LogBlowup
	elements := func(n int) (rows [][]cell) {
		for range l.set.Queries {
			rows = append(rows, make([]cell, n))
		}
		return rows
	}
	paths := func(log int) (paths [][]tree.Digest) {
		for range l.set.Queries {
			paths = append(paths, make([]tree.Digest, log-min(log, l.set.LogCap)))
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
			p.values[phase] = append(p.values[phase], [2][]number{make([]number, s.width), make([]number, s.width)})
		}
	}
	for _, g := range l.groups {
		if len(g) > 0 {
			p.sums = append(p.sums, number{})
		}
	}
	for _, fold := range l.folds {
		log -= fold
		p.fri.layers = append(p.fri.layers, make([]tree.Digest, l.capOf(log)))
		of.folds = append(of.folds, elements(l.degree<<fold))
		of.routes = append(of.routes, paths(log))
	}
	p.fri.final = make([]number, 1<<l.final())
	return p, of
}

// apart is what is shown at places, drawn in this order, of each apart.
func (v *circuitVerifier) apart(places []int) (*shown, error) {
	l, p, of := v.layout, v.proof, &shown{}
	log := l.size + l.set.LogBlowup
	sorted := slices.Compact(slices.Sorted(slices.Values(places)))
	for phase := range phases {
		if l.leaf(phase) == 0 {
			continue
		}
		shared := l.shared[phase]
		leaves := groupsOf(sorted, l.size, shared)
		paths, err := tree.Paths(v.system.hash, log-shared, len(p.caps[phase]), leaves, p.leaves[phase], p.paths[phase])
		if err != nil {
			return nil, fmt.Errorf("tree %d: %w", phase, err)
		}
		for _, place := range places {
			at, _ := slices.BinarySearch(leaves, leafOf(place, l.size, shared))
			of.leaves[phase], of.paths[phase] = append(of.leaves[phase], p.leaves[phase][at]), append(of.paths[phase], paths[at])
		}
	}
	at, size := slices.Clone(places), l.size
	for i, fold := range l.folds {
		for j, place := range at {
			at[j] = leafOf(place, size, fold)
		}
		size -= fold
		leaves := slices.Compact(slices.Sorted(slices.Values(at)))
		paths, err := tree.Paths(v.system.hash, size+l.set.LogBlowup, len(p.fri.layers[i]), leaves, p.fri.folds[i], p.fri.routes[i])
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
		var folds [][]cell
		var routes [][]tree.Digest
		for _, place := range at {
			n, _ := slices.BinarySearch(leaves, place)
			folds, routes = append(folds, p.fri.folds[i][n]), append(routes, paths[n])
		}
		of.folds, of.routes = append(of.folds, folds), append(of.routes, routes)
	}
	return of, nil
}

type value = circuit.Value

// circuitVerifier is a verifier that writes down what it does.
type circuitVerifier struct {
	*circuit.Builder
	system     *system[cell, number]
	layout     *layout
	claim      *claim[cell]
	proof      *proofOf
	shown      *shown // nil before places are drawn
	challenger *circuit.Duplex

	statement []circuit.Cell
	caps      [phases][]circuit.Digest
	values    [phases][][2][]value
	layers    [][]circuit.Digest
	rs        [][]value // of each layer, the challenges of its folds
	halves    [][]value // and (1 - r) / 2
	final     []value
	y         value
	weights   []value      // of words,
	over      []value      // over the unit, where Second takes them
	members   [][2][]value // of each table, of the weighted values at y and g y, negative
}

// pairs are cells of elements, two by two. Where the last is alone, its cell is known to end with 0.
func (v *circuitVerifier) pairs(elements []cell) (pairs []value) {
	for i := 0; i < len(elements); i += 2 {
		var x number
		n := copy(x[:], elements[i:])
		pair := v.Hint(x)
		if n == 1 {
			pair = v.First(pair)
		}
		pairs = append(pairs, pair)
	}
	return pairs
}

// numbers are cells of the extension.
func (v *circuitVerifier) numbers(all []number) (values []value) {
	for _, x := range all {
		values = append(values, v.Hint(x))
	}
	return values
}

func (v *circuitVerifier) digest(d tree.Digest) circuit.Digest {
	pair := func(i int) value { return v.Hint(number{cell(d[i]), cell(d[i+1])}) }
	return circuit.Digest{pair(0), pair(2)}
}

func (v *circuitVerifier) digests(all []tree.Digest) (digests []circuit.Digest) {
	for _, d := range all {
		digests = append(digests, v.digest(d))
	}
	return digests
}

// told absorbs elements of the statement.
func (v *circuitVerifier) told(label string, elements []cell) []value {
	pairs := v.pairs(elements)
	v.challenger.Pairs(label, len(elements), pairs)
	for _, pair := range pairs {
		v.statement = append(v.statement, v.Cell(pair))
	}
	return pairs
}

// weighed adds to a sum the elements of pairs, each times a weight.
func (v *circuitVerifier) weighed(sum value, pairs, weights []value) value {
	for i, w := range weights {
		if i%2 == 0 {
			sum = v.FirstTimes(pairs[i/2], w, sum)
		} else {
			sum = v.SecondTimes(pairs[i/2], v.OverUnit(w), sum)
		}
	}
	return sum
}

func (v *circuitVerifier) drawWeights(label string, n int) []value {
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

func (v *circuitVerifier) verify() ([]circuit.Cell, error) {
	l, p := v.layout, v.proof
	c := circuit.NewDuplex(v.Builder, protocol)
	v.challenger = c
	c.Bytes("system", l.digest[:])
	c.Bytes("heights", heightBytes(l.rows))
	publics := v.told("publics", v.claim.publics)
	var tuples [][]value
	for i, m := range v.claim.Messages {
		c.Bytes("bus", []byte(m.Bus))
		c.Bytes("times", m.timesBytes())
		tuples = append(tuples, v.told("message", v.claim.tuples[i]))
	}
	v.told("context", challenger.Elements(v.claim.Context))

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
	sums := v.numbers(p.sums)
	for _, sum := range sums {
		c.Pairs("sum", l.degree, []value{sum})
	}
	v.balanced(sums, tuples, d)
	commit(ofSums, "sums")
	alpha := c.Challenge("alpha")
	commit(ofQuotients, "quotients")
	v.y = c.Challenge("point")
	v.Inverse(v.Second(v.y), "the point is in the field")
	for phase, shapes := range l.phases {
		for t, s := range shapes {
			var sent []value
			var all [2][]value
			for which, values := range p.values[phase][t] {
				all[which] = make([]value, len(values))
				for i, x := range values {
					if which == 0 || l.next[phase][t][i>>s.stack] {
						all[which][i] = v.Hint(x)
						sent = append(sent, all[which][i])
					}
				}
			}
			v.values[phase] = append(v.values[phase], all)
			if phase == ofFixed && l.fixed == nil {
				continue
			}
			c.Pairs("values", l.degree*len(sent), sent)
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
		if v.shown, err = v.apart(v.numbersOf(places)); err != nil {
			return nil, cmp.Or(v.Err(), err) // places of what does not hold are any
		}
	}
	for q, place := range places {
		v.follow(q, place)
	}
	return v.statement, nil
}

// numbersOf are places by their bits.
func (v *circuitVerifier) numbersOf(places [][]value) (all []int) {
	for _, place := range places {
		n := 0
		for i, bit := range place {
			n |= int(v.Of(bit)[0]) << i
		}
		all = append(all, n)
	}
	return all
}

// balanced is verifier.balanced.
func (v *circuitVerifier) balanced(sums []value, tuples [][]value, d drawn[value]) {
	total := circuit.Zero
	for _, sum := range sums {
		total = v.Add(total, sum)
	}
	for i, m := range v.claim.Messages {
		number := cell(v.layout.buses[m.Bus].number)
		denominator := v.Add(d.gamma, d.minus[0].Times(number))
		denominator = v.weighed(denominator, tuples[i], d.minus[1:][:len(m.Tuple)])
		times := v.system.field.New(uint64(max(m.Times, -m.Times)))
		if m.Times < 0 {
			times = cell(0).Sub(times)
		}
		total = v.Add(total, v.Inverse(denominator, "message %d", i).Times(times))
	}
	v.Equal(total, circuit.Zero, "what tables and statement send does not add up to nothing")
}

// run is what a table's code gives at the point: the values of its constraints, and those of registers, in
// which messages are.
func (v *circuitVerifier) run(t int, publics []value) (zeros, registers []value) {
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
	for _, in := range c.instructions {
		x := func(i int) value { return registers[in.x[i]] }
		switch dst := &registers[in.dst]; in.op {
		case opAdd:
			*dst = v.Add(x(0), x(1))
		case opSub:
			*dst = v.Sub(x(0), x(1))
		case opMul:
			*dst = v.Mul(x(0), x(1))
		case opScale:
			*dst = x(0).Times(in.factor)
		case opXor:
			*dst = v.Xor(x(0), x(1))
		case opAndNot:
			*dst = v.Mul(x(0), x(1).Neg().Plus(number{1}))
		case opPack:
			sum := circuit.Zero
			for i := len(in.x) - 1; i >= 0; i-- {
				sum = v.Add(sum.Times(2), x(i))
			}
			*dst = sum
		case opSum:
			for i, bound := range in.bounds {
				zeros[bound] = x(i)
			}
		}
	}
	return zeros, registers
}

// power is x^n.
func (v *circuitVerifier) power(x value, n uint64) value {
	r := circuit.One
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			r = v.Mul(r, x)
		}
		if n > 1 {
			x = v.Mul(x, x)
		}
	}
	return r
}

// horner is polynomials of one variable, one for each kind of rows, by Horner's rule from the last term down.
type horner struct {
	v      *circuitVerifier
	x      value
	powers map[int]value
	sums   [kinds]value
	at     [kinds]int // the number of the term that was added last
}

func (h *horner) power(n int) value {
	p, ok := h.powers[n]
	if !ok {
		p = h.v.power(h.x, uint64(n))
		h.powers[n] = p
	}
	return p
}

// add adds the term of x^n.
func (h *horner) add(kind air.Where, n int, term value) {
	if h.sums[kind] != circuit.Zero {
		term = h.v.MulAdd(h.sums[kind], h.power(h.at[kind]-n), term)
	}
	h.sums[kind], h.at[kind] = term, n
}

// sum is the whole polynomial.
func (h *horner) sum(kind air.Where) value { return h.v.Mul(h.sums[kind], h.power(h.at[kind])) }

// identity is verifier.identity.
func (v *circuitVerifier) identity(t int, alpha value, publics, allSums []value, d drawn[value]) {
	l, f := v.layout, v.system.field
	program, rows := l.programs[t], l.rows[t]
	zeros, registers := v.run(t, publics)
	step := func(i int) value { return registers[v.system.codes[t].all.values[i]] }
	sums := &horner{v: v, x: alpha, powers: make(map[int]value)}
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
	power := v.power(v.y, 1<<rows)
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

// joined is verifier.joined.
func (v *circuitVerifier) joined(values []value, column int) value {
	return v.Pair(values[2*column], values[2*column+1])
}

// collect sums up the weighted values, member by member.
func (v *circuitVerifier) collect() {
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

// receive is friVerifier.receive.
func (v *circuitVerifier) receive() {
	for i, fold := range v.layout.folds {
		layer := v.digests(v.proof.fri.layers[i])
		v.challenger.Digests("layer", layer)
		v.layers = append(v.layers, layer)
		var rs, halves []value
		for range fold {
			r := v.challenger.Challenge("fold")
			half := v.system.field.New(2).Inverse()
			rs = append(rs, r)
			halves = append(halves, v.cached(r.Neg().Plus(number{1}).Times(half)))
		}
		v.rs, v.halves = append(v.rs, rs), append(v.halves, halves)
	}
	v.final = v.numbers(v.proof.fri.final)
	v.challenger.Pairs("final", v.layout.degree*len(v.final), v.final)
}

// cached is a value that has a cell, which so is made once.
func (v *circuitVerifier) cached(x value) value { return v.At(v.Cell(x)) }

// query is friVerifier.query: places by their bits.
func (v *circuitVerifier) query() (places [][]value) {
	l := v.layout
	v.challenger.CheckGrind("grinding", l.set.Grinding, v.First(v.Hint(number{cell(v.proof.fri.nonce)})))
	for range l.set.Queries {
		places = append(places, v.challenger.Index("place", l.size+l.set.LogBlowup))
	}
	return places
}

// scaled is x times a power of an element of the field: that of the bits.
func (v *circuitVerifier) scaled(x value, e cell, bits []value) value {
	for _, bit := range bits {
		x = v.MulAdd(x, bit.Times(e.Sub(1)), x)
		e = e.Mul(e)
	}
	return x
}

// mux is the one of 2^n values that n bits name.
func (v *circuitVerifier) mux(bits, values []value) value {
	for _, bit := range bits {
		var half []value
		for i := 0; i < len(values); i += 2 {
			half = append(half, v.Select(bit, values[i+1], values[i]))
		}
		values = half
	}
	return values[0]
}

// leadsTo says that a leaf leads to the digest of a cap that the bits of its number name.
func (v *circuitVerifier) leadsTo(digest circuit.Digest, path []tree.Digest, top []circuit.Digest, bits []value, name string, args ...any) {
	for i, sibling := range path {
		digest = circuit.Above(v.Builder, digest, v.digest(sibling), bits[i])
	}
	for k := range digest {
		var all []value
		for _, d := range top {
			all = append(all, d[k])
		}
		v.Equal(v.mux(bits[len(path):], all), digest[k], name, args...)
	}
}

// follow checks what is shown of a query.
func (v *circuitVerifier) follow(q int, place []value) {
	l, f := v.layout, v.system.field
	full := f.Root(l.size + l.set.LogBlowup)
	local, coset := place[:l.size], place[l.size:]
	leafBits := func(size int) []value { return slices.Concat(local[:size], coset) }
	x := v.scaled(circuit.Base(f.Generator()), full, slices.Concat(coset, local))
	word := v.word(q, x, place)
	inverse := v.Inverse(x, "a place of 0")
	size := l.size
	for i, fold := range l.folds {
		at := local[size-fold : size]
		size -= fold
		leaf := v.pairs(v.shown.folds[i][q])
		v.leadsTo(circuit.Hash(v.Builder, len(v.shown.folds[i][q]), leaf), v.shown.routes[i][q], v.layers[i], leafBits(size), "layer %d: rows that do not lead to the cap", i)
		v.Equal(v.mux(at, leaf), word, "layer %d has another value than what is folded into it", i)
		root := f.Root(fold)
		first, step := v.scaled(inverse, root, at), root.Inverse()
		for j, r := range v.rs[i] {
			n := len(leaf) / 2
			m, power := v.Mul(r.Times(f.New(2).Inverse()), first), f.New(1)
			var folded []value
			for part := range n {
				g, h := leaf[part], leaf[part+n]
				folded = append(folded, v.Add(v.BothTimes(v.halves[i][j], g, h), v.BothLess(m.Times(power), g, h)))
				power = power.Mul(step)
			}
			leaf, first, step = folded, v.Mul(first, first), step.Mul(step)
		}
		word, inverse = leaf[0], first
	}
	x = v.Inverse(inverse, "a place of 0")
	v.Equal(v.reversed(v.final, x), word, "the last polynomial has another value than what is folded into it")
}

// reversed is a polynomial at x, by its coefficients in reversed order: 2^n of them.
func (v *circuitVerifier) reversed(coefficients []value, x value) value {
	log, sum := bits.Len(uint(len(coefficients)-1)), circuit.Zero
	for i := len(coefficients) - 1; i >= 0; i-- {
		sum = v.MulAdd(sum, x, coefficients[bits.Reverse64(uint64(i))>>(64-log)])
	}
	return sum
}

// word is the value of the word of all at a place, by what is shown there of the stacks.
func (v *circuitVerifier) word(q int, x value, place []value) value {
	l, f := v.layout, v.system.field
	local, coset := place[:l.size], place[l.size:]
	// add adds an element of a phase times the weight of a word to a sum.
	var add [phases]func(sum value, element, word int) value
	for phase := range phases {
		n := l.leaf(phase)
		if n == 0 {
			continue
		}
		elements := v.shown.leaves[phase][q]
		pairs := v.pairs(elements)
		size := l.size - l.shared[phase]
		v.leadsTo(circuit.Hash(v.Builder, len(elements), pairs), v.shown.paths[phase][q], v.caps[phase], slices.Concat(local[:size], coset), "tree %d: rows that do not lead to the cap", phase)
		if l.shared[phase] == 0 {
			add[phase] = func(sum value, i, word int) value {
				if i%2 == 0 {
					return v.FirstTimes(pairs[i/2], v.weights[word], sum)
				}
				return v.SecondTimes(pairs[i/2], v.over[word], sum)
			}
			continue
		}
		there := make([]value, n)
		for i := range there {
			var parts []value
			for at := i; at < len(elements); at += n {
				if at%2 == 0 {
					parts = append(parts, v.First(pairs[at/2]))
				} else {
					parts = append(parts, v.Second(pairs[at/2]))
				}
			}
			there[i] = v.mux(local[size:], parts)
		}
		add[phase] = func(sum value, i, word int) value { return v.MulAdd(there[i], v.weights[word], sum) }
	}
	sum := circuit.Zero
	words := l.words()
	for t, rows := range l.rows {
		stack, slots := l.size-rows, bits.TrailingZeros(uint(len(v.members[t][0])))
		// The members' sum is a polynomial in the least power of x that stands beside one of them.
		least := x
		for range stack - slots {
			least = v.Mul(least, least)
		}
		u := least
		for range slots {
			u = v.Mul(u, u)
		}
		for which, point := range []value{v.y, v.y.Times(f.Root(rows))} {
			numerator, any := circuit.Zero, false
			for i, word := range words {
				if word.table == t && word.next == (which == 1) {
					numerator, any = add[word.phase](numerator, word.cell, i), true
				}
			}
			if !any {
				continue
			}
			numerator = v.Add(numerator, v.reversed(v.members[t][which], least))
			sum = v.MulAdd(numerator, v.Inverse(v.Sub(u, point), "a place is the point"), sum)
		}
	}
	return sum
}
