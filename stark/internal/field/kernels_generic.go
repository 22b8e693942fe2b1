//go:build purego || !amd64

package field

import (
	"unsafe"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/arith/step"
)

const (
	hasSteps = false
	hasCopy  = false
)

func stepsAVX512(registers *[]goldilocks.Element, steps *step.Step, rows, count int) {}
func copyAVX512(dst, src unsafe.Pointer, count, bytes int)                           {}
