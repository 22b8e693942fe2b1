// Site makes one of the documentation: README.md, and every page of Markdown that links from
// there lead to, as static HTML with what they show and offer, which opens from a file as well
// as from a server and loads nothing from elsewhere.
//
//	go run -C tools ./site -zkbench ../bin/zkbench ../bin/site
//
// With a program it also has the page that zkbench report makes of the records in
// docs/studies/records.
//
// A link within the documentation that leads nowhere, and a page of docs/ to which none leads,
// are errors.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	program := flag.String("zkbench", "", "the program whose report of the records the site has; empty: none")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "site: want one directory to write to")
		os.Exit(2)
	}
	n, err := write("..", flag.Arg(0), *program)
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d pages\n", flag.Arg(0), n)
}
