package goldilocks

import (
	"fmt"
	"math/bits"

	"github.com/zkbench/zkbench"
)

// BitReverse exchanges elements between the orders. A length that is not a power of two
// is zkbench.ErrParams.
func BitReverse(values []Element) error {
	n := len(values)
	if n == 0 || n&(n-1) != 0 {
		return fmt.Errorf("%w: bit reversal of %d elements, accepted are powers of two", zkbench.ErrParams, n)
	}
	reverseBitOrder(values)
	return nil
}

func reverseBitOrder(values []Element) {
	log := bits.Len(uint(len(values))) - 1
	if log >= 2*tileLog {
		bitReverseTiles(values, log)
		return
	}
	for i := range values {
		if j := reverseBits(i, log); i < j {
			values[i], values[j] = values[j], values[i]
		}
	}
}

// reverseBits is the low log bits of i backwards.
func reverseBits(i, log int) int { return int(bits.Reverse64(uint64(i)) >> (64 - log)) }

// tileLog is the logarithm of a cache line's elements, at least.
const tileLog = 4

// bitReverseTiles reverses by tiles, so that every cache line is read and written whole:
// with i = (a, b, c), a and c of tileLog bits, element (a, b, c) goes to
// (rev c, rev b, rev a), and for one b the elements make a tile that is transposed.
func bitReverseTiles(values []Element, log int) {
	const side = 1 << tileLog
	middle := log - 2*tileLog
	var reversed [side]int
	for i := range reversed {
		reversed[i] = reverseBits(i, tileLog)
	}
	var tile [side][side]Element
	for b := range 1 << middle {
		r := reverseBits(b, middle)
		if r < b {
			continue
		}
		row := func(b, a int) []Element { return values[(a<<middle|b)<<tileLog:][:side] }
		for a := range side {
			for c, e := range row(b, a) {
				tile[reversed[c]][reversed[a]] = e
			}
		}
		if r != b {
			for a := range side {
				dst := row(b, a)
				for c := range dst {
					dst[c] = values[(reversed[c]<<middle|r)<<tileLog|reversed[a]]
				}
			}
		}
		for a := range side {
			copy(row(r, a), tile[a][:])
		}
	}
}
