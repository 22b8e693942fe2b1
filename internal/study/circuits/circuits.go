// Package circuits has the studies of circuits: Plonk systems on gates and Pedersen
// hashes, Keccak-256, pairings. Each is a table of cases, a page and its charts; the
// cases go once through the stages of gnark's proof systems on one processor, unless their
// part says something else.
package circuits

import (
	"io"
	"maps"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/workload"
)

// Studies returns the studies.
func Studies() []study.Study {
	return []study.Study{plonkStudy().study(), keccakStudy().study(), pairingStudy().study()}
}

// sheet is a study as it is written here.
type sheet struct {
	name, short, long string
	parts             []part
	prose             string // the page without its figures
	fill              func(d *data, v *view)
	charts            func(d *data) []study.Chart
}

// part is a part of a study: what it measures.
type part struct {
	name, about string
	cases       []measured
	quick       int   // how many of the first cases a quick plan has
	rounds      bool  // as many as are asked for; else one
	cpus        []int // numbers of processors; nil: one
	all         bool  // on all processors instead
	both        bool  // with this program and with the one without assembly, in turn
}

// measured is a case.
type measured struct {
	workload string
	values   map[string]string
	takes    time.Duration     // about
	optional bool              // may not fit the memory
	load     *measure.Settings // a load run with these settings; nil: once through the stages
}

// deadline is how long one case may take.
const deadline = 6 * time.Hour

// slower is about how many times slower the program without assembly is.
const slower = 4

func (s *sheet) study() study.Study {
	var parts []study.Part
	var rounds []string
	for _, p := range s.parts {
		parts = append(parts, study.Part{Name: p.name, About: p.about})
		if p.rounds {
			rounds = append(rounds, p.name)
		}
	}
	return study.Study{
		Name: s.name, Short: s.short, Long: s.long, Parts: parts, Rounds: rounds, Runs: 3, Resumes: true,
		Plan: s.plan,
		Page: s.page,
		Charts: func(recs []*record.Record) ([]study.Chart, error) {
			return s.charts(newData(recs)), nil
		},
	}
}

// plan is the study's plan: the parts in their order.
func (s *sheet) plan(defs []workload.Def, o study.Options) ([]suite.Case, []string) {
	p := study.Planner{Defs: defs}
	for _, part := range s.parts {
		if !slices.Contains(o.Parts, part.name) {
			continue
		}
		rounds, cases, cpus := 1, part.cases, part.cpus
		if part.rounds {
			rounds = o.Rounds
		}
		if o.Quick {
			cases = cases[:part.quick]
		}
		switch {
		case part.all:
			cpus = []int{o.Workers}
		case len(cpus) == 0:
			cpus = []int{1}
		}
		for round := range rounds {
			for _, c := range cases {
				for _, n := range cpus {
					for _, portable := range part.builds(round) {
						p.Add(c.job(part.name, round, n, portable), c.workload, c.values)
					}
				}
			}
		}
	}
	return p.Cases, p.Missing
}

// builds tells for the processes of a case in a round whether they are of the program
// without assembly. From round to round the order turns round.
func (p *part) builds(round int) []bool {
	switch {
	case !p.both:
		return []bool{false}
	case round%2 == 0:
		return []bool{false, true}
	}
	return []bool{true, false}
}

func (c *measured) job(part string, round, cpus int, portable bool) suite.Case {
	job := suite.Case{
		Side: part, Repetition: round, Expected: c.takes, Optional: c.optional,
		Job: measure.Job{Procs: cpus, Deadline: deadline},
	}
	if portable {
		job.Side = study.PortableSide(part)
		job.Expected *= slower
	}
	if c.load == nil {
		job.Stages, job.Settings.Seed = true, measure.DefaultSeed
	} else {
		job.Settings = *c.load
	}
	return job
}

// withValue is values and one more.
func withValue(values map[string]string, key, value string) map[string]string {
	values = maps.Clone(values)
	values[key] = value
	return values
}

// view is what a page is filled with: tables by their name in the prose, images by that
// of their file, empty where nothing was measured.
type view struct {
	Head         study.Head
	Table, Chart map[string]string
	// Counted and Composed tell whether some constraints were counted without a proof, and
	// whether from smaller circuits.
	Counted, Composed bool
}

// page writes the page of the records.
func (s *sheet) page(w io.Writer, recs []*record.Record) error {
	d := newData(recs)
	v := &view{Head: d.head(s.parts), Table: map[string]string{}, Chart: study.Images(s.charts(d))}
	s.fill(d, v)
	return study.Fill(w, s.prose, v)
}
