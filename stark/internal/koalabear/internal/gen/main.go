// Command gen writes the assembly of package koalabear. Run it with "go generate" in the folder of package
// koalabear. A test checks that the files in the repository are those that gen writes.
package main

import (
	"fmt"
	"os"
)

// outputs maps each file, relative to package koalabear, to the function that writes it.
var outputs = map[string]func() []byte{
	"butterflies_amd64.s": butterflies, "dots_amd64.s": dots, "pack_amd64.s": pack, "products_amd64.s": products, "steps_amd64.s": steps,
	"transform_amd64.s": transform,
}

func main() {
	for name, write := range outputs {
		if err := os.WriteFile(name, write(), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}
