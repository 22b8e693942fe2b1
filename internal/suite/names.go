package suite

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/zkbench/zkbench/internal/figure"
	"github.com/zkbench/zkbench/internal/jobs"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

//go:embed suites/*.yaml
var embedded embed.FS

// Full is the suite of all others and of every workload that they leave out.
const Full = "full"

// Family is the workloads of one room. It has a suite of its name.
type Family struct {
	Name string
	Defs []workload.Def
}

// Names are the suites of a program with these families: those in its files, in the order
// of the alphabet, Full, and those of families without a file.
func Names(families []Family) (names []string) {
	files, err := fs.Glob(embedded, "suites/*.yaml")
	if err != nil {
		panic(err) // of the pattern
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(path.Base(f), ".yaml"))
	}
	slices.Sort(names)
	names = append(names, Full)
	for _, f := range families {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Find returns the suite of that name, or of that file. The error for a name that is
// neither is a *usage.ValueError.
func Find(families []Family, name string) (*File, error) {
	if f, ok, err := readEmbedded(name); ok {
		return f, err
	}
	if name == Full {
		return fullSuite(families)
	}
	for _, f := range families {
		if f.Name == name {
			return f.suite(), nil
		}
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &usage.ValueError{Field: "suite", Value: name, Accepted: strings.Join(Names(families), ", ") + ", or the path of a file in YAML"}
	}
	if err != nil {
		return nil, fmt.Errorf("suite: %w", err)
	}
	defer file.Close()
	return Read(name, file)
}

// readEmbedded returns the suite of that name that the program has in itself, and whether
// there is one.
func readEmbedded(name string) (*File, bool, error) {
	file := path.Join("suites", name+".yaml")
	raw, err := fs.ReadFile(embedded, file)
	if err != nil {
		return nil, false, nil // not one of ours
	}
	f, err := Read(file, bytes.NewReader(raw))
	return f, true, err
}

// suite is that of a family that has no file of its own: each of its workloads in one small
// case.
func (f Family) suite() *File {
	file := &File{Name: f.Name, About: "each workload of " + f.Name + " in one small case", Repetitions: 3}
	for _, d := range f.Defs {
		file.Entries = append(file.Entries, smallEntry(d))
	}
	return file
}

// smallEntry is one small case of a workload.
func smallEntry(d workload.Def) Entry {
	e := Entry{Command: jobs.CommandRun, Workloads: []Word{{Text: d.ID()}}}
	if d.Stages != nil {
		e.Command = jobs.CommandStages
	}
	for _, a := range d.Axes {
		if a.Smoke != workload.Own && (d.Stages == nil || a.Key != workload.StageKey) {
			e.Flags = append(e.Flags, Flag{Name: a.Long(), Values: []Word{{Text: a.Smoke}}})
		}
	}
	return e
}

// fullSuite joins the suites of all families, with a small case of every workload that
// they leave out.
func fullSuite(families []Family) (*File, error) {
	full := &File{Name: Full, About: "every workload: the suites of all families, and a small case of what they leave out", Repetitions: 3}
	for _, f := range families {
		file, ok, err := readEmbedded(f.Name)
		if err != nil {
			return nil, err
		}
		if !ok {
			file = f.suite()
		}
		full.Entries = append(full.Entries, file.Entries...)
		for _, d := range f.Defs {
			if !slices.ContainsFunc(file.Entries, func(e Entry) bool { return slices.Contains(e.IDs(), d.ID()) }) {
				full.Entries = append(full.Entries, smallEntry(d))
			}
		}
	}
	return full, nil
}

// WriteList writes the suites of a program, with their processes and time on a machine
// with so many processors.
func WriteList(w io.Writer, defs []workload.Def, families []Family, processors int) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "suite\tprocesses\tabout\t")
	for _, name := range Names(families) {
		file, err := Find(families, name)
		if err != nil {
			return err
		}
		p, err := NewPlan(defs, file, name, processors, Options{})
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\n", name, len(p.Header.Plan), figure.Roughly(NewEstimate(p.Header.Plan).Remaining(0)), file.About)
	}
	return table.Flush()
}
