// Package circuits contains the studies of circuits. The first is about Plonk on circuits of gates and of Pedersen
// hashes, the second about Keccak-256, and the third about pairings. Each study consists of a list of cases, a page and
// the page's charts. A case runs the stages of a proof system once, on one processor, unless the case's part of the
// study says otherwise.
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

// Studies returns the studies plonk, keccak and pairing.
func Studies() []study.Study {
	return []study.Study{plonkStudy().study(), keccakStudy().study(), pairingStudy().study()}
}

// sheet describes a study: its cases, the template of its page, and what fills it.
type sheet struct {
	name, short, long string
	parts             []part
	prose             string // template of the page
	fill              func(d *data, v *view)
	charts            func(d *data) []study.Chart
	answer            func(d *data) study.Answer
}

// part is a part of a study.
type part struct {
	name, about string
	cases       []measured
	quick       int   // a quick plan has this many of the first cases
	rounds      bool  // several rounds, as many as the options say; else one
	cpus        []int // numbers of processors; nil: one processor
	all         bool  // on all processors; cpus is not used
	both        bool  // by this program and by the portable one, in alternating order
}

// measured is a case and how it is measured.
type measured struct {
	workload string
	values   map[string]string // of axes
	takes    time.Duration     // expected
	optional bool              // may need more memory than the machine has
	load     *measure.Settings // settings of a load run; nil: once through the stages
}

// deadline limits the time of one case.
const deadline = 6 * time.Hour

// slower is about how many times slower the portable program is.
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

// plan plans the selected parts in the study's order.
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

// builds returns an element for each process of a case in a round: true if the portable program runs it. The order
// alternates from round to round.
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

// withValue returns a copy of values with one more value.
func withValue(values map[string]string, key, value string) map[string]string {
	values = maps.Clone(values)
	values[key] = value
	return values
}

// view is the data of a page's template: tables by the names that the template uses, and images by file name. A table
// without measurements is empty.
type view struct {
	Answer       study.Answer
	Head         study.Head
	Table, Chart map[string]string
	// Counted says that some circuits were counted without a proof, and Composed that some counts are sums over
	// smaller circuits.
	Counted, Composed bool
}

// page writes the page of the records.
func (s *sheet) page(w io.Writer, recs []*record.Record) error {
	d := newData(recs)
	charts := s.charts(d)
	v := &view{
		Answer: s.answer(d), Head: d.head(s.parts), Chart: study.Images(charts),
		Table: map[string]string{"figures": study.Answered(charts).String()},
	}
	s.fill(d, v)
	return study.Fill(w, s.prose, v)
}
