// Package keccak computes the hashes of hash/keccak in circuits of package plonkish.
package keccak

import (
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/plonkish"
)

// Lookup computes hashes in circuits of plonkish.UltraPlonk. A lane is stored as a number in base 7 whose
// digits are the bits of the lane. So the digits of a sum of lanes are sums of bits. Tables turn these
// digits into bits again. Each row looks up one slice of a lane.
type Lookup struct {
	*radix
	b       *plonkish.Builder
	padding byte
	zero    lane
	kinds   map[rowKind]plonkish.Kind
	parity  *family // of θ: of up to five bits
	sum     *family // of ρ, and of states and blocks: of up to three
	chi     *family
	iota    *family // chi, and a bit of the round's constant
	bytes   *plonkish.Table
}

// LookupRows returns how many rows a message with the given number of blocks takes, not counting rows of
// constants. It also returns how many rows the tables have.
func LookupRows(blocks int) (used, tables int) {
	return 16_560 + 16_715*(blocks-1), 32_365
}

// lane is 64 bits, and the value that has them as its digits.
type lane struct {
	value plonkish.Var
	bits  uint64
}

// NewLookup returns a Lookup that adds the rows of hashes to b. It uses the given padding byte. Package
// hash/keccak has constants for the padding bytes of Keccak-256 and SHA3-256. The tables have 32,365 rows.
// NewLookup returns zkbench.ErrParams if the padding byte is 0 or above 0x7f.
func NewLookup(b *plonkish.Builder, padding byte) (*Lookup, error) {
	if err := keccak.CheckPadding(padding); err != nil {
		return nil, err
	}
	parity := []uint8{0, 1, 0, 1, 0, 1}
	// a ⊕ (b̄ ∧ c) of 1 + 2a - b + c. It has period 4, so 2 more flips it.
	chi := []uint8{0, 0, 1, 1, 0, 0, 1}
	r := newRadix(7)
	h := &Lookup{
		b: b, padding: padding, kinds: make(map[rowKind]plonkish.Kind), radix: r,
		parity: &family{radix: r, name: "parity of 5", bits: 5, results: parity},
		sum:    &family{radix: r, name: "parity of 3", bits: 6, results: parity[:4]},
		chi:    &family{radix: r, name: "chi", bits: 6, results: chi[:5]},
		iota:   &family{radix: r, name: "chi and iota", bits: 4, results: chi},
		bytes:  r.bytes(),
	}
	h.zero = lane{value: h.constant(0)}
	return h, nil
}

// Sum256 returns the hash of a message, and constrains the message's values to be bytes.
func (h *Lookup) Sum256(message []plonkish.Var) (digest [keccak.Digest]plonkish.Var) {
	padded := make([]plonkish.Var, keccak.Rate*keccak.Blocks(len(message)))
	copy(padded, message)
	rest := padded[len(message):]
	if len(rest) == 1 {
		rest[0] = h.constant(h.padding | 0x80)
	} else {
		rest[0], rest[len(rest)-1] = h.constant(h.padding), h.constant(0x80)
		for i := range rest[1 : len(rest)-1] {
			rest[1+i] = h.zero.value
		}
	}
	var state [keccak.Lanes]lane
	for i := range state {
		state[i] = h.zero
	}
	for at := 0; at < len(padded); at += keccak.Rate {
		for i := range keccak.Rate / 8 {
			block := h.lane(padded[at+8*i : at+8*i+8])
			if at == 0 {
				state[i] = block
			} else {
				state[i] = h.add(state[i], block)
			}
		}
		for _, constant := range keccak.RoundConstants() {
			state = h.round(state, constant)
		}
	}
	for i := range keccak.Digest / 8 {
		all := digest[8*i : 8*i+8]
		for j := range all {
			all[j] = h.b.Var(fr.NewElement(state[i].bits >> (8 * j) & 0xff))
		}
		h.b.Equal(h.lane(all).value, state[i].value)
	}
	return digest
}

// lane returns the lane of eight bytes, the lowest first.
func (h *Lookup) lane(bytes []plonkish.Var) lane {
	var l lane
	values := make([]fr.Element, len(bytes)+1)
	for i := len(bytes) - 1; i >= 0; i-- {
		value := h.b.Value(bytes[i])
		low := value.Uint64() & 0xff // another value is refused, as the tables do not have it
		l.bits = l.bits<<8 | low
		values[i].Mul(&values[i+1], h.power(8))
		s := h.spread(low)
		values[i].Add(&values[i], &s)
	}
	for i, v := range bytes {
		k := rowKind{table: h.bytes, result: 8}
		if i == len(bytes)-1 {
			k.last = true
		}
		x := h.b.Var(values[i])
		if i == 0 {
			l.value = x
		}
		h.b.Row(h.kind(k), []plonkish.Var{v, 0, 0, x})
	}
	return l
}

// add returns the exclusive or of two lanes.
func (h *Lookup) add(x, y lane) lane {
	out, _ := h.normalise(h.sum, whole, operand{
		digits: func(i int) uint64 { return x.bits>>i&1 + y.bits>>i&1 },
		x:      x.value, y: y.value, byX: 1, byY: 1,
	})
	return out
}

// round applies one round of the permutation (Keccak team, The Keccak reference, version 3.0, section 1.2).
func (h *Lookup) round(a [keccak.Lanes]lane, constant uint64) (out [keccak.Lanes]lane) {
	var c [5]lane
	var top [5]plonkish.Var
	for x := range c {
		digits := func(i int) (sum uint64) {
			for y := range 5 {
				sum += a[x+5*y].bits >> i & 1
			}
			return sum
		}
		three := h.combine([]int64{1, 1, 1}, a[x].value, a[x+5].value, a[x+10].value)
		two := h.combine([]int64{1, 1}, a[x+15].value, a[x+20].value)
		c[x], top[x] = h.normalise(h.parity, topApart, operand{digits: digits, x: three, y: two, byX: 1, byY: 1})
	}
	var b [keccak.Lanes]lane
	rotations := keccak.Rotations()
	for x := range 5 {
		before, after := c[(x+4)%5], c[(x+1)%5]
		d := h.theta(before, after, top[(x+1)%5])
		for y := range 5 {
			l, r := a[x+5*y], rotations[x+5*y]
			b[y+5*((2*x+3*y)%5)], _ = h.normalise(h.sum, rotated(r), operand{
				digits: func(i int) uint64 {
					return l.bits>>i&1 + before.bits>>i&1 + after.bits>>((i+63)%64)&1
				},
				x: l.value, y: d, byX: 1, byY: 1,
			})
		}
	}
	for i := range out {
		x, y := i%5, i/5*5
		p, q, r := b[i], b[(x+1)%5+y], b[(x+2)%5+y]
		f, flips := h.chi, uint64(0)
		if i == 0 {
			f, flips = h.iota, constant
		}
		three := h.combine([]int64{2, -1}, p.value, q.value)
		ones := h.spread(^uint64(0))
		twice := h.spread(flips)
		ones.Add(&ones, twice.Double(&twice))
		out[i], _ = h.normalise(f, whole, operand{
			digits: func(i int) uint64 {
				return 1 + 2*(p.bits>>i&1) - q.bits>>i&1 + r.bits>>i&1 + 2*(flips>>i&1)
			},
			x: three, y: r.value, byX: 1, byY: 1, constant: ones,
		})
	}
	return out
}

// theta returns the sum of one lane and of another that is rotated by one bit; top is the other's top bit.
func (h *Lookup) theta(before, after lane, top plonkish.Var) plonkish.Var {
	wrap := *h.power(keccak.LaneBits)
	one := fr.One()
	wrap.Sub(&one, &wrap)
	return h.linear([]fr.Element{one, *h.power(1), wrap}, before.value, after.value, top)
}

func (h *Lookup) combine(by []int64, of ...plonkish.Var) plonkish.Var {
	weights := make([]fr.Element, len(by))
	for i := range weights {
		weights[i].SetInt64(by[i])
	}
	return h.linear(weights, of...)
}

// linear returns the weighted sum of up to three values, in a row.
func (h *Lookup) linear(weights []fr.Element, of ...plonkish.Var) plonkish.Var {
	var sum fr.Element
	k := rowKind{arithmetic: true}
	for i, v := range of {
		value := h.b.Value(v)
		sum.Add(&sum, value.Mul(&value, &weights[i]))
		k.params[2+i] = weights[i]
	}
	k.params[1].SetInt64(-1)
	v := h.b.Var(sum)
	h.b.Row(h.kind(k), append([]plonkish.Var{v}, of...))
	return v
}

// constant returns a value that a row of its own fixes.
func (h *Lookup) constant(c byte) plonkish.Var {
	k := rowKind{arithmetic: true}
	k.params[1].SetInt64(-1)
	k.params[6].SetUint64(uint64(c))
	v := h.b.Var(k.params[6])
	h.b.Row(h.kind(k), []plonkish.Var{v})
	return v
}
