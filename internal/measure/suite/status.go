package suite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
)

// statusFile says how far the suite of a folder is.
const statusFile = "suite.json"

// Status is how far a suite is.
type Status struct {
	Format  int           `json:"format"`
	Suite   string        `json:"suite"`
	Session string        `json:"session"`
	Begun   time.Time     `json:"begun"`
	Planned int           `json:"planned"` // processes
	Done    int           `json:"done"`
	Failed  int           `json:"failed"`
	Running string        `json:"running,omitempty"` // the cases; empty: none
	Left    time.Duration `json:"left"`              // ns, about
	Stopped bool          `json:"stopped"`           // by its end or before
}

// Write writes the status of the suite of a folder.
func (s Status) Write(dir string) error {
	s.Format = journalFormat
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, statusFile), append(raw, '\n'))
}

// ReadStatus returns the status of the suite of a folder. One that was killed has not
// written that it stopped: nobody has its journal open then.
func ReadStatus(dir string) (Status, error) {
	var s Status
	path := filepath.Join(dir, statusFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, &zkbench.DecodeError{Path: path, Reason: err.Error()}
	}
	if s.Format != journalFormat {
		return s, &zkbench.DecodeError{Path: path, Reason: fmt.Sprintf("format %d; accepted: %d", s.Format, journalFormat)}
	}
	if !s.Stopped && !running(dir) {
		s.Stopped = true
	}
	return s, nil
}

// Estimate tells how long a suite still takes: a case that was measured takes as long
// again, another as long as expected, times what those that its host has measured took of
// what was expected of them. Its methods may be called at once.
type Estimate struct {
	mu    sync.Mutex
	cases []Case
	ended []bool                   // of these
	took  map[string]time.Duration // by the case's name, its last process
	paces map[string]*pace         // by the host
}

// pace is how fast a host is.
type pace struct {
	expected, real time.Duration // of the cases that were measured
	spent          time.Duration // on the one that runs
}

// NewEstimate returns an estimate of cases of which nothing was measured.
func NewEstimate(cases []Case) *Estimate {
	e := &Estimate{cases: cases, ended: make([]bool, len(cases)), took: make(map[string]time.Duration), paces: make(map[string]*pace)}
	for _, host := range Hosts(cases) {
		e.paces[host] = &pace{}
	}
	return e
}

// Took tells how long case i took, which has ended.
func (e *Estimate) Took(i int, d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := &e.cases[i]
	e.ended[i] = true
	e.took[c.Name()] = d
	p := e.paces[c.Host]
	p.expected += c.Expected
	p.real += d
	p.spent = 0
}

// Spent tells for how long the case that a host runs has run, as far as it was expected.
func (e *Estimate) Spent(host string, d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.paces[host].spent = d
}

// CaseTime is how long a case will take.
func (e *Estimate) CaseTime(c *Case) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.caseTime(c)
}

func (e *Estimate) caseTime(c *Case) time.Duration {
	if d, ok := e.took[c.Name()]; ok {
		return d
	}
	p := e.paces[c.Host]
	if p.expected == 0 {
		return c.Expected
	}
	return time.Duration(float64(c.Expected) * float64(p.real) / float64(p.expected))
}

// Remaining is how long the cases that have not ended will take: hosts run side by side.
func (e *Estimate) Remaining() (left time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for host, p := range e.paces {
		of := -p.spent
		for i := range e.cases {
			if c := &e.cases[i]; c.Host == host && !e.ended[i] {
				of += e.caseTime(c)
			}
		}
		left = max(left, of)
	}
	return left
}
