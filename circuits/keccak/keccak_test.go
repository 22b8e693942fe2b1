package keccak_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"
	"golang.org/x/crypto/sha3"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/circuits/keccak"
)

const longTests = "ZKBENCH_LONG"

func digest(padding byte, message []byte) (d [keccak.Digest]byte) {
	h := sha3.NewLegacyKeccak256()
	if padding == keccak.SHA3256 {
		h = sha3.New256()
	}
	h.Write(message)
	h.Sum(d[:0])
	return d
}

func message(n int) []byte {
	m := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(m)
	return m
}

// vectors are the Keccak team's (ShortMsgKAT_256.txt of the third round, lengths 0, 8
// and 16) and Ethereum's ("" and "abc").
func vectors(t *testing.T) map[string][keccak.Digest]byte {
	t.Helper()
	out := make(map[string][keccak.Digest]byte)
	for message, want := range map[string]string{
		"":         "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
		"abc":      "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
		"\xcc":     "eead6dbfc7340a56caedc044696a168870549a6a7f6f56961e84a54bd9970b8a",
		"\x41\xfb": "a8eaceda4d47b3281a795ad9e1ea2122b407baf9aabcb9e18b5717b7873537d2",
	} {
		var d [keccak.Digest]byte
		if n, err := hex.Decode(d[:], []byte(want)); n != len(d) || err != nil {
			t.Fatal(err)
		}
		out[message] = d
	}
	return out
}

func TestVectors(t *testing.T) {
	for m, want := range vectors(t) {
		c := keccak.NewFixed(len(m), keccak.Keccak256)
		a, err := c.Assign([]byte(m), want)
		if err != nil {
			t.Fatal(err)
		}
		if err := circuittest.Solves(t, circuittest.Compile(t, scs.NewBuilder[constraint.U64], c), a, nil); err != nil {
			t.Errorf("%x: %v", m, err)
		}
	}
}

// TestFixed: at the borders of blocks, with both padding bytes, on both systems.
func TestFixed(t *testing.T) {
	lengths := []int{1, 135, 136}
	if os.Getenv(longTests) != "" {
		lengths = append(lengths, 137, 271, 272, 1360)
	}
	for _, n := range lengths {
		for _, b := range []struct {
			name    string
			padding byte
			builder frontend.NewBuilder
		}{{"keccak256 on scs", keccak.Keccak256, scs.NewBuilder[constraint.U64]}, {"sha3-256 on r1cs", keccak.SHA3256, r1cs.NewBuilder[constraint.U64]}} {
			t.Run(fmt.Sprintf("%s/bytes=%d", b.name, n), func(t *testing.T) {
				c, m := keccak.NewFixed(n, b.padding), message(n)
				system := circuittest.Compile(t, b.builder, c)
				right, other := digest(b.padding, m), digest(b.padding^7, m)
				changed := right
				changed[31] ^= 0x80
				for _, test := range []struct {
					digest [keccak.Digest]byte
					good   bool
				}{{right, true}, {changed, false}, {other, false}} {
					a, err := c.Assign(m, test.digest)
					if err != nil {
						t.Fatal(err)
					}
					if err := circuittest.Solves(t, system, a, nil); (err == nil) != test.good {
						t.Errorf("good %v: %v", test.good, err)
					}
				}
			})
		}
	}
	if _, err := keccak.NewFixed(3, keccak.Keccak256).Assign(message(4), [keccak.Digest]byte{}); !errors.Is(err, zkbench.ErrParams) {
		t.Errorf("a longer message: %v", err)
	}
}

// TestVariable: every length at the borders of two blocks, and what a cheat may try.
func TestVariable(t *testing.T) {
	const blocks = 2
	for _, padding := range []byte{keccak.Keccak256, keccak.SHA3256} {
		c := keccak.NewVariable(blocks, padding)
		system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], c)
		assign := func(m []byte) *keccak.Variable {
			a, err := c.Assign(m, digest(padding, m))
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		for _, n := range []int{0, 1, 134, 135, 136, 137, 270, 271} {
			if err := circuittest.Solves(t, system, assign(message(n)), nil); err != nil {
				t.Errorf("padding %d, %d bytes: %v", padding, n, err)
			}
		}
		m := bytes.Repeat([]byte{0xff}, 140)
		for name, cheat := range map[string]func(a *keccak.Variable){
			"another digest":      func(a *keccak.Variable) { a.Digest = keccak.Split(digest(padding, m[1:])) },
			"another length":      func(a *keccak.Variable) { a.Length[140], a.Length[139] = 0, 1 },
			"a longer length":     func(a *keccak.Variable) { a.Length[140], a.Length[141] = 0, 1 },
			"no length":           func(a *keccak.Variable) { a.Length[140] = 0 },
			"two lengths":         func(a *keccak.Variable) { a.Length[20] = 1 },
			"lengths that cancel": func(a *keccak.Variable) { a.Length[20], a.Length[21] = 1, -1 },
			"a bit that is none":  func(a *keccak.Variable) { a.Message[3] = 2 },
			"bits after the end":  func(a *keccak.Variable) { a.Message[8*140] = 1 },
			"a bit in the padding": func(a *keccak.Variable) {
				a.Message[8*140+int(padding)&7] = 1
			},
			"bits in the last byte of the block": func(a *keccak.Variable) { a.Message[8*270+7] = 1 },
		} {
			a := assign(m)
			cheat(a)
			if circuittest.Solves(t, system, a, nil) == nil {
				t.Errorf("padding %d: %s is accepted", padding, name)
			}
		}
	}
	c := keccak.NewVariable(blocks, keccak.Keccak256)
	if _, err := c.Assign(make([]byte, blocks*keccak.Rate), [keccak.Digest]byte{}); !errors.Is(err, zkbench.ErrLimit) {
		t.Errorf("a message above the capacity: %v", err)
	}
}

// TestGates holds the numbers of gates: at most 156,000 a permutation.
func TestGates(t *testing.T) {
	for _, test := range []struct {
		name    string
		circuit frontend.Circuit
		want    int
	}{
		{"135 bytes", keccak.NewFixed(135, keccak.Keccak256), 153_986},
		{"136 bytes", keccak.NewFixed(136, keccak.Keccak256), 307_694},
		{"one block, any length", keccak.NewVariable(1, keccak.Keccak256), 156_809},
	} {
		if n := circuittest.Compile(t, scs.NewBuilder[constraint.U64], test.circuit).GetNbConstraints(); n != test.want {
			t.Errorf("%s: %d gates, want %d", test.name, n, test.want)
		}
	}
}

// TestNothingIsFree: no wire may have another value.
func TestNothingIsFree(t *testing.T) {
	m := message(100)
	fixed := keccak.NewFixed(len(m), keccak.Keccak256)
	a, err := fixed.Assign(m, digest(keccak.Keccak256, m))
	if err != nil {
		t.Fatal(err)
	}
	circuittest.MutateWires(t, fixed, a, nil)
	variable := keccak.NewVariable(1, keccak.Keccak256)
	b, err := variable.Assign(m, digest(keccak.Keccak256, m))
	if err != nil {
		t.Fatal(err)
	}
	circuittest.MutateWires(t, variable, b, nil)
}

// TestStd: gnark's gadget computes the same hash, in some five times as many gates.
func TestStd(t *testing.T) {
	c, m := keccak.NewStd(100), message(100)
	system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], c)
	right := digest(keccak.Keccak256, m)
	changed := right
	changed[0] ^= 1
	for _, d := range [][keccak.Digest]byte{right, changed} {
		a, err := c.Assign(m, d)
		if err != nil {
			t.Fatal(err)
		}
		if err := circuittest.Solves(t, system, a, nil); (err == nil) != (d == right) {
			t.Errorf("right %v: %v", d == right, err)
		}
	}
	if n := system.GetNbConstraints(); n < 700_000 || n > 800_000 {
		t.Errorf("%d gates", n)
	}
	if _, err := c.Assign(m[1:], right); !errors.Is(err, zkbench.ErrParams) {
		t.Errorf("a shorter message: %v", err)
	}
}
