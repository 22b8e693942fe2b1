package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
)

// baselines is the directory, below the current one, of the records that run --save-baseline saves.
var baselines = filepath.Join(".zkbench", "baselines")

const baselineAccepted = "a name of letters, digits, dots, dashes and underscores"

// baselinePath returns the file of a baseline. It returns an *argument.ValueError if the name is
// not accepted.
func baselinePath(field, name string) (string, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$`).MatchString(name) {
		return "", &argument.ValueError{Field: field, Value: name, Accepted: baselineAccepted}
	}
	return filepath.Join(baselines, name+".jsonl"), nil
}

// saveBaseline writes the records of a baseline to the file at path. It replaces older ones.
func saveBaseline(path string, recs []*record.Record) error {
	if err := os.MkdirAll(baselines, 0o777); err != nil {
		return err
	}
	// Figures of one machine do not belong into a repository.
	if err := os.WriteFile(filepath.Join(filepath.Dir(baselines), ".gitignore"), []byte("*\n"), 0o666); err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, rec := range recs {
		if err := record.Write(&lines, rec); err != nil {
			return err
		}
	}
	return atomicfile.Write(path, lines.Bytes())
}

// loadBaseline reads the records of a baseline. It returns an *argument.ValueError if there is none
// of that name.
func loadBaseline(name string) (*compare.Set, error) {
	path, err := baselinePath("baseline", name)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, &argument.ValueError{Field: "baseline", Value: name, Accepted: savedBaselines()}
	}
	if err != nil {
		return nil, err
	}
	return compare.Load("baseline "+name, data)
}

// savedBaselines lists the baselines in the directory.
func savedBaselines() string {
	files, err := filepath.Glob(filepath.Join(baselines, "*.jsonl"))
	if err != nil || len(files) == 0 {
		return "a name that run --save-baseline has saved in this directory: none yet"
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".jsonl"))
	}
	slices.Sort(names)
	return fmt.Sprintf("a name that run --save-baseline has saved in this directory: %s", strings.Join(names, ", "))
}
