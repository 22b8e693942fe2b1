package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/suite"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// suiteFull is the suite of all others and of every workload that they do not name.
const suiteFull = "full"

// suiteNames are the suites that the program has.
func suiteNames(defs []workload.Def) []string {
	names := append(suite.Names(), suiteFull)
	for _, f := range families(defs) {
		if !slices.Contains(names, f.name) {
			names = append(names, f.name)
		}
	}
	return names
}

// readSuite returns the suite of that name, or of that file.
func readSuite(defs []workload.Def, name string) (*suite.File, error) {
	if f, ok, err := suite.Embedded(name); ok {
		return f, err
	}
	if name == suiteFull {
		return fullSuite(defs)
	}
	for _, f := range families(defs) {
		if f.name == name {
			return familySuite(f), nil
		}
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &usage.ValueError{Field: "suite", Value: name, Accepted: strings.Join(suiteNames(defs), ", ") + ", or the path of a file in YAML"}
	}
	if err != nil {
		return nil, fmt.Errorf("suite: %w", err)
	}
	defer file.Close()
	return suite.Read(name, file)
}

// familySuite is the suite of a family that has no file of its own: each of its workloads
// in one small case.
func familySuite(f family) *suite.File {
	file := &suite.File{Name: f.name, About: "each workload of " + f.name + " in one small case", Repetitions: 3}
	for _, d := range f.defs {
		file.Entries = append(file.Entries, smallEntry(d))
	}
	return file
}

// smallEntry is one small case of a workload.
func smallEntry(d workload.Def) suite.Entry {
	e := suite.Entry{Command: suite.CommandRun, Workloads: []suite.Word{{Text: d.ID()}}}
	if d.Stages != nil {
		e.Command = suite.CommandStages
	}
	for _, a := range d.Axes {
		if d.Stages == nil || a.Key != workload.StageKey {
			e.Flags = append(e.Flags, suite.Flag{Name: a.Long(), Values: []suite.Word{{Text: a.Smoke}}})
		}
	}
	return e
}

// fullSuite joins the suites of all families, with a small case of every workload that
// they leave out.
func fullSuite(defs []workload.Def) (*suite.File, error) {
	full := &suite.File{Name: suiteFull, About: "every workload: the suites of all families, and a small case of what they leave out", Repetitions: 3}
	for _, f := range families(defs) {
		file, ok, err := suite.Embedded(f.name)
		if err != nil {
			return nil, err
		}
		if !ok {
			file = familySuite(f)
		}
		full.Entries = append(full.Entries, file.Entries...)
		for _, d := range f.defs {
			if !slices.ContainsFunc(file.Entries, func(e suite.Entry) bool { return slices.Contains(e.IDs(), d.ID()) }) {
				full.Entries = append(full.Entries, smallEntry(d))
			}
		}
	}
	return full, nil
}
