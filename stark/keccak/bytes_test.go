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
		{stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Set: must.Get(stark.Secure100(stark.KoalaBear, 1))(t)}, "fdf83f79ccfdb4047772ed3d583a24f072409febded9c5ef37729f1c000f8877", "879c2c22c23ed635c5024e4dbd1e11558bfcb92ecd65e008f482c4ce4b6a1041"},
		{stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Set: stark.Secure128(stark.Goldilocks)}, "de47e7695b85357582c529fbc95f7ca3482fb044df48d57ba84bb36ca2cec8d7", "89cd4f8ac1c05ea661638025fe4429f06bf61eb58a779408574e3d5dc1d74b57"},
		{stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Set: stark.Compare100(stark.Goldilocks)}, "e22c81c5dd1834deb6f847c7bad26ed718c07b64a66428b47dfd78f50b9aca0a", "2e7a1e45da0fd145f3e39afd8d724ba89c90486f887a02694a4f3cd9e2ca5d4f"},
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
