package security_test

import (
	"fmt"

	"github.com/zkbench/zkbench/stark/security"
)

// A proof over the cubic extension of Goldilocks at rate 1/8: three times the queries prove more, until another round is
// the weakest.
func Example() {
	p := security.Protocol{
		Field: 192, Dimension: 1 << 20, Domain: 1 << 23,
		Constraints: 100, Degree: 3, Points: 2,
		Functions: 50, Batching: security.Powers, Folds: []int{8, 8, 8, 8},
		Queries: 40, Grinding: security.Grinding{Queries: 16},
	}
	for range 2 {
		report, err := p.Best()
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d queries: %d bits, the weakest round is %q\n", p.Queries, report.Bits(), report.Least().Name)
		p.Queries *= 3
	}
	// Output:
	// 40 queries: 75 bits, the weakest round is "queries"
	// 120 queries: 150 bits, the weakest round is "batching"
}
