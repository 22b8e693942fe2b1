package resources

import (
	"bytes"
	"os"
)

func newKernel() kernel { return new(procfs) }

// procfs reads the process's own files in /proc (proc(5)). It opens each file at its first
// use, keeps the descriptor and reads into one buffer, so that a reading does not allocate
// and takes a few system calls.
//
// The kernel counts pages per processor. Its sum may lack pages that a processor has not
// yet added, some tens per processor.
type procfs struct {
	statm, status *os.File
	buf           [8 << 10]byte
}

// resident reads statm: total, resident and shared pages. Shared pages are those that are
// backed by files or by shared memory.
func (p *procfs) resident() resident {
	content := p.read(&p.statm, "/proc/self/statm")
	_, content = number(content)
	rss, content := number(content)
	file, _ := number(content)
	page := uint64(os.Getpagesize())
	return resident{anon: (rss - min(file, rss)) * page, file: min(file, rss) * page}
}

// mark reads VmHWM, in KiB, from status.
func (p *procfs) mark() uint64 {
	_, after, _ := bytes.Cut(p.read(&p.status, "/proc/self/status"), []byte("\nVmHWM:"))
	kib, _ := number(after)
	return kib << 10
}

// resetMark resets the mark through clear_refs. It fails if /proc is mounted read-only or
// hides the file, or if the kernel was built without CONFIG_PROC_PAGE_MONITOR.
func (p *procfs) resetMark() bool {
	f, err := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.WriteString("5")
	return err == nil
}

// read returns the content of a file as far as it fits into the buffer, or nil if the file
// cannot be read. The content is valid until the next read.
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

// number parses the decimal number after optional white space and returns the rest. It
// returns 0 if there is no number.
func number(b []byte) (n uint64, rest []byte) {
	b = bytes.TrimLeft(b, " \t")
	for len(b) > 0 && '0' <= b[0] && b[0] <= '9' {
		n, b = n*10+uint64(b[0]-'0'), b[1:]
	}
	return n, b
}
