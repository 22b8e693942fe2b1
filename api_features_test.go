package zkbench_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/constant"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// publicAPI returns all public packages with their types, in the order of their paths. The compiler's export data have the
// types: go list makes these files, or finds them in the cache of a build.
func publicAPI(t *testing.T) []*types.Package {
	t.Helper()
	all, err := loadAPI()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var loadAPI = sync.OnceValues(func() (all []*types.Package, err error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Name,Export", ".", "./bench/..."}
	for _, folder := range publicFolders() {
		if folder != "." {
			args = append(args, "./"+folder)
		}
	}
	list := exec.Command("go", args...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	files := make(map[string]string)
	var paths []string
	for in := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Name, Export string }
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		files[p.ImportPath] = p.Export
		if dir, ours := directory(p.ImportPath); ours && p.Name != "main" && p.Export != "" && importable(dir) {
			paths = append(paths, p.ImportPath)
		}
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	slices.Sort(paths)
	for _, path := range paths {
		pkg, err := from.Import(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, pkg)
	}
	return all, nil
})

// importable reports whether other people may import the package in a folder of the module.
func importable(dir string) bool {
	return dir == "." || public(dir) || folderOf(dir) == "bench" && !slices.Contains(strings.Split(dir, "/"), "internal")
}

// qualified returns a package's path without that of the module.
func qualified(pkg *types.Package) string {
	switch dir, ours := directory(pkg.Path()); {
	case !ours:
		return pkg.Path()
	case dir == ".":
		return pkg.Name()
	default:
		return dir
	}
}

// api is the exported API of a package.
type api struct {
	pkg      *types.Package
	features []feature
	at       string                    // the name of the feature that is being written
	uses     map[string][]types.Object // the named types in each feature
}

func newAPI(pkg *types.Package) *api {
	a := &api{pkg: pkg, uses: make(map[string][]types.Object)}
	for _, name := range pkg.Scope().Names() {
		if !token.IsExported(name) {
			continue
		}
		switch o := pkg.Scope().Lookup(name).(type) {
		case *types.Const:
			a.begin(name)
			value := o.Val().ExactString()
			if o.Val().Kind() == constant.Float {
				value = o.Val().String()
			}
			a.add("const %s %s = %s", name, a.text(o.Type()), value)
		case *types.Var:
			a.begin(name)
			a.add("var %s %s", name, a.text(o.Type()))
		case *types.Func:
			a.begin(name)
			a.add("func %s%s", name, a.signature(o.Signature()))
		case *types.TypeName:
			a.addType(o)
		}
	}
	return a
}

func (a *api) begin(name string) { a.at = qualified(a.pkg) + "." + name }

func (a *api) add(format string, args ...any) {
	a.features = append(a.features, feature("pkg "+qualified(a.pkg)+", "+fmt.Sprintf(format, args...)))
}

// addType adds a type with its fields and methods. An alias of a type that has no other name for other people is as that type.
func (a *api) addType(o *types.TypeName) {
	name := o.Name()
	a.begin(name)
	t, equals := o.Type(), ""
	if o.IsAlias() {
		equals = "= "
		named, ok := types.Unalias(t).(*types.Named)
		if !ok || named.Obj().Pkg() == nil || importableType(named.Obj()) {
			a.add("type %s = %s", name, a.text(types.Unalias(t)))
			return
		}
		t = named
	}
	params := ""
	if named, ok := t.(*types.Named); ok {
		params = a.typeParams(named.TypeParams())
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		a.add("type %s%s %sstruct", name, params, equals)
		a.addFields(name, u, make(map[string]bool))
	case *types.Interface:
		a.addInterface(name+params, name, u)
		return
	default:
		a.add("type %s%s %s%s", name, params, equals, a.text(u))
	}
	values := types.NewMethodSet(t)
	for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		if !m.Obj().Exported() || a.comesWithField(t, m.Index()) {
			continue
		}
		receiver := name
		if values.Lookup(m.Obj().Pkg(), m.Obj().Name()) == nil {
			receiver = "*" + name
		}
		a.begin(name + "." + m.Obj().Name())
		a.add("method (%s) %s%s", receiver, m.Obj().Name(), a.signature(m.Obj().(*types.Func).Signature()))
	}
}

func importableType(o *types.TypeName) bool {
	dir, ours := directory(o.Pkg().Path())
	return o.Exported() && (!ours || importable(dir)) && !slices.Contains(strings.Split(o.Pkg().Path(), "/"), "internal")
}

// comesWithField reports whether a method is that of an exported embedded field, which has a line of its own.
func (a *api) comesWithField(t types.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			return false
		}
		if s.Field(i).Exported() {
			return true
		}
		if t = s.Field(i).Type(); isPointer(t) {
			t = t.Underlying().(*types.Pointer).Elem()
		}
	}
	return false
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// addFields adds the exported fields of a struct, and those that embedded structs without an exported name give it.
func (a *api) addFields(name string, s *types.Struct, seen map[string]bool) {
	for i := range s.NumFields() {
		if f := s.Field(i); f.Exported() && !seen[f.Name()] {
			seen[f.Name()] = true
			embedded := ""
			if f.Embedded() {
				embedded = ", embedded"
			}
			a.begin(name + "." + f.Name())
			a.add("type %s struct, %s %s%s", name, f.Name(), a.text(f.Type()), embedded)
		}
	}
	for i := range s.NumFields() {
		f := s.Field(i)
		t := f.Type()
		if isPointer(t) {
			t = t.Underlying().(*types.Pointer).Elem()
		}
		if inner, ok := t.Underlying().(*types.Struct); ok && f.Embedded() && !f.Exported() {
			a.addFields(name, inner, seen)
		}
	}
}

func (a *api) addInterface(head, name string, i *types.Interface) {
	var methods []string
	sealed := false
	for m := range i.Methods() {
		if m.Exported() {
			methods = append(methods, m.Name())
		} else {
			sealed = true
		}
	}
	if sealed { // a further method breaks nobody
		methods = []string{"unexported methods"}
	}
	a.begin(name)
	for e := range i.EmbeddedTypes() {
		if inner, ok := e.Underlying().(*types.Interface); !ok || !inner.IsMethodSet() {
			methods = append(methods, a.text(e))
		}
	}
	a.add("type %s interface { %s }", head, strings.Join(methods, ", "))
	for m := range i.Methods() {
		if m.Exported() {
			a.begin(name + "." + m.Name())
			a.add("type %s interface, %s%s", name, m.Name(), a.signature(m.Signature()))
		}
	}
}

func (a *api) typeParams(list *types.TypeParamList) string {
	var all []string
	for p := range list.TypeParams() {
		all = append(all, p.Obj().Name()+" "+a.text(p.Constraint()))
	}
	if len(all) == 0 {
		return ""
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// signature returns a function's type without the word func and the names of parameters, which callers do not depend on.
func (a *api) signature(s *types.Signature) string {
	var params []string
	for i := range s.Params().Len() {
		t := s.Params().At(i).Type()
		if s.Variadic() && i == s.Params().Len()-1 {
			params = append(params, "..."+a.text(t.(*types.Slice).Elem()))
		} else {
			params = append(params, a.text(t))
		}
	}
	text := a.typeParams(s.TypeParams()) + "(" + strings.Join(params, ", ") + ")"
	var results []string
	for r := range s.Results().Variables() {
		results = append(results, a.text(r.Type()))
	}
	switch len(results) {
	case 0:
		return text
	case 1:
		return text + " " + results[0]
	}
	return text + " (" + strings.Join(results, ", ") + ")"
}

// text returns a type as source has it, with paths of packages in place of their names, and notes the named types in it.
func (a *api) text(t types.Type) string {
	switch t := t.(type) {
	case *types.Basic:
		if t.Kind() == types.Byte {
			return "byte"
		}
		return t.String()
	case *types.Alias:
		if o := t.Obj(); o.Pkg() == nil || importableType(o) {
			return a.named(o, t.TypeArgs())
		}
		return a.text(t.Rhs())
	case *types.Named:
		return a.named(t.Obj(), t.TypeArgs())
	case *types.TypeParam:
		return t.Obj().Name()
	case *types.Pointer:
		return "*" + a.text(t.Elem())
	case *types.Slice:
		return "[]" + a.text(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), a.text(t.Elem()))
	case *types.Map:
		return "map[" + a.text(t.Key()) + "]" + a.text(t.Elem())
	case *types.Chan:
		return map[types.ChanDir]string{types.SendRecv: "chan ", types.SendOnly: "chan<- ", types.RecvOnly: "<-chan "}[t.Dir()] + a.text(t.Elem())
	case *types.Signature:
		return "func" + a.signature(t)
	case *types.Struct:
		var fields []string
		for f := range t.Fields() {
			fields = append(fields, f.Name()+" "+a.text(f.Type()))
		}
		return "struct{" + strings.Join(fields, "; ") + "}"
	case *types.Interface:
		var parts []string
		for m := range t.ExplicitMethods() {
			parts = append(parts, m.Name()+a.signature(m.Signature()))
		}
		for e := range t.EmbeddedTypes() {
			parts = append(parts, a.text(e))
		}
		if len(parts) == 0 {
			return "any"
		}
		if t.IsImplicit() {
			return strings.Join(parts, "; ")
		}
		return "interface{" + strings.Join(parts, "; ") + "}"
	case *types.Union:
		var terms []string
		for term := range t.Terms() {
			tilde := ""
			if term.Tilde() {
				tilde = "~"
			}
			terms = append(terms, tilde+a.text(term.Type()))
		}
		return strings.Join(terms, " | ")
	}
	panic(fmt.Sprintf("a type of kind %T", t))
}

func (a *api) named(o *types.TypeName, args *types.TypeList) string {
	a.uses[a.at] = append(a.uses[a.at], o)
	text := o.Name()
	if o.Pkg() != nil && o.Pkg() != a.pkg {
		text = qualified(o.Pkg()) + "." + text
	}
	var all []string
	for t := range args.Types() {
		all = append(all, a.text(t))
	}
	if len(all) > 0 {
		text += "[" + strings.Join(all, ", ") + "]"
	}
	return text
}
