//go:build purego || !amd64

package koalabear

import "github.com/zkbench/zkbench/internal/arith/step"

const hasKernel = false

func addProducts4AVX512(dst, columns *[]Element, weights *Element, rows, count int) {}
func addProducts6AVX512(dst, columns *[]Element, weights *Element, rows, count int) {}
func stepsAVX512(registers *[]Element, steps *step.Step, rows, count int)           {}
func packAVX512(dst *Element, last *[]Element, n, count int)                        {}
func butterflies2AVX512(dst, src, w *[]Element, rows int)                           {}
func butterflies4AVX512(dst, src, w *[]Element, rows int)                           {}
func butterflies8AVX512(dst, src, w *[]Element, rows int)                           {}
func butterflies16AVX512(dst, src, w *[]Element, rows int)                          {}
func dots4AVX512(sums *uint64, a *Element, b *[]Element, rows int)                  {}
func dots6AVX512(sums *uint64, a *Element, b *[]Element, rows int)                  {}
