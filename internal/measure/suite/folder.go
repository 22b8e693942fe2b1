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

// FolderName is the name of the folder of a suite that began at that time.
func FolderName(begun time.Time) string {
	return "benchmark_logs_" + begun.Format("2006-01-02_15-04-05")
}

// Folder is what a suite writes as its cases end, beside the journal: their records as
// JSON lines and the log of each case. Both are views of the journal.
type Folder struct {
	dir     string
	file    *os.File // of the records
	Records []*record.Record
	logs    map[string][]*record.Record // by the case
	files   map[string]string           // of the logs, by the case
}

// OpenFolder begins the records of a folder anew, with those that the journal had, in the
// order of the plan. Add takes all of them, and what comes.
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
	// Whoever reads the records that were there goes on to read them.
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

// Add takes the record of a case, and writes its log anew; a fresh record is written too.
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

// logFile is the file of a case's log. Where two cases differ in what no file name has, the later one
// gets a number.
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

// Close closes the records.
func (f *Folder) Close() error { return f.file.Close() }

// ReadFolder returns the records of a folder. The last line of a suite that was killed
// may be cut: it is left out, and cut tells so.
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

// Existing are the files of a folder that are there.
func Existing(dir string, names ...string) (some []string) {
	for _, name := range names {
		if exists(filepath.Join(dir, name)) {
			some = append(some, name)
		}
	}
	return some
}
