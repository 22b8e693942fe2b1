package compare

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// configKeys are the configuration lines of a program's output that are kept. Other lines with a
// colon can mean anything.
var configKeys = []string{"goos", "goarch", "pkg", "cpu"}

// benchmarkOutput returns the part of a program's output that is in the Go benchmark format, or ""
// if there is no result. Malformed lines are left out. If meant is set, the program is known to
// print the format, and the error names the first malformed line.
func benchmarkOutput(out []byte, meant bool) (string, error) {
	var b strings.Builder
	results, to := 0, benchfmt.NewWriter(&b)
	for r := benchfmt.NewReader(shortLines(out), "output"); r.Scan(); {
		rec := r.Result()
		switch of := rec.(type) {
		case *benchfmt.SyntaxError:
			if line := nthLine(out, of.Line); meant && isResult(line) {
				return "", fmt.Errorf("output, line %d, %.100q: %s", of.Line, line, of.Msg)
			}
			continue
		case *benchfmt.Result:
			err := newSet("", Benchmark).addResult(of)
			if of.Iters == 0 { // package testing can still print the result of a benchmark that panics
				err = errors.New("the benchmark ended before its first iteration, as after a panic")
			}
			if err != nil {
				if _, line := of.Pos(); meant {
					return "", fmt.Errorf("output, line %d, %.100q: %w", line, nthLine(out, line), err)
				}
				continue
			}
			known := slices.DeleteFunc(slices.Clone(of.Config), func(c benchfmt.Config) bool { return !slices.Contains(configKeys, c.Key) })
			rec = &benchfmt.Result{Config: known, Name: of.Name, Iters: of.Iters, Values: of.Values}
			results++
		}
		if err := to.Write(rec); err != nil {
			return "", err
		}
	}
	if results == 0 {
		return "", nil
	}
	return b.String(), nil
}

// nthLine returns line n of text, counted from 1.
func nthLine(text []byte, n int) string {
	lines := bytes.SplitN(text, []byte("\n"), n+1)
	return string(lines[min(n, len(lines))-1])
}

// isResult distinguishes a malformed result from a sentence that begins with Benchmark. It reports
// whether the second word begins as a number does.
func isResult(line string) bool {
	words := strings.Fields(line)
	return len(words) > 1 && strings.ContainsAny(words[1][:1], "0123456789+-.")
}

// shortLines returns the output with empty lines in place of those that are too long for the
// format's reader. No result is that long.
func shortLines(out []byte) *bytes.Reader {
	var short []byte
	for line := range bytes.Lines(out) {
		if len(line) >= bufio.MaxScanTokenSize {
			line = []byte("\n")
		}
		short = append(short, line...)
	}
	return bytes.NewReader(short)
}

// addOutput adds the figures that a process printed itself. Each row gets one value, because a
// process is one observation: the median if the process printed several.
func (s *Set) addOutput(rec *record.Record) error {
	mine := newSet("", Benchmark)
	refused := func(line int, reason string) error {
		return &zkbench.DecodeError{Path: fmt.Sprintf("record %s: output, line %d", rec.ID, line), Reason: reason}
	}
	r := benchfmt.NewReader(strings.NewReader(rec.Output), rec.ID)
	for r.Scan() {
		switch of := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return refused(of.Line, of.Msg)
		case *benchfmt.Result:
			if err := mine.addResult(of); err != nil {
				_, line := of.Pos()
				return refused(line, err.Error())
			}
		}
	}
	if err := r.Err(); err != nil {
		return refused(0, err.Error())
	}
	for _, in := range mine.samples {
		in.applyUnits(r.Units())
		s.add(in.key, in.unit, in.exact, in.better, point{stat.Median(in.values()), rec.Process, rec.Time})
	}
	return nil
}
