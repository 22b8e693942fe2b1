package zkbench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// repository holds the names that pages may use.
type repository struct {
	root    string
	files   map[string]bool            // and directories, from the root
	bases   map[string]bool            // last elements of files
	names   map[string]map[string]bool // exported, by package name; a method or field behind its type and a dot
	tests   map[string][]string        // tests and benchmarks, by directory
	targets map[string]bool            // of the Makefile
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)

// readRepository reads the repository's names.
func readRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{
		root:  must.Get(filepath.Abs(filepath.Join("..", "..", "..")))(t),
		files: make(map[string]bool), bases: make(map[string]bool), names: make(map[string]map[string]bool),
		tests: make(map[string][]string), targets: make(map[string]bool),
	}
	must.Do(t, filepath.WalkDir(r.root, func(file string, entry fs.DirEntry, err error) error {
		name := filepath.ToSlash(must.Get(filepath.Rel(r.root, file))(t))
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "bin" || name == ".git" || entry.Name() == "target" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir():
			r.files[name] = true
			return nil
		}
		r.files[name], r.bases[path.Base(name)] = true, true
		if path.Ext(name) != ".go" {
			return nil
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, "_test.go") {
			for _, m := range testFunction.FindAllSubmatch(source, -1) {
				r.tests[path.Dir(name)] = append(r.tests[path.Dir(name)], string(m[1]))
			}
			return nil
		}
		r.declared(name, source)
		return nil
	}))
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z-]*):`).FindAllSubmatch(must.Get(os.ReadFile(filepath.Join(r.root, "Makefile")))(t), -1) {
		r.targets[string(m[1])] = true
	}
	return r
}

// declared records the exported names of a file. A file that is not valid Go, such as a template,
// has none.
func (r *repository) declared(name string, source []byte) {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return
	}
	names := r.names[file.Name.Name]
	if names == nil {
		names = make(map[string]bool)
		r.names[file.Name.Name] = names
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			} else {
				names[receiver(d.Recv.List[0].Type)+"."+d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names[n.Name] = true
					}
				case *ast.TypeSpec:
					names[s.Name.Name] = true
					members(s.Type, func(member string) { names[s.Name.Name+"."+member] = true })
				}
			}
		}
	}
}

// receiver returns the name of a receiver's type.
func receiver(of ast.Expr) string {
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// members calls found with the fields and methods of a struct or an interface.
func members(of ast.Expr, found func(string)) {
	var list *ast.FieldList
	switch t := of.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return
	}
	for _, f := range list.List {
		for _, n := range f.Names {
			found(n.Name)
		}
	}
}

// outputs are the base names of files that commands write or that belong to a reader.
var outputs = []string{
	"bench.txt", "benchmark_IOstats.csv", "benchmark_results.csv", "benchmark_results.pdf", "checksums.txt", "records.jsonl", "report.html", "suite.json",
	"prover.yaml", "mine.yaml", "bench_props.json", "TARGET_measure.sh", "TARGET_prepare.sh", "TARGET_prove.sh", "TARGET_prove_for_verify.sh", "TARGET_verify.sh",
	"benchmarks.yml", // in .github/workflows, of the repository that is to have it
}

// outputFolders are folders that commands make.
var outputFolders = []string{"bin", "logs", "plots"}

var (
	namesPath = regexp.MustCompile(`^\.{0,2}/?[\w.@*-]+(/[\w.*-]+)*/?$`)
	namesFile = regexp.MustCompile(`^[\w*-]+\.(go|md|csv|yaml|yml|txt|sh|json|py|pdf|toml|c|ld|h)$`)
	namesGo   = regexp.MustCompile(`^([a-z]\w*)\.([A-Z]\w*)((?:\.[A-Z]\w*)*)$`)
)

// wrongPath says what is wrong with a word of a page that is a path in the repository, relative to
// its root or to the page. It returns "" if nothing is wrong or the word is not a path.
func (r *repository) wrongPath(page, word string) string {
	word = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(word, "./"), "/"), "/...")
	first, rest, deep := strings.Cut(word, "/")
	switch {
	case !namesPath.MatchString(word), slices.Contains(outputFolders, first), slices.Contains(outputs, path.Base(word)):
		return ""
	case deep && rest != "" && r.files[first]: // a file or folder of the root's
		beside := path.Join(path.Dir(page), word)
		if r.files[word] || r.files[beside] || r.globs(word) || r.globs(beside) {
			return ""
		}
		if dir, name, dotted := strings.Cut(path.Base(word), "."); dotted && r.files[path.Join(path.Dir(word), dir)] { // stark/air.Builder
			if r.names[dir][name] || page == "CHANGELOG.md" && namesGo.MatchString(dir+"."+name) { // which names what has gone too
				return ""
			}
		}
		return "no such file"
	case !deep && namesFile.MatchString(word) && !r.bases[word] && !r.globs(word):
		return "no file of this name"
	}
	return ""
}

func (r *repository) globs(pattern string) bool {
	found, err := filepath.Glob(filepath.Join(r.root, filepath.FromSlash(pattern)))
	return strings.Contains(pattern, "*") && err == nil && len(found) > 0
}

// wrongName says what is wrong with a span that names something that a package of ours exports.
func (r *repository) wrongName(word string) string {
	m := namesGo.FindStringSubmatch(strings.TrimSuffix(word, "()"))
	if m == nil || r.names[m[1]] == nil {
		return ""
	}
	names, name, more := r.names[m[1]], m[2], strings.Split(strings.TrimPrefix(m[3], "."), ".")
	if !names[name] {
		return "package " + m[1] + " has no " + name
	}
	if m[3] != "" && !names[name+"."+more[0]] {
		return m[1] + "." + name + " has no " + more[0]
	}
	return ""
}

// wrongTests says what is wrong with a call of go test: a package does not exist, or no test of the
// packages matches a pattern.
func (r *repository) wrongTests(line string) string {
	words := shellWords(line)
	var found []string
	for _, w := range words {
		dir, all := strings.CutSuffix(strings.TrimPrefix(w, "./"), "...")
		dir = strings.TrimSuffix(dir, "/")
		if !strings.HasPrefix(w, "./") {
			continue
		}
		if dir != "" && !r.files[dir] {
			return "no package " + w
		}
		for of, tests := range r.tests {
			if of == dir || all && (dir == "" || strings.HasPrefix(of+"/", dir+"/")) {
				found = append(found, tests...)
			}
		}
	}
	for i, w := range words {
		for flag, prefix := range map[string]string{"-bench": "Benchmark", "-run": "Test"} {
			value, joined := strings.CutPrefix(w, flag+"=")
			if w == flag && i+1 < len(words) {
				value, joined = words[i+1], true
			}
			if top, _, _ := strings.Cut(value, "/"); joined && value != "^$" && value != "none" && value == strings.ToLower(value) == (value == ".") && value != "NAME" {
				match := func(test string) bool {
					ok, err := regexp.MatchString(top, test)
					return strings.HasPrefix(test, prefix) && (ok || err != nil)
				}
				if !slices.ContainsFunc(found, match) {
					return "no " + prefix + " matches " + value
				}
			}
		}
	}
	return ""
}

var shellWord = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)

// shellWords returns the words of a line, without the quotes that a shell removes.
func shellWords(line string) []string {
	words := shellWord.FindAllString(line, -1)
	for i := range words {
		words[i] = strings.NewReplacer("'", "", `"`, "").Replace(words[i])
	}
	return words
}
