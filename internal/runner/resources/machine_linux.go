package resources

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// clock returns the time of the kernel's monotonic clock.
func clock() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

// counted reads the kernel's current counts from about ten files of /proc (proc(5)), which takes
// a few hundred microseconds.
func counted() counts {
	c := counts{own: ownCounts()}
	c.busy, c.stolen, c.processors = parseStat(content("/proc/stat"))
	c.pressure = parsePressure(content("/proc/pressure/cpu"))
	if first, _, ok := bytes.Cut(content("/proc/loadavg"), []byte{' '}); ok {
		c.load, _ = strconv.ParseFloat(string(first), 64)
	}
	threads, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, path := range threads {
		_, rest := number(content(path)) // ns on a processor; then ns of waiting for one
		waited, _ := number(rest)
		c.waited += time.Duration(waited)
	}
	return c
}

// content returns the content of a file, or nil if it cannot be read.
func content(path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return data
}

// parseStat parses the first line of /proc/stat, which has the ticks of all processors together:
// user, nice, system, idle, iowait, irq, softirq, steal. User includes the time of guests. A
// line for each processor follows.
func parseStat(stat []byte) (busy, stolen time.Duration, processors int) {
	line, rest, _ := bytes.Cut(stat, []byte{'\n'})
	line, ok := bytes.CutPrefix(line, []byte("cpu "))
	if !ok {
		return 0, 0, 0
	}
	var ticks [8]time.Duration
	for i := range ticks {
		var n uint64
		n, line = number(line)
		ticks[i] = time.Duration(n) * tick
	}
	for ; bytes.HasPrefix(rest, []byte("cpu")); processors++ {
		_, rest, _ = bytes.Cut(rest, []byte{'\n'})
	}
	return ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6], ticks[7], processors
}

// parsePressure parses the total, in µs, of the line "some" of /proc/pressure/cpu.
func parsePressure(pressure []byte) time.Duration {
	line, _, _ := bytes.Cut(pressure, []byte{'\n'})
	_, total, _ := bytes.Cut(line, []byte(" total="))
	n, _ := number(total)
	return time.Duration(n) * time.Microsecond
}
