package compare

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
)

// Main is the main package of a program with workloads. The program is built from it at each
// revision.
type Main struct {
	Module, Path string // import paths of the module and of the package
	Guests       string // as in workload.Def
	dir          string // relative to the repository's root
}

// OwnMain returns the main package of the running program. It returns the zero Main if the program
// has no build information. If the program was built from a list of files, the result has no
// module.
func OwnMain() Main {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Main{}
	}
	return Main{Module: info.Main.Path, Path: info.Path}
}

// moduleLine matches the line of a go.mod that names the module.
var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

// Find looks for the main package m in the repository and returns it together with its directory.
// It returns an *argument.ValueError if the repository does not contain the module of m.
func (r Repository) Find(ctx context.Context, m Main) (Main, error) {
	refused := &argument.ValueError{
		Field: "program to build here", Value: m.Path,
		Accepted: "one of a module of this repository; for anything else there are --bench PACKAGES and --run COMMAND",
	}
	below, within := strings.CutPrefix(m.Path+"/", m.Module+"/")
	if m.Module == "" || !within {
		return Main{}, refused
	}
	files, err := r.git(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ":(glob)**/go.mod")
	if err != nil {
		return Main{}, fmt.Errorf("%w: git ls-files: %w", zkbench.ErrEnv, err)
	}
	for file := range strings.SplitSeq(strings.Trim(files, "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(r.root, file)) // it may have been removed
		if line := moduleLine.FindSubmatch(text); err == nil && line != nil && string(line[1]) == m.Module {
			m.dir = filepath.Join(filepath.Dir(file), filepath.FromSlash(below))
			return m, nil
		}
	}
	return Main{}, refused
}

// dirIn returns the package's directory in a tree of the revision.
func (m Main) dirIn(v Revision, tree string) (string, error) {
	dir := filepath.Join(tree, m.dir)
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("%w: %s has no package %s; accepted: revisions of the running program", zkbench.ErrEnv, v, m.Path)
	}
	return dir, nil
}
