// Command notices writes the licences of everything that the released programs contain: the linked
// modules, Go's standard library, and the parts of others that this module embeds. From the root:
//
//	go run -C tools ./notices ../THIRD_PARTY_NOTICES
//
// It reads them from the module cache, for all platforms of .goreleaser.yaml. It refuses a module
// without a licence, and one with a licence that it does not know, because a person must decide
// whether such a module may be linked.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "notices: accepted: the path of the file to write")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "notices: %v\n", err)
		os.Exit(1)
	}
}

func write(path string) error {
	parts, err := read("..")
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(render(parts)), 0o644)
}
