// Package opcount counts exactly how often a program executes field multiplications, group
// operations and statements. To do this, it reads the coverage counters of an executable that the
// go command builds only for counting (go build -cover). The executable whose time is measured has
// no counters.
//
// The executable that counts is built without assembly, because assembly has no statements.
// Therefore the counts are the same on every machine, and they do not show what an assembly kernel
// saves.
package opcount

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
)

// tags select portable code, and make package group count additions that are done together one by
// one.
const tags = "purego,counted"

// packages are the packages whose statements are counted, in addition to those of the program's
// module.
const packages = "github.com/zkbench/zkbench/...,github.com/consensys/...,github.com/kilic/bls12-381"

// BuildFlags returns the flags with which go build builds a program that counts. The parameter
// module is the import path of the program's module.
func BuildFlags(module string) []string {
	return []string{"-cover", "-covermode=atomic", "-coverpkg=" + packages + "," + module + "/...", "-tags=" + tags}
}

// operation names functions that are one operation each: methods of the receiver types, or
// functions if a type is "", in packages whose import path matches.
type operation struct {
	quantity  record.Quantity
	packages  *regexp.Regexp
	receivers []string
	functions []string
}

// operations are the innermost operations. None is called by another of its kind, except that an
// addition of equal points may call a doubling.
var operations = []operation{
	{record.FieldMuls, regexp.MustCompile(`/gnark-crypto/(ecc/[^/]+/f[pr]|field/[^/]+)$`), []string{"Element"}, []string{"Mul", "Square"}},
	{record.FieldMuls, regexp.MustCompile(`/zkbench/goldilocks$`), []string{""}, []string{"reduce128"}},
	{record.GroupOps, regexp.MustCompile(`/zkbench/group$`), []string{""}, []string{"addition"}},
	{record.GroupOps, regexp.MustCompile(`/gnark-crypto/ecc/[^/]+$`), []string{"G1Jac", "G2Jac"}, []string{"AddAssign", "AddMixed", "DoubleAssign", "DoubleMixed"}},
	{record.GroupOps, regexp.MustCompile(`/gnark-crypto/ecc/[^/]+$`), []string{"g1JacExtended", "g2JacExtended"}, []string{"add", "double", "addMixed", "subMixed", "doubleMixed", "doubleNegMixed"}},
	{record.GroupOps, regexp.MustCompile(`/gnark-crypto/ecc/.*/twistededwards$`), []string{"PointProj", "PointExtended"}, []string{"Add", "MixedAdd", "Double", "MixedDouble"}},
	{record.GroupOps, regexp.MustCompile(`/kilic/bls12-381$`), []string{"G1", "G2"}, []string{"Add", "AddMixed", "Double"}},
}

// Index maps the coverage counters of a program to the operations that they count.
type Index struct {
	quantities map[string]record.Quantity // by the beginning of a function's body, package/file.go:line.column
}

// NewIndex looks for the operations in the sources of a program and of its dependencies. The
// parameter dir is the directory of the program's main package, which belongs to a module. The
// error wraps zkbench.ErrEnv.
func NewIndex(ctx context.Context, dir string) (*Index, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-tags="+tags, "-json=ImportPath,Dir,GoFiles,Standard", ".")
	list.Dir = dir
	out, err := output(list)
	if err != nil {
		return nil, err
	}
	x := &Index{make(map[string]record.Quantity)}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir string
			GoFiles         []string
			Standard        bool
		}
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return x, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: go list: %w", zkbench.ErrEnv, err)
		}
		for _, o := range operations {
			if p.Standard || !o.packages.MatchString(p.ImportPath) {
				continue
			}
			for _, file := range p.GoFiles {
				if err := x.scan(o, p.ImportPath+"/"+file, filepath.Join(p.Dir, file)); err != nil {
					return nil, fmt.Errorf("%w: %w", zkbench.ErrEnv, err)
				}
			}
		}
	}
}

// scan adds the functions of a file that are the given operation.
func (x *Index) scan(o operation, name, path string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if ok && f.Body != nil && slices.Contains(o.functions, f.Name.Name) && slices.Contains(o.receivers, receiver(f)) {
			at := files.Position(f.Body.Lbrace)
			x.quantities[fmt.Sprintf("%s:%d.%d", name, at.Line, at.Column)] = o.quantity
		}
	}
	return nil
}

// receiver returns the name of a method's type, without its pointer, or "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return "" // a generic type has none of the operations
}

// Read reads the counts that measure.Count wrote to the directory dir. It returns them divided by
// ops, the number of the workload's operations that were run. The error wraps zkbench.ErrEnv.
func (x *Index) Read(ctx context.Context, dir string, ops uint64) ([]record.Metric, error) {
	profile := filepath.Join(dir, "profile")
	if _, err := output(exec.CommandContext(ctx, "go", "tool", "covdata", "textfmt", "-i="+dir, "-o="+profile)); err != nil {
		return nil, err
	}
	file, err := os.Open(profile)
	if err != nil {
		return nil, fmt.Errorf("%w: the program wrote no counts: %w", zkbench.ErrEnv, err)
	}
	defer file.Close()
	return x.read(file, ops)
}

// read reads a profile. After the line with its mode, there is a line for each block of statements:
// file:line.column,line.column statements count.
func (x *Index) read(profile io.Reader, ops uint64) ([]record.Metric, error) {
	sums := make(map[string]float64)
	lines := bufio.NewScanner(profile)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if n == 1 && strings.HasPrefix(line, "mode: ") {
			continue
		}
		fields := strings.Fields(line)
		start, _, ok := strings.Cut(line, ",")
		if !ok || len(fields) != 3 {
			return nil, fmt.Errorf("%w: profile, line %d: %q; accepted: file:line.column,line.column statements count", zkbench.ErrEnv, n, line)
		}
		statements, err1 := strconv.ParseUint(fields[1], 10, 32)
		count, err2 := strconv.ParseUint(fields[2], 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("%w: profile, line %d: %w", zkbench.ErrEnv, n, err)
		}
		sums[record.Statements.Name()] += float64(statements * count)
		if q, ok := x.quantities[start]; ok {
			sums[q.Name()] += float64(count)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: profile: %w", zkbench.ErrEnv, err)
	}
	if sums[record.Statements.Name()] == 0 || ops == 0 {
		return nil, fmt.Errorf("%w: the program counted nothing; accepted: a revision that can count", zkbench.ErrEnv)
	}
	var metrics []record.Metric
	for _, q := range []record.Quantity{record.FieldMuls, record.GroupOps, record.Statements} {
		metrics = append(metrics, q.Metric(sums[q.Name()]/float64(ops)))
	}
	return metrics, nil
}

// output runs a go command and returns its output. The error wraps zkbench.ErrEnv and has the last
// line of its messages.
func output(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	reason := err.Error()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
		lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
		reason = lines[len(lines)-1]
	}
	return nil, fmt.Errorf("%w: %s: %s", zkbench.ErrEnv, strings.Join(cmd.Args[:min(len(cmd.Args), 3)], " "), reason)
}
