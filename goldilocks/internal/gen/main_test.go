package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/zkbench/zkbench/goldilocks/internal/gen/arm64"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestCheckedIn: the files are what the generator writes.
func TestCheckedIn(t *testing.T) {
	t.Parallel()
	for name, source := range outputs {
		got, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, source()) {
			t.Errorf("%s is not what go generate writes (%v)", name, err)
		}
	}
}

// TestCountPass: an operand in memory makes no load of an instruction that computes.
func TestCountPass(t *testing.T) {
	t.Parallel()
	pass := `	VMOVDQU64 (SI), Z0
	VPBROADCASTQ 8(DX), Z1
	VMOVDQA64 Z31, Z2
	VPADDQ (DX), Z0, Z3
	VPXOR sign<>(SB), Y4, Y5
	VPSUBQ Z31, Z0, K1, Z0
	VMOVDQU64 Z3, 64(DI)
	ADDQ $64, DI
	SUBQ $8, CX
	JNZ loop
`
	want := arm64.Count{Registers: 1, Compute: 4, Memory: 3, Control: 3}
	golden.Equal(t, "passes", want, countPass(pass))
}
