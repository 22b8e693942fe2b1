// Package peer compares programs from different projects that do the same work.
//
// A peer is a program with two commands. The command "list" prints the names of the program's cases, one per line. The
// command "run CASE [-samples N]" measures one case and prints one line in the Go benchmark format
// (golang.org/design/14313-benchmark-format) for each sample. If the program does not have the case, this command
// prints one line on stderr and exits with status 2. Equal case names mean equal work, in whatever language the program
// is written.
//
// Compare runs every case of every program once in each round, each time in a new process. It computes the ratio of two
// programs' times within each round, and then the median of these ratios over the rounds. There are two reasons for
// this: samples of the same process are not independent, and other work on the machine slows down both programs in a
// round. Compare does not check that two programs do the same work in a case; the authors of their cases must ensure
// this.
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
	// MinRounds is the minimum number of rounds of a comparison. A ratio is reported with its tenth and ninetieth
	// percentile, which need this many rounds.
	MinRounds = 10
	// DefaultTimeout is the time limit for one process if Options.Timeout is 0, and LongTimeout is that of long
	// operations.
	DefaultTimeout = 5 * time.Minute
	LongTimeout    = 2 * time.Hour
)

// Program describes a peer program and how to start it.
type Program struct {
	Name string   // name in tables; unique within a comparison
	Ours bool     // a program of this project; ratios divide by one of these
	Argv []string // program and leading arguments, before "list" or "run"
	Dir  string   // working directory, also for a relative Argv[0]; empty: the caller's
	// Env is added to the caller's environment. For example, GOMAXPROCS=1 keeps the garbage collector of a Go
	// program on the one core that is measured.
	Env []string
	// Target is the target of the Makefile that builds the program; empty: peers.
	Target string
}

// Options are the settings of a comparison. The zero value runs ten rounds of every case.
type Options struct {
	// Long says that operations take minutes. Then any number of rounds is accepted, and fewer than MinRounds give
	// ratios without percentiles.
	Long bool
	// Rounds is at least MinRounds, or at least 1 if operations are long; 0 means the minimum.
	Rounds int
	// Cases selects cases by name; nil selects all.
	Cases *regexp.Regexp
	// Progress gets one line for each process; nil: none.
	Progress io.Writer
	// Timeout limits the time of each process; 0 means DefaultTimeout, or LongTimeout if operations are long.
	Timeout time.Duration
}

// Sample is the measurement of one process.
type Sample struct {
	Program, Case string
	Round         int
	NsPerOp       float64            // ns per operation; the median if the process printed several lines
	Extra         map[string]float64 // other columns by unit, for example "proof-bytes"
}

// check returns the options with their defaults. It returns ErrParams if there are too few rounds.
func (o Options) check() (Options, error) {
	least, limit := MinRounds, DefaultTimeout
	if o.Long {
		least, limit = 1, LongTimeout
	}
	if o.Rounds == 0 {
		o.Rounds = least
	}
	if o.Rounds < least {
		return o, fmt.Errorf("%w: rounds: %d, want at least %d", zkbench.ErrParams, o.Rounds, least)
	}
	if o.Timeout == 0 {
		o.Timeout = limit
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o, nil
}
