// Package peer measures programs of different origin side by side on the same
// work.
//
// A peer is a program with two commands. "list" prints one case name per line.
// "run CASE [-samples N]" measures one case and prints one line of the Go
// benchmark format (golang.org/design/14313-benchmark-format) per sample; an
// unknown case is one line on stderr and exit status 2. Equal case names mean
// equal work, whatever the program is written in.
//
// Compare runs every case of every program once a round, each time in a process
// of its own, and forms the ratio of two programs within a round before it takes
// the median over rounds: samples of one process are not independent, and a
// machine that other work slows down slows both sides of a round. It does not
// judge whether two programs of one case really do the same work; that is said
// where their cases are defined.
//
// Serve implements the two commands for a program written in Go.
package peer

import (
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/zkbench/zkbench"
)

const (
	// MinRounds is the least number of rounds of a comparison: fewer do not
	// carry the tenth and ninetieth percentile that a ratio is reported with.
	MinRounds = 10
	// DefaultTimeout bounds one process.
	DefaultTimeout = 5 * time.Minute
)

// Program is a peer program and how it is started.
type Program struct {
	Name string   // unique within a comparison; what tables call it
	Ours bool     // ratios divide by one of ours
	Argv []string // program and leading arguments, before "list" or "run"
	Dir  string   // working directory, also for a relative Argv[0]; empty: the caller's
	// Env is added to the caller's environment, for example GOMAXPROCS=1 to
	// keep a Go program's collector on the one core that is measured.
	Env []string
}

// Options of a comparison. The zero value is ten rounds of every case.
type Options struct {
	// Rounds is at least MinRounds; 0 means MinRounds.
	Rounds int
	// Cases selects cases by name; nil selects all.
	Cases *regexp.Regexp
	// Progress gets one line per process; nil for none.
	Progress io.Writer
	// Timeout bounds each process; 0 means DefaultTimeout.
	Timeout time.Duration
}

// Sample is what one process measured.
type Sample struct {
	Program, Case string
	Round         int
	NsPerOp       float64            // ns per operation; the median where a process printed several lines
	Extra         map[string]float64 // further columns by unit, for example "proof-bytes"
}

// check returns the options with their defaults filled in, or an ErrParams.
func (o Options) check() (Options, error) {
	if o.Rounds == 0 {
		o.Rounds = MinRounds
	}
	if o.Rounds < MinRounds {
		return o, fmt.Errorf("%w: rounds: %d, want at least %d", zkbench.ErrParams, o.Rounds, MinRounds)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o, nil
}
