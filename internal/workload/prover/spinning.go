//go:build unix

package prover

import (
	"io"
	"os"
	"runtime"
	"syscall"
	"time"
)

// awake is how long a reader stays awake for an answer before it sleeps until that comes: a
// processor that sleeps takes as long to wake up.
const awake = 40 * time.Microsecond

// spinning reads a pipe.
type spinning struct {
	file *os.File
	raw  syscall.RawConn
}

// newSpinning reads a pipe awake, where somebody else can run meanwhile.
func newSpinning(file *os.File) io.Reader {
	raw, err := file.SyscallConn()
	if err != nil || runtime.NumCPU() < 2 {
		return file
	}
	return &spinning{file, raw}
}

func (s *spinning) Read(b []byte) (n int, err error) {
	begun := time.Now()
	failed := s.raw.Read(func(fd uintptr) bool {
		for {
			n, err = syscall.Read(int(fd), b)
			switch {
			case err == syscall.EINTR:
			case err != syscall.EAGAIN:
				return true
			case time.Since(begun) > awake:
				return false // sleeps until there is something
			}
		}
	})
	switch {
	case failed != nil:
		return 0, failed
	case err != nil:
		return 0, &os.PathError{Op: "read", Path: s.file.Name(), Err: err}
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return n, nil
}
