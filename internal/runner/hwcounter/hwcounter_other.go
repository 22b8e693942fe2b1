//go:build !linux

package hwcounter

import (
	"fmt"
	"runtime"
)

func measure(func()) (Counts, error) {
	return Counts{}, fmt.Errorf("%w: %s", ErrUnavailable, runtime.GOOS)
}
