//go:build purego || !amd64

package koalabear

import "github.com/zkbench/zkbench/internal/arith/step"

const hasKernel = false

func addProducts4AVX512(dst, columns *[]Element, weights *Element, rows, count int) {}
func addProducts6AVX512(dst, columns *[]Element, weights *Element, rows, count int) {}
func stepsAVX512(registers *[]Element, steps *step.Step, rows, count int)           {}
func scaleAVX512(dst, a *Element, factor uint32, rows int)                          {}
func packAVX512(dst *Element, last *[]Element, n, count int)                        {}
func butterflies2AVX512(dst, src, w *[]Element, rows int)                           {}
func butterflies4AVX512(dst, src, w *[]Element, rows int)                           {}
func butterflies8AVX512(dst, src, w *[]Element, rows int)                           {}
func butterflies16AVX512(dst, src, w *[]Element, rows int)                          {}
func dots4AVX512(sums *uint64, a *Element, b *[]Element, rows int)                  {}
func dots6AVX512(sums *uint64, a *Element, b *[]Element, rows int)                  {}
func first2AVX512(dst, src, w *[]Element, rows int)                                 {}
func first4AVX512(dst, src, w *[]Element, rows int)                                 {}
func first8AVX512(dst, src, w *[]Element, rows int)                                 {}
func first16AVX512(dst, src, w *[]Element, rows int)                                {}
func split16AVX512(dst, src, w *[]Element, rows int)                                {}

func evaluateAVX512(values, factors *Element, exchange *[2 * MaxLayers][lanes]uint32, blocks, step int) {
}

func interpolateAVX512(values, factors *Element, exchange *[2 * MaxLayers][lanes]uint32, blocks, step int) {
}
