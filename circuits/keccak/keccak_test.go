package keccak_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/circuits/keccak"
	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/keccaktest"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

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
	return m, keccaktest.Sum(padding, m)
}

func fixed(t *testing.T, n int, padding byte) *keccak.Fixed {
	t.Helper()
	return must.Get(keccak.NewFixed(n, padding))(t)
}

func variable(t *testing.T, blocks int, padding byte) *keccak.Variable {
	t.Helper()
	return must.Get(keccak.NewVariable(blocks, padding))(t)
}

func assign(t *testing.T, c keccak.Circuit, m []byte, d [hash.Digest]byte) frontend.Circuit {
	t.Helper()
	return must.Get(c.Assign(m, d))(t)
}

// TestFixed: vectors at the borders of blocks, with both padding bytes, on both systems.
func TestFixed(t *testing.T) {
	one, borders, more := []int{135}, []int{0, 1, 135, 136, 137}, []int{0, 1, 135, 136, 137, 255, 271, 272, 1360}
	for _, test := range []struct {
		name    string
		padding byte
		builder frontend.NewBuilder
		lengths []int
	}{
		{"keccak256 on scs", hash.Keccak256, scs.NewBuilder[constraint.U64], testsize.Pick(one, borders, more)},
		{"sha3-256 on scs", hash.SHA3256, scs.NewBuilder[constraint.U64], testsize.Pick(nil, borders, more)},
		// Groth16's builder takes some forty times as long; TestRound has it, too.
		{"sha3-256 on r1cs", hash.SHA3256, r1cs.NewBuilder[constraint.U64], testsize.Pick(nil, []int{0}, []int{0, 135, 136, 255})},
	} {
		for _, n := range test.lengths {
			t.Run(fmt.Sprintf("%s/bytes=%d", test.name, n), func(t *testing.T) {
				t.Parallel()
				c := fixed(t, n, test.padding)
				m, right := vector(t, n, test.padding)
				system := circuittest.Compile(t, test.builder, c)
				other := keccaktest.Sum(test.padding^7, m)
				changed := right
				changed[31] ^= 0x80
				for _, test := range []struct {
					digest [hash.Digest]byte
					good   bool
				}{{right, true}, {changed, false}, {other, false}} {
					err := circuittest.Solves(t, system, assign(t, c, m, test.digest), nil)
					golden.Equal(t, fmt.Sprintf("%x is taken (%v)", test.digest, err), test.good, err == nil)
				}
			})
		}
	}
}

// TestVariable: vectors at the borders of two blocks, and what a cheat may try.
func TestVariable(t *testing.T) {
	testsize.Full(t)
	t.Parallel()
	const blocks = 2
	for _, padding := range []byte{hash.Keccak256, hash.SHA3256} {
		c := variable(t, blocks, padding)
		system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], c)
		for _, n := range []int{0, 1, 134, 135, 136, 137, 255, 270, 271} {
			m, d := vector(t, n, padding)
			must.Do(t, circuittest.Solves(t, system, assign(t, c, m, d), nil), "padding", padding, "bytes", n)
		}
		m := bytes.Repeat([]byte{0xff}, 140)
		for name, cheat := range map[string]func(a *keccak.Variable){
			"another digest":      func(a *keccak.Variable) { a.Digest = keccak.Split(keccaktest.Sum(padding, m[1:])) },
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
			a := assign(t, c, m, keccaktest.Sum(padding, m)).(*keccak.Variable)
			cheat(a)
			must.Fail(t, circuittest.Solves(t, system, a, nil), must.ErrAny, "padding %d: %s", padding, name)
		}
	}
}

// TestPublic: of a digest alone each circuit has its public witness.
func TestPublic(t *testing.T) {
	m, d := vector(t, 100, hash.Keccak256)
	for _, c := range []keccak.Circuit{fixed(t, 100, hash.Keccak256), variable(t, 2, hash.Keccak256), must.Get(keccak.NewStd(100))(t)} {
		circuittest.Public(t, assign(t, c, m, d), c.AssignPublic(d))
	}
}

// TestRefused: what is no circuit, or no message of one.
func TestRefused(t *testing.T) {
	for padding := range 256 {
		_, fixed := keccak.NewFixed(3, byte(padding))
		_, variable := keccak.NewVariable(1, byte(padding))
		if free := padding > 0 && padding < 0x80; (fixed == nil) != free || (variable == nil) != free {
			t.Errorf("padding byte %#02x: %v, %v", padding, fixed, variable)
		}
	}
	must.FailGet(keccak.NewFixed(-1, hash.Keccak256))(t, zkbench.ErrParams, "a fixed length of -1")
	must.FailGet(keccak.NewStd(-1))(t, zkbench.ErrParams, "a length of -1")
	must.FailGet(keccak.NewVariable(0, hash.Keccak256))(t, zkbench.ErrParams, "no blocks")
	must.FailGet(fixed(t, 3, hash.Keccak256).Assign(make([]byte, 4), [hash.Digest]byte{}))(t, zkbench.ErrParams, "a longer message")
	must.FailGet(variable(t, 2, hash.Keccak256).Assign(make([]byte, 2*hash.Rate), [hash.Digest]byte{}))(t, zkbench.ErrLimit, "a message above the capacity")
	must.Fail(t, new(keccak.Fixed).Define(nil), zkbench.ErrParams, "no padding byte")
	must.Fail(t, new(keccak.Variable).Define(nil), zkbench.ErrParams, "no padding byte in a circuit of any length")
}

// TestGates holds the numbers of gates: at most 156,000 a permutation. No circuit leaves
// anything free.
func TestGates(t *testing.T) {
	testsize.Full(t)
	for _, test := range []struct {
		name    string
		circuit keccak.Circuit
		bytes   int
		want    int
	}{
		{"135 bytes", fixed(t, 135, hash.Keccak256), 135, 153_986},
		{"136 bytes", fixed(t, 136, hash.Keccak256), 136, 307_694},
		{"one block, any length", variable(t, 1, hash.Keccak256), 100, 156_809},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], test.circuit)
			golden.Equal(t, "gates", test.want, system.GetNbConstraints())
			m, d := vector(t, test.bytes, hash.Keccak256)
			s := must.Get(circuittest.Solve(system, circuittest.Witness(t, assign(t, test.circuit, m, d)), nil))(t)
			golden.Equal(t, "free", nil, s.Free())
		})
	}
}

// TestStd: gnark's gadget computes the same hash, in some five times as many gates.
func TestStd(t *testing.T) {
	testsize.Full(t)
	t.Parallel()
	c := must.Get(keccak.NewStd(100))(t)
	m, right := vector(t, 100, hash.Keccak256)
	system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], c)
	changed := right
	changed[0] ^= 1
	for _, d := range [][hash.Digest]byte{right, changed} {
		err := circuittest.Solves(t, system, assign(t, c, m, d), nil)
		golden.Equal(t, fmt.Sprintf("%x is taken (%v)", d, err), d == right, err == nil)
	}
	golden.Within(t, "gates", 700_000, system.GetNbConstraints(), 800_000)
	must.FailGet(c.Assign(m[1:], right))(t, zkbench.ErrParams, "a shorter message")
}
