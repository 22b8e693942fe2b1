package subprocess

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of processes that programs leave behind, so that they can
// be found.
var adopt = sync.OnceFunc(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })

// ownMark returns the peak resident set of this process, in bytes.
func ownMark() uint64 { return field(readProc(os.Getpid(), "status"), "VmHWM:") << 10 }

// readProc returns the content of a file of a process, or nil if it cannot be read.
func readProc(pid int, name string) []byte {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		return nil
	}
	return raw
}

// field returns the number after a key at the beginning of a line, or 0 if there is none.
func field(lines []byte, key string) (n uint64) {
	for line := range bytes.Lines(lines) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			return number(bytes.TrimLeft(rest, " \t"))
		}
	}
	return 0
}

// number returns the number at the beginning of a text, or 0 if there is none.
func number(text []byte) (n uint64) {
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + uint64(c-'0')
	}
	return n
}

// watch holds what a running program was last found to use.
type watch struct {
	resident uint64 // B, of all its processes at the last look
	mark     uint64 // B, peak of any one of its processes
	written  uint64 // B that its processes at the last look have written, to any file

	user, system time.Duration
}

func (w *watch) look(pids []int) {
	w.resident, w.written, w.user, w.system = 0, 0, 0, 0
	for _, pid := range pids {
		status := readProc(pid, "status")
		w.resident += field(status, "VmRSS:") << 10
		w.mark = max(w.mark, field(status, "VmHWM:")<<10)
		w.written += field(readProc(pid, "io"), "wchar:")
		if stat := afterName(readProc(pid, "stat")); len(stat) > 14 { // proc_pid_stat(5): utime, stime, and the two of children that were waited for
			user, system := split(processTime(pid), number(stat[11]), number(stat[12]))
			w.user += user + time.Duration(number(stat[13]))*tick
			w.system += system + time.Duration(number(stat[14]))*tick
		}
	}
}

// processTime returns the processor time of a process by its clock (clock_getcpuclockid(3)), or 0
// if it cannot be read.
func processTime(pid int) time.Duration {
	const scheduled = 2 // CPUCLOCK_SCHED of the kernel, precise to the nanosecond
	var used unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|scheduled), &used) != nil {
		return 0
	}
	return time.Duration(used.Nano())
}

// split divides a processor time in proportion to its ticks in user mode and in the kernel. If the
// time is 0, that is, not known, it returns the ticks as times.
func split(all time.Duration, user, system uint64) (inUser, inSystem time.Duration) {
	if all == 0 {
		return time.Duration(user) * tick, time.Duration(system) * tick
	}
	inUser = all
	if user+system > 0 {
		inUser = time.Duration(float64(all) * float64(user) / float64(user+system))
	}
	return inUser, all - inUser
}

// tick is the unit of processor times in /proc, the same on every platform of Go.
const tick = time.Second / 100

// afterName returns the fields of a process's stat file from its state on. The name before them
// may contain anything.
func afterName(stat []byte) [][]byte { return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) }

// Sweep kills the processes that programs have left behind, and returns their number. It kills
// every child of this process except those whose process IDs are in the list keep. Call it
// only if no other child is still needed.
func Sweep(keep ...int) (killed int) {
	self := []byte(strconv.Itoa(os.Getpid()))
	for found := true; found; { // the children of killed processes become children of this one
		found = false
		dirs, err := os.ReadDir("/proc")
		if err != nil {
			return killed
		}
		for _, d := range dirs {
			pid, err := strconv.Atoi(d.Name())
			if err != nil {
				continue
			}
			fields := afterName(readProc(pid, "stat")) // state ppid
			if len(fields) < 2 || !bytes.Equal(fields[1], self) || slices.Contains(keep, pid) {
				continue
			}
			if fields[0][0] != 'Z' {
				killed++
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			ended(pid, drained)
			found = true
		}
	}
	return killed
}
