// Package outdir writes the output directory that the flag --out names. The directory has
// records and views of them: reports, tables and plots.
package outdir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/internal/view/plot"
	"github.com/zkbench/zkbench/internal/view/text"
)

// RecordsFile is the name of the file of records. A directory with this file is an output
// directory.
const RecordsFile = "records.jsonl"

// Records returns the path of the file of records in a directory. The file is RecordsFile
// or, if only a gzip-compressed copy of it exists, that copy.
func Records(dir string) string {
	path := filepath.Join(dir, RecordsFile)
	if !exists(path) && exists(path+record.Packed) {
		return path + record.Packed
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Dir is an output directory that is being written. It has records.jsonl, which grows
// case by case, and a directory for each case with views of its record. Close adds
// views of all records.
type Dir struct {
	dir   string
	file  *os.File // records.jsonl
	added []*record.Record
	taken map[string]int // directories of cases, in lower case, and how often each was used
}

// Create creates the directory and checks that files and directories can be created in it. It
// returns an error if the directory already has records, because these belong to another run.
func Create(dir string) (*Dir, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	probe, err := os.MkdirTemp(dir, ".writable")
	if err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	if err := os.Remove(probe); err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	path := filepath.Join(dir, RecordsFile)
	const refusal = "%s holds records of another run; accepted: a directory without records"
	if packed := path + record.Packed; exists(packed) {
		return nil, fmt.Errorf("out: "+refusal, packed)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.Size() > 0 {
		err = fmt.Errorf(refusal, path)
	}
	if err != nil {
		return nil, fmt.Errorf("out: %w", errors.Join(err, file.Close()))
	}
	return &Dir{dir: dir, file: file, taken: make(map[string]int)}, nil
}

// CaseDir returns the path of the directory within dir for the views and profiles of a case,
// given the names of its workload and of the case.
func CaseDir(dir, workloadName, caseName string) string {
	id := record.WorkloadID(workloadName)
	return filepath.Join(dir, text.FileName(id), text.FileName(caseName))
}

// Keep appends the record to records.jsonl at once, and writes no views of it.
func (d *Dir) Keep(rec *record.Record) error { return record.Write(d.file, rec) }

// Add appends the record to records.jsonl at once, then writes its views. If the case
// was added before, the views go to a new directory: case-2 and so on.
func (d *Dir) Add(rec *record.Record) error {
	if err := d.Keep(rec); err != nil {
		return err
	}
	d.added = append(d.added, rec)

	dir := CaseDir(d.dir, rec.Workload, rec.Case)
	key := strings.ToLower(dir) // some file systems ignore upper and lower case
	d.taken[key]++
	if n := d.taken[key]; n > 1 {
		dir = fmt.Sprintf("%s-%d", dir, n)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("out: %w", err)
	}
	err := View(dir, "report.txt", func(w io.Writer) error { return text.Case(w, rec) })
	for _, name := range []string{record.HistLatency, record.HistResponse} {
		if _, ok := rec.Histogram(name); ok {
			err = errors.Join(err, View(dir, name+".hlog", func(w io.Writer) error { return text.HDRLog(w, rec, name) }))
		}
	}
	return errors.Join(
		err,
		View(dir, "percentiles.svg", func(w io.Writer) error { return plot.Percentiles(w, plot.SVG, rec) }),
		View(dir, "histogram.svg", func(w io.Writer) error { return plot.Histogram(w, plot.SVG, rec) }),
		View(dir, "timeline.svg", func(w io.Writer) error { return plot.Timeline(w, plot.SVG, rec) }),
	)
}

// Close writes the views of all records that Add has received, and closes records.jsonl.
func (d *Dir) Close() error {
	var err error
	if len(d.added) > 0 {
		err = errors.Join(
			View(d.dir, "summary.txt", func(w io.Writer) error { return text.Table(w, d.added) }),
			View(d.dir, "results.csv", func(w io.Writer) error { return text.CSV(w, d.added) }),
			View(d.dir, "bench.txt", func(w io.Writer) error {
				var err error
				for _, rec := range d.added {
					err = errors.Join(err, text.Benchmark(w, rec))
				}
				return err
			}),
		)
	}
	if closing := d.file.Close(); closing != nil {
		err = errors.Join(err, fmt.Errorf("out: %w", closing))
	}
	return err
}

// View calls the function write and puts its output into the file with the given name in the
// directory dir. If there is no output, because the record has no figures for the view, View
// removes the file if it exists.
func View(dir, name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("out: %s: %w", name, err)
	}
	path := filepath.Join(dir, name)
	if b.Len() == 0 { // an existing file shows other records
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("out: %w", err)
		}
		return nil
	}
	if err := atomicfile.Write(path, b.Bytes()); err != nil {
		return fmt.Errorf("out: %w", err)
	}
	return nil
}
