//go:build unix

package measure

import (
	"os"
	"strconv"
	"syscall"

	"github.com/zkbench/zkbench/internal/input/argument"
)

// inherits reports that a child process can inherit more than the standard descriptors.
const inherits = true

// inherited opens a descriptor that this process was started with. Its own children do not inherit
// it.
func inherited(fd int) (*os.File, error) {
	var of syscall.Stat_t
	if fd < 0 || syscall.Fstat(fd, &of) != nil {
		return nil, &argument.ValueError{Field: "record", Value: strconv.Itoa(fd), Accepted: "an open descriptor"}
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "record"), nil
}
