package zkbench_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// linkedFile lists what a program links that imports one public package alone: the package, the size of the program on
// linux/amd64 in MB, and the modules of others.
const linkedFile = "api/linked.txt"

// linked is a line of linkedFile.
type linked struct {
	megabytes float64
	modules   []string
}

// TestLinked imports each public package alone in a module of a stranger, and compares the modules that such a program links
// with linkedFile; in the long form, also its size, which may grow by a tenth. ZKBENCH_UPDATE=1 with ZKBENCH_LONG=1 writes the
// file anew.
func TestLinked(t *testing.T) {
	testsize.Full(t)
	dir := strangersModule(t)
	var pkgs []string
	for pkg := range packages(t) {
		program := covers("riscv/guests/...", pkg) || pkg == "riscv/c" // in Go and in C
		if public(pkg) && pkg != "." && !forTests(pkg) && !program {
			pkgs = append(pkgs, pkg)
		}
	}
	slices.Sort(pkgs)
	for _, pkg := range pkgs {
		program := filepath.Join(dir, programOf(pkg))
		must.Do(t, os.Mkdir(program, 0o777))
		must.Do(t, os.WriteFile(filepath.Join(program, "main.go"), fmt.Appendf(nil, "package main\n\nimport _ %q\n\nfunc main() {}\n", module+"/"+pkg), 0o666))
	}
	modules := modulesOf(t, dir)
	now := make(map[string]linked)
	for _, pkg := range pkgs {
		now[pkg] = linked{modules: modules["stranger/"+programOf(pkg)]}
	}
	measured := testsize.Long() && runtime.GOOS+"/"+runtime.GOARCH == "linux/amd64"
	if measured {
		bin := t.TempDir()
		goIn(t, dir, "build", "-ldflags=-s -w", "-o", bin, "./...")
		for _, pkg := range pkgs {
			l := now[pkg]
			l.megabytes = float64(must.Get(os.Stat(filepath.Join(bin, programOf(pkg))))(t).Size()) / 1e6
			now[pkg] = l
		}
	}
	if os.Getenv("ZKBENCH_UPDATE") != "" && measured {
		var text strings.Builder
		for _, pkg := range pkgs {
			fmt.Fprintf(&text, "%s %.1f %s\n", pkg, now[pkg].megabytes, strings.Join(now[pkg].modules, " "))
		}
		must.Do(t, os.WriteFile(linkedFile, []byte(text.String()), 0o666))
	}
	want := readLinked(t)
	golden.Equal(t, "packages", slices.Sorted(maps.Keys(want)), pkgs)
	for _, pkg := range pkgs {
		golden.Equal(t, "modules that "+pkg+" links", want[pkg].modules, now[pkg].modules)
		if measured {
			golden.Within(t, "MB of a program with "+pkg, 0, now[pkg].megabytes, 1.1*want[pkg].megabytes+0.1)
		}
	}
}

func programOf(pkg string) string { return strings.ReplaceAll(pkg, "/", "-") }

// strangersModule returns the directory of a module that requires this one as it is here.
func strangersModule(t *testing.T) string {
	t.Helper()
	dir, here := t.TempDir(), must.Get(os.Getwd())(t)
	_, requires, found := strings.Cut(string(must.Get(os.ReadFile("go.mod"))(t)), "\n")
	if !found {
		t.Fatal("go.mod has one line")
	}
	text := fmt.Sprintf("module stranger\n%s\nrequire %s v0.0.0\n\nreplace %s => %s\n", requires, module, module, strconv.Quote(here))
	must.Do(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o666))
	must.Do(t, os.WriteFile(filepath.Join(dir, "go.sum"), must.Get(os.ReadFile("go.sum"))(t), 0o666))
	return dir
}

func goIn(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out
}

// modulesOf returns the modules of others that each program of a module links, in order, by its import path.
func modulesOf(t *testing.T, dir string) map[string][]string {
	t.Helper()
	type listed struct {
		ImportPath string
		Deps       []string
		Module     *struct{ Path string }
	}
	all := make(map[string]listed)
	for in := json.NewDecoder(strings.NewReader(string(goIn(t, dir, "list", "-mod=readonly", "-deps", "-json=ImportPath,Deps,Module", "./...")))); ; {
		var p listed
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
	modules := make(map[string][]string)
	for name, p := range all {
		if !strings.HasPrefix(name, "stranger/") {
			continue
		}
		modules[name] = []string{}
		for _, dep := range p.Deps {
			m := all[dep].Module
			if m != nil && m.Path != module && !slices.Contains(modules[name], m.Path) {
				modules[name] = append(modules[name], m.Path)
			}
		}
		slices.Sort(modules[name])
	}
	return modules
}

func readLinked(t *testing.T) map[string]linked {
	t.Helper()
	all := make(map[string]linked)
	for line := range strings.Lines(string(must.Get(os.ReadFile(linkedFile))(t))) {
		words := strings.Fields(line)
		if len(words) < 2 {
			t.Fatalf("%s: %q", linkedFile, line)
		}
		all[words[0]] = linked{must.Get(strconv.ParseFloat(words[1], 64))(t), words[2:]}
	}
	return all
}
