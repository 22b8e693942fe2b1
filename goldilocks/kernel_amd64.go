//go:build !purego

package goldilocks

import "golang.org/x/sys/cpu"

func vectorKernels() (names []string) {
	if cpu.X86.HasAVX2 {
		names = append(names, avx2)
	}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL {
		names = append(names, avx512)
	}
	return names
}
