// Command build builds the guest programs of the module that the current folder is in. Its argument is the folder to
// write them to, for example bin/zkbench-guests.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/zkbench/zkbench/internal/workload/guest"
	"github.com/zkbench/zkbench/internal/workload/guestprogram"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "build FOLDER")
		os.Exit(2)
	}
	if err := guestprogram.BuildAll(context.Background(), ".", os.Args[1], guest.Builds()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
