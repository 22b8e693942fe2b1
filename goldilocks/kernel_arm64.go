//go:build !purego

package goldilocks

import "golang.org/x/sys/cpu"

func vectorKernels() (names []string) {
	if cpu.ARM64.HasSVE {
		names = append(names, sve)
	}
	if cpu.ARM64.HasSVE2 {
		names = append(names, sve2)
	}
	return names
}
