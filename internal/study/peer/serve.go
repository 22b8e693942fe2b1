package peer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/zkbench/zkbench/internal/runner/resources"
)

const (
	// sampleTime is the shortest sample: long beside a scheduler's time slice.
	sampleTime = 100 * time.Millisecond
	// warmUpTime is long enough for caches and the clock frequency to settle.
	warmUpTime = 50 * time.Millisecond
	// chunkTime is how often the clock is read: often enough to overshoot a
	// sample by little, rarely enough to cost nothing beside the operation.
	chunkTime = 5 * time.Millisecond
)

// Exit statuses of Serve.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Case is a measurable operation of a program written in Go.
type Case struct {
	Name string // for example RangeVerify/bits=64/m=1
	// PerCall is how many operations one call of op does, so that a batch
	// reports its time per proof; 0 means 1.
	PerCall int
	// Rate is the unit of a further column, of operations a second; empty: there is none.
	Rate string
	// Setup builds the inputs and checks the results once, outside every
	// timing. It returns the timed operation, whose error is looked at on every
	// call, and further columns by unit.
	Setup func() (op func() error, extra map[string]float64, err error)
}

// Serve runs a peer program for the arguments after its name. It writes case
// names or benchmark lines to stdout, one line to stderr where something is
// wrong, and returns the exit status: 0, 1 where a case failed, 2 for bad usage.
func Serve(args []string, stdout, stderr io.Writer, cases []Case) int {
	name, samples, err := parseArgs(args)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	if name == "" {
		for _, c := range cases {
			fmt.Fprintln(stdout, c.Name)
		}
		return exitOK
	}
	at := slices.IndexFunc(cases, func(c Case) bool { return c.Name == name })
	if at < 0 {
		fmt.Fprintf(stderr, "unknown case %q: list prints the known ones\n", name)
		return exitUsage
	}
	if err := cases[at].measure(stdout, samples); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return exitFailed
	}
	return exitOK
}

// parseArgs returns an empty name for list.
func parseArgs(args []string) (name string, samples int, err error) {
	switch {
	case len(args) == 1 && args[0] == "list":
		return "", 0, nil
	case len(args) == 2 && args[0] == "run" && args[1] != "":
		return args[1], 1, nil
	case len(args) == 4 && args[0] == "run" && args[1] != "" && args[2] == "-samples":
		samples, err := strconv.Atoi(args[3])
		if err != nil || samples < 1 {
			return "", 0, fmt.Errorf("-samples %s: want a whole number of at least 1", args[3])
		}
		return args[1], samples, nil
	}
	return "", 0, errors.New("usage: list | run CASE [-samples N]")
}

func (c Case) measure(stdout io.Writer, samples int) error {
	op, extra, err := c.Setup()
	if err != nil {
		return err
	}
	// What Setup left behind is not the operation's to collect, nor its memory.
	debug.FreeOSMemory()
	calls, elapsed, err := repeat(op, 1, warmUpTime)
	if err != nil {
		return err
	}
	perChunk := max(1, int(int64(chunkTime)*int64(calls)/int64(max(elapsed, 1))))
	perCall := max(c.PerCall, 1)
	for range samples {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		peak := resources.OpenPeak()
		calls, elapsed, err := repeat(op, perChunk, sampleTime)
		if err != nil {
			return err
		}
		rss, _ := peak.Close()
		runtime.ReadMemStats(&after)
		ops := calls * perCall
		fmt.Fprintf(stdout, "Benchmark%s\t%d\t%.1f ns/op\t%d "+unitBytes+"\t%d "+unitAllocs, c.Name, ops,
			float64(elapsed.Nanoseconds())/float64(ops), (after.TotalAlloc-before.TotalAlloc)/uint64(ops), (after.Mallocs-before.Mallocs)/uint64(ops))
		if rss > 0 {
			fmt.Fprintf(stdout, "\t%d "+unitPeak, rss)
		}
		if c.Rate != "" {
			fmt.Fprintf(stdout, "\t%.1f %s", float64(ops)/elapsed.Seconds(), c.Rate)
		}
		for _, unit := range slices.SortedFunc(maps.Keys(extra), cmp.Compare[string]) {
			fmt.Fprintf(stdout, "\t%g %s", extra[unit], unit)
		}
		if _, err := fmt.Fprintln(stdout); err != nil {
			return err
		}
	}
	return nil
}

// repeat calls op, perChunk calls between two readings of the clock, until
// atLeast has passed.
func repeat(op func() error, perChunk int, atLeast time.Duration) (calls int, elapsed time.Duration, err error) {
	for start := time.Now(); elapsed < atLeast; elapsed = time.Since(start) {
		for range perChunk {
			if err := op(); err != nil {
				return 0, 0, err
			}
		}
		calls += perChunk
	}
	return calls, elapsed, nil
}
