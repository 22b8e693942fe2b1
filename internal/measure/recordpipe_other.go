//go:build !unix

package measure

import (
	"os"
	"strconv"

	"github.com/zkbench/zkbench/internal/input/argument"
)

// inherits reports that a child process can inherit only the standard descriptors here.
const inherits = false

func inherited(fd int) (*os.File, error) {
	return nil, &argument.ValueError{Field: "record", Value: strconv.Itoa(fd), Accepted: "0: standard output"}
}
