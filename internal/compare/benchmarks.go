package compare

import (
	"context"
	"crypto/rand"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
)

// Benchmarks measures the benchmarks of Go packages, in any module, at the two revisions of a
// comparison. The test binaries of a revision run as under `go test`: the working directory is the
// package's directory in a checkout of that revision. A process fails if its binary prints a
// failure.
type Benchmarks struct {
	Packages []string // as go test accepts them, relative to the current directory
	Flags    []string // the flags of go test that test binaries accept, and the packages' own
	Build    string   // a command that is run once in each tree before the benchmarks are built; empty: none
	Shell    bool     // run it with sh; otherwise argument.Words splits it into words

	nowhere map[string]bool // those of Packages that match no package in one revision
}

// PackagesAccepted tells the user which values Benchmarks.Packages may have.
const PackagesAccepted = "packages with benchmarks, as go test takes them, for example ./... or ./a,./b"

// defaultFlags are the flags of a session's short processes. Flags that the user gives override
// them.
var defaultFlags = []string{"-test.paniconexit0", "-test.run=^$", "-test.bench=.", "-test.benchmem", "-test.benchtime=100ms", "-test.timeout=10m"}

// probeFlags run each benchmark once.
var probeFlags = []string{"-test.benchtime=1x", "-test.count=1"}

// testFlags are the flags of a test binary that go test accepts without the prefix test.
var testFlags = []string{
	"bench", "benchmem", "benchtime", "blockprofile", "blockprofilerate", "count", "cpu", "cpuprofile", "failfast", "fullpath", "memprofile", "memprofilerate",
	"mutexprofile", "mutexprofilefraction", "outputdir", "parallel", "run", "short", "shuffle", "skip", "timeout", "trace", "v",
}

// binaryFlags converts flags of go test to those of its binaries. It puts the default ones before
// them and last after them. Everything after -args stays as it is, as with go test.
func binaryFlags(flags, last []string) []string {
	all := slices.Clone(defaultFlags)
	for i, word := range flags {
		bare := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		name, _, _ := strings.Cut(bare, "=")
		switch {
		case word == bare:
		case name == "args":
			return slices.Concat(all, last, flags[i+1:])
		case slices.Contains(testFlags, name):
			word = "-test." + bare
		}
		all = append(all, word)
	}
	return append(all, last...)
}

// benchmarked is a package that one or both revisions have.
type benchmarked struct {
	path  string // import path
	sides map[stat.Side]goPackage
	runs  map[stat.Side]process // the processes that run its benchmarks
}

func (b *Benchmarks) measure(ctx context.Context, m *measurement) error {
	return m.repo.withTrees(ctx, m.revs[:], func(trees []string) error {
		for i, tree := range trees {
			dir, err := m.repo.hereIn(m.revs[i], tree)
			if err == nil && b.Build != "" {
				err = (&Command{Build: b.Build, Shell: b.Shell}).build(ctx, m, m.revs[i], tree, dir)
			}
			if err != nil {
				return err
			}
		}
		packages, err := b.packages(ctx, m, trees)
		if err != nil {
			return err
		}
		flags, once := binaryFlags(b.Flags, nil), binaryFlags(b.Flags, probeFlags)
		var cases []measured
		for i, p := range packages {
			fmt.Fprintf(m.Log, "building %s, %d of %d\n", p.path, i+1, len(packages))
			name := fmt.Sprintf("bench-%d", i+1)
			if err := p.build(ctx, m, name); err != nil {
				return err
			}
			first, err := p.probe(ctx, once)
			if err != nil {
				return err
			}
			switch len(first) {
			case 0: // many packages may have none that the flags choose
				err = p.remove()
			case 1: // on one side only, as the table will show
				m.planned++
				m.recs = append(m.recs, first[0])
				err = m.keep(first[0])
			default:
				err = p.copyOld(m, name)
				cases = append(cases, measured{p.path, func(ctx context.Context, side stat.Side) *record.Record {
					return p.runs[side].withFlags(flags).run(ctx)
				}})
			}
			if err != nil {
				return err
			}
		}
		if len(cases) == 0 && len(m.recs) == 0 {
			return b.chooseNone(packages)
		}
		m.sessions(ctx, cases)
		return nil
	})
}

// chooseNone returns the error that there is no benchmark, or that the flags choose none.
func (b *Benchmarks) chooseNone(packages []benchmarked) error {
	if len(packages) == 0 {
		return &argument.ValueError{Field: "bench", Value: strings.Join(b.Packages, ","), Accepted: PackagesAccepted}
	}
	return &argument.ValueError{Field: "flags of --bench", Value: strings.Join(b.Flags, " "), Accepted: "flags that choose a benchmark, for example -bench=."}
}

// packages returns the packages of both revisions that have benchmarks, in order.
func (b *Benchmarks) packages(ctx context.Context, m *measurement, trees []string) (all []benchmarked, err error) {
	b.nowhere = make(map[string]bool)
	for i, side := range built {
		dir, err := m.repo.hereIn(m.revs[i], trees[i])
		if err != nil {
			return nil, err
		}
		listed, err := b.list(ctx, m, i, dir)
		if err != nil {
			return nil, err
		}
		for _, p := range listed {
			at := slices.IndexFunc(all, func(known benchmarked) bool { return known.path == p.ImportPath })
			if at < 0 {
				at, all = len(all), append(all, benchmarked{p.ImportPath, make(map[stat.Side]goPackage), make(map[stat.Side]process)})
			}
			all[at].sides[side] = p
		}
	}
	return all, nil
}

// build builds the package's test binary of each revision that has the package.
func (p benchmarked) build(ctx context.Context, m *measurement, name string) error {
	for _, side := range built {
		pkg, has := p.sides[side]
		if !has {
			continue
		}
		binary := m.program(name, side)
		e, err := pkg.build(ctx, m.revision(side), binary)
		if err != nil {
			return err
		}
		p.runs[side] = process{name: p.path, env: e, argv: []string{binary}, dir: pkg.Dir, read: readBenchmarks}
	}
	return nil
}

// copyOld copies the old side's binary for the third side.
func (p benchmarked) copyOld(m *measurement, name string) error {
	again := p.runs[stat.Old]
	again.argv = []string{m.program(name, stat.Again)}
	p.runs[stat.Again] = again
	return copyProgram(p.runs[stat.Old].argv[0], again.argv[0])
}

func (p benchmarked) remove() (err error) {
	for _, run := range p.runs {
		err = errors.Join(err, os.Remove(run.argv[0]))
	}
	return err
}

// withFlags returns the process with further flags.
func (p process) withFlags(flags []string) process {
	p.argv = append(slices.Clip(p.argv), flags...)
	return p
}

// probe runs each benchmark of both revisions once and returns a record for each side that has any.
// It returns an *argument.ValueError if the package does not know a flag. Other failures are left
// to the session.
func (p benchmarked) probe(ctx context.Context, flags []string) (recs []*record.Record, err error) {
	for _, side := range built {
		run, has := p.runs[side]
		if !has {
			continue
		}
		rec := run.withFlags(flags).run(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if _, flag, unknown := strings.Cut(rec.Error, "flag provided but not defined: "); unknown {
			return nil, &argument.ValueError{Field: "flag of " + p.path, Value: flag, Accepted: "those of go test that its binaries take, and the package's own; those of the build in GOFLAGS"}
		}
		if rec.Process = (record.Process{Session: rand.Text(), Side: string(side)}); rec.Output != "" || rec.Status != record.OK {
			recs = append(recs, rec)
		}
	}
	return recs, nil
}

// goPackage is a package as go list describes it.
type goPackage struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
}

// build builds the package's test binary and returns the environment for its records.
func (p goPackage) build(ctx context.Context, v Revision, binary string) (e record.Env, err error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-buildvcs=false", "-o", binary+freshSuffix, ".")
	cmd.Dir = p.Dir
	if _, err := output(cmd); err != nil {
		return e, notBuilt(v, p.Dir, fmt.Errorf("%s: %w", p.ImportPath, err))
	}
	if err := settle(binary+freshSuffix, binary); err != nil {
		return e, err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return e, fmt.Errorf("%w: %s: %w", zkbench.ErrEnv, p.ImportPath, err)
	}
	e = env.Read()
	e.Commit, e.Go, e.Modules = v.Commit, info.GoVersion, make(map[string]string)
	for _, module := range info.Deps {
		e.Modules[module.Path] = module.Version
	}
	return e, nil
}

// list returns the packages of revision i that have benchmarks. A pattern that matches no package
// of the revision is logged. list returns zkbench.ErrEnv if it matches none of the other revision
// either.
func (b *Benchmarks) list(ctx context.Context, m *measurement, i int, dir string) (with []goPackage, err error) {
	for _, pattern := range b.Packages {
		some, err := listed(ctx, pattern, dir)
		if err != nil {
			why := fmt.Sprintf("%s: %s", m.revs[i], strings.ReplaceAll(err.Error(), dir, "."))
			if b.nowhere[pattern] || ctx.Err() != nil {
				return nil, fmt.Errorf("%w: %s%s", zkbench.ErrEnv, why, lacksSubmodules(dir))
			}
			b.nowhere[pattern] = true
			fmt.Fprintf(m.Log, "no packages %s: %s\n", pattern, why)
		}
		for _, p := range some {
			if !slices.ContainsFunc(with, func(known goPackage) bool { return known.ImportPath == p.ImportPath }) {
				with = append(with, p)
			}
		}
	}
	return with, nil
}

// listed returns the packages with benchmarks that a pattern matches, relative to dir.
func listed(ctx context.Context, pattern, dir string) (with []goPackage, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", "--", pattern)
	cmd.Dir = dir
	out, err := output(cmd)
	if err != nil {
		return nil, err
	}
	for packages := json.NewDecoder(strings.NewReader(out)); ; {
		var p goPackage
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return with, nil
		} else if err != nil {
			return nil, fmt.Errorf("%w: go list: %w", zkbench.ErrEnv, err)
		}
		has, err := p.hasBenchmarks()
		if err != nil {
			return nil, err
		}
		if has {
			with = append(with, p)
		}
	}
}

var benchmarkFunction = regexp.MustCompile(`(?m)^func Benchmark(\P{Ll}\w*)?\(`)

func (p goPackage) hasBenchmarks() (bool, error) {
	for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		source, err := os.ReadFile(filepath.Join(p.Dir, file))
		if err != nil {
			return false, err
		}
		if benchmarkFunction.Match(source) {
			return true, nil
		}
	}
	return false, nil
}

// readBenchmarks reads the results that a test binary printed into its record.
func readBenchmarks(rec *record.Record, out []byte, _ subprocess.Use) (err error) {
	if failed := failedTest(out); failed != "" { // even if its TestMain ended with exit code 0
		return errors.New(failed)
	}
	rec.Output, err = benchmarkOutput(out, true)
	return err
}
