// Mutate changes, one at a time, the lines on which a proof's secrecy and soundness depend, and
// runs the tests that should notice. It leaves out tests that compare with golden vectors, because
// regenerating a vector would hide the change. Run it with
//
//	make mutate
//
// A run takes some ninety minutes on two cores. Mutation operators (operators.go) find code to
// change by its structure. A short list (special.go) names further code by its exact text, which
// must exist.
//
// All mutants are compiled into one build with "go test -overlay", so that nothing changes on disk.
// Each mutant is guarded by its number, which an environment variable selects (R. Untch, A. Offutt,
// M. Harrold: Mutation analysis using mutant schemata, 1993). Every test first runs alone on
// unchanged code, to see which mutants it reaches. A mutant is then run with only the tests that
// reach it, starting with those that kill the most mutants for their time. It is killed when a test
// fails, panics or takes twenty times as long. Tests that are slow by themselves are left out.
//
// Results are written to results.tsv as they arrive. With -resume, Mutate continues from this file
// and runs the survivors again. The file equivalent.txt lists the mutants that no test can notice,
// with the reasons. The exit code is 1 if a mutant survives that is not listed there. It is also 1
// if equivalent.txt or special.go names a mutant that does not exist.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const module = "github.com/zkbench/zkbench"

var (
	// mutated lists the packages that are changed, and whose tests should notice. If files is nil,
	// all files are changed.
	mutated = []struct {
		dir   string
		files []string
	}{
		{"transcript", nil},
		{"group", []string{"weights.go", "accumulator.go", "basis.go"}},
		{"rangeproof", nil},
		{"token", []string{"core.go", "params.go", "prove.go", "typesum.go", "verify.go"}},
		{"rangeproof/bulletproof", nil},
		{"rangeproof/csp", nil},
		{"plonkish", []string{
			"builder.go", "cache.go", "circuit.go", "encode.go", "gate.go", "gates.go", "held.go", "identity.go", "key.go", "lookup.go", "loose.go",
			"open.go", "point.go", "proof.go", "prove.go", "quotient.go", "rows.go", "transcript.go", "verify.go",
		}},
		{"plonkish/pedersen", nil},
		{"plonkish/keccak", nil},
		{"plonkish/words", nil},
		{"stark", []string{"circuit.go", "circuit_queries.go", "circuit_verify.go", "encode.go", "fixed.go", "form.go", "fri.go", "lookups.go", "params.go", "stark.go", "system.go", "verify.go", "visibility.go"}},
		{"stark/air", []string{"builder.go", "program.go"}},
		{"stark/internal/challenger", nil},
		{"stark/internal/circuit", nil},
		{"stark/internal/tree", nil},
		{"stark/keccak", nil},
		{"stark/poseidon", nil},
		{"stark/recursion", []string{"recursion.go", "params.go", "tables.go", "tree.go"}},
	}
	// vectors matches the tests that compare with a file that the code itself has written.
	vectors = regexp.MustCompile(`^(Benchmark|Test(XOF)?Vectors?$|Test(Proof)?Sizes$)`)

	//go:embed equivalent.txt
	equivalentText string
)

func main() {
	log.SetFlags(log.Ltime)
	root := flag.String("root", "..", "the module's directory")
	out := flag.String("out", "../bin/mutate", "directory for build outputs and results.tsv")
	only := flag.String("run", "", "run only the mutants that match this regular expression")
	list := flag.Bool("list", false, "print the mutants and exit")
	resume := flag.Bool("resume", false, "continue from results.tsv: run again only mutants that it does not list as killed")
	all := flag.Bool("equivalent", false, "also run the mutants in equivalent.txt")
	slowest := flag.Duration("slowest", 2*time.Second, "leave out tests that take longer by themselves")
	flag.Parse()
	s := &session{slowest: *slowest, filter: regexp.MustCompile(*only), all: *all, files: make(map[string]string)}
	for dir, path := range map[*string]string{&s.root: *root, &s.out: *out} {
		var err error
		if *dir, err = filepath.Abs(path); err != nil {
			log.Fatal(err)
		}
	}
	if err := s.run(*list, *resume); err != nil {
		log.Fatal(err)
	}
}

type session struct {
	root, out string
	filter    *regexp.Regexp
	all       bool
	slowest   time.Duration

	mutants    []mutant
	files      map[string]string // the overlay: path, replacement
	equivalent map[string]string // key, reason
	tests      []*test
}

// test is one test of a package's binary.
type test struct {
	dir, name string
	binary    string
	args      []string
	took      time.Duration // processor time
	kills     int
	reaches   []string // numbers of the mutants that it executes
}

// result is the outcome for one mutant. results.tsv has one line for each, which begins with the
// mutant's key.
type result struct{ verdict, by string }

const (
	killed     = "killed"
	survived   = "survived"
	equivalent = "equivalent" // listed in equivalent.txt
)

func (s *session) run(list, resume bool) error {
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	if err := s.generate(); err != nil {
		return err
	}
	var err error
	if s.equivalent, err = parseEquivalents(equivalentText, s.mutants); err != nil {
		return err
	}
	if list {
		for _, m := range s.mutants {
			fmt.Printf("%s:%d\t%s\n", m.file, m.line, m.key)
		}
		return nil
	}
	path := filepath.Join(s.out, "results.tsv")
	done := make(map[string]result)
	mode := os.O_TRUNC
	if resume {
		mode = os.O_APPEND
		if done, err = readResults(path); err != nil {
			return err
		}
	}
	if err := s.build(); err != nil {
		return err
	}
	if err := s.baseline(); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|mode, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	for i, m := range s.mutants {
		if !s.filter.MatchString(m.key) || s.equivalent[m.key] != "" && !s.all || done[m.key].verdict == killed {
			continue
		}
		r := s.try(m)
		log.Printf("%d/%d %s: %s %s", i+1, len(s.mutants), m.key, r.verdict, r.by)
		done[m.key] = r
		if _, err := fmt.Fprintf(f, "%s\t%s\t%s\n", m.key, r.verdict, r.by); err != nil {
			return err
		}
	}
	return s.table(done)
}

// generate writes the mutated files and checks that they compile. Mutants that do not compile are
// left out.
func (s *session) generate() error {
	runtime := filepath.Join(s.root, "internal/mut/mut.go")
	s.files[runtime] = filepath.Join(s.root, "tools/mutate/mut/mut.go")
	if err := s.overlay(); err != nil {
		return err
	}
	args := []string{"list", "-overlay", s.overlayFile(), "-deps", "-export", "-f={{.ImportPath}} {{.Export}}", "./internal/mut"}
	for _, p := range mutated {
		args = append(args, "./"+p.dir)
	}
	listed, err := s.command("go", args...).Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	exports := make(map[string]string) // files of the compiler's export data
	for line := range strings.Lines(string(listed)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	next := 0
	for _, p := range mutated {
		path := module + "/" + p.dir
		have, err := build.ImportDir(filepath.Join(s.root, p.dir), 0)
		if err != nil {
			return err
		}
		sources := make(map[string][]byte)
		for _, name := range have.GoFiles {
			if sources[name], err = os.ReadFile(filepath.Join(have.Dir, name)); err != nil {
				return err
			}
		}
		info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object)}
		parsed, failed := check(fset, path, sources, imports, info)
		if len(failed) > 0 {
			return failed[0]
		}
		var found []*mutator
		for _, name := range have.GoFiles {
			if p.files != nil && !slices.Contains(p.files, name) {
				continue
			}
			m := &mutator{fset: fset, info: info, name: p.dir + "/" + name, src: sources[name], next: &next, keys: make(map[string]int)}
			m.packageEnd = m.offset(parsed[name].Name.End())
			ast.Inspect(parsed[name], m.visit)
			if err := m.specials(parsed[name]); err != nil {
				return err
			}
			found = append(found, m)
		}
		if err := s.compile(fset, path, sources, imports, found); err != nil {
			return err
		}
	}
	for _, sp := range special {
		if !slices.ContainsFunc(s.mutants, func(m mutant) bool { return m.file == sp.file && strings.Contains(m.key, sp.name) }) {
			return fmt.Errorf("special mutant %q: %s is not mutated, or it does not compile", sp.name, sp.file)
		}
	}
	return s.overlay()
}

// compile writes the mutated files of a package, without the mutants that do not compile.
func (s *session) compile(fset *token.FileSet, path string, sources map[string][]byte, imports types.Importer, found []*mutator) error {
	broken := make(map[int]bool)
	mixed := maps.Clone(sources)
	for {
		texts := make(map[string][]edit) // by file: the position of each edit's text
		for _, m := range found {
			name := filepath.Base(m.name)
			mixed[name], texts[name] = m.apply(broken)
		}
		_, failed := check(fset, path, mixed, imports, nil)
		if len(failed) == 0 {
			break
		}
		before := len(broken)
		for _, err := range failed {
			at := fset.Position(err.Pos)
			for _, e := range texts[filepath.Base(at.Filename)] {
				if e.offset <= at.Offset && at.Offset < e.offset+len(e.text) {
					broken[e.id] = true
				}
			}
		}
		if len(broken) == before {
			return fmt.Errorf("no mutant explains: %w", failed[0])
		}
	}
	for _, m := range found {
		written := filepath.Join(s.out, strings.ReplaceAll(m.name, "/", "_")+".txt") // no package for ./...
		if err := os.WriteFile(written, mixed[filepath.Base(m.name)], 0o644); err != nil {
			return err
		}
		s.files[filepath.Join(s.root, m.name)] = written
		s.mutants = append(s.mutants, slices.DeleteFunc(m.mutants, func(m mutant) bool { return broken[m.id] })...)
	}
	log.Printf("%s: %d mutants do not compile", path, len(broken))
	return nil
}

// apply returns the mutated source and the positions of the insertions in it.
func (m *mutator) apply(broken map[int]bool) (src []byte, at []edit) {
	slices.SortStableFunc(m.edits, compareEdits)
	from := m.packageEnd
	src = append(src, m.src[:from]...)
	src = append(src, `; import "`+module+`/internal/mut"`...)
	for _, e := range m.edits {
		if broken[e.id] {
			continue
		}
		src = append(src, m.src[from:e.offset]...)
		from = e.offset
		e.offset = len(src)
		src = append(src, e.text...)
		at = append(at, e)
	}
	src = append(src, m.src[from:]...)
	return append(src, "\nvar _ = mut.On\n"...), at
}

func check(fset *token.FileSet, path string, sources map[string][]byte, imports types.Importer, info *types.Info) (map[string]*ast.File, []types.Error) {
	parsed := make(map[string]*ast.File)
	var files []*ast.File
	var failed []types.Error
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		f, err := parser.ParseFile(fset, name, sources[name], parser.SkipObjectResolution)
		if err != nil {
			log.Fatalf("%s: %v", path, err) // insertions nest, so they parse
		}
		parsed[name] = f
		files = append(files, f)
	}
	cfg := types.Config{Importer: imports, Error: func(err error) { failed = append(failed, err.(types.Error)) }}
	_, _ = cfg.Check(path, fset, files, info) // its error is the first of failed
	return parsed, failed
}

func (s *session) overlayFile() string { return filepath.Join(s.out, "overlay.json") }

func (s *session) overlay() error {
	b, err := json.Marshal(map[string]any{"Replace": s.files})
	if err != nil {
		return err
	}
	return os.WriteFile(s.overlayFile(), b, 0o644)
}

func (s *session) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir, c.Stderr = s.root, os.Stderr
	return c
}

// build compiles the tests and lists them.
func (s *session) build() error {
	for _, p := range mutated {
		dir := p.dir
		binary := filepath.Join(s.out, strings.ReplaceAll(dir, "/", "_")+".test")
		log.Printf("building the tests of %s", dir)
		if err := s.command("go", "test", "-c", "-vet=off", "-overlay", s.overlayFile(), "-o", binary, "./"+dir).Run(); err != nil {
			return err
		}
		c := s.command(binary, "-test.list", ".")
		c.Dir = filepath.Join(s.root, dir)
		names, err := c.Output()
		if err != nil {
			return err
		}
		var args []string
		if imports, _ := s.command("go", "list", "-f", "{{.TestImports}} {{.XTestImports}}", "./"+dir).Output(); bytes.Contains(imports, []byte("pgregory.net/rapid")) {
			args = []string{"-rapid.checks=10", "-rapid.nofailfile"}
		}
		for _, name := range strings.Fields(string(names)) {
			if !vectors.MatchString(name) {
				s.tests = append(s.tests, &test{dir: dir, name: name, binary: binary, args: args})
			}
		}
	}
	return nil
}

// baseline runs each test alone on the unchanged code.
func (s *session) baseline() error {
	reach := filepath.Join(s.out, "reach")
	for i, t := range s.tests {
		if err := os.RemoveAll(reach); err != nil {
			return err
		}
		passed, took, output := s.pass(t, 10*s.slowest+10*time.Second, "MUTANT_REACH="+reach)
		t.took = took
		log.Printf("%d/%d %s %s: %s", i+1, len(s.tests), t.dir, t.name, t.took.Round(time.Millisecond))
		if !passed {
			log.Printf("%s %s fails on the unchanged code, or is slow, and is left out:\n%.300s", t.dir, t.name, output)
			continue
		}
		ids, err := os.ReadFile(reach)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		t.reaches = strings.Fields(string(ids))
	}
	return nil
}

// pass runs a test. It reports whether the test passes within the limit, its processor time, and
// its output.
func (s *session) pass(t *test, limit time.Duration, env string) (bool, time.Duration, []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, t.binary, append([]string{"-test.run", "^" + t.name + "$", "-test.failfast"}, t.args...)...)
	c.Dir = filepath.Join(s.root, t.dir)
	c.Env = append(os.Environ(), "GOMAXPROCS=1", env)
	output, err := c.CombinedOutput()
	return err == nil, c.ProcessState.UserTime() + c.ProcessState.SystemTime(), output
}

// try runs the mutant with the tests that reach it.
func (s *session) try(m mutant) result {
	reached, id := 0, strconv.Itoa(m.id)
	// What killed others is likely to kill this one.
	slices.SortStableFunc(s.tests, func(a, b *test) int {
		return int(a.took)/(a.kills+1) - int(b.took)/(b.kills+1)
	})
	for _, t := range s.tests {
		if !slices.Contains(t.reaches, id) || t.took > s.slowest {
			continue
		}
		reached++
		if ok, _, _ := s.pass(t, 20*t.took+5*time.Second, "MUTANT="+id); !ok {
			t.kills++
			return result{killed, t.dir + " " + t.name}
		}
	}
	return result{survived, fmt.Sprintf("%d tests reach it", reached)}
}

func readResults(path string) (map[string]result, error) {
	text, err := os.ReadFile(path)
	done := make(map[string]result)
	for line := range strings.Lines(string(text)) {
		if v := strings.Split(strings.TrimSpace(line), "\t"); len(v) == 3 {
			done[v[0]] = result{v[1], v[2]}
		}
	}
	return done, err
}

// parseEquivalents reads lines with a reason, which begin with #, each followed by the keys of the
// mutants that it applies to. These mutants must exist.
func parseEquivalents(text string, mutants []mutant) (map[string]string, error) {
	reasons := make(map[string]string)
	reason := ""
	var missing []error
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if after, ok := strings.CutPrefix(line, "# "); ok {
			reason = after
		} else if line != "" {
			reasons[line] = reason
			if reason == "" || !slices.ContainsFunc(mutants, func(m mutant) bool { return m.key == line }) {
				missing = append(missing, fmt.Errorf("equivalent.txt: no such mutant, or no reason: %s", line))
			}
		}
	}
	return reasons, errors.Join(missing...)
}

// table prints the counts by file. It returns an error that lists the survivors and the mutants
// that are listed as equivalent but were killed.
func (s *session) table(done map[string]result) error {
	const mutants, all = "mutants", "all"
	counts := map[string]map[string]int{all: {}} // by file and verdict
	var names, survivors []string
	for _, m := range s.mutants {
		r := done[m.key]
		wrong := r.verdict == survived
		if s.equivalent[m.key] != "" {
			wrong = r.verdict == killed
			r = result{equivalent, "listed as equivalent, killed by " + r.by}
		}
		if wrong {
			survivors = append(survivors, fmt.Sprintf("%s:%d\t%s\t%s", m.file, m.line, m.key, r.by))
		}
		if counts[m.file] == nil {
			counts[m.file] = make(map[string]int)
			names = append(names, m.file)
		}
		for _, c := range []map[string]int{counts[m.file], counts[all]} {
			c[mutants]++
			c[r.verdict]++
		}
	}
	slices.Sort(names)
	line := "%-36s %8v %8v %10v %9v\n"
	fmt.Printf(line, "file", mutants, killed, equivalent, survived)
	for _, name := range append(names, all) {
		c := counts[name]
		fmt.Printf(line, name, c[mutants], c[killed], c[equivalent], c[survived])
	}
	if len(survivors) > 0 {
		return fmt.Errorf("%d survived:\n%s", len(survivors), strings.Join(survivors, "\n"))
	}
	return nil
}
