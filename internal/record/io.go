package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
)

// Writer writes records as JSON lines.
type Writer struct{ w io.Writer }

// NewWriter returns a writer of records to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes one record with a single call of the underlying Write, unbuffered,
// so that what was measured survives the end of the process.
func (w *Writer) Write(r *Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode record %s: %w", r.ID, err)
	}
	if _, err := w.w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write record %s: %w", r.ID, err)
	}
	return nil
}

// Reader reads records from JSON lines.
type Reader struct {
	r      *bufio.Reader
	line   int
	offset int
}

// NewReader returns a reader of the records in r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReader(r)} }

// Read returns the next record, or io.EOF after the last one. A line that is
// not a record of this schema is a *zkbench.DecodeError that names the line;
// empty lines are skipped.
func (r *Reader) Read() (*Record, error) {
	for {
		start := r.offset
		line, err := r.r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read records, line %d: %w", r.line+1, err)
		}
		if len(line) == 0 {
			return nil, io.EOF
		}
		r.line++
		r.offset += len(line)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		rec, err := decode(line)
		if err != nil {
			return nil, &zkbench.DecodeError{
				Path:   fmt.Sprintf("line %d", r.line),
				Offset: start,
				Reason: err.Error(),
			}
		}
		return rec, nil
	}
}

// ReadAll returns the records up to the end of r. On error it returns those
// before the faulty line with it.
func ReadAll(r io.Reader) ([]*Record, error) {
	reader := NewReader(r)
	var all []*Record
	for {
		rec, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, rec)
	}
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
		return nil, fmt.Errorf("not a record: %w", err)
	}
	switch rec.Status {
	case OK, Failed, Partial:
	default:
		return nil, fmt.Errorf("status %q is not known; accepted: %s, %s, %s", rec.Status, OK, Failed, Partial)
	}
	return &rec, nil
}
