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

const acceptedFiles = "accepted: records as run --json writes them, the output of go test -bench, or hyperfine's JSON"

// Load reads a file of records, of `go test -bench` output, or of hyperfine's export. It detects the
// kind by the contents: all but benchmark output begins with a brace. If data is wrong, Load returns
// an error that wraps zkbench.ErrMalformed and names the file, the line, what is wrong and what is
// accepted. Lines of benchmark output that cannot be read do not make data wrong: they are left out,
// and the table of a comparison says so.
func Load(name string, data []byte) (*Set, error) {
	s, err := load(name, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; %s", name, err, acceptedFiles)
	}
	return s, nil
}

func load(name string, data []byte) (*Set, error) {
	text := bytes.TrimSpace(data)
	if len(text) == 0 {
		return nil, malformed(data, 1, "the file is empty")
	}
	if tool := foreignTool(text); tool != "" {
		return nil, malformed(data, 1, "a file of "+tool)
	}
	switch kindOf(text) {
	case jsonTest:
		return loadGoTest(name, data)
	case jsonHyperfine:
		return loadHyperfine(name, data)
	case jsonOther:
		recs, err := readRecords(data)
		if err != nil {
			return nil, err
		}
		return FromRecords(name, recs)
	}
	return loadLog(name, data)
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
