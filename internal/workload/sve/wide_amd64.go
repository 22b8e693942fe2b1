//go:build !purego

package sve

import "github.com/zkbench/zkbench/goldilocks"

var assembled = map[string]*assembly{
	"portable": {},
	"avx2": {
		lanes: 4, product: productAVX2, reduce: reduce128AVX2, mulByte: mulByteAVX2, spmv: spmvAVX2, spmvByte: spmvByteAVX2,
		mmult: func(dst, a *goldilocks.Element, matrix []goldilocks.Element, n int) {
			columns := columnsOf(matrix)
			mmultAVX2(dst, a, &columns[0], n)
		},
		mmultByte: func(dst, a *goldilocks.Element, matrix []goldilocks.Element, n int) {
			columns := columnsOf(matrix)
			mmultByteAVX2(dst, a, &columns[0], n)
		},
	},
	"avx512": {
		lanes: 8, product: productAVX512, reduce: reduce128AVX512, mulByte: mulByteAVX512, spmv: spmvAVX512, spmvByte: spmvByteAVX512,
		mmult: func(dst, a *goldilocks.Element, matrix []goldilocks.Element, n int) {
			columns := columnsOf(matrix)
			mmultAVX512(dst, a, &columns[0], n)
		},
		mmultByte: func(dst, a *goldilocks.Element, matrix []goldilocks.Element, n int) {
			columns := columnsOf(matrix)
			mmultByteAVX512(dst, a, &columns[0], n)
		},
	},
}

//go:noescape
func productAVX512(hi, lo, a, b *goldilocks.Element, n int)

//go:noescape
func mulByteAVX512(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvAVX512(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvByteAVX512(dst, a, b *goldilocks.Element, n int)

//go:noescape
func mmultAVX512(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func mmultByteAVX512(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func productAVX2(hi, lo, a, b *goldilocks.Element, n int)

//go:noescape
func mulByteAVX2(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvAVX2(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvByteAVX2(dst, a, b *goldilocks.Element, n int)

//go:noescape
func mmultAVX2(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func mmultByteAVX2(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func reduce128AVX512(dst, hi, lo *goldilocks.Element, n int)

//go:noescape
func reduce128AVX2(dst, hi, lo *goldilocks.Element, n int)
