// Command typecheck type-checks the module, its tests and everything that they import, for other
// platforms. Compiling all of it would take minutes per platform, and would only add the errors
// that a linker finds.
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

// check prints the errors on a platform, given as OS/ARCHITECTURE or OS/ARCHITECTURE,TAG, and
// returns their number.
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
