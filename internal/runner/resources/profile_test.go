package resources_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func parse(t *testing.T, dir, kind string) *profile.Profile {
	t.Helper()
	content := must.Get(os.ReadFile(filepath.Join(dir, kind+".pprof")))(t)
	p, err := profile.ParseData(content)
	must.Do(t, err, "kind="+kind)
	return p
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestProfilerWritesEachKind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	p := must.Get(resources.NewProfiler(dir, append(resources.ProfileKinds(), "cpu")))(t)
	all := []string{"block.pprof", "cpu.pprof", "heap.pprof", "mutex.pprof", "trace.out"}
	golden.Equal(t, "before the window", all, files(t, dir))
	for _, step := range []func() error{p.OpenWindow, p.CloseWindow, p.Close} {
		must.Do(t, step())
	}
	golden.Equal(t, "after the case", all, files(t, dir))
	for _, kind := range []string{"cpu", "heap", "mutex", "block"} {
		parse(t, dir, kind)
	}
	content, err := os.ReadFile(filepath.Join(dir, "trace.out"))
	if err != nil || !bytes.HasPrefix(content, []byte("go 1.")) {
		t.Errorf("trace.out is no trace: %v", err)
	}
	for _, step := range []func() error{p.CloseWindow, p.Close} {
		must.Do(t, step(), "ended twice")
	}
}

func TestProfilerEndsEarly(t *testing.T) {
	for _, test := range []struct {
		name  string
		steps func(p *resources.Profiler) []func() error
		want  []string
	}{
		{
			"window=never opened",
			func(p *resources.Profiler) []func() error { return []func() error{p.CloseWindow, p.Close} },
			[]string{"cpu.pprof"},
		},
		{
			"window=never closed",
			func(p *resources.Profiler) []func() error { return []func() error{p.OpenWindow, p.Close} },
			[]string{"block.pprof", "cpu.pprof", "heap.pprof", "mutex.pprof", "trace.out"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			p := must.Get(resources.NewProfiler(dir, resources.ProfileKinds()))(t)
			for _, step := range test.steps(p) {
				must.Do(t, step())
			}
			golden.Equal(t, "files", test.want, files(t, dir))
		})
	}
}

func TestProfilerRefuses(t *testing.T) {
	t.Run("what=unknown kind", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "none")
		_, err := resources.NewProfiler(dir, []string{"cpu", "gpu"})
		must.Fail(t, err, zkbench.ErrParams, "kinds")
		for _, kind := range append(resources.ProfileKinds(), `"gpu"`) {
			if err == nil || !strings.Contains(err.Error(), kind) {
				t.Errorf("error %v does not name %s", err, kind)
			}
		}
		must.FailGet(os.Stat(dir))(t, must.ErrAny, "a directory that is not to be made")
	})
	t.Run("what=directory in a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		must.Do(t, os.WriteFile(file, nil, 0o600))
		if _, err := resources.NewProfiler(filepath.Join(file, "dir"), []string{"cpu"}); err == nil {
			t.Error("accepted")
		}
	})
	t.Run("what=file in the way", func(t *testing.T) {
		dir := t.TempDir()
		must.Do(t, os.Mkdir(filepath.Join(dir, "mutex.pprof"), 0o700))
		if _, err := resources.NewProfiler(dir, []string{"cpu", "mutex"}); err == nil {
			t.Error("accepted")
		}
		golden.Equal(t, "files", []string{"mutex.pprof"}, files(t, dir))
	})
	t.Run("what=two at once", func(t *testing.T) {
		first := must.Get(resources.NewProfiler(t.TempDir(), []string{"cpu", "trace"}))(t)
		defer first.Close()
		must.Do(t, first.OpenWindow())
		must.FailGet(resources.NewProfiler(t.TempDir(), []string{"cpu"}))(t, must.ErrAny, "a second cpu profile")
		second := must.Get(resources.NewProfiler(t.TempDir(), []string{"trace"}))(t)
		must.Fail(t, second.OpenWindow(), must.ErrAny, "a second trace")
		must.Do(t, second.Close())
	})
}

func TestNilProfiler(t *testing.T) {
	var p *resources.Profiler
	must.Do(t, errors.Join(p.OpenWindow(), p.CloseWindow(), p.Close()))
}

// contend blocks goroutines on a lock for as long as the profile needs to see it.
//
//go:noinline
func contend() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 2000 {
				mu.Lock()
				runtime.Gosched() // lets the others find the lock taken
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

//go:noinline
func contendEarlier() { contend() }

// The second window of a process must not show what the first one saw.
func TestProfilerShowsItsWindowOnly(t *testing.T) {
	mutexes := func(work func()) *profile.Profile {
		dir := t.TempDir()
		p := must.Get(resources.NewProfiler(dir, []string{"mutex"}))(t)
		must.Do(t, p.OpenWindow())
		work()
		must.Do(t, p.Close())
		return parse(t, dir, "mutex")
	}
	contentions := func(p *profile.Profile) (n int64) {
		for _, s := range p.Sample {
			if inFunction(s, "contend") {
				n += s.Value[0]
			}
		}
		return n
	}
	var busy int64
	for range 20 {
		if busy = contentions(mutexes(contendEarlier)); busy > 0 {
			break
		}
	}
	if busy <= 0 {
		t.Fatal("the profile shows no contention")
	}
	golden.Equal(t, "contentions of an earlier window", 0, contentions(mutexes(func() {})))
}

func inFunction(s *profile.Sample, name string) bool {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if strings.Contains(line.Function.Name, "resources_test."+name) {
				return true
			}
		}
	}
	return false
}

//go:noinline
func burnSetup(n int) uint64 { return burn(n, 3) }

//go:noinline
func burnWindow(n int) uint64 { return burn(n, 5) }

func burn(n int, x uint64) uint64 {
	for range n {
		x = x*6364136223846793005 + 1
	}
	return x
}

// Each sample of the CPU profile has the label of the phase that it fell into,
// also in goroutines that the phase started.
func TestPhaseLabelsSamples(t *testing.T) {
	var sink uint64
	seen := map[string]int64{}
	for n := 20_000_000; n < 20_000_000<<8 && len(seen) < 2; n *= 2 {
		dir := t.TempDir()
		p := must.Get(resources.NewProfiler(dir, []string{"cpu"}))(t)
		resources.Phase(t.Context(), "set-up")
		sink += burnSetup(n)
		resources.Phase(t.Context(), "window")
		done := make(chan uint64)
		go func() { done <- burnWindow(n) }()
		sink += <-done
		must.Do(t, p.Close())
		for _, s := range parse(t, dir, "cpu").Sample {
			for function, phase := range map[string]string{"burnSetup": "set-up", "burnWindow": "window"} {
				if !inFunction(s, function) {
					continue
				}
				if diff := cmp.Diff([]string{phase}, s.Label["phase"]); diff != "" {
					t.Fatalf("sample in %s: %s", function, diff)
				}
				seen[phase] += s.Value[0]
			}
		}
	}
	runtime.KeepAlive(sink)
	if len(seen) < 2 {
		t.Errorf("samples by phase: %v, want some of set-up and window", seen)
	}
}
