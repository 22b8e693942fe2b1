package compare

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// configKeys are those of the configuration that is kept of a program's output: of other lines
// with a colon nobody knows what they are.
var configKeys = []string{"goos", "goarch", "pkg", "cpu"}

// benchmarkOutput returns what of a program's output is in the Go benchmark format; empty where
// it has no result. Lines that are not quite in it are left out, unless the program is known to
// mean it: then the error names the first.
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
			if err := newSet("", Benchmark).addResult(of); err != nil {
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

// nthLine is a line of text, from 1 on.
func nthLine(text []byte, n int) string {
	lines := bytes.SplitN(text, []byte("\n"), n+1)
	return string(lines[min(n, len(lines))-1])
}

// isResult tells a result that something is wrong with from a sentence that begins with Benchmark: its
// second word begins as a number does.
func isResult(line string) bool {
	words := strings.Fields(line)
	return len(words) > 1 && strings.ContainsAny(words[1][:1], "0123456789+-.")
}

// shortLines reads the output with an empty line in place of each one that is longer than any
// result, and than the format's reader takes.
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

// addOutput adds what a process printed of its figures itself: one value of each row, the median
// where it printed several, since a process is one observation.
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
