package keccak_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/qemutest"
	"github.com/zkbench/zkbench/internal/testsize"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
)

// TestBytes: proofs are the same bytes on every processor, kernel and executor.
func TestBytes(t *testing.T) {
	t.Parallel()
	if want := os.Getenv("ZKBENCH_KERNELS"); want != "" && fmt.Sprint(goldilocks.Kernels()) != want {
		t.Fatalf("kernels %v, want %s", goldilocks.Kernels(), want)
	}
	for _, c := range []struct {
		stark.Config
		want   string
		hidden string // of the same in zero knowledge
	}{
		{stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Set: must.Get(stark.Secure100(stark.KoalaBear, 1))(t)}, "4fc8f237f8c5d3d750963add9b1440399a280af6d88d9efbaf3d30416b3c6769", "a36b32c473842ba82c3d62d7b39ed89ec714f9618b27e0438dc4ece7c582ff28"},
		{stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Set: stark.Secure128(stark.Goldilocks)}, "e91449332590321544c4c40622ceab5d5913e05f69f24e4cb6c4e722e597fa22", "765d763d95864cd60a55c2202493f1d65aed387e28dea00559e95faa888b3bef"},
		{stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Set: stark.Compare100(stark.Goldilocks)}, "f9ecd4e7698464d7759a42994797740eb79fc91d8320e7815015a7eaa053d828", "c1aa47dec8082cf7389428399a7cd1c7ccc32b76e824449ce684213b9982f720"},
	} {
		c.Set.Queries, c.Set.Grinding, c.Set.Bits = 3, 3, 0
		for zero, want := range map[bool]string{false: c.want, true: c.hidden} {
			c.Set.ZeroKnowledge = zero
			s := must.Get(keccak.New(c.Config, false))(t)
			executors := []executor.Executor{executor.Pool(), executor.Serial()}
			if zero {
				executors = executors[:1] // emulated, each takes long
			}
			for _, ex := range executors {
				random := stark.Options{Rand: bytes.NewReader(make([]byte, 32))}
				proof := must.Get(s.Prove(t.Context(), ex, [][]byte{[]byte("the same bytes")}, nil, random))(t)
				digest := sha256.Sum256(proof)
				golden.Equal(t, fmt.Sprintf("%s, %s, zero knowledge %t", c.Field, c.Hash, zero), want, hex.EncodeToString(digest[:]))
			}
		}
	}
}

// TestBytesByKernels runs TestBytes with the narrower kernels of amd64, and with none.
func TestBytesByKernels(t *testing.T) {
	t.Parallel()
	testsize.Full(t)
	program := must.Get(os.Executable())(t)
	const narrow = "cpu.avx512=off,cpu.avx512f=off"
	for off, kernels := range map[string]string{narrow: "[portable avx2]", narrow + ",cpu.avx2=off": "[portable]"} {
		if len(goldilocks.Kernels()) < 2 || goldilocks.Kernels()[1].String() != "avx2" {
			continue
		}
		cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestBytes$")
		cmd.Env = append(os.Environ(), "GODEBUG="+off, "ZKBENCH_KERNELS="+kernels)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", off, err, out)
		}
	}
}

// TestBytesEmulated runs TestBytes on processors of arm64, without vectors and with.
func TestBytesEmulated(t *testing.T) {
	t.Parallel()
	b := qemutest.Build(t)
	for cpu, kernels := range map[string]string{"cortex-a57": "[portable]", "a64fx": "[portable sve]", "max": "[portable sve sve2]"} {
		b.Run(t, cpu, []string{"ZKBENCH_KERNELS=" + kernels}, "-test.run=^TestBytes$")
	}
}
