package keccak

import (
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
	"github.com/zkbench/zkbench/plonkish/internal/planttest"
)

// definition is the rows of a table of numbers of so many digits: what each digit becomes.
func definition(base uint64, digits int, becomes map[uint64]uint64) (rows [][]fr.Element) {
	numbers := [][2]uint64{{}}
	for range digits {
		var longer [][2]uint64
		for _, n := range numbers {
			for digit, bit := range becomes {
				longer = append(longer, [2]uint64{n[0]*base + digit, n[1]*base + bit})
			}
		}
		numbers = longer
	}
	for _, n := range numbers {
		rows = append(rows, []fr.Element{fr.NewElement(n[0]), fr.NewElement(n[1])})
	}
	return rows
}

// bytesOf is the rows of a table of bytes, with the digits that are their bits.
func bytesOf(base uint64) (rows [][]fr.Element) {
	for octet := range uint64(256) {
		n := uint64(0)
		for i := 7; i >= 0; i-- {
			n = n*base + octet>>i&1
		}
		rows = append(rows, []fr.Element{fr.NewElement(octet), fr.NewElement(n)})
	}
	return rows
}

// TestTables: tables have all numbers of their digits, with what becomes of each digit, and no more. A row
// more would be a false statement that no honest witness shows.
func TestTables(t *testing.T) {
	parity := func(most uint64) map[uint64]uint64 {
		becomes := make(map[uint64]uint64)
		for n := range most + 1 {
			becomes[n] = n % 2
		}
		return becomes
	}
	chi, iota := make(map[uint64]uint64), make(map[uint64]uint64)
	for bits := range uint64(16) {
		a, b, c, flip := bits&1, bits>>1&1, bits>>2&1, bits>>3
		iota[1+2*a-b+c+2*flip] = a ^ (1-b)&c ^ flip
		if flip == 0 {
			chi[1+2*a-b+c] = a ^ (1-b)&c
		}
	}
	want := map[string][][]fr.Element{"bytes": bytesOf(7)}
	for name, digits := range map[string][]int{"parity of 5": {5, 3, 1}, "parity of 3": {6, 5, 4, 3, 2, 1}, "chi": {6, 4}, "chi and iota": {4}} {
		becomes := map[string]map[uint64]uint64{"parity of 5": parity(5), "parity of 3": parity(3), "chi": chi, "chi and iota": iota}[name]
		for _, n := range digits {
			want[fmt.Sprintf("%s, %d digits", name, n)] = definition(7, n, becomes)
		}
	}
	b, h := begin(t, keccak.Keccak256)
	_, vars := message(b, keccak.Rate)
	h.Sum256(vars)
	planttest.Tables(t, want, inside.Look(must.Get(b.Build())(t)))

	want = map[string][][]fr.Element{"bytes": bytesOf(6), "none": {{{}, {}}}}
	for digits := 1; digits <= slotDigits; digits++ {
		want[fmt.Sprintf("parity, %d digits", digits)] = definition(6, digits, parity(5))
	}
	want["chi, 4 digits"] = definition(6, 4, chi)
	planttest.Tables(t, want, inside.Look(must.Get(narrow.Circuit())(t)))
}
