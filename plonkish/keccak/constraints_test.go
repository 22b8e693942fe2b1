package keccak

import (
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

// TestConstraints: each line of the rows of both hashes is held by a forgery. What begins a hash has all of
// the permutation behind it: there a test plants it, and the gadget itself computes what follows.
func TestConstraints(t *testing.T) {
	testsize.Full(t)
	const zero = plonkish.Var(1) // and then the message's bytes, the padding byte, and the end if that is another one
	lookup := func(bytes int, planted plonkish.Var, value byte) *inside.Circuit {
		b := plonkish.NewBuilder(plonkish.UltraPlonk())
		inside.Sites(b)
		inside.Plant(b, planted, fr.NewElement(uint64(value)))
		h := must.Get(NewLookup(b, keccak.Keccak256))(t)
		if planted == zero {
			h.zero.bits = uint64(value)
		}
		_, vars := message(b, bytes)
		for _, v := range h.Sum256(vars) {
			b.Equal(v, b.Public(b.Value(v)))
		}
		return inside.Look(must.Get(b.Build())(t))
	}
	all := []*inside.Circuit{
		lookup(3, zero, 1), lookup(3, zero+4, keccak.SHA3256), lookup(3, zero+5, 0),
		lookup(keccak.Rate-1, zero+keccak.Rate, keccak.SHA3256|0x80), lookup(3, 0, 0), lookup(keccak.Rate, 0, 0),
	}
	for _, w := range []Wide{narrow, broad} {
		wide := func(absorb func(h *rows)) {
			h := newRows(w)
			absorb(h)
			for capacity := must.Get(w.Capacity())(t); h.blocks < capacity; {
				h.message(nil)
			}
			all = append(all, inside.Look(must.Get(h.build())(t)))
		}
		wide(func(h *rows) { // a zero that is 1: a flag before the first byte, too
			inside.Plant(h.b, h.zero.value, fr.One())
			h.zero.bits = 1
			flags := slices.Repeat([]uint64{1}, keccak.Rate)
			h.padded(append(make([]byte, keccak.Rate-1), 0x80), flags)
		})
		for before := range must.Get(w.Capacity())(t) { // a block of padding that has begun before the first byte
			wide(func(h *rows) {
				for range before {
					h.message(nil)
				}
				h.padded(append(make([]byte, keccak.Rate-1), 0x80), slices.Repeat([]uint64{1}, keccak.Rate))
			})
		}
		wide(func(h *rows) { // a flag of 2, with twice the padding byte, in the last block
			for capacity := must.Get(w.Capacity())(t); h.blocks < capacity-1; {
				h.message(nil)
			}
			flags := append(make([]uint64, keccak.Rate-1), 2)
			h.padded(append(make([]byte, keccak.Rate-1), 2*w.Padding+0x80), flags)
		})
		wide(func(h *rows) { h.message([]byte("abc")) })
	}
	planttest.Check(t, "plonkish/keccak", nil, all...)
}
