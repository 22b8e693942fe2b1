//go:build !purego

package sve

import "github.com/zkbench/zkbench/goldilocks"

var assembled = map[string]*assembly{
	"portable": {},
	"sve": {
		lanes: 1, product: productSVE, reduce: reduce128SVE, mulByte: mulByteSVE, spmv: spmvSVE, spmvByte: spmvByteSVE, halves: productHalvesSVE,
		mmult: func(dst, a *goldilocks.Element, matrix []goldilocks.Element, n int) {
			columns := columnsOf(matrix)
			mmultSVE(dst, a, &columns[0], n)
		},
		mmultByte: func(dst, a *goldilocks.Element, matrix []goldilocks.Element, n int) {
			columns := columnsOf(matrix)
			mmultByteSVE(dst, a, &columns[0], n)
		},
	},
	"sve2": {
		lanes: 1, product: productSVE2, reduce: reduce128SVE2, mulByte: mulByteSVE2, spmv: spmvSVE2, spmvByte: spmvByteSVE2,
		mmult: func(dst, a *goldilocks.Element, matrix []goldilocks.Element, n int) {
			columns := columnsOf(matrix)
			mmultSVE2(dst, a, &columns[0], n)
		},
		mmultByte: func(dst, a *goldilocks.Element, matrix []goldilocks.Element, n int) {
			columns := columnsOf(matrix)
			mmultByteSVE2(dst, a, &columns[0], n)
		},
	},
}

//go:noescape
func productHalvesSVE(hi, lo, a, b *goldilocks.Element, n int)

//go:noescape
func productSVE(hi, lo, a, b *goldilocks.Element, n int)

//go:noescape
func productSVE2(hi, lo, a, b *goldilocks.Element, n int)

//go:noescape
func mulByteSVE(dst, a, b *goldilocks.Element, n int)

//go:noescape
func mulByteSVE2(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvSVE(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvSVE2(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvByteSVE(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvByteSVE2(dst, a, b *goldilocks.Element, n int)

//go:noescape
func mmultSVE(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func mmultSVE2(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func mmultByteSVE(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func mmultByteSVE2(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func reduce128SVE(dst, hi, lo *goldilocks.Element, n int)

//go:noescape
func reduce128SVE2(dst, hi, lo *goldilocks.Element, n int)
