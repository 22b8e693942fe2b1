package suite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/atomicfile"
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
	Running string        `json:"running,omitempty"` // the case; empty: none
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
// again, another as long as expected, times what those that were measured took of what
// was expected of them. Its methods may be called at once.
type Estimate struct {
	mu             sync.Mutex
	cases          []Case
	took           map[string]time.Duration // by the case's name, its last process
	expected, real time.Duration            // of those that were measured
}

// NewEstimate returns an estimate of cases of which nothing was measured.
func NewEstimate(cases []Case) *Estimate {
	return &Estimate{cases: cases, took: make(map[string]time.Duration)}
}

// Took tells how long a case took.
func (e *Estimate) Took(c *Case, d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.took[c.Name()] = d
	e.expected += c.Expected
	e.real += d
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
	if e.expected == 0 {
		return c.Expected
	}
	return time.Duration(float64(c.Expected) * float64(e.real) / float64(e.expected))
}

// Remaining is how long the cases from i on will take.
func (e *Estimate) Remaining(i int) (left time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for ; i < len(e.cases); i++ {
		left += e.caseTime(&e.cases[i])
	}
	return left
}
