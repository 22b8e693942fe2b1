package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/outdir"
)

// Records are in a folder's file with this name or in a file with this extension, possibly
// compressed. A folder may also hold the folders of suites, whose names begin with the prefix.
const (
	recordsFile = outdir.RecordsFile
	extension   = ".jsonl"
	suitePrefix = "benchmark_logs_"
)

const acceptedPaths = "the folder of a suite, a folder of such folders, or a file of records with the extension " + extension + " or " + extension + record.Packed

// Load reads the records in files and folders, without the records' histograms and series. The
// result notes says what Load left out: folders of suites that have no records yet, and the last
// line of a file if it was cut off because a suite was killed.
//
// Load returns an *argument.ValueError if a path does not exist, is neither a folder nor a file of
// records, or has no records. It returns a *zkbench.DecodeError, with the name of the file, if a
// line is damaged.
func Load(paths []string) (recs []*record.Record, notes []string, err error) {
	for _, path := range paths {
		files, without, err := files(path)
		if err != nil {
			return nil, nil, err
		}
		for _, dir := range without {
			notes = append(notes, fmt.Sprintf("%s has no %s yet, and is left out", dir, recordsFile))
		}
		found := 0
		for _, file := range files {
			some, cut, err := readFile(file)
			if err != nil {
				return nil, nil, err
			}
			if cut > 0 {
				notes = append(notes, fmt.Sprintf("%s: line %d, the last one, is cut off; read: %s before it", file, cut, format.Plural(len(some), "record")))
			}
			recs, found = append(recs, some...), found+len(some)
		}
		if found == 0 {
			return nil, nil, &argument.ValueError{Field: "records", Value: path, Accepted: acceptedPaths + "; this one has no records"}
		}
	}
	return recs, notes, nil
}

// files returns the files of records that a path names, and the folders of suites that have none.
func files(path string) (files, without []string, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, &argument.ValueError{Field: "records", Value: path, Accepted: acceptedPaths + "; this one does not exist"}
	case err != nil:
		return nil, nil, fmt.Errorf("records: %w", err)
	case !info.IsDir() && filepath.Ext(strings.TrimSuffix(path, record.Packed)) != extension:
		return nil, nil, &argument.ValueError{Field: "records", Value: path, Accepted: acceptedPaths}
	case !info.IsDir():
		return []string{path}, nil, nil
	}
	own := outdir.Records(path)
	if isFile(own) {
		files = append(files, own)
	}
	entries, err := os.ReadDir(path) // sorted by name, and so by date
	if err != nil {
		return nil, nil, fmt.Errorf("records: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), suitePrefix) {
			continue
		}
		dir := filepath.Join(path, e.Name())
		if file := outdir.Records(dir); isFile(file) {
			files = append(files, file)
		} else if info, err := os.Stat(dir); err == nil && info.IsDir() {
			without = append(without, dir)
		}
	}
	return files, without, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// readFile returns the records of a file and the number of its last line if that is cut off, or 0.
func readFile(path string) (recs []*record.Record, cut int, err error) {
	data, err := record.ReadFile(path)
	if err != nil {
		return nil, 0, fmt.Errorf("records: %w", err)
	}
	if recs, cut, err = record.ReadCut(data); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	recs, _ = record.Measured(recs) // predicted times have no history
	for _, r := range recs {
		r.Histograms, r.Series = nil, nil // they are by far the largest part of a record
	}
	return recs, cut, nil
}
