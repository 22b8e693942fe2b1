//go:build unix

package prover

import (
	"io"
	"os"
	"runtime"
	"syscall"
	"time"
)

// awake is how long a reader polls for an answer before it sleeps until the answer comes. A sleeping
// processor takes about as long to wake up.
const awake = 40 * time.Microsecond

// spinning reads from a pipe. It polls for a short time before it sleeps.
type spinning struct {
	file *os.File
	raw  syscall.RawConn
}

// newSpinning returns a reader that polls the pipe if the machine has a second processor for the writer.
// Otherwise it returns file.
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
				return false // sleeps until there is data
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
