package compare

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/compare/gitenv"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
)

// mostOutput is the maximum number of bytes that a program may write to standard output.
const mostOutput = 64 << 20

// process is a program that is measured as a whole, without jobs.
type process struct {
	name string // workload of its records
	env  record.Env
	argv []string
	dir  string
	// limit is how long a run may take; 0: as long as it likes
	limit time.Duration
	// read writes what the program printed and used into its record.
	read func(rec *record.Record, out []byte, use subprocess.Use) error
}

// run runs the program once. Errors are in the record.
func (p process) run(ctx context.Context) *record.Record {
	rec := record.New()
	rec.Workload, rec.Env = p.name, p.env
	until := resources.Watch()
	out, use, err := runIn(ctx, p.dir, p.argv, p.limit)
	if m := until(); m != nil {
		if f, found := runner.DisturbedFinding(m); found {
			rec.Findings = append(rec.Findings, f)
		}
	}
	if err == nil {
		err = p.read(rec, out, use)
	}
	switch {
	case ctx.Err() != nil:
		rec.Status, rec.Error = record.Partial, "interrupted"
	case err != nil:
		rec.Status, rec.Error = record.Failed, err.Error()
	}
	return rec
}

// runIn runs a program in a directory and ends all processes that it left. If the program fails,
// the error is its exit state with the most telling line of its output. If it takes longer than the
// limit, and the limit is not 0, it is killed and the error says so.
func runIn(ctx context.Context, dir string, argv []string, limit time.Duration) ([]byte, subprocess.Use, error) {
	if limit > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeoutCause(ctx, limit, fmt.Errorf("the run took longer than %v", limit))
		defer end()
	}
	out, use, err := subprocess.Run(ctx, subprocess.Command{
		Argv: argv, Dir: dir, Environ: gitenv.Environ(), Env: []string{"PWD=" + dir}, Limit: subprocess.Limits{Output: mostOutput},
	})
	subprocess.Sweep()
	if exit, ok := errors.AsType[*subprocess.ExitError](err); ok {
		err = errors.New(exit.State)
		if message := cmp.Or(failedTest(out), reason(exit.Lines), lastLine(out)); message != "" {
			err = errors.New(exit.State + ": " + message)
		}
	}
	return out, use, err
}

// failedTest returns what a Go test printed about its failure, or "" if it did not fail.
func failedTest(out []byte) string {
	_, failed, ok := bytes.Cut(append([]byte("\n"), out...), []byte("\n--- FAIL: "))
	if !ok {
		return ""
	}
	return "FAIL: " + strings.Join(strings.Fields(string(failed[:min(len(failed), 200)])), " ")
}

// reason returns the message that says what went wrong: the first line that mentions an error,
// since compilers print progress first, or else the first line.
func reason(lines []string) string {
	for _, line := range lines {
		if word, _, _ := strings.Cut(strings.ToLower(line), " "); strings.HasPrefix(word, "error") || strings.Contains(strings.ToLower(line), "error: ") {
			return line
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

// lastLine returns the last line of output, for programs that print nothing on standard error.
func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
