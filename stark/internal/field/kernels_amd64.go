//go:build !purego

package field

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/arith/step"
)

var (
	hasSteps = goldilocks.Kernel{}.String() == "avx512"
	hasCopy  = cpu.X86.HasAVX512F
)

//go:noescape
func stepsAVX512(registers *[]goldilocks.Element, steps *step.Step, rows, count int)

// copyAVX512 copies vectors, of which dst and src are the first slices.
//
//go:noescape
func copyAVX512(dst, src unsafe.Pointer, count, bytes int)
