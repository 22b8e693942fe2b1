// Package bench measures your own code with zkbench's tools: load tests with percentiles, open
// loops, suites, reports, and comparisons between versions.
//
// A Def defines a workload: its name, its axes (the parameters that a user can vary), and a
// function that sets up one case, which is one combination of their values. The set-up returns an
// Operation, whose Run is timed. Main makes a program of one or more workloads:
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
//						message := make([]byte, size.Value(c))
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
// The program has zkbench's commands: list, run, suite, compare, report and others. In a test file
// the same Def is a benchmark (see Benchmark) and a load test (see TestParallel). Package
// bench/circuit makes a Def of a gnark circuit. Package bench itself does not depend on gnark.
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

// Def defines a workload: an operation to measure, and the operation's parameters.
type Def struct {
	Name string // a Go identifier such as SHA256; the command line has it in kebab case: sha256
	Doc  string // one sentence: what one operation does
	Axes []Axis // in their order in a case's name; may be empty

	// New sets up one case: parameters, keys, tables. It is not timed. The seed is the user's, for
	// set-ups that draw random values.
	New func(ctx context.Context, c Case, seed uint64) (Instance, error)

	// Stages, if not nil, runs the stages of a case once, for example build, prove and verify, and
	// records each with r. The command stages calls it. If the workload has an axis named stage,
	// that command ignores it.
	Stages func(ctx context.Context, c Case, seed uint64, r *Recorder) error

	// Properties, if not nil, describes the case's proof system for people who choose one.
	Properties func(c Case) Properties

	// Set if another package of this module made the Def.
	whole *workload.Def
	wrong error
}

// Properties describes a proof system to people who are choosing one. An empty field means "not
// stated".
type Properties struct {
	ProvedBits    float64 // bits of soundness that are proved, without a conjecture
	ClaimedBits   float64 // bits of soundness that its authors claim
	ZeroKnowledge string  // yes or no
	Setup         string  // trusted set-up: none, universal, or circuit (one per circuit)
	Audited       string  // no, yes, or who audited it
}

// Main runs the command line of a program that has the given workloads, and then exits the
// process. The exit code is 0 if all is well. It is 1 if an operation or a check failed, or if a
// comparison did not pass the limit that the flag --gate sets. It is 2 for wrong usage or input,
// and 3 if the command stopped before its end or its measurements are inconclusive. If a Def is
// not valid, the exit code is 2. Messages and help call the program by the name of its executable
// file.
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

// workloads converts definitions. There must be at least one, and their names must differ.
func workloads(defs []Def) ([]workload.Def, error) {
	seen := make(map[string]bool)
	var all []workload.Def
	for i, d := range defs {
		w, err := d.workload()
		if err != nil {
			return nil, fmt.Errorf("workload %d: %w", i+1, err)
		}
		if seen[w.ID()] {
			return nil, fmt.Errorf("%w: workload %d: %s is listed twice", zkbench.ErrParams, i+1, w.Name)
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

// workload converts the definition to that of package workload.
func (d Def) workload() (workload.Def, error) {
	w, err := d.plain()
	if d.whole != nil {
		w, err = *d.whole, d.wrong
	}
	if err != nil {
		return w, fmt.Errorf("%s: %w", w.Name, err)
	}
	if !identifier.MatchString(w.Name) {
		return w, fmt.Errorf("%w: Name: %q is not accepted; accepted: letters and digits, a capital letter first", zkbench.ErrParams, w.Name)
	}
	for i, a := range w.Axes {
		if slices.ContainsFunc(w.Axes[:i], func(b workload.Axis) bool { return a.Key == b.Key }) {
			return w, fmt.Errorf("%w: %s: axis %s is listed twice", zkbench.ErrParams, w.Name, a.Key)
		}
	}
	return w, nil
}

// plain converts a Def that a user wrote.
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
