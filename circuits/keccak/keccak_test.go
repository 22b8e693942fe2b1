package keccak_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/circuits/keccak"
	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/hash/keccak/keccaktest"
)

const longTests = "ZKBENCH_LONG"

// vector is the message of n bytes and its digest. Up to 255 bytes they are the Keccak
// team's; no file has the other lengths, of which the native hash, held to the same
// files, is the reference.
func vector(t *testing.T, n int, padding byte) ([]byte, [hash.Digest]byte) {
	t.Helper()
	if n < 256 {
		v := keccaktest.Vectors(t)[n]
		d, ok := v.Digests[padding]
		if !ok || len(v.Message) != n {
			t.Fatalf("vector %d has %d bytes, a digest with padding %d: %v", n, len(v.Message), padding, ok)
		}
		return v.Message, d
	}
	m := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(m) // which never fails
	return m, native(padding, m)
}

func native(padding byte, message []byte) [hash.Digest]byte {
	if padding == hash.SHA3256 {
		return hash.SumSHA3256(message)
	}
	return hash.Sum256(message)
}

// TestFixed: vectors at the borders of blocks, with both padding bytes, on both systems.
func TestFixed(t *testing.T) {
	long := os.Getenv(longTests) != ""
	borders, more := []int{0, 1, 135, 136, 137}, []int{255, 271, 272, 1360}
	for _, test := range []struct {
		name    string
		padding byte
		builder frontend.NewBuilder
		lengths []int
		more    []int // in the long form
	}{
		{"keccak256 on scs", hash.Keccak256, scs.NewBuilder[constraint.U64], borders, more},
		{"sha3-256 on scs", hash.SHA3256, scs.NewBuilder[constraint.U64], borders, more},
		// Groth16's builder takes some forty times as long.
		{"sha3-256 on r1cs", hash.SHA3256, r1cs.NewBuilder[constraint.U64], []int{0, 135}, []int{136, 255}},
	} {
		if long {
			test.lengths = slices.Concat(test.lengths, test.more)
		}
		for _, n := range test.lengths {
			t.Run(fmt.Sprintf("%s/bytes=%d", test.name, n), func(t *testing.T) {
				c := keccak.NewFixed(n, test.padding)
				m, right := vector(t, n, test.padding)
				system := circuittest.Compile(t, test.builder, c)
				other := native(test.padding^7, m)
				changed := right
				changed[31] ^= 0x80
				for _, test := range []struct {
					digest [hash.Digest]byte
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
	if _, err := keccak.NewFixed(3, hash.Keccak256).Assign(make([]byte, 4), [hash.Digest]byte{}); !errors.Is(err, zkbench.ErrParams) {
		t.Errorf("a longer message: %v", err)
	}
}

// TestVariable: vectors at the borders of two blocks, and what a cheat may try.
func TestVariable(t *testing.T) {
	const blocks = 2
	for _, padding := range []byte{hash.Keccak256, hash.SHA3256} {
		c := keccak.NewVariable(blocks, padding)
		system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], c)
		assign := func(m []byte, d [hash.Digest]byte) *keccak.Variable {
			a, err := c.Assign(m, d)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		for _, n := range []int{0, 1, 134, 135, 136, 137, 255, 270, 271} {
			m, d := vector(t, n, padding)
			if err := circuittest.Solves(t, system, assign(m, d), nil); err != nil {
				t.Errorf("padding %d, %d bytes: %v", padding, n, err)
			}
		}
		m := bytes.Repeat([]byte{0xff}, 140)
		for name, cheat := range map[string]func(a *keccak.Variable){
			"another digest":      func(a *keccak.Variable) { a.Digest = keccak.Split(native(padding, m[1:])) },
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
			a := assign(m, native(padding, m))
			cheat(a)
			if circuittest.Solves(t, system, a, nil) == nil {
				t.Errorf("padding %d: %s is accepted", padding, name)
			}
		}
	}
	c := keccak.NewVariable(blocks, hash.Keccak256)
	if _, err := c.Assign(make([]byte, blocks*hash.Rate), [hash.Digest]byte{}); !errors.Is(err, zkbench.ErrLimit) {
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
		{"135 bytes", keccak.NewFixed(135, hash.Keccak256), 153_986},
		{"136 bytes", keccak.NewFixed(136, hash.Keccak256), 307_694},
		{"one block, any length", keccak.NewVariable(1, hash.Keccak256), 156_809},
	} {
		if n := circuittest.Compile(t, scs.NewBuilder[constraint.U64], test.circuit).GetNbConstraints(); n != test.want {
			t.Errorf("%s: %d gates, want %d", test.name, n, test.want)
		}
	}
}

// TestNothingIsFree: no wire may have another value.
func TestNothingIsFree(t *testing.T) {
	m, d := vector(t, 100, hash.Keccak256)
	fixed := keccak.NewFixed(len(m), hash.Keccak256)
	a, err := fixed.Assign(m, d)
	if err != nil {
		t.Fatal(err)
	}
	circuittest.MutateWires(t, fixed, a, nil)
	variable := keccak.NewVariable(1, hash.Keccak256)
	b, err := variable.Assign(m, d)
	if err != nil {
		t.Fatal(err)
	}
	circuittest.MutateWires(t, variable, b, nil)
}

// TestStd: gnark's gadget computes the same hash, in some five times as many gates.
func TestStd(t *testing.T) {
	c := keccak.NewStd(100)
	m, right := vector(t, 100, hash.Keccak256)
	system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], c)
	changed := right
	changed[0] ^= 1
	for _, d := range [][hash.Digest]byte{right, changed} {
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
