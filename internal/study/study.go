// Package study contains what the reproductions of public studies share: the definition of a study, the code that plans
// and measures its cases, and the code that writes its page with tables and charts. Each study is in a package in a
// directory below this one.
//
// A page and its charts are made from records alone, so the same records give the same bytes. The field Process.Side of
// a record names the part of the study, and Process.Index is the number of the round.
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
	Name  string // of the command and of the page
	Short string // one line that describes the study
	Long  string // the command's help up to the list of parts
	Parts []Part
	// Rounds lists the parts that run in several rounds. Runs is the default number of rounds.
	Rounds []string
	Runs   int
	// Resumes says that an interrupted study can continue later, because its figures do not depend on processes that
	// run shortly after each other.
	Resumes bool

	// Defs are workloads that only this study has.
	Defs []workload.Def
	// Plan returns the cases in the order in which they run, one process for each. missing names the workloads that
	// the study needs and defs does not have.
	Plan func(defs []workload.Def, o Options) (cases []suite.Case, missing []string)
	// Page writes the page of the records, in Markdown. Charts returns the images that the page shows; their files
	// are in the page's directory.
	Page   func(w io.Writer, recs []*record.Record) error
	Charts func(recs []*record.Record) ([]Chart, error)
}

// Part is a part of a study that can be measured alone.
type Part struct{ Name, About string }

// PartNames returns the names of the parts, in their order.
func (s *Study) PartNames() (names []string) {
	for _, p := range s.Parts {
		names = append(names, p.Name)
	}
	return names
}

// Has reports whether the record r belongs to the study, that is, whether r.Process.Side names one of the study's
// parts, measured with this program or with the portable one.
func (s *Study) Has(r *record.Record) bool {
	return slices.ContainsFunc(s.Parts, func(p Part) bool {
		return r.Process.Side == p.Name || r.Process.Side == PortableSide(p.Name)
	})
}

// File returns the file name of the study's page.
func (s *Study) File() string { return s.Name + ".md" }

// Options say which cases of a study are planned. The zero value plans no cases.
type Options struct {
	Parts   []string // in the order of Study.Parts
	Rounds  int      // of the parts in Study.Rounds
	Workers int      // processors that the program may use
	// Portable is the SHA-256 of the program that runs the portable cases; empty if there is none.
	Portable string
	Quick    bool // few cases, short windows
	Again    bool // measure a case once more if other processes disturbed it
}

// Purego is the name of the part of a study that compares this program with the portable program. The portable program
// is the same program, built with the tag purego and therefore without assembly.
const Purego = "purego"

// portableArithmetic is Env.Path in the records of the portable program.
const portableArithmetic = "portable"

// PortableSide returns the Process.Side of the records that the portable program (Purego) makes for a part of a study.
func PortableSide(part string) string { return part + portableSuffix }

const portableSuffix = ", portable"

// Portable reports whether a case runs in the portable program (Purego).
func Portable(c *suite.Case) bool { return strings.HasSuffix(c.Side, portableSuffix) }

// CheckPortable marks the record of a portable case as failed if the case ran with assembly.
func CheckPortable(c *suite.Case, rec *record.Record) {
	if Portable(c) && rec.Status == record.OK && rec.Env.Path != portableArithmetic {
		rec.Status = record.Failed
		rec.Error = fmt.Sprintf("%v: the portable program ran %s arithmetic", zkbench.ErrEnv, rec.Env.Path)
	}
}

// Planner collects the cases of a plan for a study.
type Planner struct {
	Defs    []workload.Def
	Cases   []suite.Case
	Missing []string       // workloads that Defs does not have
	keys    map[string]int // how many cases have this key
}

// Add adds a case to the plan. The parameter name is the name of the case's workload. The map values maps the key of an
// axis to the axis' value. An axis that is not in the map gets its small value (workload.Axis.Smoke). If the case runs
// the workload's stages, it gets its number of processors as another axis. The caller sets all other fields in job. If
// p.Defs does not have the workload, Add adds no case but appends the name to p.Missing. Add panics if the workload
// refuses a value.
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
			continue // the case runs all stages
		}
		value, ok := values[a.Key]
		if !ok {
			value = a.Smoke
		}
		axes = append(axes, record.Axis{Key: a.Key, Value: value})
	}
	if job.Stages {
		axes = append(axes, record.Axis{Key: record.CPUsKey, Value: strconv.Itoa(job.Procs)})
	}
	cases, err := def.Resolved(workload.NewCase(axes...))
	if err != nil { // the study itself states the values
		panic(err)
	}
	job.Workload, job.Case = def.Name, cases[0]
	if p.keys == nil {
		p.keys = make(map[string]int)
	}
	key := job.Key()
	job.Copy = p.keys[key]
	p.keys[key]++
	p.Cases = append(p.Cases, job)
}

// Fill writes a page: it executes the text prose as a template (text/template) with the data view. If the template uses
// a key that a map in the data does not have, Fill returns an error and writes nothing.
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

// Images returns a map from the name of each chart's file to the Markdown text that shows the chart.
func Images(charts []Chart) map[string]string {
	images := make(map[string]string)
	for _, c := range charts {
		images[c.File] = "![" + c.Title + "](" + c.File + ")\n"
	}
	return images
}

// Chart is an image that a page shows.
type Chart struct {
	File, Title string
	Figure      plot.Figure
	Answers     string // which of the study's own figures show the same; empty: none
}

// Answered returns a table that says which of the study's own figures each chart answers.
func Answered(charts []Chart) *Table {
	t := &Table{Left: 2, Head: []string{"the study's figures", "chart on this page"}}
	for _, c := range charts {
		if c.Answers != "" {
			t.Add(c.Answers, c.Title)
		}
	}
	return t
}

// Write writes the chart as SVG.
func (c *Chart) Write(w io.Writer) error { return plot.Write(w, plot.SVG, c.Figure) }

// Ended returns the records of the given side (Process.Side), except those of cases that failed or were stopped before
// their end.
func Ended(recs []*record.Record, side string) (ended []*record.Record) {
	for _, r := range recs {
		if r.Process.Side == side && r.Status == record.OK {
			ended = append(ended, r)
		}
	}
	return ended
}

// Axis returns the value of a record's axis, or an empty string if the record does not have that axis.
func Axis(r *record.Record, key string) string {
	value, _ := r.Axes.Get(key)
	return value
}

// AxisNumber returns the value of a numeric axis, or 0 if the record does not have that axis.
func AxisNumber(r *record.Record, key string) float64 {
	v, _ := strconv.ParseFloat(Axis(r, key), 64) // 0 for an empty string
	return v
}
