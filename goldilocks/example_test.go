package goldilocks_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
)

// This example multiplies two polynomials by their values on a domain that is large enough for the
// product.
func Example() {
	d, err := goldilocks.NewDomain(8)
	if err != nil {
		log.Fatal(err)
	}
	f := []goldilocks.Element{1, 2, 3, 0, 0, 0, 0, 0} // 1 + 2 X + 3 X^2
	g := []goldilocks.Element{4, 5, 0, 0, 0, 0, 0, 0} // 4 + 5 X
	for _, coefficients := range [][]goldilocks.Element{f, g} {
		if err := d.NTT(coefficients, goldilocks.Natural, 1); err != nil {
			log.Fatal(err)
		}
	}
	goldilocks.Mul(f, f, g)
	if err := d.InverseNTT(f, goldilocks.BitReversed, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(f)
	// Output: [4 13 22 15 0 0 0 0]
}

// SetBytes accepts only the least representative of an element.
func ExampleElement_SetBytes() {
	minusOne := goldilocks.Element(1).Neg()
	b := minusOne.Bytes()
	fmt.Printf("%x\n", b)
	var e goldilocks.Element
	fmt.Println(e.SetBytes(b[:]), e == minusOne)
	b[0]++ // the modulus
	fmt.Println(e.SetBytes(b[:]))
	// Output:
	// 00000000ffffffff
	// <nil> true
	// malformed encoding: element at byte 0: not below the modulus
}

// Extend turns a column of four values into sixteen values of the same polynomial on a coset.
func ExampleDomain_Extend() {
	d, err := goldilocks.NewDomain(4)
	if err != nil {
		log.Fatal(err)
	}
	column := make([]goldilocks.Element, 16)
	copy(column, []goldilocks.Element{5, 5, 5, 5}) // a constant
	lde := goldilocks.LDE{Blowup: 4, Shift: goldilocks.Generator}
	if err := d.Extend(context.Background(), executor.Pool(), [][]goldilocks.Element{column}, lde); err != nil {
		log.Fatal(err)
	}
	fmt.Println(column)
	// Output: [5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5]
}

// Every kernel gives the same result. A call that names no kernel runs on the fastest.
func ExampleKernel() {
	a, sum := []goldilocks.Element{1, 2, 3}, make([]goldilocks.Element, 3)
	goldilocks.Add(sum, a, a)
	for _, k := range goldilocks.Kernels() {
		again := make([]goldilocks.Element, 3)
		goldilocks.Add(again, a, a, k)
		if fmt.Sprint(again) != fmt.Sprint(sum) {
			fmt.Println(k, "differs")
		}
	}
	fmt.Println(sum)
	// Output: [2 4 6]
}
