// Command gen writes the assembly of package keccak. Run it with "go generate" in the folder of package
// keccak. A test checks that the file in the repository is what gen writes.
package main

import (
	"fmt"
	"os"
)

// output is the file, relative to package keccak.
const output = "lanes_amd64.s"

func main() {
	if err := os.WriteFile(output, lanesAMD64(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
