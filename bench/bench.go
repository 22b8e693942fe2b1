// Package bench measures your own code with everything that zkbench measures its own with:
// load with percentiles, open loops, comparisons of versions, suites, pages.
//
// A workload is a Def: a name, axes, and a function that sets one case up as an Operation. A
// program of it is one call:
//
//	func main() { bench.Main(sum()) }
//
//	func sum() bench.Def {
//		size := bench.Ints("bytes", "lengths of messages in bytes", 0, 1<<25, 64, 1024, 16384)
//		return bench.Def{
//			Name: "SHA256", Doc: "the SHA-256 of a message", Axes: []bench.Axis{size},
//			New: func(_ context.Context, c bench.Case, _ uint64) (bench.Instance, error) {
//				return bench.Operation[[]byte]{
//					Input: func(_ context.Context, random *rand.ChaCha8) ([]byte, error) {
//						message := make([]byte, size.Of(c))
//						random.Read(message)
//						return message, nil
//					},
//					Run:   func(_ context.Context, message []byte) ([]byte, error) { … },
//					Check: func(_ context.Context, message, output []byte) error { … },
//				}, nil
//			},
//		}
//	}
//
// It has the commands of zkbench: list, run, suite, compare, report, ... Under go test the same
// Def is a benchmark (Benchmark) and a load test (TestParallel). Package bench/circuit makes a
// Def of a circuit of gnark; this package links none of it.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/bench/internal/convert"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/workload"
)

// Def is a workload.
type Def struct {
	Name string // a Go identifier, SHA256; on the command line it is in kebab case, sha256
	Doc  string // one sentence: what one operation does
	Axes []Axis // in the order of the case's name; may be none

	// New does the set-up of one case, untimed: parameters, keys, tables. The seed is the user's,
	// for set-ups that draw something.
	New func(ctx context.Context, c Case, seed uint64) (Instance, error)

	// Stages, where set, goes once through the stages of a case, such as build, prove and verify,
	// and tells the recorder of each: the command stages. An axis named stage is left out there.
	Stages func(ctx context.Context, c Case, seed uint64, r *Recorder) error

	// Properties, where set, are what a chooser asks of the case's proof system.
	Properties func(c Case) Properties

	// Of a Def that another package of this module made.
	whole *workload.Def
	wrong error
}

// Properties are what a chooser asks of a proof system; what is empty is not said.
type Properties struct {
	ProvedBits    float64 // of soundness, by a proof and not by a conjecture
	ClaimedBits   float64 // of soundness, as its authors say
	ZeroKnowledge string  // yes, no
	Setup         string  // trusted set-up: none, universal, circuit (one for each)
	Audited       string  // no, yes, or by whom
}

// Main runs the command line of a program with these workloads, and ends the process with its
// exit code: 0 all is fine, 1 an operation, a check or a gate failed, 2 wrong usage or input, 3
// stopped before the end. A Def that lacks something ends it with 2. The program is called what
// its file is called.
func Main(defs ...Def) {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	all, err := workloads(defs)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(cli.ExitUsage)
	}
	p := cli.Program{
		Name: name, Short: "Measure " + workload.IDs(all),
		Suites: suite.Collection{Families: []suite.Family{{Name: suite.Full, Defs: all}}},
	}
	os.Exit(p.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// workloads are those of the definitions, which have different names.
func workloads(defs []Def) ([]workload.Def, error) {
	seen := make(map[string]bool)
	var all []workload.Def
	for i, d := range defs {
		w, err := d.workload()
		if err != nil {
			return nil, fmt.Errorf("workload %d: %w", i+1, err)
		}
		if seen[w.ID()] {
			return nil, fmt.Errorf("%w: workload %d: %s stands twice", zkbench.ErrParams, i+1, w.Name)
		}
		seen[w.ID()] = true
		all = append(all, w)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: no workload; accepted: one or more", zkbench.ErrParams)
	}
	return all, nil
}

var identifier = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// workload is the definition as the instruments take it.
func (d Def) workload() (workload.Def, error) {
	w, err := d.plain()
	if d.whole != nil {
		w, err = *d.whole, d.wrong
	}
	if err != nil {
		return w, fmt.Errorf("%s: %w", w.Name, err)
	}
	if !identifier.MatchString(w.Name) {
		return w, fmt.Errorf("%w: Name: %q is not accepted; accepted: letters and digits, a capital first", zkbench.ErrParams, w.Name)
	}
	for i, a := range w.Axes {
		if slices.ContainsFunc(w.Axes[:i], func(b workload.Axis) bool { return a.Key == b.Key }) {
			return w, fmt.Errorf("%w: %s: axis %s stands twice", zkbench.ErrParams, w.Name, a.Key)
		}
	}
	return w, nil
}

// plain is that of a Def which a user wrote.
func (d Def) plain() (workload.Def, error) {
	w := workload.Def{
		Name: d.Name, Doc: d.Doc,
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			i, err := d.New(ctx, Case{c}, seed)
			if err != nil {
				return nil, err
			}
			if i == nil {
				return nil, fmt.Errorf("%w: %s: New returned neither an Instance nor an error", zkbench.ErrParams, d.Name)
			}
			return i.instance(seed)
		},
	}
	if d.New == nil {
		return w, fmt.Errorf("%w: New is nil; accepted: a function that sets a case up", zkbench.ErrParams)
	}
	var err error
	if w.Axes, err = axes(d.Axes); err != nil {
		return w, err
	}
	if d.Properties != nil {
		w.Properties = func(c workload.Case) record.Properties { return record.Properties(d.Properties(Case{c})) }
	}
	if d.Stages != nil {
		w.Stages = func(ctx context.Context, c workload.Case, seed uint64, r *stage.Recorder) (workload.Staged, error) {
			stages := &Recorder{stages: r}
			err := d.Stages(ctx, Case{c}, seed, stages)
			return stages.staged, errors.Join(err, stages.wrong)
		}
	}
	return w, nil
}

func init() {
	convert.Def = func(w workload.Def, wrong error) any { return Def{whole: &w, wrong: wrong} }
	convert.Case = func(c workload.Case) any { return Case{c} }
	convert.Workload = func(d any) (workload.Def, error) { return d.(Def).workload() }
	convert.Axes = func(all any) ([]workload.Axis, error) { return axes(all.([]Axis)) }
}
