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

// ProfileRoot is the default directory of profiles, with one directory per case below it. Under go
// test it is in the test's directory.
const ProfileRoot = "profiles"

// straggler is how long a load test waits for operations that still run when its window closes: in
// one process they would disturb the next case. The report says how many there were, and how late.
const straggler = 30 * time.Second

// Benchmark runs every case that the flags ask for as a sub-benchmark named key=value/key=value.
// Without flags it runs the default matrix of def. The result for each input is checked once before
// the timer starts, which also warms up.
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

// TestParallel runs the load test of def: each case that the flags ask for, with each number of
// workers. It writes its report to w, usually os.Stdout. An axis without a flag takes its smoke
// value; without any flags the window is 100 ms. The test fails if an operation fails, if a result
// is wrong, or if no operation ended in the window.
//
// The report ends with a line in the Go benchmark format, at the start of a line, so that the
// output of go test -v can be given to benchstat.
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

// ProfileDir returns the directory below root for the profiles of one measured case.
func ProfileDir(root string, def workload.Def, c workload.Case) string {
	return filepath.Join(root, def.ID(), strings.ReplaceAll(c.String(), "/", "_"))
}
