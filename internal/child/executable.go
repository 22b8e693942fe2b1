package child

import (
	"os"
	"runtime"
)

// Executable is a path by which the running program is opened and started, on Linux even where
// another has come to its own path, or none is there any more.
func Executable() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}
