package keccak_test

import (
	"fmt"

	"github.com/zkbench/zkbench/hash/keccak"
)

// The two hashes of nothing differ by a byte of padding.
func Example() {
	fmt.Printf("%x\n%x\n", keccak.Sum256(nil), keccak.SumSHA3256(nil))
	// Output:
	// c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470
	// a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a
}
