// Command loops computes in functions that neither allocate nor check whether their stack must grow, since a
// goroutine may yield at such a check. Each function retires the same instructions on every machine.
package main

import (
	"fmt"
	"math"

	"github.com/zkbench/zkbench/riscv/guest"
)

// primes counts the primes below the length of composite.
//
//go:noinline
//go:nosplit
func primes(composite []bool) (n int) {
	for p := 2; p < len(composite); p++ {
		if composite[p] {
			continue
		}
		n++
		for q := p * p; q < len(composite); q += p {
			composite[q] = true
		}
	}
	return n
}

// steps returns the total length of the Collatz sequences that start below n.
//
//go:noinline
//go:nosplit
func steps(n uint64) (sum uint64) {
	for start := uint64(1); start < n; start++ {
		for v := start; v != 1; sum++ {
			if v%2 == 0 {
				v /= 2
			} else {
				v = 3*v + 1
			}
		}
	}
	return sum
}

// norm returns a norm of the product of two matrices of n rows.
//
//go:noinline
//go:nosplit
func norm(a, b []float64, n int) (sum float64) {
	for i := range n {
		for j := range n {
			s := 0.0
			for k := range n {
				s += a[i*n+k] * b[k*n+j]
			}
			sum += math.Abs(s) / float64(i+j+1)
		}
	}
	return math.Sqrt(sum)
}

// digest returns the 32-bit FNV-1a hash of text.
//
//go:noinline
//go:nosplit
func digest(text []byte) uint32 {
	h := uint32(2166136261)
	for _, b := range text {
		h = (h ^ uint32(b)) * 16777619
	}
	return h
}

func main() {
	const n = 12
	var a, b [n * n]float64
	for i := range a {
		a[i], b[i] = float64(i)/7, 1/float64(i+1)
	}
	composite, text := make([]bool, 5_000), make([]byte, 3_000)
	guest.Begin("loops")
	count, sum, size, sign := primes(composite), steps(400), norm(a[:], b[:], n), digest(text)
	guest.End()
	fmt.Println(count, sum, size, sign)
}
