// Package study is what the reproductions of public studies share: what a study is, how
// its processes are planned and run, and the tables, heads and charts of its page. The
// studies stand in its sub-packages.
//
// A page and its charts are made from records alone, so that the same records give the
// same bytes. A record says with Process.Side which part of the study it is of, and with
// Process.Index the round.
package study

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/plot"
	"github.com/zkbench/zkbench/internal/workload"
)

// Study is a public study that can be reproduced.
type Study struct {
	Name  string // of the command and of its page
	Short string // what it is, in one line
	Long  string // what the command's help says before the parts
	Parts []Part
	// Rounds are the parts that have more than one round, and Runs how many where nobody
	// asks for a number.
	Rounds []string
	Runs   int
	// Resumes says that processes need not be near to each other in time, so that a study which was stopped can continue.
	Resumes bool

	// Defs are workloads of the study's own.
	Defs []workload.Def
	// Plan returns the processes of the study in their order, and the names of the
	// workloads that it is about and defs does not have.
	Plan func(defs []workload.Def, o Options) (cases []suite.Case, missing []string)
	// Page writes the page of the records, in Markdown. Charts are the images that it
	// shows; they stand beside it.
	Page   func(w io.Writer, recs []*record.Record) error
	Charts func(recs []*record.Record) ([]Chart, error)
}

// Part is a part of a study, which can be measured alone.
type Part struct{ Name, About string }

// PartNames returns the names of the parts, in their order.
func (s *Study) PartNames() (names []string) {
	for _, p := range s.Parts {
		names = append(names, p.Name)
	}
	return names
}

// Has tells whether a record is of one of the study's parts, by the part's name.
func (s *Study) Has(r *record.Record) bool {
	return slices.ContainsFunc(s.Parts, func(p Part) bool {
		return r.Process.Side == p.Name || r.Process.Side == PortableSide(p.Name)
	})
}

// File is the name of the study's page.
func (s *Study) File() string { return s.Name + ".md" }

// Options of a plan. The zero value plans nothing.
type Options struct {
	Parts   []string // in the order of the study's
	Rounds  int      // of the parts that have more than one
	Workers int      // processors that the program may use
	Quick   bool     // few cases, short windows
}

// Purego is the part that compares this program with one without assembly, which is built
// with the tag purego.
const Purego = "purego"

// portableArithmetic is the path in an environment without assembly.
const portableArithmetic = "portable"

// PortableSide is the side of the records that the program without assembly makes for a
// part.
func PortableSide(part string) string { return part + portableSuffix }

const portableSuffix = ", portable"

// Portable reports whether a case runs in the program without assembly.
func Portable(c *suite.Case) bool { return strings.HasSuffix(c.Side, portableSuffix) }

// CheckPortable fails the record of a portable case whose arithmetic has assembly.
func CheckPortable(c *suite.Case, rec *record.Record) {
	if Portable(c) && rec.Status == record.OK && rec.Env.Path != portableArithmetic {
		rec.Status = record.Failed
		rec.Error = fmt.Sprintf("%v: the portable program ran %s arithmetic", zkbench.ErrEnv, rec.Env.Path)
	}
}

// Planner collects the cases of a plan.
type Planner struct {
	Defs    []workload.Def
	Cases   []suite.Case
	Missing []string // workloads that Defs does not have
}

// Add plans a case of a workload at a point. An axis that values does not name takes its small value; a case through the stages
// has its processors as an axis. The caller sets everything else in job.
func (p *Planner) Add(job suite.Case, name string, values map[string]string) {
	def, err := workload.Find(p.Defs, name)
	if err != nil {
		if !slices.Contains(p.Missing, name) {
			p.Missing = append(p.Missing, name)
		}
		return
	}
	var axes []record.Axis
	for _, a := range def.Axes {
		if job.Stages && a.Key == record.StageKey {
			continue // through which all cases go
		}
		value, ok := values[a.Key]
		if !ok {
			value = a.Smoke
		}
		axes = append(axes, record.Axis{Key: a.Key, Value: value})
	}
	if job.Stages {
		axes = append(axes, record.Axis{Key: "cpus", Value: strconv.Itoa(job.Procs)})
	}
	cases, err := def.Resolved(workload.NewCase(axes...))
	if err != nil { // of values that the study itself states
		panic(err)
	}
	job.Workload, job.Case = def.Name, cases[0]
	for slices.ContainsFunc(p.Cases, func(c suite.Case) bool { return c.Key() == job.Key() }) {
		job.Copy++
	}
	p.Cases = append(p.Cases, job)
}

// Fill writes a page: prose, a template, with the figures of view. What the prose names and
// a map of the view has not is an error, and nothing is written.
func Fill(w io.Writer, prose string, view any) error {
	t, err := template.New("page").Option("missingkey=error").Parse(prose)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := t.Execute(&page, view); err != nil {
		return err
	}
	_, err = page.WriteTo(w)
	return err
}

// Images are charts as a page shows them, by their files.
func Images(charts []Chart) map[string]string {
	images := make(map[string]string)
	for _, c := range charts {
		images[c.File] = "![" + c.Title + "](" + c.File + ")\n"
	}
	return images
}

// Chart is an image of a page.
type Chart struct {
	File, Title string
	Figure      plot.Figure
}

// Write draws the image as SVG.
func (c *Chart) Write(w io.Writer) error { return plot.Write(w, plot.SVG, c.Figure) }

// Ended returns the records of a side that ran to their end.
func Ended(recs []*record.Record, side string) (ended []*record.Record) {
	for _, r := range recs {
		if r.Process.Side == side && r.Status == record.OK {
			ended = append(ended, r)
		}
	}
	return ended
}

// Axis is the value of an axis of a record, empty where it has none.
func Axis(r *record.Record, key string) string {
	value, _ := r.Axes.Get(key)
	return value
}

// AxisNumber is the value of an axis of numbers, 0 where it has none.
func AxisNumber(r *record.Record, key string) float64 {
	v, _ := strconv.ParseFloat(Axis(r, key), 64) // 0 is what no axis has
	return v
}
