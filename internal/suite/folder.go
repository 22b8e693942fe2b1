package suite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/report"
)

// Names within a suite's folder.
const (
	RecordsFile = "records.jsonl"
	ResultsFile = "benchmark_results.csv" // a row for each suite; also beside the folder
	IOStatsFile = "benchmark_IOstats.csv"
	logsDir     = "logs"
)

// FolderName is the name of the folder of a suite that began at that time.
func FolderName(begun time.Time) string {
	return "benchmark_logs_" + begun.Format("2006-01-02_15-04-05")
}

// Folder is what a suite writes as its cases end, beside the journal: their records as
// JSON lines and the log of each case. Both are views of the journal.
type Folder struct {
	dir     string
	file    *os.File
	records *record.Writer
	Records []*record.Record
	logs    map[string][]*record.Record // by the case
}

// OpenFolder begins the records of a folder anew: those that the journal has are added
// first.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(filepath.Join(dir, logsDir), 0o755); err != nil {
		return nil, err
	}
	// Whoever reads the records that were there goes on to read them.
	path := filepath.Join(dir, RecordsFile)
	if err := Replace(path, nil); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	return &Folder{dir: dir, file: file, records: record.NewWriter(file), logs: make(map[string][]*record.Record)}, nil
}

// Add writes the record of a case, and its log anew.
func (f *Folder) Add(c *Case, r *record.Record) error {
	if err := f.records.Write(r); err != nil {
		return err
	}
	f.Records = append(f.Records, r)
	name := c.Name()
	f.logs[name] = append(f.logs[name], r)
	var b bytes.Buffer
	for _, r := range f.logs[name] {
		write := report.Case
		if c.Job.Stages {
			write = report.Stages
		}
		if err := write(&b, r); err != nil {
			return err
		}
	}
	return Replace(filepath.Join(f.dir, logsDir, report.FileName(name)+".log"), b.Bytes())
}

// Close closes the records.
func (f *Folder) Close() error { return f.file.Close() }

// ReadFolder returns the records of a folder. The last line of a suite that was killed
// may be cut: it is left out, and cut tells so.
func ReadFolder(dir string) (recs []*record.Record, cut bool, err error) {
	path := filepath.Join(dir, RecordsFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w; accepted: a folder with records", zkbench.ErrParams, err)
	}
	end := bytes.LastIndexByte(raw, '\n') + 1
	recs, err = record.ReadAll(bytes.NewReader(raw[:end]))
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	if end < len(raw) {
		// A whole record without the end of its line is none that was cut.
		last, err := record.ReadAll(bytes.NewReader(raw[end:]))
		if errors.Is(err, zkbench.ErrMalformed) {
			return recs, true, nil
		}
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", path, err)
		}
		recs = append(recs, last...)
	}
	return recs, false, nil
}
