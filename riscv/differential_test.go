package riscv_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/guesttest"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// TestDifferential: registers and memory are those of QEMU after random programs.
func TestDifferential(t *testing.T) { differential(t, "qemu-riscv64", guesttest.Linux) }

func TestDifferential32(t *testing.T) { differential(t, "qemu-riscv32", guesttest.Linux32) }

func differential(t *testing.T, emulator string, random func(seed uint64, n int) []byte) {
	testsize.Full(t)
	qemu := testsize.Program(t, "qemu", emulator)
	path := filepath.Join(t.TempDir(), "program")
	for range testsize.Pick(1, 200, 20_000) {
		seed := rand.Uint64()
		raw := random(seed, 300)
		must.Do(t, os.WriteFile(path, raw, 0o700))
		want, err := exec.CommandContext(t.Context(), qemu, path).Output()
		must.Do(t, err, "seed", seed)
		var got bytes.Buffer
		p := must.Get(riscv.Load(raw, nil))(t)
		_, err = riscv.Run(t.Context(), p, riscv.Options{Stdout: &got, Misaligned: true})
		must.Do(t, err, "seed", seed)
		if !bytes.Equal(want, got.Bytes()) {
			t.Fatalf("seed %d: %s", seed, difference(want, got.Bytes()))
		}
	}
}

// difference names the first word in which two outputs differ.
func difference(want, got []byte) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
	}
	for i := 0; i+8 <= len(want); i += 8 {
		a, b := binary.LittleEndian.Uint64(want[i:]), binary.LittleEndian.Uint64(got[i:])
		if r := (i - guesttest.RegistersAt) / 8; a != b && i >= guesttest.KeptAt {
			return fmt.Sprintf("result %d: %#x, want %#x", (i-guesttest.KeptAt)/8, b, a)
		} else if a != b && r >= 32 {
			return fmt.Sprintf("f%d = %#x, want %#x", r-32, b, a)
		} else if a != b && r >= 0 {
			return fmt.Sprintf("x%d = %#x, want %#x", r, b, a)
		} else if a != b {
			return fmt.Sprintf("memory at %d: %#x, want %#x", i, b, a)
		}
	}
	return "none"
}
