package vector

import "golang.org/x/sys/cpu"

var hasAVX = cpu.X86.HasAVX

// Clear clears the upper halves of the vector registers. While they are in use, Intel's processors execute older
// vector instructions many times more slowly, those of SHA-256 among them: 2 KiB took 300 us in place of 2.5 us on a
// Xeon (Intel, Optimization Reference Manual, section "Mixing AVX code with SSE code"). Call it after code that uses
// AVX and leaves them.
func Clear() {
	if hasAVX {
		clearUpper()
	}
}

func clearUpper()
