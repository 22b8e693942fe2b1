package resources

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/zkbench/zkbench"
)

// The kinds of profiles.
const (
	kindCPU   = "cpu"
	kindHeap  = "heap"
	kindMutex = "mutex"
	kindBlock = "block"
	kindTrace = "trace"
)

// Sampling rates of the mutex and block profiles. Together they cost well under one
// per cent if operations take a microsecond or more.
const (
	mutexFraction = 10     // one in this many contentions
	blockRate     = 10_000 // one sample per this many ns blocked
)

// ProfileKinds returns the kinds of profiles that NewProfiler accepts.
func ProfileKinds() []string {
	return []string{kindCPU, kindHeap, kindMutex, kindBlock, kindTrace}
}

// Profiler takes the profiles of one case. The cpu profile covers the whole case. The
// mutex and block profiles and the trace cover only its window. The heap profile shows
// the heap as the last garbage collection before CloseWindow left it.
//
// The sampling rates apply to the whole process, so use only one Profiler at a time, and
// from one goroutine. A nil Profiler does nothing.
type Profiler struct {
	files   map[string]*os.File // by kind; only profiles that have not ended
	open    bool
	before  map[string]*profile.Profile // mutex and block, when the window opened
	restore int                         // the mutex profile's fraction
}

// NewProfiler creates the directory dir and, in it, one file for each of the kinds:
// <kind>.pprof, or trace.out for the trace. It also starts the cpu profile, if this is
// one of the kinds. It returns ErrParams if a kind is unknown. If it returns an error, no
// profile is running.
func NewProfiler(dir string, kinds []string) (*Profiler, error) {
	for _, kind := range kinds {
		if !slices.Contains(ProfileKinds(), kind) {
			return nil, fmt.Errorf("%w: profile: %q is not accepted; accepted: %s", zkbench.ErrParams, kind, strings.Join(ProfileKinds(), ", "))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	p := &Profiler{files: make(map[string]*os.File)}
	for _, kind := range kinds {
		if p.files[kind] != nil {
			continue
		}
		f, err := os.Create(filepath.Join(dir, fileName(kind)))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("profiles: %w", err), p.discard())
		}
		p.files[kind] = f
	}
	if f := p.files[kindCPU]; f != nil {
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, errors.Join(fmt.Errorf("profiles: %w", err), p.discard())
		}
	}
	return p, nil
}

func fileName(kind string) string {
	if kind == kindTrace {
		return "trace.out"
	}
	return kind + ".pprof"
}

// OpenWindow starts the mutex and block profiles and the trace. A Profiler has
// only one window.
func (p *Profiler) OpenWindow() error {
	if p == nil || p.open {
		return nil
	}
	p.before = make(map[string]*profile.Profile)
	for _, kind := range []string{kindMutex, kindBlock} {
		if p.files[kind] == nil {
			continue
		}
		before, err := lookup(kind)
		if err != nil {
			return fmt.Errorf("profiles: %s: %w", kind, err)
		}
		p.before[kind] = before
	}
	if f := p.files[kindTrace]; f != nil {
		if err := trace.Start(f); err != nil {
			return fmt.Errorf("profiles: %s: %w", kindTrace, err)
		}
	}
	if p.files[kindMutex] != nil {
		p.restore = runtime.SetMutexProfileFraction(mutexFraction)
	}
	if p.files[kindBlock] != nil {
		runtime.SetBlockProfileRate(blockRate)
	}
	p.open = true
	return nil
}

// CloseWindow stops what OpenWindow started and writes every profile except the cpu
// profile. If it is called after Meter.Stop, it writes the heap as of the garbage
// collection that closed the meter's window.
func (p *Profiler) CloseWindow() error {
	if p == nil || !p.open {
		return nil
	}
	p.open = false
	if p.files[kindMutex] != nil {
		runtime.SetMutexProfileFraction(p.restore)
	}
	if p.files[kindBlock] != nil {
		runtime.SetBlockProfileRate(0)
	}
	var errs []error
	if p.files[kindTrace] != nil {
		trace.Stop()
		errs = append(errs, p.end(kindTrace, nil))
	}
	for _, kind := range []string{kindMutex, kindBlock} {
		if p.files[kind] != nil {
			errs = append(errs, p.end(kind, p.writeWindow))
		}
	}
	if p.files[kindHeap] != nil {
		errs = append(errs, p.end(kindHeap, writeHeap))
	}
	return errors.Join(errs...)
}

// Close closes the window if it is open, stops the cpu profile, and removes the
// files of profiles that were never written because the window never opened.
func (p *Profiler) Close() error {
	if p == nil {
		return nil
	}
	errs := []error{p.CloseWindow()}
	if p.files[kindCPU] != nil {
		pprof.StopCPUProfile()
		errs = append(errs, p.end(kindCPU, nil))
	}
	return errors.Join(append(errs, p.discard())...)
}

// end calls write, if not nil, on the file of a kind, and closes the file.
func (p *Profiler) end(kind string, write func(w io.Writer, kind string) error) error {
	f := p.files[kind]
	delete(p.files, kind)
	var err error
	if write != nil {
		err = write(f, kind)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("profiles: %s: %w", kind, err)
	}
	return nil
}

// discard removes the files that are still empty, because an empty file is not a profile.
func (p *Profiler) discard() error {
	var errs []error
	for kind, f := range p.files {
		errs = append(errs, f.Close(), os.Remove(f.Name()))
		delete(p.files, kind)
	}
	return errors.Join(errs...)
}

func writeHeap(w io.Writer, kind string) error { return pprof.Lookup(kind).WriteTo(w, 0) }

// writeWindow writes what the runtime counted since the window opened: its
// profiles of contention grow for as long as the process lives.
func (p *Profiler) writeWindow(w io.Writer, kind string) error {
	after, err := lookup(kind)
	if err != nil {
		return err
	}
	before := p.before[kind]
	before.Scale(-1)
	window, err := profile.Merge([]*profile.Profile{before, after})
	if err != nil {
		return err
	}
	window.TimeNanos, window.DurationNanos = before.TimeNanos, after.TimeNanos-before.TimeNanos
	return window.Write(w)
}

func lookup(kind string) (*profile.Profile, error) {
	var b bytes.Buffer
	if err := pprof.Lookup(kind).WriteTo(&b, 0); err != nil {
		return nil, err
	}
	return profile.Parse(&b)
}
