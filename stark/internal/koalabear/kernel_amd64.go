//go:build !purego

package koalabear

import (
	"golang.org/x/sys/cpu"

	"github.com/zkbench/zkbench/internal/arith/step"
)

var hasKernel = cpu.X86.HasAVX512F

//go:noescape
func addProducts4AVX512(dst, columns *[]Element, weights *Element, rows, count int)

//go:noescape
func addProducts6AVX512(dst, columns *[]Element, weights *Element, rows, count int)

//go:noescape
func stepsAVX512(registers *[]Element, steps *step.Step, rows, count int)

//go:noescape
func scaleAVX512(dst, a *Element, factor uint32, rows int)

//go:noescape
func packAVX512(dst *Element, last *[]Element, n, count int)

//go:noescape
func butterflies2AVX512(dst, src, w *[]Element, rows int)

//go:noescape
func butterflies4AVX512(dst, src, w *[]Element, rows int)

//go:noescape
func butterflies8AVX512(dst, src, w *[]Element, rows int)

//go:noescape
func butterflies16AVX512(dst, src, w *[]Element, rows int)

//go:noescape
func dots4AVX512(sums *uint64, a *Element, b *[]Element, rows int)

//go:noescape
func dots6AVX512(sums *uint64, a *Element, b *[]Element, rows int)

//go:noescape
func first2AVX512(dst, src, w *[]Element, rows int)

//go:noescape
func first4AVX512(dst, src, w *[]Element, rows int)

//go:noescape
func first8AVX512(dst, src, w *[]Element, rows int)

//go:noescape
func first16AVX512(dst, src, w *[]Element, rows int)

//go:noescape
func split16AVX512(dst, src, w *[]Element, rows int)

//go:noescape
func evaluateAVX512(values, factors *Element, exchange *[2 * MaxLayers][lanes]uint32, blocks, step int)

//go:noescape
func interpolateAVX512(values, factors *Element, exchange *[2 * MaxLayers][lanes]uint32, blocks, step int)
