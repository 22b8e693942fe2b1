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
	// sampleTime is the minimum time of a sample. It is much longer than a scheduler's time slice.
	sampleTime = 100 * time.Millisecond
	// warmUpTime is long enough for caches and the clock frequency to settle.
	warmUpTime = 50 * time.Millisecond
	// chunkTime is the time between two readings of the clock. It is short enough for a sample to end on time, and so
	// long that reading the clock costs nothing in comparison.
	chunkTime = 5 * time.Millisecond
)

// Exit statuses of Serve.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Case is an operation that a program written in Go can measure.
type Case struct {
	Name string // for example RangeVerify/bits=64/m=1
	// PerCall is the number of operations that one call of op performs. With it, a batch reports its time per proof.
	// 0 means 1.
	PerCall int
	// Rate is the unit of an additional column with operations per second. If it is empty, there is no such column.
	Rate string
	// Setup builds the inputs and checks the results once; it is not timed. It returns the operation to time and
	// additional columns by unit. Serve checks the error of every call of op.
	Setup func() (op func() error, extra map[string]float64, err error)
	// Once is in place of Setup for an operation that takes so long that it is neither warmed up nor repeated. For each
	// sample, Once does all the work and returns the time of one operation, with all additional columns.
	Once func() (elapsed time.Duration, extra map[string]float64, err error)
}

// Serve runs a command of a peer program. The parameter args contains the program's arguments, which name the
// command, without the program's name. Serve writes the names of the cases or the benchmark lines to stdout, and
// one line to stderr if there is an error. It returns the exit status: 0 for success, 1 if the case failed, 2 for
// bad usage.
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

// parseArgs parses the arguments of Serve. For the command list it returns an empty name.
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
	if c.Once != nil {
		return c.measureOnce(stdout, samples)
	}
	op, extra, err := c.Setup()
	if err != nil {
		return err
	}
	// Garbage of Setup must not count as time or memory of the operation.
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
			fmt.Fprintf(stdout, "\t%d "+UnitPeak, rss)
		}
		if c.Rate != "" {
			fmt.Fprintf(stdout, "\t%.1f %s", float64(ops)/elapsed.Seconds(), c.Rate)
		}
		if err := endLine(stdout, extra); err != nil {
			return err
		}
	}
	return nil
}

func (c Case) measureOnce(stdout io.Writer, samples int) error {
	for range samples {
		elapsed, extra, err := c.Once()
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "Benchmark%s\t1\t%d ns/op", c.Name, elapsed.Nanoseconds())
		if err := endLine(stdout, extra); err != nil {
			return err
		}
	}
	return nil
}

// endLine writes the additional columns of a line.
func endLine(stdout io.Writer, extra map[string]float64) error {
	for _, unit := range slices.SortedFunc(maps.Keys(extra), cmp.Compare[string]) {
		fmt.Fprintf(stdout, "\t%g %s", extra[unit], unit)
	}
	_, err := fmt.Fprintln(stdout)
	return err
}

// repeat calls op until the time atLeast has passed. It reads the clock after every perChunk calls.
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
