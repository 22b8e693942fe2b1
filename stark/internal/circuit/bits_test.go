package circuit_test

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/circuittest"
)

// TestEveryBit: each bit of an element is held to be one, those too that nothing reads but their sum: two that
// together weigh what they did are no bits, and nothing else is wrong.
func TestEveryBit(t *testing.T) {
	t.Parallel()
	for _, of := range degrees {
		const e = 0x123456789abcdef0
		b := circuit.New(of)
		b.Bits(b.Hint(number{e}), 0, "bits")
		p := circuittest.New(b)
		hints := p.Hints()
		bit := func(i int) circuit.Cell { return hints[1+i/32*32+31-i%32] } // from the highest of each half
		for i := range 63 {
			low, high := bit(i), bit(i+1)
			values := p.With(map[circuit.Cell]number{low: b.Values[low].Add(number{2}), high: b.Values[high].Add(number{minus})})
			var broken []circuit.Cell
			for _, row := range p.Broken(values) {
				if r := b.Rows[row]; r.Bit {
					broken = append(broken, r.Cells[circuit.C])
				}
			}
			of := 1 // of two bits 0 or 1 one may become the other
			if b.Values[high] == (number{}) {
				of = 2
			}
			golden.Equal(t, fmt.Sprintf("bits %d and %d: of two that are none", i, i+1), of, len(broken))
		}
		// With the highest one any others would do.
		low, high := bit(0), bit(63)
		less := element(1 << 63).Inverse()
		rest := element(1<<32 - 1).Sub(element(e >> 32)).Add(element(1 << 32).Inverse()) // 2^32 - 1 less the half that is a fraction now
		values := p.With(map[circuit.Cell]number{
			low: b.Values[low].Add(number{1}), high: b.Values[high].Add(number{less.Neg()}), hints[65]: {rest.Inverse()},
		})
		golden.Equal(t, "rows that do not hold where the highest bit is none", 1, len(p.Broken(values)))
	}
}
