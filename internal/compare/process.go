package compare

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/zkbench/zkbench/internal/compare/gitenv"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
)

// mostOutput is the most that a program may write to standard output, in bytes.
const mostOutput = 64 << 20

// process is a program that is measured as a whole, not by jobs that it is given.
type process struct {
	name string // of its records
	env  record.Env
	argv []string
	dir  string
	// read takes what the program printed and used to its record.
	read func(rec *record.Record, out []byte, use subprocess.Use) error
}

// run runs it once. What goes wrong is in the record.
func (p process) run(ctx context.Context) *record.Record {
	rec := record.New()
	rec.Workload, rec.Env = p.name, p.env
	until := resources.Watch()
	out, use, err := runIn(ctx, p.dir, p.argv)
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

// runIn runs a program in a directory, and leaves nothing behind that it has started. Of one
// that ends badly the error is its state, with what it said last or first.
func runIn(ctx context.Context, dir string, argv []string) ([]byte, subprocess.Use, error) {
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

// failedTest is what a Go test has printed of what failed; empty: it has not.
func failedTest(out []byte) string {
	_, failed, ok := bytes.Cut(append([]byte("\n"), out...), []byte("\n--- FAIL: "))
	if !ok {
		return ""
	}
	return "FAIL: " + strings.Join(strings.Fields(string(failed[:min(len(failed), 200)])), " ")
}

// reason is the line of messages that says what went wrong: the first that speaks of an error, as
// compilers do after lines of progress, else the first.
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

// lastLine is what a program that says nothing on standard error may have meant by its output.
func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
