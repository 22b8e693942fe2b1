package suite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/input/yamlfile"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// Full is the name of the suite that contains all other suites, and every workload that is in none
// of them.
const Full = "full"

// Family is a group of related workloads. A Collection has a suite for each family. This suite has
// the same name as the family.
type Family struct {
	Name string
	Defs []workload.Def
}

// Collection is the set of all suites of a program. There is a suite for each file in Files, one
// for each family that has no file, and the suite Full.
type Collection struct {
	Files    fs.FS // NAME.yaml; nil: none
	Families []Family
}

// Names returns the names of all suites. The suites in files come first, sorted by name. Full is
// next, and the families that have no file are last.
func (c Collection) Names() (names []string) {
	if c.Files != nil {
		files, err := fs.Glob(c.Files, "*.yaml")
		if err != nil {
			panic(err) // only for a malformed pattern
		}
		for _, f := range files {
			names = append(names, strings.TrimSuffix(f, ".yaml"))
		}
	}
	slices.Sort(names)
	names = append(names, Full)
	for _, f := range c.Families {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Find returns the suite with the given name. If the collection has no such suite, Find reads the
// suite in the file whose path is name. It returns an *argument.ValueError if there is no such file
// either.
func (c Collection) Find(name string) (*File, error) {
	path := name
	name = argument.Canonical(name, c.Names())
	if f, ok, err := c.read(name); ok {
		return f, err
	}
	if name == Full {
		return c.full()
	}
	for _, f := range c.Families {
		if f.Name == name {
			return f.suite(), nil
		}
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &argument.ValueError{Field: "suite", Value: path, Near: argument.Near(path, c.Names()), Accepted: strings.Join(c.Names(), ", ") + ", or the path of a file in YAML"}
	}
	if err != nil {
		return nil, fmt.Errorf("suite: %w", err)
	}
	defer file.Close()
	return Read(path, file)
}

// read returns the suite called name from the program's files, and whether there is one.
func (c Collection) read(name string) (*File, bool, error) {
	if c.Files == nil {
		return nil, false, nil
	}
	file := name + ".yaml"
	raw, err := fs.ReadFile(c.Files, file)
	if err != nil {
		return nil, false, nil // not one of these
	}
	f, err := Read(file, bytes.NewReader(raw))
	return f, true, err
}

// suite returns the suite of a family without a file: each of its workloads in one small case.
func (f Family) suite() *File {
	file := &File{Name: f.Name, About: "each workload of " + f.Name + " in one small case", Repetitions: 3}
	for _, d := range f.Defs {
		file.Entries = append(file.Entries, smallEntry(d))
	}
	return file
}

// smallEntry returns an entry with one small case of a workload.
func smallEntry(d workload.Def) Entry {
	e := Entry{Command: jobs.CommandRun, Workloads: []yamlfile.Word{{Text: d.ID()}}}
	if d.Stages != nil {
		e.Command = jobs.CommandStages
	}
	for _, a := range d.Axes {
		if a.Smoke != workload.Own && (d.Stages == nil || a.Key != record.StageKey) {
			e.Flags = append(e.Flags, Flag{Name: a.Long(), Values: []yamlfile.Word{{Text: a.Smoke}}})
		}
	}
	return e
}

// full joins the suites of all families, with a small case of every workload that they leave out.
func (c Collection) full() (*File, error) {
	full := &File{Name: Full, About: "every workload: the suites of all families, and a small case of what they leave out", Repetitions: 3}
	for _, f := range c.Families {
		file, ok, err := c.read(f.Name)
		if err != nil {
			return nil, err
		}
		if !ok {
			file = f.suite()
		}
		full.Entries = append(full.Entries, file.Entries...)
		if full.Headline.Text == "" {
			full.Headline = file.Headline
		}
		for _, d := range f.Defs {
			if !slices.ContainsFunc(file.Entries, func(e Entry) bool { return slices.Contains(e.IDs(), d.ID()) }) {
				full.Entries = append(full.Entries, smallEntry(d))
			}
		}
	}
	return full, nil
}

// WriteList writes a table of all suites of the collection. For each suite, the table has the
// number of processes and the estimated time on a machine with the given number of processors.
func (c Collection) WriteList(w io.Writer, defs []workload.Def, processors int) error {
	table := &format.Table{Columns: format.Heads("suite", "processes", "about", "")}
	for _, name := range c.Names() {
		file, err := c.Find(name)
		if err != nil {
			return err
		}
		p, err := NewPlan(defs, file, name, processors, Options{})
		if err != nil {
			return err
		}
		table.Add(name, strconv.Itoa(len(p.Header.Plan)), format.Roughly(NewEstimate(p.Header.Plan).Remaining()), file.About)
	}
	return table.Text(w, "", 0)
}
