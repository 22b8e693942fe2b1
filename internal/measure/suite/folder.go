package suite

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/internal/view/outdir"
	"github.com/zkbench/zkbench/internal/view/text"
)

// Names within a suite's folder.
const (
	RecordsFile = outdir.RecordsFile
	PageFile    = "report.html"
	PlotsFile   = "benchmark_results.pdf"
	ResultsFile = "benchmark_results.csv" // a row for each suite; also beside the folder
	logsDir     = "logs"
)

// FolderName returns the default name of the folder for a suite. The parameter begun is the time at
// which the suite began.
func FolderName(begun time.Time) string {
	return "benchmark_logs_" + begun.Format("2006-01-02_15-04-05")
}

// Folder is the folder into which a suite writes its results while it runs: a file with the records
// as lines of JSON, and a log of each case. The file and the logs are made from the suite's
// journal, which is in the same folder.
type Folder struct {
	dir     string
	file    *os.File // the records
	Records []*record.Record
	logs    map[string][]*record.Record // by the case's name
	files   map[string]string           // names of the logs, by the case's name
}

// OpenFolder creates the folder dir if it does not exist. It overwrites the folder's file of
// records with the records that the journal already has, in the order of the plan. The parameter
// earlier contains these records: it maps the key of a case (Case.Key) to the case's record. The
// caller must then call Add for each of these records, and later for each new record.
func OpenFolder(dir string, plan []Case, earlier map[string]*record.Record) (*Folder, error) {
	if err := os.MkdirAll(filepath.Join(dir, logsDir), 0o755); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for i := range plan {
		if r := earlier[plan[i].Key()]; r != nil {
			if err := record.Write(&b, r); err != nil {
				return nil, err
			}
		}
	}
	// A reader of the old file can read on: Write replaces it as a whole.
	path := filepath.Join(dir, RecordsFile)
	if err := atomicfile.Write(path, b.Bytes()); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	return &Folder{dir: dir, file: file, logs: make(map[string][]*record.Record), files: make(map[string]string)}, nil
}

// Add adds the record r of the case c to f.Records and rewrites the case's log. If fresh is true,
// Add also appends the record to the file of records; records that were given to OpenFolder are in
// the file already.
func (f *Folder) Add(c *Case, r *record.Record, fresh bool) error {
	if fresh {
		if err := record.Write(f.file, r); err != nil {
			return err
		}
	}
	f.Records = append(f.Records, r)
	name := c.Name()
	f.logs[name] = append(f.logs[name], r)
	var b bytes.Buffer
	for _, r := range f.logs[name] {
		write := text.Case
		if c.Stages {
			write = text.Stages
		}
		if err := write(&b, r); err != nil {
			return err
		}
	}
	return atomicfile.Write(filepath.Join(f.dir, logsDir, f.logFile(name)), b.Bytes())
}

// logFile returns the file name of a case's log. If two cases differ only in characters that no
// file name can have, the later one gets a number.
func (f *Folder) logFile(name string) string {
	if file := f.files[name]; file != "" {
		return file
	}
	taken := func(file string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(f.files)), func(other string) bool { return strings.EqualFold(file, other) })
	}
	file := text.FileName(name) + ".log"
	for n := 2; taken(file); n++ {
		file = fmt.Sprintf("%s-%d.log", text.FileName(name), n)
	}
	f.files[name] = file
	return file
}

// Close closes the file of records.
func (f *Folder) Close() error { return f.file.Close() }

// ReadFolder returns the records of the suite in the folder dir. If the suite was killed, the last
// line of its file of records may be incomplete. In that case ReadFolder leaves the line out and
// returns true as the result cut. ReadFolder returns zkbench.ErrParams if the folder has no file
// of records.
func ReadFolder(dir string) (recs []*record.Record, cut bool, err error) {
	path := outdir.Records(dir)
	raw, err := record.ReadFile(path)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w; accepted: a folder with records", zkbench.ErrParams, err)
	}
	recs, line, err := record.ReadCut(raw)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	return recs, line > 0, nil
}

// Existing returns the names of the files that exist in the directory dir. It looks only for the
// given names.
func Existing(dir string, names ...string) (some []string) {
	for _, name := range names {
		if exists(filepath.Join(dir, name)) {
			some = append(some, name)
		}
	}
	return some
}
