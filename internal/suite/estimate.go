package suite

import (
	"sync"
	"time"
)

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

// Of is how long a case will take.
func (e *Estimate) Of(c *Case) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.of(c)
}

func (e *Estimate) of(c *Case) time.Duration {
	if d, ok := e.took[c.Name()]; ok {
		return d
	}
	if e.expected == 0 {
		return c.Expected
	}
	return time.Duration(float64(c.Expected) * float64(e.real) / float64(e.expected))
}

// From is how long the cases from i on will take.
func (e *Estimate) From(i int) (left time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for ; i < len(e.cases); i++ {
		left += e.of(&e.cases[i])
	}
	return left
}
