// Command typecheck holds the module, its tests and all that they import to Go's types as other
// platforms would compile them. To compile as much takes minutes a platform, and finds no more than
// what a linker finds.
//
//	go run -C tools ./typecheck windows/amd64 linux/amd64,purego
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	wrong := 0
	for _, platform := range os.Args[1:] {
		n, err := check(platform)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		wrong += n
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

// check prints what is wrong on a platform, OS/ARCHITECTURE or OS/ARCHITECTURE,TAG, and returns
// how much that was.
func check(platform string) (int, error) {
	platform, tag, _ := strings.Cut(platform, ",")
	system, architecture, ok := strings.Cut(platform, "/")
	if !ok {
		return 0, fmt.Errorf("typecheck: %q: want OS/ARCHITECTURE or OS/ARCHITECTURE,TAG", platform)
	}
	all, err := packages.Load(&packages.Config{
		Mode:       packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax,
		Dir:        "..",
		Env:        append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0"),
		BuildFlags: []string{"-tags=" + tag},
		Tests:      true,
	}, "./...")
	if err != nil {
		return 0, fmt.Errorf("typecheck: %w", err)
	}
	return packages.PrintErrors(all), nil
}
