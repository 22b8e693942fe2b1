package resources

import (
	"bytes"
	"os"
)

func newKernel() kernel { return new(procfs) }

// procfs reads the process' own files in /proc (proc(5)), each through one
// descriptor that is opened at the first use and kept, into one buffer, so that
// a reading allocates nothing and takes a few system calls.
//
// The kernel counts pages per processor, and may leave out of the sum what some
// processor has not yet handed in, tens of pages each.
type procfs struct {
	statm, status *os.File
	buf           [8 << 10]byte
}

// resident reads statm: total, resident and shared pages, the last of them those
// backed by files or by shared memory.
func (p *procfs) resident() resident {
	content := p.read(&p.statm, "/proc/self/statm")
	_, content = number(content)
	rss, content := number(content)
	file, _ := number(content)
	page := uint64(os.Getpagesize())
	return resident{anon: (rss - min(file, rss)) * page, file: min(file, rss) * page}
}

// mark reads VmHWM, in KiB, of status.
func (p *procfs) mark() uint64 {
	_, after, _ := bytes.Cut(p.read(&p.status, "/proc/self/status"), []byte("\nVmHWM:"))
	kib, _ := number(after)
	return kib << 10
}

// resetMark writes to a file that the process may not write to where /proc is
// mounted read-only or hides it, and that kernels built without
// CONFIG_PROC_PAGE_MONITOR do not have.
func (p *procfs) resetMark() bool {
	f, err := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.WriteString("5")
	return err == nil
}

// read returns the content of a file, as far as it fits, valid until the next
// read; nothing where it cannot be read.
func (p *procfs) read(f **os.File, name string) []byte {
	if *f == nil {
		opened, err := os.Open(name)
		if err != nil {
			return nil
		}
		*f = opened
	}
	n, _ := (*f).ReadAt(p.buf[:], 0)
	return p.buf[:n]
}

// number reads the decimal number that follows white space and returns what
// follows it; 0 where there is none.
func number(b []byte) (n uint64, rest []byte) {
	b = bytes.TrimLeft(b, " \t")
	for len(b) > 0 && '0' <= b[0] && b[0] <= '9' {
		n, b = n*10+uint64(b[0]-'0'), b[1:]
	}
	return n, b
}
