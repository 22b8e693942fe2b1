package c_test

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// rustGuest builds a guest in Rust for a target, and links it.
func rustGuest(t *testing.T, source, target, link string, isa *riscv.ISA) *riscv.Program {
	t.Helper()
	testsize.Full(t)
	testsize.Rust(t, target)
	library := filepath.Join(t.TempDir(), "libguest.a")
	out, err := exec.CommandContext(t.Context(), "rustc", "--edition", "2021", "-O", "--crate-type", "staticlib", "--target", target, source, "-o", library).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	path, said, err := compiled(t, link, library)
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return must.Get(riscv.Load(must.Get(os.ReadFile(path))(t), isa))(t)
}

// TestRust: a guest in Rust gives what Go computes, and one that panics fails and names the place.
func TestRust(t *testing.T) {
	input := strings.Repeat("the quick brown fox and the lazy dog, the end\n", 20)
	for _, test := range []struct {
		target, link string
		isa          *riscv.ISA
	}{{"riscv32im-unknown-none-elf", "rv32im", riscv.RV32IM()}, {"riscv64imac-unknown-none-elf", "rv64im", riscv.RV64GC()}} {
		t.Run(test.target, func(t *testing.T) {
			p := rustGuest(t, "testdata/words.rs", test.target, test.link, test.isa)
			golden.Equal(t, "output", wordCounts(input), string(run(t, p, riscv.Options{Input: []byte(input)}).Output))
			_, err := riscv.Run(t.Context(), p, riscv.Options{})
			exit, ok := errors.AsType[*riscv.ExitError](err)
			if !ok {
				t.Fatalf("%v, want an exit code", err)
			}
			golden.Equal(t, "code of a panic", 101, exit.Code)
			golden.Contains(t, string(exit.Output), "testdata/words.rs:", "index out of bounds: the len is 0 but the index is 1")
		})
	}
}

// wordCounts is what the guest commits to.
func wordCounts(text string) string {
	counts := make(map[string]int64)
	words := strings.Fields(text)
	for _, w := range words {
		counts[w]++
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(words)))
	slices.SortStableFunc(distinct, func(a, b string) int { return int(counts[b] - counts[a]) })
	factor, _ := new(big.Int).SetString("9e3779b97f4a7c15f39cc0605cedc835", 16)
	modulus := new(big.Int).Lsh(big.NewInt(1), 128)
	x := big.NewInt(1)
	var first []string
	for i, w := range distinct {
		x.Mul(x, factor).Add(x, big.NewInt(counts[w])).Mod(x, modulus)
		for _, b := range []byte(w) {
			shifted := new(big.Int).Lsh(big.NewInt(int64(b)), uint(b%100))
			x.Xor(x, shifted.Mod(shifted, modulus))
		}
		third, rest := new(big.Int).Quo(x, big.NewInt(3)), new(big.Int).Rem(x, big.NewInt(7))
		x.Add(third, rest)
		if i < 3 {
			first = append(first, fmt.Sprintf("(%q, %d)", w, counts[w]))
		}
	}
	return fmt.Sprintf("[%s] %032x %d\n", strings.Join(first, ", "), x, len(words)+2)
}
