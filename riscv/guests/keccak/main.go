// Command keccak is a guest that commits to the Keccak-256 of its input. With the tag precompile the
// machine hashes.
package main

import "github.com/zkbench/zkbench/riscv/guest"

func main() {
	message := guest.Input()
	guest.Begin("hash")
	digest := sum(message)
	guest.End()
	guest.Commit(digest[:])
}
