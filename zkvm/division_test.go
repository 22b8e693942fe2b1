package zkvm

import (
	"math/big"
	"testing"
)

// The operations of divisions.
var divisionOps = map[string]uint64{
	"div":   codeDivision + codeSigned,
	"divu":  codeDivision,
	"rem":   codeDivision + codeSigned + codeRemainder,
	"remu":  codeDivision + codeRemainder,
	"divw":  codeDivision + codeNarrow + codeSigned,
	"divuw": codeDivision + codeNarrow,
	"remw":  codeDivision + codeNarrow + codeSigned + codeRemainder,
	"remuw": codeDivision + codeNarrow + codeRemainder,
}

// quotientOf returns the result of an operation of divisions.
func quotientOf(s shape, op, a, b uint64) uint64 {
	width := 2 * s.limb
	if op&codeNarrow != 0 {
		width = s.limb
	}
	x, y := number(a, width, op&codeSigned != 0), number(b, width, op&codeSigned != 0)
	quotient, remainder := big.NewInt(-1), x
	if y.Sign() != 0 {
		quotient, remainder = new(big.Int).QuoRem(x, y, new(big.Int))
	}
	if op&codeRemainder != 0 {
		return wordOf(s, remainder, width)
	}
	return wordOf(s, quotient, width)
}

func TestDivisions(t *testing.T) {
	const minus = 1<<64 - 1
	for _, c := range []struct {
		name         string
		a, b, result uint64
	}{
		{"div", minus - 6, 2, minus - 2},
		{"rem", minus - 6, 2, minus},
		{"div", 7, 0, minus},
		{"rem", minus - 6, 0, minus - 6},
		{"div", 1 << 63, minus, 1 << 63},
		{"rem", 1 << 63, minus, 0},
		{"divu", minus, 2, minus >> 1},
		{"divuw", 1 << 31, 1, 1<<64 - 1<<31},
		{"divw", 1 << 31, minus, 1<<64 - 1<<31},
		{"remw", 1<<40 + 7, 1<<41 - 2, 1},
		{"remuw", minus, 0, minus},
	} {
		if got := quotientOf(rv64, divisionOps[c.name], c.a, c.b); got != c.result {
			t.Fatalf("%s %#x %#x = %#x, want %#x", c.name, c.a, c.b, got, c.result)
		}
	}
	checkAll(t, divisionOps, quotientOf)
}
