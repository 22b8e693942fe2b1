package compare

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
)

const acceptedFiles = "accepted: records as run --json writes them, or the output of go test -bench"

// Load reads a file of records or of `go test -bench` output. The file contains records if its
// first line that is not empty begins with a brace. If data is wrong, Load returns an error that
// wraps zkbench.ErrMalformed and names the file, the line, what is wrong and what is accepted. In
// that case it returns no set, so that a part of a file is never compared as if it were the whole.
func Load(name string, data []byte) (*Set, error) {
	text := bytes.TrimSpace(data)
	var s *Set
	var err error
	switch {
	case len(text) == 0:
		err = malformed(data, 1, "the file is empty")
	case text[0] == '{':
		var recs []*record.Record
		if recs, err = readRecords(data); err == nil {
			s, err = FromRecords(name, recs)
		}
	default:
		s, err = loadBenchmark(name, data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; %s", name, err, acceptedFiles)
	}
	return s, nil
}

// LoadSession reads the records of a whole session from one file. It returns the errors of Load and
// Split.
func LoadSession(name string, data []byte) (Sides, error) {
	recs, err := readRecords(data)
	if err != nil {
		return Sides{}, fmt.Errorf("%s: %w; accepted in one file alone: the records of a session", name, err)
	}
	return Split(name, recs)
}

func readRecords(data []byte) ([]*record.Record, error) {
	recs, err := record.ReadAll(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if len(recs) == 0 {
		return nil, malformed(data, 1, "the file is empty")
	}
	for _, rec := range recs {
		if rec.Workload == "" {
			return nil, &zkbench.DecodeError{Path: "record " + rec.ID, Reason: "names no workload"}
		}
		for _, m := range rec.Metrics {
			if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
				return nil, &zkbench.DecodeError{Path: "record " + rec.ID, Reason: "metric " + m.Name() + " is not finite"}
			}
		}
	}
	return recs, nil
}

// malformed returns a DecodeError at a line, counted from 1.
func malformed(data []byte, line int, reason string) error {
	offset := 0
	for range line - 1 {
		next := bytes.IndexByte(data[offset:], '\n')
		if next < 0 {
			break
		}
		offset += next + 1
	}
	return &zkbench.DecodeError{Path: fmt.Sprintf("line %d", line), Offset: offset, Reason: reason}
}

// loadBenchmark reads the format of https://go.dev/design/14313-benchmark-format. It skips lines
// that are not in the format, except those by which go test reports a failure.
func loadBenchmark(name string, data []byte) (*Set, error) {
	if err := wholeLines(data); err != nil {
		return nil, err
	}
	s := newSet(name, Benchmark)
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		text = strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(text, `{"`):
			return nil, malformed(data, line, "a record, or JSON of go test, among benchmark output")
		case strings.HasPrefix(text, "--- FAIL"), strings.HasPrefix(text, "FAIL"), strings.HasPrefix(text, "panic: "):
			s.addUnfit(true, fmt.Sprintf("line %d: %s", line, text))
		}
	}
	r := benchfmt.NewReader(bytes.NewReader(data), name)
	results := 0
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, malformed(data, rec.Line, rec.Msg)
		case *benchfmt.Result:
			results++
			s.addEnv(record.Env{Host: rec.GetConfig("host"), OS: rec.GetConfig("goos"), Arch: rec.GetConfig("goarch"), CPU: rec.GetConfig("cpu")})
			if err := s.addResult(rec); err != nil {
				_, line := rec.Pos()
				return nil, malformed(data, line, err.Error())
			}
		}
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("%w: %v", zkbench.ErrMalformed, err)
	}
	if results == 0 && len(s.unfit) == 0 {
		return nil, malformed(data, 1, "no record and no benchmark result in the file")
	}
	for _, in := range s.samples {
		in.applyUnits(r.Units())
	}
	return s, nil
}

// wholeLines refuses a file whose last line is cut: its last figure or unit may be incomplete.
func wholeLines(data []byte) error {
	if data[len(data)-1] == '\n' {
		return nil
	}
	return malformed(data, bytes.Count(data, []byte{'\n'})+1, "the file ends within this line, so it is truncated")
}

// addResult adds the figures of one result line. The unit is the metric's name.
func (s *Set) addResult(r *benchfmt.Result) error {
	serial := serialCase(r.Name)
	seen := make(map[string]bool)
	for _, v := range r.Values {
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" {
			value, unit = v.OrigValue, v.OrigUnit
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return errors.New(unit + " is not finite")
		}
		if seen[unit] {
			return errors.New(unit + " occurs twice in one result")
		}
		seen[unit] = true
		k := key{pkg: r.GetConfig("pkg"), name: r.Name.String(), metric: unit}
		s.add(k, unit, exactUnit(unit, serial), record.BetterOf(unit), point{value: value})
	}
	return nil
}

// applyUnits applies what the file says about the sample's unit.
func (in *sample) applyUnits(units benchfmt.UnitMetadataMap) {
	switch better := units.GetBetter(in.unit); {
	case better > 0:
		in.better = record.Higher
	case better < 0:
		in.better = record.Lower
	}
	if assume := units.Get(in.unit, "assume"); assume != nil {
		in.exact = assume.Value == "exact"
	}
}

// exactUnit reports whether figures with this unit repeat exactly: sizes, constraints, and the
// allocations of a serial case. Bytes per operation do not, because the runtime rounds and reuses.
func exactUnit(unit string, serial bool) bool {
	per, size := strings.CutPrefix(unit, "B/")
	return size && per != "op" && per != "s" ||
		strings.HasPrefix(unit, "constraints") ||
		unit == "allocs/op" && serial
}

// serialCase reports whether an operation ran in one goroutine with no other beside it, so that its
// allocations repeat exactly. That is so if its executor is serial or not named, and it is not a
// load test, whose name has the number of workers.
func serialCase(name benchfmt.Name) bool {
	_, parts := name.Parts()
	for _, part := range parts {
		k, v, _ := strings.Cut(strings.TrimPrefix(string(part), "/"), "=")
		if k == record.ExecutorKey && v != record.Serial || k == record.WorkersKey {
			return false
		}
	}
	return true
}
