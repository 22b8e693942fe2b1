package suite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
)

// statusFile is the file in a suite's folder that holds its Status.
const statusFile = "suite.json"

// Status says how many processes of a suite have run, and whether the suite is still running.
type Status struct {
	Format  int           `json:"format"`
	Suite   string        `json:"suite"`
	Session string        `json:"session"`
	Begun   time.Time     `json:"begun"`
	Planned int           `json:"planned"` // processes
	Done    int           `json:"done"`
	Failed  int           `json:"failed"`
	Refused int           `json:"refused,omitempty"` // processes whose case was refused, which is no failure
	Running string        `json:"running,omitempty"` // running cases; empty: none
	Left    time.Duration `json:"left"`              // ns, estimated
	Stopped bool          `json:"stopped"`           // whether it ended or was stopped
	// Headline says which case the suite's report begins with. It is nil if the suite's file does not say so.
	Headline *record.Headline `json:"headline,omitempty"`
}

// unmeasured says how many processes failed and how many were refused.
func (s Status) unmeasured() string {
	var parts []string
	if s.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d processes failed", s.Failed, s.Planned))
	}
	if s.Refused > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d processes were refused", s.Refused, s.Planned))
	}
	return strings.Join(parts, ", ")
}

// Write writes the status into the suite's folder.
func (s Status) Write(dir string) error {
	s.Format = journalFormat
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, statusFile), append(raw, '\n'))
}

// ReadStatus returns the status of the suite in the folder dir. If a suite was killed, the file
// does not say that it has stopped. Therefore ReadStatus also sets Stopped if no process has the
// suite's journal open.
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

// Estimate estimates how much longer a suite will take. If some processes of a case were measured,
// the estimate for each of its other processes is the time of the process that was measured last.
// Otherwise the estimate is the case's expected time multiplied by a factor: the time that the
// measured cases of the same host took, divided by the time that was expected for them. The methods
// of an Estimate may be called concurrently.
type Estimate struct {
	mu    sync.Mutex
	cases []Case
	names []string                 // of cases
	ended []bool                   // by the index in cases
	took  map[string]time.Duration // time of the last process, by the case's name
	paces map[string]*pace         // by host
}

// pace says how fast a host is.
type pace struct {
	expected, real time.Duration // sums over the cases that were measured
	spent          time.Duration // on the running case
}

// NewEstimate returns an estimate for the given cases. None of them counts as measured.
func NewEstimate(cases []Case) *Estimate {
	e := &Estimate{cases: cases, ended: make([]bool, len(cases)), took: make(map[string]time.Duration), paces: make(map[string]*pace)}
	for i := range cases {
		e.names = append(e.names, cases[i].Name())
	}
	for _, host := range Hosts(cases) {
		e.paces[host] = &pace{}
	}
	return e
}

// Took records that the case with index i has ended, and that it took the time d.
func (e *Estimate) Took(i int, d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := &e.cases[i]
	e.ended[i] = true
	e.took[e.names[i]] = d
	p := e.paces[c.Host]
	p.expected += c.Expected
	p.real += d
	p.spent = 0
}

// Spent records that the case that is running on the host has run for the time d. The caller must
// not give a time longer than the case's expected time.
func (e *Estimate) Spent(host string, d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.paces[host].spent = d
}

// CaseTime returns the estimate of how long the case c will take.
func (e *Estimate) CaseTime(c *Case) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.caseTime(c, c.Name())
}

func (e *Estimate) caseTime(c *Case, name string) time.Duration {
	if d, ok := e.took[name]; ok {
		return d
	}
	p := e.paces[c.Host]
	if p.expected == 0 {
		return c.Expected
	}
	return time.Duration(float64(c.Expected) * float64(p.real) / float64(p.expected))
}

// Remaining returns the estimate of how long it will take until all cases have ended. The estimate
// is that of the slowest host, because all hosts run their cases at the same time.
func (e *Estimate) Remaining() (left time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for host, p := range e.paces {
		rest := -p.spent
		for i := range e.cases {
			if c := &e.cases[i]; c.Host == host && !e.ended[i] {
				rest += e.caseTime(c, e.names[i])
			}
		}
		left = max(left, rest)
	}
	return left
}
