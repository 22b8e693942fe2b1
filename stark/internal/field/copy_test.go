package field_test

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/stark/internal/field"
)

// BenchmarkCopy copies columns of two cosets, tile by tile, together and one after the other. They are as many and as
// high as those of a proof of 170 permutations over KoalaBear.
func BenchmarkCopy(b *testing.B) {
	const columns, rows, apart, cosets, tile = 2473, 1 << 12, 16, 2, 256
	src := make([][]uint32, cosets*columns)
	all := make([]uint32, len(src)*(rows+apart))
	for i := range all {
		all[i] = uint32(i)
	}
	for i := range src {
		src[i] = all[i*(rows+apart):][:rows]
	}
	dst, cells := field.NewVector[uint32](columns, tile), make([][]uint32, columns)
	for _, together := range []bool{false, true} {
		b.Run(fmt.Sprintf("together=%v", together), func(b *testing.B) {
			b.SetBytes(4 * rows * int64(len(src)))
			for b.Loop() {
				for from := 0; from < len(src); from += columns {
					for lo := 0; lo < rows; lo += tile {
						for i := range cells {
							cells[i] = src[from+i][lo:][:tile]
						}
						if together {
							field.Copy(dst, cells)
							continue
						}
						for i, c := range cells {
							copy(dst[i], c)
						}
					}
				}
			}
		})
	}
}
