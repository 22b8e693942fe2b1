package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
)

// Write writes one record as a JSON line with a single call of w's Write, unbuffered, so
// that what was measured survives the end of the process. What it writes can be read: figures
// that are no numbers are left out, with a finding that names them; another schema, an unknown
// status, and an axis or a figure that stands twice are a zkbench.ErrParams.
func Write(w io.Writer, r *Record) error {
	if err := r.readable(); err != nil {
		return fmt.Errorf("write record %s: %w", r.ID, err)
	}
	line, err := json.Marshal(r.finite())
	if err != nil {
		return fmt.Errorf("encode record %s: %w", r.ID, err)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write record %s: %w", r.ID, err)
	}
	return nil
}

// mostRecords bounds the records of a file: a suite has 100,000 processes at most.
const mostRecords = 200_000

// ReadAll returns the records of JSON lines up to the end of r; empty lines are skipped. A
// line that is not a record of this schema is a *zkbench.DecodeError that names the line, and
// more of them than 200,000 are a *zkbench.LimitError; the records before it come with it.
func ReadAll(r io.Reader) (all []*Record, err error) {
	lines, offset := bufio.NewReader(r), 0
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return all, fmt.Errorf("read records, line %d: %w", n, err)
		}
		if len(line) == 0 {
			return all, nil
		}
		if len(bytes.TrimSpace(line)) > 0 {
			rec, err := decode(line)
			if len(all) == mostRecords { // of which each takes far more memory than its line
				return all, &zkbench.LimitError{What: "records of a file", Estimate: int64(len(all)) + 1, Max: mostRecords}
			}
			if err != nil {
				return all, &zkbench.DecodeError{Path: fmt.Sprintf("line %d", n), Offset: offset, Reason: err.Error()}
			}
			all = append(all, rec)
		}
		offset += len(line)
	}
}

// ReadCut is ReadAll of a file whose writer may have been killed: a last line that was cut
// off is left out, and cut is its number; 0: none was.
func ReadCut(data []byte) (recs []*Record, cut int, err error) {
	recs, err = ReadAll(bytes.NewReader(data))
	if damaged, ok := errors.AsType[*zkbench.DecodeError](err); ok {
		// A line is written with its end, so one without was cut off; but one that is
		// whole JSON is not, whatever else is wrong with it.
		if last := data[damaged.Offset:]; !bytes.Contains(last, []byte("\n")) && !json.Valid(last) {
			return recs, bytes.Count(data, []byte("\n")) + 1, nil
		}
	}
	return recs, 0, err
}

// place is the whole path of what json refuses in a record, metrics[3].value for example: its
// own error knows of it only as far as the innermost type that decodes itself.
func place(line []byte, refused error) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &fields) != nil {
		return "record"
	}
	fails := func(field string, value []byte) (err error) {
		alone, err := json.Marshal(map[string]json.RawMessage{field: value})
		if err != nil {
			return err
		}
		return json.Unmarshal(alone, new(Record))
	}
	inner := func(path string, err error) string {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			names := strings.Split(wrong.Field, ".")
			if last := names[len(names)-1]; last != "" && !strings.HasPrefix(path, last) {
				return path + "." + last
			}
		}
		return path
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		err := fails(field, fields[field])
		if err == nil {
			continue
		}
		var elements []json.RawMessage
		if json.Unmarshal(fields[field], &elements) == nil {
			for i, e := range elements {
				if err := fails(field, slices.Concat([]byte("["), e, []byte("]"))); err != nil {
					return inner(fmt.Sprintf("%s[%d]", field, i), err)
				}
			}
		}
		return inner(field, err)
	}
	return inner("record", refused)
}

func decode(line []byte) (*Record, error) {
	// The schema is read alone first: another schema may give the other fields
	// types that do not fit, and the schema is then what the error must name.
	var head struct {
		Schema *int `json:"schema"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		if line[len(line)-1] != '\n' {
			return nil, fmt.Errorf("truncated record: %w", err)
		}
		return nil, fmt.Errorf("not a record: %w", err)
	}
	if head.Schema == nil {
		return nil, fmt.Errorf("not a record: no schema; accepted: schema %d", Schema)
	}
	if *head.Schema != Schema {
		return nil, fmt.Errorf("schema %d is not known; accepted: schema %d", *head.Schema, Schema)
	}
	var rec Record
	if err := json.Unmarshal(line, &rec); err != nil {
		return nil, fmt.Errorf("not a record: %s: %w", place(line, err), err)
	}
	if !rec.Status.known() {
		return nil, fmt.Errorf("status %q is not known; accepted: %s, %s, %s", rec.Status, OK, Failed, Partial)
	}
	rec.percentilesByRank()
	rec.dropUncarried()
	rec.stagesByProver()
	return &rec, nil
}
