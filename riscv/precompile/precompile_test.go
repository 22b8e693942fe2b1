package precompile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload/guestprogram"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
	"github.com/zkbench/zkbench/riscv/precompile"
)

// p is the order of BN254's base field.
var p, _ = new(big.Int).SetString("21888242871839275222246405745257275088696311157297823662689037894645226208583", 10)

// operations names the operations, indexed by the guest's numbers for them.
var operations = []string{"mulmod", "fp-add", "fp-sub", "fp-mul", "fp2-add", "fp2-sub", "fp2-mul", "g1-add", "g1-double", "keccak256", "sha256"}

// encode encodes numbers as guests do.
func encode(numbers ...*big.Int) (out []byte) {
	for _, v := range numbers {
		var raw [32]byte
		v.FillBytes(raw[:])
		slices.Reverse(raw[:])
		out = append(out, raw[:]...)
	}
	return out
}

func request(op string, args []byte) []byte {
	return append([]byte{byte(slices.Index(operations, op)), byte(len(args))}, args...)
}

func mod(v *big.Int) *big.Int    { return v.Mod(v, p) }
func mul(a, b *big.Int) *big.Int { return mod(new(big.Int).Mul(a, b)) }
func add(a, b *big.Int) *big.Int { return mod(new(big.Int).Add(a, b)) }
func sub(a, b *big.Int) *big.Int { return mod(new(big.Int).Sub(a, b)) }

// chord returns the sum of the point (x, y) and a point with coordinate x2, on a line with this slope.
func chord(x, y, x2, slope *big.Int) []*big.Int {
	x3 := sub(mul(slope, slope), add(x, x2))
	return []*big.Int{x3, sub(mul(slope, sub(x, x3)), y)}
}

// software computes the result of a precompile with math/big.
func software(op string, v []*big.Int) []*big.Int {
	inverse := func(a *big.Int) *big.Int { return new(big.Int).ModInverse(a, p) }
	switch op {
	case "mulmod":
		z := new(big.Int).Mul(v[0], v[1])
		return []*big.Int{z.Mod(z, v[2])}
	case "fp-add":
		return []*big.Int{add(v[0], v[1])}
	case "fp-sub":
		return []*big.Int{sub(v[0], v[1])}
	case "fp-mul":
		return []*big.Int{mul(v[0], v[1])}
	case "fp2-add":
		return []*big.Int{add(v[0], v[2]), add(v[1], v[3])}
	case "fp2-sub":
		return []*big.Int{sub(v[0], v[2]), sub(v[1], v[3])}
	case "fp2-mul":
		return []*big.Int{sub(mul(v[0], v[2]), mul(v[1], v[3])), add(mul(v[0], v[3]), mul(v[1], v[2]))}
	case "g1-add":
		return chord(v[0], v[1], v[2], mul(sub(v[3], v[1]), inverse(sub(v[2], v[0]))))
	case "g1-double":
		return chord(v[0], v[1], v[0], mul(mul(big.NewInt(3), mul(v[0], v[0])), inverse(add(v[1], v[1]))))
	}
	panic(op)
}

// points returns n different points of the curve.
func points(n int, r *rand.Rand) (v []*big.Int) {
	for i := range n {
		var q bn254.G1Affine
		q.ScalarMultiplicationBase(new(big.Int).SetUint64(r.Uint64()>>1 | uint64(i)<<63))
		v = append(v, q.X.BigInt(new(big.Int)), q.Y.BigInt(new(big.Int)))
	}
	return v
}

// operands is how many numbers each operation takes.
var operands = map[string]int{"mulmod": 3, "fp-add": 2, "fp-sub": 2, "fp-mul": 2, "fp2-add": 4, "fp2-sub": 4, "fp2-mul": 4, "g1-add": 4, "g1-double": 2}

// TestPrecompiles: each gives what the software gives that it stands for, of edges and random numbers.
func TestPrecompiles(t *testing.T) {
	program := must.Get(guestprogram.Build(t.Context(), ".", "./testdata/calls"))(t)
	r := rand.New(rand.NewPCG(1, 2))
	number := func(below *big.Int) *big.Int {
		edges := []*big.Int{new(big.Int), big.NewInt(1), new(big.Int).Sub(below, big.NewInt(1)), new(big.Int).Rsh(below, 1)}
		if i := r.IntN(8); i < len(edges) && edges[i].Cmp(below) < 0 && edges[i].Sign() >= 0 {
			return edges[i]
		}
		var raw [40]byte
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		v := new(big.Int).SetBytes(raw[:])
		return v.Mod(v, below)
	}
	var input, want []byte
	calls := make(map[string]uint64)
	for _, op := range slices.Sorted(maps.Keys(operands)) {
		n := operands[op]
		for range 100 {
			m := p
			if op == "mulmod" { // any from 1 to 2^256 - 1
				ones := new(big.Int).Lsh(big.NewInt(1), uint(1+r.IntN(256)))
				m = number(ones.Sub(ones, big.NewInt(1)))
				m.Add(m, big.NewInt(1))
			}
			var v []*big.Int
			if op == "g1-add" || op == "g1-double" {
				v = points(n/2, r)
			}
			for len(v) < n {
				v = append(v, number(m))
			}
			if op == "mulmod" {
				v[2] = m
			}
			input = append(input, request(op, encode(v...))...)
			want = append(want, encode(software(op, v)...)...)
			calls[op]++
		}
	}
	for _, text := range []string{"", "abc"} {
		input = append(input, request("sha256", []byte(text))...)
		sum := sha256.Sum256([]byte(text))
		want = append(want, sum[:]...)
		input = append(input, request("keccak256", []byte(text))...)
		calls["sha256"]++
		calls["keccak256"]++
		want = append(want, must.Get(hex.DecodeString(map[string]string{
			"":    "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
			"abc": "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
		}[text]))(t)...)
	}
	result := must.Get(riscv.Run(t.Context(), program, riscv.Options{Input: input, Precompiles: precompile.All()}))(t)
	golden.Equal(t, "exit", 0, result.Exit)
	if !bytes.Equal(result.Output, want) {
		t.Error("results differ from the software's")
	}
	total := uint64(0)
	for _, c := range result.Precompiles {
		golden.Equal(t, c.Name, calls[c.Name], c.Calls)
		total += c.Calls
	}
	golden.Equal(t, "precompiles", len(operations), len(result.Precompiles))
	golden.Equal(t, "the class", total, result.Classes[riscv.Precompiled])
	golden.Equal(t, "cycles by class", result.Cycles, result.Classes.Total())
	section := result.Sections[0]
	golden.Equal(t, "section", fmt.Sprint("work ", total, result.Precompiles), fmt.Sprint(section.Name, " ", section.Entered, section.Precompiles))
	if section.Cycles == 0 || section.Cycles >= result.Cycles {
		t.Errorf("%d of %d cycles in the section", section.Cycles, result.Cycles)
	}
}

// TestRefused: what is not canonical, or no case of the formula, ends the guest.
func TestRefused(t *testing.T) {
	program := must.Get(guestprogram.Build(t.Context(), ".", "./testdata/calls"))(t)
	one, two := big.NewInt(1), big.NewInt(2)
	all := new(big.Int).Sub(new(big.Int).Lsh(one, 256), one)
	refused := func(name, says, op string, v ...*big.Int) {
		t.Run(name, func(t *testing.T) {
			r, err := riscv.Run(t.Context(), program, riscv.Options{Input: request(op, encode(v...)), Precompiles: precompile.All()})
			fault, ok := errors.AsType[*riscv.Fault](err)
			if !ok || fault.Kind != riscv.BadCall || fault.Cycle == 0 || len(r.Output) > 0 {
				t.Fatalf("%v", err)
			}
			golden.Contains(t, err.Error(), op+": "+says)
		})
	}
	for op, n := range operands {
		for i := range n {
			for name, wrong := range map[string]*big.Int{"p": p, "all ones": all} {
				v := make([]*big.Int, n)
				for j := range v {
					v[j] = big.NewInt(int64(j + 5))
				}
				v[i] = wrong
				if op == "mulmod" {
					v[2] = two
				}
				says := "a number is not below p"
				if op == "mulmod" {
					says = "a factor is not below the modulus"
				}
				refused(fmt.Sprintf("%s of %s at %d", op, name, i), says, op, v...)
			}
		}
	}
	refused("modulus 0", "a factor is not below", "mulmod", new(big.Int), new(big.Int), new(big.Int))
	refused("a factor m", "a factor is not below", "mulmod", two, one, two)
	refused("another factor m", "a factor is not below", "mulmod", one, two, two)
	refused("one x", "two points with the same x", "g1-add", one, two, one, two)
	refused("opposite points", "two points with the same x", "g1-add", one, two, one, sub(p, two))
	// Sums of points of other curves, and what stands for the identity elsewhere.
	const off = "a point is not on the curve"
	refused("y of 0", off, "g1-double", one, new(big.Int))
	refused("a double off the curve", off, "g1-double", two, two)
	refused("the double of (0, 0)", off, "g1-double", new(big.Int), new(big.Int))
	on := points(1, rand.New(rand.NewPCG(3, 4)))
	refused("the first off the curve", off, "g1-add", two, two, on[0], on[1])
	refused("the second off the curve", off, "g1-add", on[0], on[1], two, two)
	refused("(0, 0) first", off, "g1-add", new(big.Int), new(big.Int), on[0], on[1])
	refused("(0, 0) second", off, "g1-add", on[0], on[1], new(big.Int), new(big.Int))
	for _, hash := range precompile.Hashes() {
		_, err := hash.Do(riscv.Guest{}, [6]uint64{2: 1<<26 + 1})
		golden.Contains(t, fmt.Sprint(err), "67108865 bytes; accepted: 67108864")
	}
}

// TestOptions: what is not there is no call; numbers are each one's own.
func TestOptions(t *testing.T) {
	program := must.Get(guestprogram.Build(t.Context(), ".", "./testdata/calls"))(t)
	input := request("fp-add", encode(big.NewInt(1), big.NewInt(2)))
	_, err := riscv.Run(t.Context(), program, riscv.Options{Input: input, Precompiles: precompile.Hashes()})
	fault, ok := errors.AsType[*riscv.Fault](err)
	if !ok || fault.Kind != riscv.UnknownCall || fault.Function == "" {
		t.Errorf("of a precompile that is not there: %v", err)
	}
	golden.Contains(t, err.Error(), fmt.Sprintf("%#x", call.FpAdd))
	for _, wrong := range [][]riscv.Precompile{
		append(precompile.BN254(), precompile.BN254()[0]),
		{{Name: "one of Linux", Number: 64}},
		{{Name: "input", Number: call.Input}},
		{{Name: "beyond", Number: 0x7a6bffff + 1}},
		{{Name: "without Do", Number: call.Own}},
	} {
		must.FailGet(riscv.Run(t.Context(), program, riscv.Options{Precompiles: wrong}))(t, zkbench.ErrParams, "precompiles %v", wrong[len(wrong)-1].Name)
	}

	// One of a user's own, by the last number that there is.
	nothing := func(riscv.Guest, [6]uint64) (uint64, error) { return 0, nil }
	last := riscv.Precompile{Name: "last", Number: 0x7a6bffff, Do: nothing}
	must.Get(riscv.Run(t.Context(), program, riscv.Options{Precompiles: []riscv.Precompile{last}}))(t)
	own := riscv.Precompile{Name: "own", Number: call.FpAdd, Do: func(g riscv.Guest, args [6]uint64) (uint64, error) {
		var raw [1]byte
		err := g.Read(args[1], raw[:])
		return 0, errors.Join(err, g.Write(args[0], []byte{raw[0] + 7}))
	}}
	r := must.Get(riscv.Run(t.Context(), program, riscv.Options{Input: input, Precompiles: []riscv.Precompile{own}}))(t)
	golden.Equal(t, "output of one's own", byte(8), r.Output[0])
	own.Do = func(g riscv.Guest, _ [6]uint64) (uint64, error) { return 0, g.Write(8, []byte{1}) }
	_, err = riscv.Run(t.Context(), program, riscv.Options{Input: input, Precompiles: []riscv.Precompile{own}})
	if fault, ok = errors.AsType[*riscv.Fault](err); !ok || fault.Kind != riscv.WildAccess {
		t.Errorf("of one that writes nowhere: %v", err)
	}
}
