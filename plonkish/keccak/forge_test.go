package keccak

import (
	"fmt"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
	"github.com/zkbench/zkbench/plonkish/internal/planttest"
)

// spliced is the circuit of a message with cells of another one's: both are of one structure.
type spliced struct{ *inside.Circuit }

func (s spliced) rows() int { return len(s.Unknown) / s.Columns }

func (s spliced) cell(column, row int) *fr.Element { return &s.Values[s.Unknown[column*s.rows()+row]] }

// TestAnotherDigest: a digest with a lane of another message's. Only the wire between the state and the
// lane's bytes refuses it.
func TestAnotherDigest(t *testing.T) {
	const lanes = keccak.Digest / 8
	build := func(first byte) spliced {
		b, h := begin(t, keccak.Keccak256)
		for _, v := range h.Sum256([]plonkish.Var{b.Var(fr.NewElement(uint64(first)))}) {
			b.Equal(v, b.Public(b.Value(v)))
		}
		return spliced{inside.Look(must.Get(b.Build())(t))}
	}
	for lane := lanes - testsize.Pick(1, lanes, lanes); lane < lanes; lane++ {
		t.Run(fmt.Sprintf("lane=%d", lane), func(t *testing.T) {
			c, other := build(1), build(2)
			begin := c.rows() - keccak.Digest + 8*lane // the digest's bytes are the last rows
			for row := begin; row < begin+8; row++ {
				*c.cell(0, row) = *other.cell(0, row)
				if row > begin {
					*c.cell(3, row) = *other.cell(3, row)
				}
			}
			planttest.AloneWire(t, c.Circuit, 3, begin, *other.cell(3, begin))
		})
	}
}

// TestAnotherWideDigest is TestAnotherDigest for a Wide of one unit and one block.
func TestAnotherWideDigest(t *testing.T) {
	const in, out = 3, 3 + slots // columns of the first slot
	build := func(message string) spliced {
		return spliced{inside.Look(must.Get(narrow.Circuit([]byte(message)))(t))}
	}
	for lane := range testsize.Pick(1, keccak.Digest/8, keccak.Digest/8) {
		t.Run(fmt.Sprintf("lane=%d", lane), func(t *testing.T) {
			c, other := build("a"), build("b")
			// The last rows are for each half its bytes, and a row for its public value.
			half := c.rows() - (2-lane/2)*(keccak.Digest/2+1)
			begin := half + lane%2*8
			for row := begin; row < begin+8; row++ {
				*c.cell(in, row), *c.cell(out, row) = *other.cell(in, row), *other.cell(out, row)
				if row > begin {
					*c.cell(2, row) = *other.cell(2, row)
				}
			}
			var value fr.Element
			shift := fr.NewElement(256)
			for row := half + keccak.Digest/2 - 1; row >= half; row-- {
				value.Mul(&value, &shift).Add(&value, c.cell(in, row))
				*c.cell(1, row) = value
			}
			*c.cell(2, half+keccak.Digest/2) = value
			planttest.AloneWire(t, c.Circuit, 2, begin, *other.cell(2, begin))
		})
	}
}

// wideRows are those of a Wide of two blocks, with a message of both.
func wideRows(t *testing.T, message []byte, planted plonkish.Var, value fr.Element, between func(h *rows)) (*rows, spliced) {
	t.Helper()
	h := newRows(broad)
	if planted > 0 {
		inside.Plant(h.b, planted, value)
	}
	h.block(message[:keccak.Rate], keccak.Rate)
	between(h)
	h.message(message[keccak.Rate:])
	return h, spliced{inside.Look(must.Get(h.build())(t))}
}

// TestAnotherBlock: the hash of a message while its length and bytes are another one's, in one lane. Only
// the wire from the bytes' lane to the state refuses it.
func TestAnotherBlock(t *testing.T) {
	testsize.Full(t)
	const lanes = keccak.Rate / 8
	message := make([]byte, 2*keccak.Rate-1)
	for _, lane := range []int{0, lanes - 1, lanes, 2*lanes - 2} {
		t.Run(fmt.Sprintf("lane=%d", lane), func(t *testing.T) {
			hashed := slices.Clone(message)
			hashed[8*lane+3] = 77
			_, c := wideRows(t, hashed, 0, fr.Element{}, func(*rows) {})
			h, other := wideRows(t, message, 0, fr.Element{}, func(*rows) {})
			public := c.rows() - max(len(h.units[0]), len(h.units[1]))
			var bytes []int // rows of unit 0
			for i, r := range h.units[0] {
				if r.byte[isByte].IsOne() {
					bytes = append(bytes, public+i)
				}
			}
			in := 3 * len(h.units)
			for i := range 8 {
				row := bytes[8*lane+i]
				*c.cell(in, row), *c.cell(in+slots, row) = *other.cell(in, row), *other.cell(in+slots, row)
				if i > 0 {
					*c.cell(0, row) = *other.cell(0, row)
				}
			}
			end := bytes[8*lane+7] + 1
			planttest.AloneWire(t, c.Circuit, 0, end, *other.cell(0, end))
		})
	}
}

// TestAnotherState: a second block that goes on from another lane of the capacity than the first one left.
// Only the wire behind the row that carries the lane refuses it.
func TestAnotherState(t *testing.T) {
	testsize.Full(t)
	message := make([]byte, 2*keccak.Rate-1)
	for _, lane := range []int{keccak.Rate / 8, keccak.Lanes - 1} {
		t.Run(fmt.Sprintf("lane=%d", lane), func(t *testing.T) {
			var state plonkish.Var
			var bits uint64
			h, honest := wideRows(t, message, 0, fr.Element{}, func(h *rows) { state, bits = h.state[lane].value, h.state[lane].bits })
			var carried plonkish.Var
			var column, row int
			minus := *new(fr.Element).SetInt64(-1)
			for u, unit := range h.units {
				for i, r := range unit {
					if r.vars[0] == state && r.params[product] == minus {
						carried, column = r.vars[2], 3*u+2
						row = honest.rows() - max(len(h.units[0]), len(h.units[1])) + i
					}
				}
			}
			_, c := wideRows(t, message, carried, h.spread(bits^1), func(h *rows) { h.state[lane].bits ^= 1 })
			planttest.AloneWire(t, c.Circuit, column, row, *honest.cell(column, row))
		})
	}
}
