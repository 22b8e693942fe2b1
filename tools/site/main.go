// Site writes the documentation as static HTML: README.md, every Markdown page that can be reached
// from it by links, and the images and files that these pages show or link to. The site works from
// files as well as from a server, and loads nothing from elsewhere.
//
//	go run -C tools ./site -zkbench ../bin/zkbench ../bin/site
//
// With -zkbench the site also has the page that "zkbench report" makes from the records in
// docs/studies/records.
//
// The command fails if a link within the documentation is broken, or if docs/ has a page to which
// no link leads.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	program := flag.String("zkbench", "", "the zkbench program that makes a report of the records for the site; empty: no report")
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
