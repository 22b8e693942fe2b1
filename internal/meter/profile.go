package meter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
)

// The sampling of the mutex and block profiles: one in so many contentions, one
// sample per so many ns blocked. Together they cost well under one per cent
// where operations take a microsecond or more.
const (
	mutexFraction = 10
	blockRate     = 10_000
)

// ProfileKinds are the kinds of profiles that Profile accepts.
func ProfileKinds() []string { return []string{"cpu", "heap", "mutex", "block"} }

// Profile starts the profiles of the kinds and returns what ends them and writes
// each to dir/<kind>.pprof. The directory is made. The kinds' rates are those of
// the process: one Profile at a time.
func Profile(dir string, kinds []string) (stop func() error, err error) {
	for _, kind := range kinds {
		if !slices.Contains(ProfileKinds(), kind) {
			return nil, fmt.Errorf("%w: profile: %q is not accepted; accepted: %s", zkbench.ErrParams, kind, strings.Join(ProfileKinds(), ", "))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	var cpu *os.File
	if slices.Contains(kinds, "cpu") {
		if cpu, err = os.Create(filepath.Join(dir, "cpu.pprof")); err != nil {
			return nil, fmt.Errorf("profiles: %w", err)
		}
		if err := pprof.StartCPUProfile(cpu); err != nil {
			return nil, errors.Join(fmt.Errorf("profiles: %w", err), cpu.Close())
		}
	}
	fraction := -1 // reads the rate and leaves it
	if slices.Contains(kinds, "mutex") {
		fraction = runtime.SetMutexProfileFraction(mutexFraction)
	}
	if slices.Contains(kinds, "block") {
		runtime.SetBlockProfileRate(blockRate)
	}
	return func() error {
		var errs []error
		if cpu != nil {
			pprof.StopCPUProfile()
			errs = append(errs, cpu.Close())
		}
		for _, kind := range kinds {
			if kind != "cpu" {
				errs = append(errs, writeProfile(dir, kind))
			}
		}
		runtime.SetMutexProfileFraction(fraction)
		if slices.Contains(kinds, "block") {
			runtime.SetBlockProfileRate(0)
		}
		return errors.Join(errs...)
	}, nil
}

// writeProfile writes the profile of a kind. That of the heap is of the last
// collection: the meter's closing one, when it is written after Stop.
func writeProfile(dir, kind string) error {
	f, err := os.Create(filepath.Join(dir, kind+".pprof"))
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup(kind).WriteTo(f, 0), f.Close())
}
