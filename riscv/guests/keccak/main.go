// Command keccak is a guest whose output is the Keccak-256 hash of its input. If it is built with
// the tag precompile, it leaves the hashing to the machine.
package main

import "github.com/zkbench/zkbench/riscv/guest"

func main() {
	message := guest.Input()
	guest.Begin("hash")
	digest := sum(message)
	guest.End()
	guest.Commit(digest[:])
}
