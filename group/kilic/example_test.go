package kilic_test

import (
	"fmt"
	"log"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/kilic"
)

// Both implementations of BLS12-381 derive the same generators.
func Example() {
	a, b := group.BLS12381(), kilic.BLS12381()
	p, err := group.Generator(a, "example", 0)
	if err != nil {
		log.Fatal(err)
	}
	q, err := group.Generator(b, "example", 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Name(), b.Name(), string(a.AppendPoints(nil, p)) == string(b.AppendPoints(nil, q)))
	// Output: BLS12_381_BBS_GURVY BLS12_381_BBS true
}
