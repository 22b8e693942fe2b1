// Command gen writes the assembly of package keccak: go generate in that package's folder runs
// it. Its test holds what is checked in equal to what it writes.
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
