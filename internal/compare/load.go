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

// Load reads a file of records or of go test -bench output. The kind is told by
// the first line that is not empty: a record begins with a brace. The error names
// the file, the line, what is wrong and what is accepted; it is a
// zkbench.ErrMalformed, and there is no set then: a part of a file is not
// compared as if it were the whole.
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

// LoadSession reads the records of a whole session from one file. Its errors are
// those of Load and Split.
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

// malformed is a DecodeError at a line, counted from 1.
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

// loadBenchmark reads the format of https://go.dev/design/14313-benchmark-format.
// Lines that the format does not know are free text and pass, apart from those
// by which go test says that it failed.
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

// wholeLines refuses a last line that is cut short: its last figure or unit may
// be a part of what it was.
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
			return errors.New(unit + " stands twice in one result")
		}
		seen[unit] = true
		k := key{pkg: r.GetConfig("pkg"), name: r.Name.String(), metric: unit}
		s.add(k, unit, exactUnit(unit, serial), record.BetterOf(unit), point{value: value})
	}
	return nil
}

// applyUnits takes what the file says of the unit.
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

// exactUnit tells whether figures of this unit repeat exactly: sizes of what was
// made, constraints, and the allocations of a serial case. Bytes per operation do
// not, because the runtime rounds and reuses.
func exactUnit(unit string, serial bool) bool {
	per, size := strings.CutPrefix(unit, "B/")
	return size && per != "op" && per != "s" ||
		strings.HasPrefix(unit, "constraints") ||
		unit == "allocs/op" && serial
}

// serialCase tells whether an operation ran in one goroutine with no other
// beside it, so that its allocations can be counted exactly: its executor is
// serial or none is named, and it is no load test, whose name tells the workers.
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
