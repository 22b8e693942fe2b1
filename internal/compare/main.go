package compare

import (
	"context"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/zkbench/zkbench/internal/usage"
)

// Main is the main package of a program with workloads. Its revisions are built from it.
type Main struct {
	Module, Path string // import paths, of the module and of the package
	dir          string // relative to the repository's root
}

// OwnMain is that of the program that runs. What was built of files alone has none.
func OwnMain() Main {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Main{}
	}
	return Main{Module: info.Main.Path, Path: info.Path}
}

// Find returns the main package with its place in the repository. The error is a
// *usage.ValueError where its module is not here.
func (r Repository) Find(ctx context.Context, m Main) (Main, error) {
	below, inModule := strings.CutPrefix(m.Path+"/", m.Module+"/")
	if m.Module != "" && inModule {
		// In the current directory, which may be in another module than the root of the repository.
		dir, err := output(exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", m.Module))
		if err == nil && dir != "" {
			if m.dir, inModule = r.within(filepath.Join(dir, filepath.FromSlash(below))); inModule {
				return m, nil
			}
		}
	}
	return Main{}, &usage.ValueError{
		Field: "program to build here", Value: m.Path,
		Accepted: "one of a module of this repository; for anything else there are --bench PACKAGES and --run COMMAND",
	}
}

// within is a directory's path relative to the root; false where it is not below that.
func (r Repository) within(dir string) (string, bool) {
	var err error
	for _, path := range []*string{&dir, &r.root} { // a link may lead to either
		if *path, err = filepath.EvalSymlinks(*path); err != nil {
			return "", false
		}
	}
	relative, err := filepath.Rel(r.root, dir)
	return relative, err == nil && filepath.IsLocal(relative)
}

// in is the package's directory in a tree.
func (m Main) in(tree string) string { return filepath.Join(tree, m.dir) }
