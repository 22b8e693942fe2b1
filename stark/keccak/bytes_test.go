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
		{stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Set: must.Get(stark.Secure100(stark.KoalaBear, 1))(t)}, "7294c4813c0bfa3326ab55910ff639bc27ee3ea0dc0e6b17c4b24fb59afacc6e", "a1a77133841972a5f02bd435c19a794147f8676475d148b64d10f58978bd24a4"},
		{stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Set: stark.Secure128(stark.Goldilocks)}, "d6b0a33353fea4c3b316f2e28e0a2fbed89ea1c066a19c0838f92efda6940d35", "ecb3f4fe69613630c5fcd067e7130ecf835ec04af07ad3d3957c7bc15625e310"},
		{stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Set: stark.Compare100(stark.Goldilocks)}, "d68ca5e83c7aa7741030cb2d912b2658e90a91c4ab89d2d84bd5bc29710f81d2", "e1eefc21c6a679263ce1b9cdc36ad0965df71730587173c06a870cdec2351d8e"},
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
