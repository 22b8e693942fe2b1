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

// adopt has this process become the parent of what programs leave behind, so that it can be found.
var adopt = sync.OnceFunc(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })

// ownMark is the greatest resident set that this process has had, in bytes.
func ownMark() uint64 { return field(readProc(os.Getpid(), "status"), "VmHWM:") << 10 }

// readProc reads a file of a process; nothing where it cannot be read.
func readProc(pid int, name string) []byte {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		return nil
	}
	return raw
}

// field is the number that stands behind a key at the beginning of a line; 0: there is none.
func field(lines []byte, key string) (n uint64) {
	for line := range bytes.Lines(lines) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			return number(bytes.TrimLeft(rest, " \t"))
		}
	}
	return 0
}

// number is the one that the text begins with.
func number(text []byte) (n uint64) {
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + uint64(c-'0')
	}
	return n
}

// watch is what a program is seen to take.
type watch struct {
	resident uint64 // B, of all its processes at the last look
	mark     uint64 // B, the greatest that one of them has had
	written  uint64 // B that those at the last look have written, to whatever

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

// processTime is the processor time of a process, by its clock (clock_getcpuclockid(3)); 0: not told.
func processTime(pid int) time.Duration {
	const scheduled = 2 // CPUCLOCK_SCHED of the kernel: to the nanosecond
	var used unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|scheduled), &used) != nil {
		return 0
	}
	return time.Duration(used.Nano())
}

// split divides a processor time as its ticks in user mode and in the kernel are; without a time
// the ticks are all that is known.
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

// tick is the unit of processor times in /proc, the same on all that Go runs on.
const tick = time.Second / 100

// afterName are the fields of a process' stat from its state on: the name before may hold anything.
func afterName(stat []byte) [][]byte { return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) }

// Sweep kills the processes that programs have left behind, once none runs any more but those to
// keep, and tells how many there were.
func Sweep(keep ...int) (killed int) {
	self := []byte(strconv.Itoa(os.Getpid()))
	for found := true; found; { // the children of those that are killed come to this process
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
