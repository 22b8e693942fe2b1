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

// Write writes one record as a JSON line. It makes a single unbuffered call of w's Write. So the record
// is complete even if the process is killed right after the call. Write leaves out figures that are NaN
// or infinite, and adds a finding that names these figures. Write returns zkbench.ErrParams if no reader
// would accept the record: if it has another schema, an unknown status, or an axis or a figure that
// occurs twice.
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

// mostRecords bounds the number of records in a file. A suite has at most 100,000 processes.
const mostRecords = 200_000

// ReadAll reads records from r, one JSON line each, up to its end. It skips empty lines. If a line is not
// a record of this schema, it returns a *zkbench.DecodeError that names the line. If there are more than
// 200,000 records, it returns a *zkbench.LimitError. Together with an error, ReadAll returns the records
// that it has read before.
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
			if len(all) == mostRecords { // a record takes far more memory than its line
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

// ReadCut reads records like ReadAll, from a file whose writer may have been killed. If the last line is
// truncated, ReadCut leaves this line out and returns the line's number as the result cut. Otherwise cut
// is 0.
func ReadCut(data []byte) (recs []*Record, cut int, err error) {
	recs, err = ReadAll(bytes.NewReader(data))
	if damaged, ok := errors.AsType[*zkbench.DecodeError](err); ok {
		// A line is written together with its end, so a line without one was truncated. A
		// line that is complete JSON was not, whatever else is wrong with it.
		if last := data[damaged.Offset:]; !bytes.Contains(last, []byte("\n")) && !json.Valid(last) {
			return recs, bytes.Count(data, []byte("\n")) + 1, nil
		}
	}
	return recs, 0, err
}

// refusedPath returns the full path of the field that package json refuses in a record, for example
// metrics[3].value. The error of package json has the path only within the innermost type that decodes
// itself.
func refusedPath(line []byte, refused error) string {
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
		return nil, fmt.Errorf("not a record: %s: %w", refusedPath(line, err), err)
	}
	if !rec.Status.known() {
		return nil, fmt.Errorf("status %q is not known; accepted: %s, %s, %s", rec.Status, OK, Failed, Partial)
	}
	rec.percentilesByRank()
	rec.dropUncarried()
	rec.stagesByProver()
	return &rec, nil
}
