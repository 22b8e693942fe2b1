// Package contract implements the command line of every peer program written in
// Go, so that one driver can run them side by side. A peer is a program that
// measures another implementation. Its command "list" prints one case name per
// line, and "run CASE [-samples N]" prints one line in the Go benchmark format
// per sample. For an unknown case it prints one line on stderr and exits with
// status 2.
//
// Peers are in a module of their own because they need versions of shared
// dependencies that the main module cannot use. For the same reason this
// package does not import the main module's driver. All programs use the same
// case names: RangeProve/bits=B/m=M, RangeVerify/bits=B/m=M and
// RangeVerifyBatch/bits=B/m=M/batch=N.
package contract

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

const (
	// sample is the minimum duration of a sample. It is long compared with a
	// scheduler's time slice.
	sample = 100 * time.Millisecond
	// warmUp is long enough for caches and the clock frequency to settle.
	warmUp = 50 * time.Millisecond
	// chunk is the time between two readings of the clock. It is short enough
	// to overshoot a sample by little, and long enough to cost nothing compared
	// with the operation.
	chunk = 5 * time.Millisecond
)

// Exit statuses of Serve.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Case is one operation to measure, with its set-up.
type Case struct {
	Name string
	// Setup builds the inputs and checks the results once; this is not timed.
	// It returns the operation, whose error is checked after every call, and
	// the size of the proof in bytes.
	Setup func() (op func() error, proofBytes int, err error)
}

// Serve runs the program with the arguments that follow its name on the
// command line, and returns the exit status: 0 on success, 1 if a case failed,
// 2 for wrong usage.
func Serve(args []string, stdout, stderr io.Writer, cases []Case) int {
	name, samples, err := parse(args)
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
	for _, c := range cases {
		if c.Name != name {
			continue
		}
		if err := run(stdout, c, samples); err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", name, err)
			return exitFailed
		}
		return exitOK
	}
	fmt.Fprintf(stderr, "unknown case %q: list prints the known ones\n", name)
	return exitUsage
}

// parse returns an empty name for list.
func parse(args []string) (name string, samples int, err error) {
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

func run(stdout io.Writer, c Case, samples int) error {
	op, proofBytes, err := c.Setup()
	if err != nil {
		return err
	}
	// The operation must not pay for collecting what Setup left behind.
	debug.FreeOSMemory()
	calls, elapsed, err := repeat(op, 1, warmUp)
	if err != nil {
		return err
	}
	perChunk := max(1, int(int64(chunk)*int64(calls)/int64(max(elapsed, 1))))
	for range samples {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		resetPeak()
		calls, elapsed, err := repeat(op, perChunk, sample)
		if err != nil {
			return err
		}
		rss := peak()
		runtime.ReadMemStats(&after)
		n := uint64(calls)
		line := fmt.Sprintf("Benchmark%s\t%d\t%.1f ns/op\t%d B/op\t%d allocs/op\t%d proof-bytes", c.Name, calls,
			float64(elapsed.Nanoseconds())/float64(calls), (after.TotalAlloc-before.TotalAlloc)/n, (after.Mallocs-before.Mallocs)/n, proofBytes)
		if rss > 0 {
			line += fmt.Sprintf("\t%d peak-rss-bytes", rss)
		}
		if _, err := fmt.Fprintln(stdout, line); err != nil {
			return err
		}
	}
	return nil
}

// resetPeak sets the kernel's mark of the peak resident set to the current
// size, if the kernel allows it (Linux, proc(5), clear_refs).
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peak returns the peak resident set since resetPeak, in bytes, or 0 if the
// system does not report it.
func peak() (rss uint64) {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_, _ = fmt.Sscan(kib, &rss)
		}
	}
	return rss << 10
}

// repeat calls op until atLeast has passed. It reads the clock once every
// perChunk calls.
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
