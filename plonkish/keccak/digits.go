package keccak

import (
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/plonkish"
)

// radix is the base of numbers whose digits are sums of bits.
type radix struct {
	base   uint64
	powers [2*keccak.LaneBits + 1]fr.Element // base^(i - LaneBits)
}

func newRadix(base uint64) *radix {
	r := &radix{base: base}
	step := fr.NewElement(base)
	r.powers[0].Exp(step, big.NewInt(-keccak.LaneBits))
	for i := range r.powers[1:] {
		r.powers[i+1].Mul(&r.powers[i], &step)
	}
	return r
}

// power returns base^e, for e from -LaneBits to LaneBits.
func (r *radix) power(e int) *fr.Element { return &r.powers[keccak.LaneBits+e] }

// number returns the number with these digits, the lowest first.
func (r *radix) number(digits []uint64) (n uint64) {
	for i := len(digits) - 1; i >= 0; i-- {
		n = n*r.base + digits[i]
	}
	return n
}

// spread returns the number that has the bits of a lane as its digits.
func (r *radix) spread(bits uint64) (e fr.Element) {
	for i := range keccak.LaneBits {
		if bits>>i&1 == 1 {
			e.Add(&e, r.power(i))
		}
	}
	return e
}

// bytes returns a table of bytes, and of the numbers that have their bits as digits.
func (r *radix) bytes() *plonkish.Table {
	t := &plonkish.Table{Name: "bytes", Columns: make([][]fr.Element, 2)}
	for i := range uint64(256) {
		t.Columns[0] = append(t.Columns[0], fr.NewElement(i))
		t.Columns[1] = append(t.Columns[1], r.spread(i))
	}
	return t
}

// family is a family of tables that map digits below len(results) to their results, for slices of up to bits
// digits.
type family struct {
	*radix
	name    string
	bits    int
	results []uint8
	tables  [7]*plonkish.Table // by number of digits
}

func (f *family) table(digits int) *plonkish.Table {
	if f.tables[digits] == nil {
		t := &plonkish.Table{Name: fmt.Sprintf("%s, %d digits", f.name, digits), Columns: make([][]fr.Element, 2)}
		slice := make([]uint64, digits)
		for {
			t.Columns[0] = append(t.Columns[0], fr.NewElement(f.number(slice)))
			t.Columns[1] = append(t.Columns[1], fr.NewElement(f.number(f.apply(slice))))
			i := 0
			for i < digits && slice[i] == uint64(len(f.results)-1) {
				slice[i] = 0
				i++
			}
			if i == digits {
				break
			}
			slice[i]++
		}
		f.tables[digits] = t
	}
	return f.tables[digits]
}

// apply returns the results of digits. The result of a digit that the tables do not have is 0.
func (f *family) apply(digits []uint64) []uint64 {
	results := make([]uint64, len(digits))
	for i, d := range digits {
		if d < uint64(len(f.results)) {
			results[i] = uint64(f.results[d])
		}
	}
	return results
}

// slice is a run of neighbouring digits of an operand.
type slice struct {
	at     int // of the lowest
	digits []uint64
}

// parts holds ranges of an operand's digits, in the order in which the result has them. A slice never spans
// two ranges. So each digit of the operand is in one slice, and a slice has no digits that are not its own.
type parts [][2]int

var (
	whole    = parts{{0, keccak.LaneBits}}
	topApart = parts{{0, keccak.LaneBits - 1}, {keccak.LaneBits - 1, keccak.LaneBits}}
)

// rotated returns the parts of a result that is rotated to the left by r.
func rotated(r int) parts {
	if r == 0 {
		return whole
	}
	return parts{{keccak.LaneBits - r, keccak.LaneBits}, {0, keccak.LaneBits - r}}
}

// slices cuts an operand's digits into slices for the family's tables.
func (f *family) slices(p parts, digits func(i int) uint64) (slices []slice) {
	for _, part := range p {
		for at := part[0]; at < part[1]; at += f.bits {
			s := slice{at: at}
			for i := at; i < min(at+f.bits, part[1]); i++ {
				s.digits = append(s.digits, digits(i))
			}
			slices = append(slices, s)
		}
	}
	return slices
}
