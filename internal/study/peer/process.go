package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/stat"
)

const (
	// maxOutput limits a process's output, in bytes. A peer prints a few hundred.
	maxOutput = 1 << 20
	// waitDelay is how long a killed process's children may hold its pipes.
	waitDelay = 2 * time.Second
)

// output runs one command of the program and returns its stdout. It returns ErrEnv, with the last line of stderr, if the
// program cannot be started, fails, takes too long or prints too much.
func (p Program) output(ctx context.Context, timeout time.Duration, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("stopped after %v", timeout))
	defer cancel()
	argv := slices.Concat(p.Argv, args)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = p.Dir
	if len(p.Env) > 0 {
		cmd.Env = append(os.Environ(), p.Env...)
	}
	cmd.WaitDelay = waitDelay
	var stdout, stderr bounded
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil && stdout.cut:
		err = fmt.Errorf("more than %d bytes of output", maxOutput)
	}
	if err == nil {
		return stdout.buf.Bytes(), nil
	}
	if line := lastLine(stderr.buf.Bytes()); line != "" {
		return nil, fmt.Errorf("%w: %w: %s", zkbench.ErrEnv, err, line)
	}
	return nil, fmt.Errorf("%w: %w", zkbench.ErrEnv, err)
}

// list asks the program for its case names.
func (p Program) list(ctx context.Context, timeout time.Duration) ([]string, error) {
	out, err := p.output(ctx, timeout, "list")
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		name := strings.TrimRight(line, "\r\n")
		switch {
		case name == "":
			continue
		case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' }):
			// The benchmark format ends a name at the first blank.
			return nil, fmt.Errorf("%w: list: case name %q contains a blank", zkbench.ErrMalformed, name)
		case slices.Contains(names, name):
			return nil, fmt.Errorf("%w: list: case %q is listed twice", zkbench.ErrMalformed, name)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: list: no case", zkbench.ErrMalformed)
	}
	return names, nil
}

// run measures one case in a new process.
func (p Program) run(ctx context.Context, timeout time.Duration, name string) (Sample, error) {
	out, err := p.output(ctx, timeout, "run", name)
	if err != nil {
		return Sample{}, err
	}
	s, err := parseSample(out, name)
	s.Program = p.Name
	return s, err
}

// parseSample parses the benchmark lines of one case. If there are several, they are samples of one process, and
// parseSample returns their medians. It returns ErrMalformed for anything other than lines of this case with a positive
// ns/op.
func parseSample(out []byte, name string) (Sample, error) {
	values := map[string][]float64{}
	r := benchfmt.NewReader(bytes.NewReader(out), "run "+name)
	for r.Scan() {
		var res *benchfmt.Result
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			res = rec
		case *benchfmt.SyntaxError:
			return Sample{}, fmt.Errorf("%w: %w", zkbench.ErrMalformed, rec)
		default: // metadata of a unit
			continue
		}
		if string(res.Name) != name {
			return Sample{}, fmt.Errorf("%w: run %s: a line of case %q", zkbench.ErrMalformed, name, res.Name)
		}
		for _, v := range res.Values {
			value, unit := v.Value, v.Unit
			if v.OrigUnit != "" { // the reader has rescaled it to base units
				value, unit = v.OrigValue, v.OrigUnit
			}
			values[unit] = append(values[unit], value)
		}
	}
	if err := r.Err(); err != nil {
		return Sample{}, fmt.Errorf("%w: %w", zkbench.ErrMalformed, err)
	}
	times := values[unitTime]
	if len(times) == 0 {
		return Sample{}, fmt.Errorf("%w: run %s: no line with %s", zkbench.ErrMalformed, name, unitTime)
	}
	for _, ns := range times {
		if !(ns > 0 && ns <= maxNs) { // NaN fails every comparison
			return Sample{}, fmt.Errorf("%w: run %s: %v %s", zkbench.ErrMalformed, name, ns, unitTime)
		}
	}
	s := Sample{Case: name, NsPerOp: stat.Median(times)}
	delete(values, unitTime)
	if len(values) > 0 {
		s.Extra = make(map[string]float64, len(values))
		for unit, v := range values {
			s.Extra[unit] = stat.Median(v)
		}
	}
	return s, nil
}

const (
	unitTime = "ns/op"
	// Optional units of memory allocated per operation.
	unitBytes, unitAllocs = "B/op", "allocs/op"
	// UnitPeak is the optional unit of the peak resident set during the measurement, after the memory of the set-up was
	// returned to the system.
	UnitPeak = "peak-rss-bytes"
	// maxNs is a year in ns, the largest time per operation that is accepted.
	maxNs = 365 * 24 * 3600 * 1e9
)

// bounded keeps the first maxOutput bytes and discards the rest, so that the process never blocks on a full pipe. The
// buffer is not embedded, because its ReadFrom would read more than that.
type bounded struct {
	buf bytes.Buffer
	cut bool
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := min(len(p), maxOutput-b.buf.Len())
	b.buf.Write(p[:keep])
	b.cut = b.cut || keep < len(p)
	return len(p), nil
}

func lastLine(out []byte) string {
	out = bytes.TrimSpace(out)
	line := out[bytes.LastIndexByte(out, '\n')+1:]
	return strings.ToValidUTF8(string(line), "?")
}

// missingProgram returns the path of a program that does not exist. Most often it has not been built.
func missingProgram(err error) (path string, ok bool) {
	if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, exec.ErrNotFound) {
		return "", false
	}
	if lookup, ok := errors.AsType[*exec.Error](err); ok {
		return lookup.Name, true
	}
	if start, ok := errors.AsType[*os.PathError](err); ok {
		return start.Path, true
	}
	return "", false
}
