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
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/qemutest"
	"github.com/zkbench/zkbench/internal/testing/testsize"
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
		{stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: must.Get(stark.Secure100(stark.KoalaBear, 1))(t)}, "774ae868ee08209909f077b08848ef2ea8b479e2725db58913ac21197d1b4145", "886025643e913e9c7df4ab8099ab6eac69f6d524f70043a6ea59cadaca980fbb"},
		{stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Params: stark.Secure128(stark.Goldilocks)}, "58214c710a0f3de3c57dd184b369012585f9bd890b481547b8c9177e656f546b", "6865b9dc1c5dfab19d3ea4bd391e33ae18d35f93ca3985ac56902bc2841c19a2"},
		{stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: stark.Compare100(stark.Goldilocks)}, "3062c1e2b17a5507333e7d53d245be452531d0329fcf4bb77ed487b5c2ca015a", "1e1566044cf5d8aaa415dd4e9c34afd933387c368ca83ab9ebade73b9d63033f"},
	} {
		c.Params.Queries, c.Params.Grinding, c.Params.Bits = 3, 3, stark.Unproven
		for zero, want := range map[bool]string{false: c.want, true: c.hidden} {
			c.Params.ZeroKnowledge = zero
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

// TestBytesEmulated runs TestBytes on processors of arm64 that have all kernels, some, and none.
func TestBytesEmulated(t *testing.T) {
	t.Parallel()
	if !testsize.Long() {
		t.Skip("the long form proves on emulated processors; goldilocks has tests of each kernel there")
	}
	b := qemutest.Build(t)
	for cpu, kernels := range map[string]string{"max": "[portable sve sve2]", "cortex-a57": "[portable]", "a64fx": "[portable sve]"} {
		b.Run(t, cpu, []string{"ZKBENCH_KERNELS=" + kernels}, "-test.run=^TestBytes$")
	}
}
