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

// floors are the rooms of the house, the lowest floor first. A room is a package with all
// below its directory, as far as no longer name here has them. It imports rooms of lower
// floors only.
var floors = [][]string{
	{".", "internal/testing/must", "internal/sys/atomicfile", "internal/study/rv"},
	{"executor", "transcript", "riscv", "internal/sys/memory", "circuits/gates", "internal/testing/testsize", "internal/testing/golden", "internal/view/progress", "internal/arith/asm", "internal/compare/gitenv", "stark/internal/omit"},
	{"internal/arith/lanes", "internal/sys/mapped", "internal/workload/guests", "internal/testing/forgery"},
	{"group", "hash", "goldilocks", "internal/testing/faulttest", "internal/testing/gittest"},
	{"srs", "rangeproof", "internal/arith/poly"},
	{"circuits", "token", "plonkish", "stark"},
	{"riscv/guests", "internal/result/record", "internal/runner/meter", "internal/testing/pgtest", "internal/input/usage", "internal/study/loops", "internal/workload/sve", "internal/testing/goldilockstest", "internal/testing/keccaktest", "stark/internal/starktest"},
	{"internal/result/env", "internal/cli/keyfile", "internal/result/figure", "internal/runner/stage", "internal/result/stat", "internal/runner/child", "internal/input/yamlfile"},
	{"internal/view/plot", "internal/cli/purse", "internal/runner/perf", "internal/compare/counts", "internal/testing/qemutest"},
	{"internal/view/report", "internal/runner", "internal/view/page", "internal/study/peer"},
	{"internal/workload"},
	{"internal/measure", "internal/view/outdir", "internal/workload/circuits", "internal/workload/goldilocks", "internal/workload/guest", "internal/workload/hash", "internal/workload/prover", "internal/workload/rangeproof", "internal/workload/selfcheck", "internal/workload/stark", "internal/workload/token"},
	{"internal/study/peer/ours", "internal/cli/demo", "internal/compare", "internal/compare/history", "internal/measure/hosts", "internal/measure/jobs"},
	{"internal/study", "internal/measure/suite", "internal/compare/selfcheck"},
	{"internal/study/circuits", "internal/study/sve", "internal/study/token", "internal/view/charts"},
	{"internal/cli", "internal/testing/clitest", "internal/testing/hoststest", "internal/testing/plottest", "internal/testing/recordtest", "internal/testing/studytest"},
	{"bench"},
	{"cmd"},
}

// rules are what the floors do not say: which rooms a room imports at most, or not at all.
// A name stands for the package; with /... for all below it too.
var rules = []struct {
	name   string
	of     func(pkg string) bool
	only   []string // of ours; nil: any that is not in never
	never  []string
	except []string // of never
}{
	{name: "who imports a public package gets no instruments", of: public, never: []string{"internal/..."}, except: []string{"internal/sys/memory", "internal/arith/lanes", "internal/sys/atomicfile", "internal/sys/mapped", "internal/arith/poly", "stark/internal/omit"}},
	{name: "a workload does not know how it is measured", of: isOne("internal/workload"), only: []string{"internal/result/record", "internal/runner/stage", "internal/input/usage"}},
	{
		name: "views show records", of: isOne("internal/view/report", "internal/view/plot", "internal/view/page"),
		only: []string{".", "internal/result/record", "internal/result/figure", "internal/result/stat", "internal/result/env"},
	},
	{name: "the command knows no cryptography", of: isOne("internal/cli", "internal/cli/own"), never: []string{"group/...", "transcript/...", "rangeproof/..."}},
	{
		name: "who measures something else links none of our systems", of: isOne("internal/cli"),
		never:  []string{"token/...", "circuits/...", "plonkish/...", "stark/...", "srs", "hash/...", "goldilocks/...", "internal/workload/...", "internal/study/...", "internal/study/peer/...", "internal/cli/demo", "internal/cli/purse", "internal/cli/keyfile"},
		except: []string{"internal/workload", "internal/workload/prover", "internal/workload/selfcheck"},
	},
}

// public tells whether people outside may import the package; bench is made of the
// instruments.
func public(pkg string) bool {
	return !slices.Contains(strings.Split(pkg, "/"), "internal") && !covers("cmd/...", pkg) && !covers("bench/...", pkg)
}

func isOne(of ...string) func(string) bool {
	return func(pkg string) bool { return slices.Contains(of, pkg) }
}

// covers tells whether a name of a rule stands for the package.
func covers(name, pkg string) bool {
	room, below := strings.CutSuffix(name, "/...")
	return pkg == room || below && strings.HasPrefix(pkg, room+"/")
}

// TestArrows: imports run down, and the rooms keep their rules.
func TestArrows(t *testing.T) {
	inhabited := make(map[string]bool)
	for pkg, imports := range packages(t) {
		floor, room := floorOf(pkg)
		if inhabited[room] = true; floor < 0 {
			t.Errorf("%s: on no floor; give it one in the table of floors", pkg)
			continue
		}
		for _, other := range imports {
			if below, next := floorOf(other); next != room && below >= floor {
				t.Errorf("%s imports %s, which is not below it", pkg, other)
			}
			is := func(name string) bool { return covers(name, other) }
			for _, r := range rules {
				if r.of(pkg) && (r.only != nil && !slices.ContainsFunc(r.only, is) ||
					slices.ContainsFunc(r.never, is) && !slices.ContainsFunc(r.except, is)) {
					t.Errorf("%s imports %s; the rule: %s", pkg, other, r.name)
				}
			}
		}
	}
	for _, room := range slices.Concat(floors...) {
		if !inhabited[room] {
			t.Errorf("%s: no package; take it from the table of floors", room)
		}
	}
}

// floorOf returns the floor of a package and its room, the longest name that has it.
func floorOf(pkg string) (floor int, room string) {
	floor = -1
	for i, rooms := range floors {
		for _, r := range rooms {
			if covers(r+"/...", pkg) && len(r) > len(room) {
				floor, room = i, r
			}
		}
	}
	return floor, room
}

// packages returns the module's packages, each with those of them that it imports outside
// tests, by their directories.
func packages(t *testing.T) map[string][]string {
	out := must.Get(exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output())(t)
	directory := func(path string) (string, bool) {
		if path == module {
			return ".", true
		}
		return strings.CutPrefix(path, module+"/")
	}
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
