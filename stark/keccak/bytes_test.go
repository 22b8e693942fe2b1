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
		{stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Set: must.Get(stark.Secure100(stark.KoalaBear, 1))(t)}, "e9b590c432363c4d4110332c2c2eaf1116546f3776ea4affb66e727bbbbeda7a", "dc333043fae7fbf567ea1fe2ca947a3547204f83b792020ca6f6a790e808c793"},
		{stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Set: stark.Secure128(stark.Goldilocks)}, "7f4de5c2d39197a19f2300f9a28047ccf161eb87c610d32b5a9e470d859e46f7", "fcf8989120ef24b990b6b6e9f6ff2a2657c8812c321b3be8414c23338a8d3550"},
		{stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Set: stark.Compare100(stark.Goldilocks)}, "688d39448a656c26d7230f7a490f636f9c5e5d25b8b178460d2b6b9709e67941", "e78c1ab600c0e3ed29c57981983a99d68afe2a36a51ec7d44e7e0a822198350c"},
	} {
		c.Set.Queries, c.Set.Grinding, c.Set.Bits = 3, 3, stark.Unproven
		for zero, want := range map[bool]string{false: c.want, true: c.hidden} {
			c.Set.ZeroKnowledge = zero
			s := must.Get(keccak.New(c.Config, stark.Exposed))(t)
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
