package keccak

import (
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/plonkish"
)

// Circuit returns the circuit that hashes messages, one after the other. Public returns its public values.
// One key serves all messages that the circuit has room for. Circuit returns zkbench.ErrParams if w is
// invalid, and a *zkbench.LimitError if the messages need more permutations than the capacity.
func (w Wide) Circuit(messages ...[]byte) (*plonkish.Circuit, error) {
	capacity, err := w.room(messages)
	if err != nil {
		return nil, err
	}
	h := newRows(w)
	for _, m := range messages {
		h.message(m)
	}
	for h.blocks < capacity {
		h.block(make([]byte, keccak.Rate), keccak.Rate)
	}
	return h.build()
}

// rows holds the rows of a Wide that is being built, by unit.
type rows struct {
	*radix
	b           *plonkish.Builder
	gate        *plonkish.Gate
	padding     byte
	units       [][]row
	zero        lane
	parity, chi *family
	bytes, none *plonkish.Table // none is for slots that are not used

	blocks        int
	state         [keccak.Lanes]lane
	final, length plonkish.Var // of the last block
}

// row is what a unit has in a row.
type row struct {
	params [unitParams]fr.Element
	byte   [byteParams]fr.Element
	vars   [3]plonkish.Var
	slots  [2 * slots]fr.Element // in, then out
	tables [slots]*plonkish.Table
}

func newRows(w Wide) *rows {
	r, s := newRadix(wideBase), wideArithmetization(w.units())
	h := &rows{
		radix: r, b: plonkish.NewBuilder(s), gate: s.Gates[0], padding: w.Padding, units: make([][]row, w.units()),
		parity: &family{radix: r, name: "parity", bits: slotDigits, results: []uint8{0, 1, 0, 1, 0, 1}},
		chi:    &family{radix: r, name: "chi", bits: slotDigits, results: []uint8{0, 0, 1, 1, 0}},
		bytes:  r.bytes(),
		none:   &plonkish.Table{Name: "none", Columns: [][]fr.Element{{{}}, {{}}}},
	}
	for u := range h.units {
		h.units[u] = make([]row, 0, 1<<w.Log) // rows are large, and not to be copied as their number grows
	}
	h.zero.value = h.b.Var(fr.Element{})
	h.final = h.zero.value
	h.put(row{params: [unitParams]fr.Element{inA: fr.One()}, vars: [3]plonkish.Var{h.zero.value}})
	return h
}

// put appends consecutive rows to the shortest unit.
func (h *rows) put(some ...row) {
	least := 0
	for u := range h.units {
		if len(h.units[u]) < len(h.units[least]) {
			least = u
		}
	}
	h.units[least] = append(h.units[least], some...)
}

// set makes a slot look its contents up.
func (r *row) set(slot int, in, out fr.Element, t *plonkish.Table) {
	r.slots[slot], r.slots[slots+slot], r.tables[slot] = in, out, t
}

// fill makes all slots from one on hold 0.
func (r *row) fill(from int, none *plonkish.Table) {
	for i := from; i < slots; i++ {
		r.tables[i] = none
	}
}

// build places the units side by side.
func (h *rows) build() (*plonkish.Circuit, error) {
	units := len(h.units)
	longest := len(slices.MaxFunc(h.units, func(x, y []row) int { return len(x) - len(y) }))
	for i := range longest {
		vars := make([]plonkish.Var, 0, 3*units)
		free := make([]fr.Element, 0, 2*slots*units)
		params := make([]fr.Element, 0, unitParams*units+byteParams)
		tables := make([]*plonkish.Table, 0, slots*units)
		var bytes [byteParams]fr.Element
		for u, unit := range h.units {
			var r row
			if i < len(unit) {
				r = unit[i]
			}
			if u == 0 {
				bytes = r.byte
			}
			vars, free, params, tables = append(vars, r.vars[:]...), append(free, r.slots[:]...), append(params, r.params[:]...), append(tables, r.tables[:]...)
		}
		k := h.b.Kind(h.gate, append(params, bytes[:]...)...)
		h.b.Row(h.b.LookUp(k, 0, tables...), vars, free...)
	}
	return h.b.Build()
}

// term is a weighted value.
type term struct {
	plonkish.Var
	by fr.Element
}

func one(v plonkish.Var) term { return term{v, fr.One()} }

// sum is what convert turns into a lane: terms and a constant, and the digits of the sum. before holds up to
// three more terms, whose sum becomes the second term. With product, the first term times the second is
// subtracted.
type sum struct {
	digits   func(i int) uint64
	before   []term
	terms    [3]term
	product  bool
	constant fr.Element
}

// convert returns the lane of the results of a sum's digits, the sum of before, and the part of the lane that
// is in the last row.
func (h *rows) convert(f *family, p parts, s sum) (out lane, before, last plonkish.Var) {
	var all []row
	if len(s.before) > 0 {
		r := row{params: [unitParams]fr.Element{nextB: fr.One()}}
		var total fr.Element
		for i, t := range s.before {
			e := h.b.Value(t.Var)
			total.Add(&total, e.Mul(&e, &t.by))
			r.vars[i], r.params[inA+i] = t.Var, t.by
		}
		before = h.b.Var(total)
		s.terms[1] = one(before)
		all = append(all, r)
	}
	// Slices by row; at is the position in the lane of a row's first slice.
	var cut [][]slice
	for _, part := range p {
		cut = slices.AppendSeq(cut, slices.Chunk(f.slices(parts{part}, s.digits), slots))
	}
	n, at := len(cut), 0
	chain := make([]row, n)
	for i, some := range cut {
		r := &chain[i]
		r.params[inWeight], r.params[outWeight] = *h.power(some[0].at), *h.power(at)
		for j, s := range some {
			bits := f.apply(s.digits)
			r.set(j, fr.NewElement(f.number(s.digits)), fr.NewElement(f.number(bits)), f.table(len(bits)))
			for k, bit := range bits {
				out.bits |= bit << (at + k)
			}
			at += len(bits)
		}
		r.fill(len(some), h.none)
		if i < n-1 {
			r.params[nextB], r.params[nextC] = fr.One(), fr.One()
		}
	}
	// The sum and the lane from a row on.
	var rest, result fr.Element
	for i := n - 1; i > 0; i-- {
		r := &chain[i]
		rest.Add(&rest, h.total(r, 0, inWeight))
		result.Add(&result, h.total(r, slots, outWeight))
		r.vars[1], r.vars[2] = h.b.Var(rest), h.b.Var(result)
		r.params[inB], r.params[outC] = fr.One(), fr.One()
		if i == n-1 {
			last = r.vars[2]
		}
	}
	result.Add(&result, h.total(&chain[0], slots, outWeight))
	out.value = h.b.Var(result)
	chain[1].vars[0] = out.value
	r := &chain[0]
	r.params[nextA], r.params[constant] = fr.One(), s.constant
	for i, t := range s.terms {
		r.vars[i], r.params[inA+i] = t.Var, t.by
	}
	if s.product {
		r.params[product] = fr.One()
	}
	h.put(append(all, chain...)...)
	return out, before, last
}

// total returns the sum of the slots from one on, times their weight.
func (h *rows) total(r *row, from, weight int) *fr.Element {
	var sum fr.Element
	for j := slots - 1; j >= 0; j-- {
		sum.Mul(&sum, h.power(slotDigits)).Add(&sum, &r.slots[from+j])
	}
	return sum.Mul(&sum, &r.params[weight])
}

// multiply adds a row that says by·x y = a x + b y + c z.
func (h *rows) multiply(by, a, b, c int64, x, y, z plonkish.Var) {
	r := row{vars: [3]plonkish.Var{x, y, z}}
	for i, e := range map[int]int64{product: by, inA: a, inB: b, inC: c} {
		r.params[i].SetInt64(e)
	}
	h.put(r)
}

// carried returns v if the last block was not final, and else 0.
func (h *rows) carried(v plonkish.Var) plonkish.Var {
	value := h.b.Value(v)
	if final := h.b.Value(h.final); final.IsOne() {
		value.SetZero()
	}
	z := h.b.Var(value)
	h.multiply(-1, -1, 0, 1, v, h.final, z) // z = v - v final
	return z
}

// message adds the blocks of a message.
func (h *rows) message(m []byte) {
	for ; len(m) >= keccak.Rate; m = m[keccak.Rate:] {
		h.block(m[:keccak.Rate], keccak.Rate)
	}
	last := make([]byte, keccak.Rate)
	copy(last, m)
	last[len(m)] = h.padding
	last[keccak.Rate-1] |= 0x80
	h.block(last, len(m))
}

// block adds a block whose first own bytes are the message's, with its three public values.
func (h *rows) block(bytes []byte, own int) {
	flags := make([]uint64, len(bytes))
	for i := own; i < len(flags); i++ {
		flags[i] = 1
	}
	h.padded(bytes, flags)
}

// padded does the work of block; a forger passes other flags.
func (h *rows) padded(bytes []byte, flags []uint64) {
	begin := h.zero.value
	if h.blocks > 0 {
		begin = h.carried(h.length)
	}
	lanes, final, length := h.absorb(bytes, flags, begin)
	ended := h.b.Value(h.final)
	for i := range h.state {
		switch s := &h.state[i]; {
		case h.blocks == 0 && i < len(lanes):
			*s = lanes[i]
		case h.blocks == 0:
			*s = h.zero
		case i < len(lanes):
			before, block := s.bits, lanes[i].bits
			if ended.IsOne() {
				before = 0
			}
			*s, _, _ = h.convert(h.parity, whole, sum{
				digits: func(i int) uint64 { return before>>i&1 + block>>i&1 },
				terms:  [3]term{one(s.value), {Var: h.final}, one(lanes[i].value)}, product: true,
			})
		default:
			s.value = h.carried(s.value)
			if ended.IsOne() {
				s.bits = 0
			}
		}
	}
	h.blocks++
	h.final, h.length = final, length
	constants := keccak.RoundConstants()
	before := uint64(0)
	for _, constant := range constants {
		h.round(before)
		before = constant
	}
	first := h.state[0]
	h.state[0], _, _ = h.convert(h.parity, whole, sum{
		digits: func(i int) uint64 { return first.bits>>i&1 + before>>i&1 },
		terms:  [3]term{one(first.value)}, constant: h.spread(before),
	})
	h.publish()
}

// absorb adds the rows of a block's bytes. It returns the block's lanes, whether the block is the last of its
// message, and the message's length so far.
func (h *rows) absorb(bytes []byte, flags []uint64, begin plonkish.Var) (lanes []lane, final, length plonkish.Var) {
	state := [3]plonkish.Var{1: h.zero.value, 2: begin}
	count := h.b.Value(begin)
	var now lane
	var value fr.Element
	for i, octet := range bytes {
		r := row{vars: state}
		weight := h.power(8 * (i % 8))
		r.params[outWeight], r.params[nextA] = *weight, fr.One()
		if i%8 > 0 {
			r.params[outA] = fr.One()
		} else {
			now, value = lane{}, fr.Element{}
		}
		r.byte[isByte] = fr.One()
		r.byte[paddedWith].SetUint64(uint64(h.padding))
		if i == len(bytes)-1 {
			r.byte[endsWith].SetUint64(0x80)
		}
		digits := h.spread(uint64(octet))
		r.set(0, fr.NewElement(uint64(octet)), digits, h.bytes)
		r.fill(1, h.none)
		now.bits |= uint64(octet) << (8 * (i % 8))
		value.Add(&value, digits.Mul(&digits, weight))
		h.units[0] = append(h.units[0], r)
		flag, unit := fr.NewElement(flags[i]), fr.One()
		count.Add(&count, unit.Sub(&unit, &flag))
		state = [3]plonkish.Var{h.b.Var(value), h.b.Var(flag), h.b.Var(count)}
		if i%8 == 7 {
			now.value = state[0]
			lanes = append(lanes, now)
		}
	}
	h.units[0] = append(h.units[0], row{vars: state})
	return lanes, state[1], state[2]
}

// round applies Lookup's round without ι. The next round adds the constant, where the first lane is used.
func (h *rows) round(constant uint64) {
	a := &h.state
	var c [5]lane
	var top [5]plonkish.Var
	for x := range c {
		c[x], _, top[x] = h.convert(h.parity, topApart, sum{
			digits: func(i int) (sum uint64) {
				for y := range 5 {
					sum += a[x+5*y].bits >> i & 1
				}
				return sum
			},
			before: []term{one(a[x].value), one(a[x+5].value), one(a[x+10].value)},
			terms:  [3]term{0: one(a[x+15].value), 2: one(a[x+20].value)},
		})
	}
	// The top part is base^63 times a bit: rotated by one, the lane is base c - (base - base^-63) top.
	wrap := *h.power(1 - keccak.LaneBits)
	wrap.Sub(&wrap, h.power(1))
	var b [keccak.Lanes]lane
	rotations := keccak.Rotations()
	for x := range 5 {
		before, after := c[(x+4)%5], c[(x+1)%5]
		d := []term{one(before.value), {after.value, *h.power(1)}, {top[(x+1)%5], wrap}}
		var sumD plonkish.Var
		for y := range 5 {
			l, r := a[x+5*y], rotations[x+5*y]
			// Where the state's first lane is, the constant is.
			flips := uint64(0)
			switch {
			case x == 0 && y == 0 || x == 1:
				flips = constant
			case x == 4:
				flips = constant<<1 | constant>>63
			}
			s := sum{
				digits: func(i int) uint64 {
					return l.bits>>i&1 + before.bits>>i&1 + after.bits>>((i+63)%64)&1 + flips>>i&1
				},
				terms: [3]term{one(l.value)}, constant: h.spread(flips),
			}
			if y == 0 {
				s.before = d
			} else {
				s.terms[1] = one(sumD)
			}
			out, from, _ := h.convert(h.parity, rotated(r), s)
			if y == 0 {
				sumD = from
			}
			b[y+5*((2*x+3*y)%5)] = out
		}
	}
	var minus, two fr.Element
	minus.SetInt64(-1)
	two.SetUint64(2)
	ones := h.spread(^uint64(0))
	for i := range a {
		x, y := i%5, i/5*5
		p, q, r := b[i], b[(x+1)%5+y], b[(x+2)%5+y]
		a[i], _, _ = h.convert(h.chi, whole, sum{
			digits: func(i int) uint64 { return 1 + 2*(p.bits>>i&1) - q.bits>>i&1 + r.bits>>i&1 },
			terms:  [3]term{{p.value, two}, {q.value, minus}, one(r.value)}, constant: ones,
		})
	}
}

// publish adds the bytes of the digest, its halves, and the public values of the block.
func (h *rows) publish() {
	final := h.b.Value(h.final)
	public := func(a, b, c int64, x plonkish.Var, value fr.Element) {
		h.multiply(1, a, b, c, x, h.final, h.b.Public(*value.Mul(&value, &final)))
	}
	length := h.b.Value(h.length)
	unit := fr.One()
	public(0, -1, 1, h.length, *length.Add(&length, &unit))
	for half := range 2 {
		chain := make([]row, keccak.Digest/2)
		var value, part fr.Element
		shift := fr.NewElement(256)
		for i := len(chain) - 1; i >= 0; i-- {
			r := &chain[i]
			l := h.state[2*half+i/8]
			octet := l.bits >> (8 * (i % 8)) & 0xff
			r.params[inWeight].SetUint64(1)
			r.params[outWeight].SetUint64(1)
			r.params[inB], r.params[outC] = fr.One(), fr.One()
			if i < len(chain)-1 {
				r.params[nextB] = shift
			}
			digits, e := h.spread(octet), fr.NewElement(octet)
			if i%8 < 7 {
				r.params[nextC] = *h.power(8)
				part.Mul(&part, h.power(8))
			} else {
				part.SetZero()
			}
			value.Mul(&value, &shift).Add(&value, &e)
			part.Add(&part, &digits)
			r.set(0, e, digits, h.bytes)
			r.fill(1, h.none)
			r.vars[1] = h.b.Var(value)
			r.vars[2] = l.value
			if i%8 > 0 {
				r.vars[2] = h.b.Var(part)
			}
		}
		h.put(chain...)
		public(0, 0, 1, chain[0].vars[1], value)
	}
}
