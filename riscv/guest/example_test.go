package guest_test

import (
	"crypto/sha256"
	"fmt"
	"os"

	"github.com/zkbench/zkbench/riscv/guest"
)

// The whole of a guest that hashes its input. On this system it reads standard input, which has a line here, and writes to
// standard output.
func Example() {
	in, out, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	defer in.Close()
	if _, err := out.WriteString("abc"); err != nil {
		panic(err)
	}
	out.Close()
	stdin := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = stdin }()

	input := guest.Input()
	guest.Begin("hash") // its instructions are counted apart
	sum := sha256.Sum256(input)
	guest.End()
	guest.Commit(fmt.Appendf(nil, "%x", sum[:8]))
	// Output: ba7816bf8f01cfea
}
