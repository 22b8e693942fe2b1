package zkbench_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
)

const module = "github.com/zkbench/zkbench"

// layers are the folders of the module, the lowest layer first: a package imports packages of lower layers, and of its own
// folder. A package's folder is its first path element; below internal/, the first two. The root package is ".".
var layers = [][]string{
	{"."},
	{"internal/sys"},
	{"executor", "transcript"},
	{"internal/arith"},
	{"group", "goldilocks", "hash"},
	{"rangeproof", "srs"},
	{"circuits", "plonkish", "stark", "token"},
	{"riscv"},
	{"zkvm"},
	{"internal/input", "internal/result"},
	{"internal/runner"},
	{"internal/workload", "internal/view"},
	{"internal/measure"},
	{"internal/compare", "internal/study"},
	{"internal/cli"},
	{"bench"},
	{"cmd"},
	{"internal/testing"},
}

// rules are what the layers do not say: which packages a package may import. A name stands for the package; with /... also for
// all packages below it. Packages of tests are exempt (see forTests).
var rules = []struct {
	name  string
	of    func(pkg string) bool
	only  []string // the packages of this module that these may import; nil: any that is not in never
	never []string
	all   bool // holds also for the packages that their imports import
}{
	{
		name: "product code imports no helpers of tests", of: every,
		never: []string{"internal/testing/..."},
	},
	{
		name: "of internal, public packages import arithmetic and system calls", of: public,
		only: append(publicFolders(), "internal/arith/...", "internal/sys/..."),
	},
	{
		name: "the definition of a workload knows of measuring only the stages", of: isOne("internal/workload"),
		only: []string{".", "executor", "internal/input/...", "internal/result/...", "internal/runner/stage"},
	},
	{
		name: "views show records", of: below("internal/view"),
		only: []string{".", "internal/result/...", "internal/sys/...", "internal/view/..."},
	},
	{
		name: "the command line uses no groups, transcripts or range proofs by itself", of: below("internal/cli"),
		never: []string{"group/...", "transcript/...", "rangeproof/..."},
	},
	{
		name: "cli, and so a program of package bench, links none of our systems", of: isOne("internal/cli"), all: true,
		only: []string{
			".", "executor", "riscv", "riscv/call", "internal/cli", "internal/sys/...", "internal/input/...", "internal/result/...",
			"internal/runner/...", "internal/workload", "internal/workload/guestprogram", "internal/workload/prover",
			"internal/workload/selfcheck", "internal/view/...", "internal/measure/...", "internal/compare/...",
		},
	},
}

func every(string) bool { return true }

// public reports whether people outside may import the package. bench and cmd are the front doors of internal packages and do
// not count.
func public(pkg string) bool {
	return !slices.Contains(strings.Split(pkg, "/"), "internal") && slices.Contains(publicFolders(), folderOf(pkg)+"/...")
}

// publicFolders returns patterns for the folders of public packages, bench excepted.
func publicFolders() (all []string) {
	for _, folder := range slices.Concat(layers...) {
		switch {
		case folder == ".":
			all = append(all, folder)
		case folder != "bench" && folder != "cmd" && !strings.HasPrefix(folder, "internal/"):
			all = append(all, folder+"/...")
		}
	}
	return all
}

func isOne(of ...string) func(string) bool {
	return func(pkg string) bool { return slices.Contains(of, pkg) }
}

func below(folder string) func(string) bool {
	return func(pkg string) bool { return folderOf(pkg) == folder }
}

// forTests reports whether a package serves tests only: it is in internal/testing, or it is a package named *test within the
// internal folder of a package.
func forTests(pkg string) bool {
	elements := strings.Split(pkg, "/")
	return folderOf(pkg) == "internal/testing" || slices.Contains(elements[1:], "internal") && strings.HasSuffix(pkg, "test")
}

// covers reports whether a name of a rule stands for the package.
func covers(name, pkg string) bool {
	folder, all := strings.CutSuffix(name, "/...")
	return pkg == folder || all && strings.HasPrefix(pkg, folder+"/")
}

// folderOf returns the folder of a package that the table of layers may name.
func folderOf(pkg string) string {
	elements := strings.SplitN(pkg, "/", 3)
	if elements[0] == "internal" && len(elements) > 1 {
		return elements[0] + "/" + elements[1]
	}
	return elements[0]
}

// layerOf returns the layer of a package, -1 if its folder has none.
func layerOf(pkg string) int {
	return slices.IndexFunc(layers, func(folders []string) bool { return slices.Contains(folders, folderOf(pkg)) })
}

// TestLayers checks that imports point to lower layers and that the rules hold.
func TestLayers(t *testing.T) {
	imports := packages(t)
	used := make(map[string]bool)
	for pkg := range imports {
		used[folderOf(pkg)] = true
		layer := layerOf(pkg)
		if layer < 0 {
			t.Errorf("%s: its folder is not in the table of layers", pkg)
		}
		if forTests(pkg) {
			continue
		}
		for _, other := range imports[pkg] {
			if folderOf(other) != folderOf(pkg) && layerOf(other) >= layer {
				t.Errorf("%s imports %s, which is not in a lower layer", pkg, other)
			}
		}
		for _, r := range rules {
			if !r.of(pkg) {
				continue
			}
			others := imports[pkg]
			if r.all {
				others = reached(imports, pkg)
			}
			for _, other := range others {
				is := func(name string) bool { return covers(name, other) }
				if r.only != nil && !slices.ContainsFunc(r.only, is) || slices.ContainsFunc(r.never, is) {
					t.Errorf("%s imports %s; the rule: %s", pkg, other, r.name)
				}
			}
		}
	}
	for _, folder := range slices.Concat(layers...) {
		if !used[folder] {
			t.Errorf("%s: has no package; take it from the table of layers", folder)
		}
	}
}

// reached returns the packages that a package imports, and those that they import.
func reached(imports map[string][]string, pkg string) (all []string) {
	next := slices.Clone(imports[pkg])
	for len(next) > 0 {
		other := next[0]
		if next = next[1:]; !slices.Contains(all, other) {
			all = append(all, other)
			next = append(next, imports[other]...)
		}
	}
	return all
}

// directory returns the folder of a package in this module, and whether it is of the module.
func directory(path string) (dir string, ours bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// packages returns the module's packages, each with those of them that it imports outside
// tests, by their directories.
func packages(t *testing.T) map[string][]string {
	out := must.Get(exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output())(t)
	all := make(map[string][]string)
	for in := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		dir, _ := directory(p.ImportPath)
		all[dir] = nil
		for _, path := range p.Imports {
			if other, ours := directory(path); ours {
				all[dir] = append(all[dir], other)
			}
		}
	}
}

// maxParameters is how many parameters an exported function has at most: of more, callers
// exchange two and do not see it. They take a struct.
const maxParameters = 6

// exportedReceiver tells whether a function is one of a type that others see, or of none: another type
// has the methods that an interface wants.
func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	of := f.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.IsExported()
		default:
			return true
		}
	}
}

// TestParameters: no exported function or method has more than maxParameters.
func TestParameters(t *testing.T) {
	must.Do(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (entry.Name()[0] == '.' || path == "bin" || path == "peers"):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() && exportedReceiver(f) && f.Type.Params.NumFields() > maxParameters {
				t.Errorf("%s: %s has %d parameters, more than %d", path, f.Name, f.Type.Params.NumFields(), maxParameters)
			}
		}
		return nil
	}))
}
