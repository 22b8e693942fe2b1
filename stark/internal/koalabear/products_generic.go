//go:build purego || !amd64

package koalabear

const hasKernel = false

func addProducts4AVX512(dst, columns *[]Element, weights *Element, rows, count int) {}
func addProducts6AVX512(dst, columns *[]Element, weights *Element, rows, count int) {}
