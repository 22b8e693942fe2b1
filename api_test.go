package zkbench_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// snapshot is the file with the exported API of all public packages, a line for each feature, as in the files api/*.txt of the
// Go project.
const snapshot = "api/zkbench.txt"

// apiHelp says what a developer does about a difference.
const apiHelp = `the exported API is not that of %s.
If it should be, write the file anew:
	ZKBENCH_UPDATE=1 go test . -run TestAPI
Lines that went or changed break programs of other people. For each of them, the section Unreleased of CHANGELOG.md must have the
name in backquotes with its package, such as %s.`

// feature is a line of the API, for example
//
//	pkg token/action, func Decode(token.CryptoParams, token.Kind, []byte) (*Received, error)
//
// The package of the module itself is called zkbench.
type feature string

var (
	ofPackage  = regexp.MustCompile(`^pkg ([^ ,]+), (.*)$`)
	ofMethod   = regexp.MustCompile(`^method \(\*?(\w+)\) (\w+)`)
	ofType     = regexp.MustCompile(`^type (\w+) (?:struct|interface), (\w+)`)
	ofTopLevel = regexp.MustCompile(`^(?:const|var|func|type) (\w+)`)
)

// name returns the path of a feature's package in the module, a dot, and the name of what the feature describes, for example
// token/action.Received.Verify.
func (f feature) name() string {
	pkg := ofPackage.FindStringSubmatch(string(f))
	if pkg == nil {
		return ""
	}
	for _, pattern := range []*regexp.Regexp{ofMethod, ofType, ofTopLevel} {
		if m := pattern.FindStringSubmatch(pkg[2]); m != nil {
			return pkg[1] + "." + strings.Join(m[1:], ".")
		}
	}
	return ""
}

// TestAPI compares the exported API with the snapshot. It fails if they differ, and says which lines that went or changed the
// changelog does not name. If ZKBENCH_UPDATE is set, it writes the snapshot, unless there are such lines.
func TestAPI(t *testing.T) {
	t.Parallel()
	var now []feature
	for _, pkg := range publicAPI(t) {
		now = append(now, newAPI(pkg).features...)
	}
	text := snapshotOf(now)
	written := strings.ReplaceAll(string(must.Get(os.ReadFile(snapshot))(t)), "\r\n", "\n")
	unnamed := unnamedChanges(readSnapshot(written), now, unreleased(string(must.Get(os.ReadFile("CHANGELOG.md"))(t))))
	for _, f := range unnamed {
		t.Errorf("this line went or changed, and CHANGELOG.md does not name `%s`:\n\t%s", f.name(), f)
	}
	if os.Getenv("ZKBENCH_UPDATE") != "" && len(unnamed) == 0 {
		must.Do(t, os.WriteFile(snapshot, []byte(text), 0o644))
		return
	}
	if written != text {
		golden.Equal(t, snapshot, strings.Split(written, "\n"), strings.Split(text, "\n"))
		t.Errorf(apiHelp, snapshot, "`token/action.Decode`")
	}
}

// snapshotOf returns the text of the snapshot's file.
func snapshotOf(features []feature) (text string) {
	slices.Sort(features)
	for _, f := range slices.Compact(features) {
		text += string(f) + "\n"
	}
	return text
}

func readSnapshot(text string) (features []feature) {
	for line := range strings.Lines(text) {
		features = append(features, feature(strings.TrimSuffix(line, "\n")))
	}
	return features
}

// unreleased returns the section of the changelog for what is not released.
func unreleased(changelog string) string {
	_, section, _ := strings.Cut(changelog, "\n## Unreleased\n")
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// backquoted finds the names in a changelog.
var backquoted = regexp.MustCompile("`([^`\n]+)`")

// unnamedChanges returns the features of before that are not among those of now, and whose names the section of the changelog
// does not have in backquotes. The name of a type stands for what belongs to it, and that of a package for all that it has, if
// the whole type or package went.
func unnamedChanges(before, now []feature, section string) (unnamed []feature) {
	named := make(map[string]bool)
	for _, m := range backquoted.FindAllStringSubmatch(section, -1) {
		named[m[1]] = true
	}
	has, there := make(map[feature]bool), make(map[string]bool)
	for _, f := range now {
		has[f] = true
		for name := f.name(); name != ""; name = above(name) {
			there[name] = true
		}
	}
	for _, f := range before {
		excused := named[f.name()]
		for name := above(f.name()); name != "" && !there[name]; name = above(name) {
			excused = excused || named[name]
		}
		if !has[f] && !excused {
			unnamed = append(unnamed, f)
		}
	}
	return unnamed
}

// above returns the name of the type or the package that a feature belongs to, and "" for a package.
func above(name string) string {
	folder, base := path.Split(name)
	if i := strings.LastIndex(base, "."); i >= 0 {
		return folder + base[:i]
	}
	return ""
}

// TestUnnamedChanges: additions need no name in the changelog; what went or changed does, by its own name or, if all of it
// went, by that of its type or package.
func TestUnnamedChanges(t *testing.T) {
	t.Parallel()
	before := []feature{
		"pkg token/action, func Decode()", "pkg token/action, type Action struct", "pkg token/action, method (*Action) Kind() token.Kind",
		"pkg token/action, type Action struct, Inputs []Input", "pkg zkbench, var ErrLimit error",
	}
	for name, test := range map[string]struct {
		now     []feature
		section string
		want    []string
	}{
		"the same":        {before, "", nil},
		"an addition":     {append(slices.Clone(before), "pkg token/action, func New()"), "", nil},
		"gone":            {before[1:], "`token/action` and `Decode`", []string{"token/action.Decode"}},
		"gone, named":     {before[1:], "- `token/action.Decode` is gone.", nil},
		"changed":         {append([]feature{"pkg token/action, func Decode(int)"}, before[1:]...), "token/action.Decode", []string{"token/action.Decode"}},
		"changed, named":  {append([]feature{"pkg token/action, func Decode(int)"}, before[1:]...), "`token/action.Decode` takes an int", nil},
		"parts of a type": {slices.Concat(before[:2], before[4:]), "`token/action.Action` and `token/action`", []string{"token/action.Action.Kind", "token/action.Action.Inputs"}},
		"a type":          {slices.Concat(before[:1], before[4:]), "`token/action.Action`", nil},
		"a package":       {before[4:], "`token/action` is gone", nil},
		"of the module":   {before[:4], "`zkbench`", nil},
		"another package": {before[4:], "`token`", []string{"token/action.Decode", "token/action.Action", "token/action.Action.Kind", "token/action.Action.Inputs"}},
	} {
		var got []string
		for _, f := range unnamedChanges(before, test.now, test.section) {
			got = append(got, f.name())
		}
		golden.Equal(t, name, test.want, got)
	}
	golden.Equal(t, "the section", "a\n", unreleased("# Changes\n\n## Unreleased\na\n\n## v1\nb\n"))
	golden.Equal(t, "a snapshot", before[3:], readSnapshot(string(before[3]+"\n"+before[4]+"\n")))
}

// unnameable are types in exported signatures that other packages cannot name, with the reason why that is right.
var unnameable = map[string]string{}

// TestNames: other people can name each type in the API. No exported function, method, field or variable has a type that is
// not exported, or that is of an internal package, unless a public package gives it a name.
func TestNames(t *testing.T) {
	t.Parallel()
	all := publicAPI(t)
	given := make(map[types.Object]bool) // names that aliases in public packages stand for
	for _, pkg := range all {
		for _, name := range pkg.Scope().Names() {
			if alias, ok := pkg.Scope().Lookup(name).Type().(*types.Alias); ok && token.IsExported(name) {
				if named, ok := types.Unalias(alias).(*types.Named); ok {
					given[named.Obj()] = true
				}
			}
		}
	}
	seen := make(map[string]bool)
	for _, pkg := range all {
		for name, objects := range newAPI(pkg).uses {
			for _, o := range objects {
				inside := o.Pkg() != nil && slices.Contains(strings.Split(o.Pkg().Path(), "/"), "internal")
				if o.Exported() && !inside || o.Pkg() == nil || given[o] {
					continue
				}
				what := fmt.Sprintf("%s: %s", name, qualified(o.Pkg())+"."+o.Name())
				if seen[what] = true; unnameable[what] == "" {
					t.Errorf("%s, a type that other packages cannot name", what)
				}
			}
		}
	}
	for what := range unnameable {
		if !seen[what] {
			t.Errorf("%s: is not so; take it from the list", what)
		}
	}
}

// mutable are exported variables, with the reason why it does no harm that any package can set them. Errors need no reason.
var mutable = map[string]string{}

// TestVariables: public packages export no variables but errors: an import could set others, and change what everybody proves
// or accepts.
func TestVariables(t *testing.T) {
	t.Parallel()
	failure := types.Universe.Lookup("error").Type()
	for _, pkg := range publicAPI(t) {
		for _, name := range pkg.Scope().Names() {
			v, ok := pkg.Scope().Lookup(name).(*types.Var)
			if !ok || !v.Exported() || strings.HasPrefix(name, "Err") && types.Identical(v.Type(), failure) {
				continue
			}
			if what := qualified(pkg) + "." + name; mutable[what] == "" {
				t.Errorf("%s is a variable, which any package can set; make it a constant or a function that returns a new value", what)
			}
		}
	}
}

// TestFeatures: each kind of feature has its line, and other people's names of types are told from those that they do not have.
func TestFeatures(t *testing.T) {
	t.Parallel()
	const source = `package sample
type Thing[T comparable] struct { Field []T; hidden; *Open; secret int }
type hidden struct { Shown, Again int }
type Open struct{}
func (hidden) Promoted(name string, values ...byte) (n int, err error) { return }
func (*Open) Method() {}
func (Thing[T]) Get(at int) T { panic(0) }
func (*Thing[T]) Set(f func(context int) <-chan bool) {}
func (*Thing[T]) private() {}
type Sealed interface { Do(map[string][2]hidden) error; seal() }
type Number interface { ~int | string }
type Text string
type Other = hidden
type seven = int
const Seven seven = 7
const Half = 0.5
var Variable struct{ A any }
func New[T Number](t T) (*hidden, error) { return nil, nil }
func unexported() {}
`
	files := token.NewFileSet()
	file := must.Get(parser.ParseFile(files, "sample.go", source, 0))(t)
	a := newAPI(must.Get(new(types.Config).Check(module+"/token/sample", files, []*ast.File{file}, nil))(t))
	slices.Sort(a.features)
	var got, unnamed []string
	for _, f := range a.features {
		line, ok := strings.CutPrefix(string(f), "pkg token/sample, ")
		got = append(got, fmt.Sprint(line, " ", ok, " ", f.name()))
	}
	golden.Equal(t, "features", []string{
		"const Half untyped float = 0.5 true token/sample.Half",
		"const Seven int = 7 true token/sample.Seven",
		"func New[T Number](T) (*hidden, error) true token/sample.New",
		"method (*Thing) Set(func(int) <-chan bool) true token/sample.Thing.Set",
		"method (*Open) Method() true token/sample.Open.Method",
		"method (Other) Promoted(string, ...byte) (int, error) true token/sample.Other.Promoted",
		"method (Thing) Get(int) T true token/sample.Thing.Get",
		"method (Thing) Promoted(string, ...byte) (int, error) true token/sample.Thing.Promoted",
		"type Number interface { ~int | string } true token/sample.Number",
		"type Open struct true token/sample.Open",
		"type Other = struct true token/sample.Other",
		"type Other struct, Again int true token/sample.Other.Again",
		"type Other struct, Shown int true token/sample.Other.Shown",
		"type Sealed interface { unexported methods } true token/sample.Sealed",
		"type Sealed interface, Do(map[string][2]hidden) error true token/sample.Sealed.Do",
		"type Text string true token/sample.Text",
		"type Thing struct, Again int true token/sample.Thing.Again",
		"type Thing struct, Field []T true token/sample.Thing.Field",
		"type Thing struct, Open *Open, embedded true token/sample.Thing.Open",
		"type Thing struct, Shown int true token/sample.Thing.Shown",
		"type Thing[T comparable] struct true token/sample.Thing",
		"var Variable struct{A any} true token/sample.Variable",
	}, got, cmpopts.SortSlices(func(x, y string) bool { return x < y }))
	for name, objects := range a.uses {
		for _, o := range objects {
			if o.Name() == "hidden" {
				unnamed = append(unnamed, name)
			}
		}
	}
	slices.Sort(unnamed)
	golden.Equal(t, "features with a type that is not exported", []string{"token/sample.New", "token/sample.Sealed.Do"}, unnamed)
}

// open are the interfaces that other packages can implement, and what for. All others are sealed, or constraints of type
// parameters.
var open = map[string]string{
	"executor.Executor":                "another way to schedule",
	"rangeproof.Protocol":              "another range proof",
	"rangeproof.Equations":             "that proof's equations",
	"stark/air.Algebra":                "constraints over other values",
	"token/identity.Signer":            "keys in hardware",
	"token/identity.Holder":            "a secret in another process",
	"token/identity.Pseudonym":         "the pseudonyms of such a holder",
	"token/ledger.HashReader":          "hashes of another party's tree, for proofs",
	"token/ledger.Reader":              "a ledger of one's own, or a client of one",
	"token/ledger.Store":               "another database",
	"token/ledger.Submitter":           "a client of a validator elsewhere",
	"token/ledger/ledgertest.Verifier": "another database, under test",
	"token/ledger/ledgertest.TB":       "tests, and those of package rapid",
	"token/ledger/replay.Store":        "another database that can be verified",
	"token/ledger/store.Lookup":        "the records of another database",
	"token/ledger/store.Snapshot":      "the view of another database",
	"token/policy.Source":              "records from another place than a ledger",
	"token/server.Wallet":              "a wallet of another program",
	"token/service.AuditSigner":        "an auditor, for example at a server of another kind",
	"token/service.Book":               "answers of another party in place of a ledger",
	"token/service.Ledger":             "answers of another party in place of a ledger",
	"token/service.Policy":             "an auditor's rules",
	"token/validator.Tokens":           "a view of tokens with those that are not yet on the ledger",
}

// TestInterfaces: an exported interface can be implemented by other packages to some end, or it is sealed, and its documentation
// says so.
func TestInterfaces(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, pkg := range publicAPI(t) {
		var docs map[string]string // made if it is needed
		for _, name := range pkg.Scope().Names() {
			o, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || !o.Exported() || o.IsAlias() {
				continue
			}
			i, ok := o.Type().Underlying().(*types.Interface)
			if !ok || !i.IsMethodSet() {
				continue
			}
			sealed := false
			for m := range i.Methods() {
				sealed = sealed || !m.Exported()
			}
			what := qualified(pkg) + "." + name
			seen[what] = true
			if sealed == (open[what] != "") {
				t.Errorf("%s: sealed: %v, for other packages to implement: %q", what, sealed, open[what])
			}
			if docs == nil {
				docs = docsOfTypes(t, pkg)
			}
			said := regexp.MustCompile(`(?i)other packages (can|cannot)\s+implement`).FindStringSubmatch(docs[name])
			if sealed && (said == nil || said[1] != "cannot") || !sealed && said != nil && said[1] != "can" {
				t.Errorf("%s: sealed: %v, but its documentation does not say whether other packages can or cannot implement it", what, sealed)
			}
		}
	}
	for what := range open {
		if !seen[what] {
			t.Errorf("%s: is no exported interface", what)
		}
	}
}

// docsOfTypes returns the documentation of a package's types.
func docsOfTypes(t *testing.T, pkg *types.Package) map[string]string {
	t.Helper()
	docs := make(map[string]string)
	dir, _ := directory(pkg.Path())
	for _, path := range must.Get(filepath.Glob(filepath.Join(dir, "*.go")))(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution))(t)
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.TypeSpec)
				docs[spec.Name.Name] = strings.Join(strings.Fields(g.Doc.Text()+spec.Doc.Text()), " ")
			}
		}
	}
	return docs
}

// withoutExamples are public packages that have nothing for other people, as their documentation says.
var withoutExamples = map[string]string{
	"token/issue":             "exports nothing",
	"token/transfer":          "exports nothing",
	"token/ledger/ledgertest": "is for the test of a ledger, which docs/ledger.md describes",
	"riscv/guests/frames":     "serves guests of this module",
}

// TestPackagesHaveExamples: each public package has an example that runs, and whose output is checked.
func TestPackagesHaveExamples(t *testing.T) {
	t.Parallel()
	public := make(map[string]bool)
	for _, pkg := range publicAPI(t) {
		dir, _ := directory(pkg.Path())
		public[dir] = true
		var tests []*ast.File
		for _, path := range must.Get(filepath.Glob(filepath.Join(dir, "*_test.go")))(t) {
			tests = append(tests, must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments))(t))
		}
		runs := slices.ContainsFunc(doc.Examples(tests...), func(e *doc.Example) bool { return e.Output != "" || e.EmptyOutput })
		if why := withoutExamples[dir]; runs == (why != "") {
			t.Errorf("package %s: has an example with an output: %v; why it should have none: %q", dir, runs, why)
		}
	}
	for dir := range withoutExamples {
		if !public[dir] {
			t.Errorf("%s: is no public package", dir)
		}
	}
}
