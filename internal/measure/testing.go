package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/view/text"
	"github.com/zkbench/zkbench/internal/workload"
)

// ProfileRoot is the default directory for profiles. It contains one directory for each case. Under
// `go test` it is in the directory of the test's package.
const ProfileRoot = "profiles"

// straggler is how long a load test waits for operations that still run when its window closes: in
// one process they would disturb the next case. The report says how many there were, and how late.
const straggler = 30 * time.Second

// Benchmark runs cases of the workload def: those that the flags in o select, or the default cases
// of def if no flags were given. Each case is a sub-benchmark with a name of the form
// key=value/key=value. Before the timer starts, Benchmark runs the operation once with each input
// and checks the result. These runs are also the warm-up.
func Benchmark(b *testing.B, def workload.Def, o *Options) {
	b.Helper()
	cases, err := o.matrix(def, false)
	if err != nil {
		b.Fatal(err)
	}
	settings, err := o.settings.Settings(o.settings["workers"].Text, DefaultDuration)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range cases {
		b.Run(c.String(), func(b *testing.B) { benchmark(b, def, c, settings[0].Samples, settings[0].Seed) })
	}
}

func benchmark(b *testing.B, def workload.Def, c workload.Case, samples int, seed uint64) {
	ended := false
	defer func() { // an operation that ends its goroutine ends the benchmark's
		if !ended && !b.Failed() && !b.Skipped() {
			b.Errorf("the benchmark did not reach its end: %v", executor.ErrGoexit)
		}
	}()
	ctx := b.Context()
	instance, err := setUp(ctx, def, c, samples, 1, seed)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := instance.Close(); err != nil {
			b.Error(err)
		}
	}()
	inputs := make([]any, samples)
	var first []byte // the result of the first input
	for i := range inputs {
		var output []byte
		if inputs[i], output, err = checkedInput(ctx, instance, uint64(i)); err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			first = bytes.Clone(output)
		}
	}
	sizes, err := instance.Metrics(ctx)
	if err != nil {
		b.Fatal(err)
	}

	b.ReportAllocs()
	for seq := uint64(0); b.Loop(); seq++ {
		var input any
		if samples > 0 {
			input = inputs[seq%uint64(samples)]
		} else {
			b.StopTimer()
			if input, _, err = checkedInput(ctx, instance, seq); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		if _, err := instance.Run(ctx, input); err != nil {
			b.Fatal(err)
		}
	}
	used := text.Units{"ns/op": true, "B/op": true, "allocs/op": true, "MB/s": true} // package testing's own
	for _, m := range sizes {
		if unit, ok := used.Take(m, m.Unit()); ok {
			b.ReportMetric(m.Value, unit)
		}
	}
	if samples > 0 {
		for _, f := range runner.Doubt(ctx, instance, 0, inputs[0], first) {
			b.Logf("%s: %s", f.Name, f.Text)
		}
	}
	ended = true
}

// checkedInput builds an input, runs the operation on it and checks the result. It returns both.
func checkedInput(ctx context.Context, instance workload.Instance, seq uint64) (input any, output []byte, err error) {
	if input, err = instance.Input(ctx, seq); err != nil {
		return nil, nil, fmt.Errorf("input %d: %w", seq, err)
	}
	if output, err = instance.Run(ctx, input); err != nil {
		return nil, nil, fmt.Errorf("input %d: %w", seq, err)
	}
	if err = instance.Check(ctx, input, output); err != nil {
		return nil, nil, fmt.Errorf("result of input %d: %w", seq, err)
	}
	return input, output, nil
}

// TestParallel runs load tests of the workload def. It runs each case that the flags in o select,
// with each number of workers. It writes its report to w, usually os.Stdout. For an axis whose flag
// was not given, it uses one small value (workload.Axis.Smoke). If no flag was given at all, it
// measures each case for 100 ms. The test fails if an operation fails, if a result is wrong, or if
// no operation ended in the time of the measurement.
//
// The report of each case ends with a line in the Go benchmark format. That line is not indented,
// so the output of `go test -v` can be given to benchstat.
func TestParallel(t *testing.T, w io.Writer, def workload.Def, o *Options) {
	t.Helper()
	cases, err := o.matrix(def, true)
	if err != nil {
		t.Fatal(err)
	}
	window := DefaultDuration
	if !o.any(def) {
		window = smokeDuration
	}
	settings, err := o.settings.Settings(o.settings["workers"].Text, window)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		for _, s := range settings {
			s.Grace = straggler
			if o.profiled() {
				s.Profiles = resources.ProfileKinds()
				s.ProfileDir = ProfileDir(ProfileRoot, def, s.Named(c))
			}
			t.Run(s.Named(c).String(), func(t *testing.T) {
				rec := Case(t.Context(), def, c, s)
				err := errors.Join(text.Case(w, rec), text.Benchmark(w, rec))
				if err != nil {
					t.Fatal(err)
				}
				if rec.Status != record.OK {
					t.Fatal(rec.Error)
				}
			})
		}
	}
}

// ProfileDir returns the directory, below root, for the profiles of the case c of the workload def.
func ProfileDir(root string, def workload.Def, c workload.Case) string {
	return filepath.Join(root, def.ID(), strings.ReplaceAll(c.String(), "/", "_"))
}
