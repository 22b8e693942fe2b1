package opcount_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/compare/opcount"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/selfcheck"
)

// program is a program that counts, and its index.
type program struct {
	measure.Program
	index *opcount.Index
}

func build(t *testing.T) program {
	t.Helper()
	const source = "testdata/planted"
	p := program{Program: measure.Program{Path: filepath.Join(t.TempDir(), "planted.exe")}}
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"build", "-o", p.Path}, opcount.BuildFlags("github.com/zkbench/zkbench")...), "./"+source)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.index = must.Get(opcount.NewIndex(t.Context(), source))(t)
	return p
}

// count counts a case with one axis and returns the counts by metric.
func (p *program) count(t *testing.T, name, key string, value int, seed, ops uint64) map[string]float64 {
	t.Helper()
	dir := t.TempDir()
	s := measure.DefaultSettings(1, time.Millisecond)
	s.Count, s.Seed = ops, seed
	c := workload.NewCase(record.Axis{Key: key, Value: strconv.Itoa(value)})
	rec := p.Run(t.Context(), measure.Job{Workload: name, Case: c, Settings: s, Deadline: time.Minute, Count: dir})
	if rec.Status != record.OK {
		t.Fatalf("%s %s: %s", rec.Name(), rec.Status, rec.Error)
	}
	golden.Equal(t, "operations", ops, rec.Count(record.CountDone))
	of := make(map[string]float64)
	for _, m := range must.Get(p.index.Read(t.Context(), dir, ops))(t) {
		golden.Equal(t, m.Name()+" is exact", record.Exact, m.Kind)
		of[m.Name()] = m.Value
	}
	return of
}

// TestCounts: what is planted is counted, 1 % of it is found every time, and without it
// nothing.
func TestCounts(t *testing.T) {
	testsize.Full(t)
	p := build(t)
	muls, adds, statements := record.FieldMuls.Name(), record.GroupOps.Name(), record.Statements.Name()
	t.Run("products", func(t *testing.T) {
		golden.Equal(t, "multiplications", 1234, p.count(t, "Products", "products", 1234, 1, 3)[muls])
	})
	t.Run("work", func(t *testing.T) {
		for seed := range uint64(20) {
			old := p.count(t, "SelfCheck", "work", 1000, seed, 2)
			golden.Equal(t, "what the same program counts", old, p.count(t, "SelfCheck", "work", 1000, seed, 2))
			more := p.count(t, "SelfCheck", "work", 1010, seed, 2)
			golden.Near(t, "growth of the statements", 1.01, more[statements]/old[statements], 0.001)
		}
	})
	t.Run("sums", func(t *testing.T) {
		// Straus, windows of 5 bits: 15 additions or doublings a point for its multiples, and for each of
		// its two halves of 127 or 128 bits 26 digits, of which one in 32 is zero; doublings join the windows.
		const points = 64
		old := p.count(t, "Sum", "points", points, 1, 4)
		golden.Equal(t, "what the same program counts", old, p.count(t, "Sum", "points", points, 1, 4))
		golden.Near(t, "additions", points*(15+2*26*31/32.)+26*5, old[adds], 0.02)
		more := p.count(t, "Sum", "points", points+1, 1, 4)
		for _, name := range []string{muls, adds, statements} {
			if old[name] == 0 || more[name] < old[name]*1.01 {
				t.Errorf("%s: %v of %d points, %v of one more", name, old[name], points, more[name])
			}
		}
	})
}

func TestNotBuiltToCount(t *testing.T) {
	s := measure.DefaultSettings(1, time.Second)
	s.Count = 1
	rec := measure.Count(t.Context(), selfcheck.Def(), workload.NewCase(record.Axis{Key: selfcheck.AxisKey, Value: "1"}), s, t.TempDir())
	golden.Equal(t, "status", record.Failed, rec.Status)
	golden.Contains(t, rec.Error, "counts: ")
	must.FailGet((&opcount.Index{}).Read(t.Context(), t.TempDir(), 1))(t, zkbench.ErrEnv, "a directory without counts")
}

// TestIndex: the functions that are operations are where the sources have them.
func TestIndex(t *testing.T) {
	testsize.Full(t)
	index := must.Get(opcount.NewIndex(t.Context(), "testdata/planted"))(t)
	where := index.Where()
	for quantity, want := range map[string][]string{
		record.FieldMuls.Name(): {"gnark-crypto/ecc/bn254/fp/element_purego.go", "gnark-crypto/ecc/bn254/fr/element_purego.go", "zkbench/goldilocks/element.go"},
		record.GroupOps.Name():  {"zkbench/group/counted.go", "gnark-crypto/ecc/bn254/g1.go", "gnark-crypto/ecc/bls12-381/g2.go"},
	} {
		for _, file := range want {
			if !slices.ContainsFunc(where[quantity], func(at string) bool { return strings.Contains(at, file+":") }) {
				t.Errorf("%s: nothing in %s; there is %v", quantity, file, where[quantity])
			}
		}
	}
	must.FailGet(opcount.NewIndex(t.Context(), t.TempDir()))(t, zkbench.ErrEnv, "no package")
}

func TestReadProfile(t *testing.T) {
	const head = "mode: atomic\n"
	index := opcount.IndexOf(map[string]record.Quantity{"p/f.go:3.20": record.FieldMuls, "p/f.go:9.1": record.GroupOps})
	got := must.Get(index.ReadProfile(strings.NewReader(head+"p/f.go:3.20,5.2 3 14\np/f.go:6.1,7.2 1 2\np/f.go:9.1,10.2 5 0\n"), 2))(t)
	text := ""
	for _, m := range got {
		text += fmt.Sprintf("%s %v %s\n", m.Name(), m.Value, m.Kind)
	}
	golden.Equal(t, "of one operation", "field-multiplications 7 exact\ngroup-operations 0 exact\nstatements 22 exact\n", text)
	for _, bad := range []string{"", head, head + "p/f.go:3.20 3 14\n", head + "p/f.go:3.20,5.2 3\n", head + "p/f.go:3.20,5.2 x 1\n", head + "p/f.go:3.20,5.2 1 -1\n", head + "p/f.go:3.20,5.2 1 0\n"} {
		must.FailGet(index.ReadProfile(strings.NewReader(bad), 1))(t, zkbench.ErrEnv, "%q", bad)
	}
	must.FailGet(index.ReadProfile(strings.NewReader(head+"p/f.go:3.20,5.2 1 1\n"), 0))(t, zkbench.ErrEnv, "no operation")
}
