package ext_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
)

// A polynomial over the field is evaluated at a point of its quadratic extension, first from its
// coefficients and then from its values on a domain.
func Example() {
	ctx := context.Background()
	x := ext.Quadratic{0, 1}              // X^2 = 7
	f := []goldilocks.Element{1, 2, 3, 4} // 1 + 2 x + 3 x^2 + 4 x^3
	polys := [][]goldilocks.Element{f}    // any number of them
	values, err := goldilocks.EvalAll(ctx, executor.Serial(), polys, x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values[0])
	d, err := goldilocks.NewDomain(len(f))
	if err != nil {
		log.Fatal(err)
	}
	if err := d.NTT(f, goldilocks.Natural, 1); err != nil {
		log.Fatal(err)
	}
	coset := goldilocks.Coset{Domain: d, Shift: 1, Order: goldilocks.BitReversed}
	if values, err = goldilocks.EvalValues(ctx, executor.Serial(), coset, polys, x); err != nil {
		log.Fatal(err)
	}
	fmt.Println(values[0], x.Mul(x.Inverse()))
	// Output:
	// [22 30]
	// [22 30] [1 0]
}
