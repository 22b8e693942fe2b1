// Package c_test holds guests in C to the public standards that they are written for.
package c_test

import (
	"bytes"
	sha2 "crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"golang.org/x/crypto/sha3"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/precompile"
)

// compiled compiles a guest in C or C++ with flags. It returns the guest's file, what the compiler wrote, and
// its error.
func compiled(t *testing.T, isa, source string, flags ...string) (path, said string, err error) {
	t.Helper()
	testsize.Full(t)
	compiler := testsize.Program(t, "riscv-gcc", "riscv64-linux-gnu-gcc")
	if filepath.Ext(source) == ".cpp" {
		testsize.Program(t, "riscv-g++", "riscv64-linux-gnu-g++") // which that of C runs
	}
	path = filepath.Join(t.TempDir(), "guest")
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"cc.sh", isa, source, "-o", path}, flags...)...)
	cmd.Env = append(os.Environ(), "CC="+compiler)
	out, err := cmd.CombinedOutput()
	return path, string(out), err
}

// each compiles a guest for both widths and runs a test on each.
func each(t *testing.T, source string, test func(t *testing.T, p *riscv.Program), flags ...string) {
	testsize.Full(t)
	for _, isa := range []*riscv.ISA{riscv.RV64IM(), riscv.RV32IM()} {
		for _, level := range testsize.Pick([]string{"-O2"}, []string{"-O2"}, []string{"-O2", "-O0", "-O1", "-O3", "-Os"}) {
			t.Run(fmt.Sprintf("xlen=%d/%s", isa.XLEN, level), func(t *testing.T) {
				path, said, err := compiled(t, fmt.Sprintf("rv%dim", isa.XLEN), source, append(flags, level, "-Wall", "-Wextra", "-Werror")...)
				if err != nil {
					t.Fatalf("%v: %s", err, said)
				}
				test(t, must.Get(riscv.Load(must.Get(os.ReadFile(path))(t), isa))(t))
			})
		}
	}
}

// run runs a guest, which must end with code 0.
func run(t *testing.T, p *riscv.Program, o riscv.Options) *riscv.Result {
	t.Helper()
	var said bytes.Buffer
	o.Stderr, o.Precompiles = &said, precompile.All()
	r := must.Get(riscv.Run(t.Context(), p, o))(t)
	golden.Equal(t, "exit code", 0, r.Exit)
	golden.Equal(t, "standard error", "", said.String())
	return r
}

// TestIO: the input is whole and the same however often it is read, and the output is its parts in order.
func TestIO(t *testing.T) {
	each(t, "testdata/echo.c", func(t *testing.T, p *riscv.Program) {
		for _, n := range []int{0, 1, 4095, 4096, 4097, 1 << 20} {
			input := bytes.Repeat([]byte("input "), n/6+1)[:n]
			golden.Equal(t, fmt.Sprint(n, " bytes"), string(input), string(run(t, p, riscv.Options{Input: input}).Output))
		}
	})
}

// TestHash: the example commits to the SHA-256 digest of its input, with either number of blocks of padding.
func TestHash(t *testing.T) {
	each(t, "../../examples/guest/hash.c", func(t *testing.T, p *riscv.Program) {
		for _, n := range []int{0, 1, 55, 56, 63, 64, 65, 119, 120, 1000} {
			input := bytes.Repeat([]byte("input "), n/6+1)[:n]
			golden.Equal(t, fmt.Sprint(n, " bytes"), fmt.Sprintf("%x", sha2.Sum256(input)), fmt.Sprintf("%x", run(t, p, riscv.Options{Input: input}).Output))
		}
	})
}

// TestMisaligned: words at any address are accessed and counted, where the machine is told to (Zicclsm).
func TestMisaligned(t *testing.T) {
	input := []byte("any bytes, of which there are some more")
	var want [3]uint64
	for i := range len(input) - 7 {
		want[0] += uint64(binary.LittleEndian.Uint16(input[i:]))
		want[1] += uint64(binary.LittleEndian.Uint32(input[i:]))
		want[2] += binary.LittleEndian.Uint64(input[i:])
	}
	each(t, "testdata/misaligned.c", func(t *testing.T, p *riscv.Program) {
		r := run(t, p, riscv.Options{Input: input, Misaligned: true})
		var out []byte
		for _, v := range want {
			out = binary.LittleEndian.AppendUint64(out, v)
		}
		golden.Equal(t, "output", string(append(out, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0)), string(r.Output))
		// Of n addresses one in two is odd, and so on; a load of 64 bits is two of 32 on the smaller machine.
		n := uint64(len(input) - 7)
		wide := n - n/8
		if p.ISA.XLEN == 32 {
			wide = 2 * (n - n/4)
		}
		golden.Equal(t, "misaligned accesses", n/2+(n-n/4)+wide+1, r.Misaligned)

		_, err := riscv.Run(t.Context(), p, riscv.Options{Input: input})
		fault, ok := errors.AsType[*riscv.Fault](err)
		if !ok || fault.Kind != riscv.Misaligned || fault.Function != "main" {
			t.Errorf("where the machine is not told to: %v", err)
		}
	})
}

// TestEnds: a guest ends with a code of its own, or is ended; no failure is a success.
func TestEnds(t *testing.T) {
	each(t, "testdata/ends.c", func(t *testing.T, p *riscv.Program) {
		for how, code := range map[string]int{"": 0, "a": 134, "b": 134, "c": 7, "d": 255, "e": 255, "f": 3} {
			var said bytes.Buffer
			r, err := riscv.Run(t.Context(), p, riscv.Options{Input: []byte(how), Stderr: &said})
			golden.Equal(t, fmt.Sprintf("exit code of %q", how), code, r.Exit)
			if exit, ok := errors.AsType[*riscv.ExitError](err); code == 0 && err != nil || code != 0 && (!ok || exit.Code != code) {
				t.Errorf("%q: %v", how, err)
			}
			if how == "b" {
				golden.Contains(t, said.String(), "ends.c:", ": size == 0\n")
			}
		}
		for how, kind := range map[string]riscv.FaultKind{
			"g": riscv.WildAccess,  // the use of a null pointer
			"h": riscv.WildAccess,  // an endless recursion
			"i": riscv.WildAccess,  // a write to a constant
			"j": riscv.WriteToCode, // to code
			"k": riscv.WildAccess,  // to the input
			"l": riscv.WildAccess,  // an accelerator's, to a null pointer
		} {
			_, err := riscv.Run(t.Context(), p, riscv.Options{Input: []byte(how), Precompiles: precompile.Standard()})
			if fault, ok := errors.AsType[*riscv.Fault](err); !ok || fault.Kind != kind || fault.Function == "" {
				t.Errorf("%q: %v, want a %v", how, err, kind)
			}
		}
		_, err := riscv.Run(t.Context(), p, riscv.Options{Input: []byte("l")})
		if fault, ok := errors.AsType[*riscv.Fault](err); !ok || fault.Kind != riscv.UnknownCall || fault.Function != "zkvm_bn254_pairing" {
			t.Errorf("of a machine without accelerators: %v", err)
		}
	})
}

// TestSections: they count, and the private precompiles give what they stand for.
func TestSections(t *testing.T) {
	var want []byte
	prime, _ := new(big.Int).SetString("21888242871839275222246405745257275088696311157297823662689037894645226208583", 10)
	number := func(v *big.Int) {
		raw := v.FillBytes(make([]byte, 32))
		slices.Reverse(raw)
		want = append(want, raw...)
	}
	for _, v := range []int64{2, 9, -1, 14, 4, 6, -2, -2, -5, 10} { // the last six are of Fp2
		number(new(big.Int).Mod(big.NewInt(v), prime))
	}
	for k := range int64(2) {
		var point bn254.G1Affine
		point.ScalarMultiplicationBase(big.NewInt(2 + k))
		number(point.X.BigInt(new(big.Int)))
		number(point.Y.BigInt(new(big.Int)))
	}
	each(t, "testdata/sections.c", func(t *testing.T, p *riscv.Program) {
		r := run(t, p, riscv.Options{})
		golden.Equal(t, "output", hex.EncodeToString(want), hex.EncodeToString(r.Output))
		var sections []string
		for _, s := range r.Sections {
			sections = append(sections, fmt.Sprint(s.Name, " ", s.Entered, " ", s.Precompiles))
			if s.Cycles == 0 || s.Cycles >= r.Cycles {
				t.Errorf("%d of %d cycles in %s", s.Cycles, r.Cycles, s.Name)
			}
		}
		golden.Equal(t, "sections", []string{
			"numbers 1 [{fp-add 1 1} {fp-sub 1 1} {fp-mul 1 1} {fp2-add 3 3} {fp2-sub 1 1} {fp2-mul 1 1} {mulmod 1 1}]",
			"numbers/fp2 3 [{fp2-add 3 3}]",
			"points 1 [{g1-add 1 1} {g1-double 1 1}]",
		}, sections)
		named := make(map[string]bool)
		for _, f := range r.Functions {
			named[f.Name] = true
			if strings.HasPrefix(f.Name, "$") || f.Name == "" {
				t.Errorf("a function named %q", f.Name)
			}
		}
		for _, name := range []string{"_start", "main", "zkbench_begin", "zkbench_g1_add", "exit"} {
			golden.Equal(t, name, true, named[name])
		}
	})
}

// TestMemory: constants, data, stack and heap are as C has them, and numbers of two words are those of Go.
func TestMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	value := func() uint64 {
		edges := []uint64{0, 1, 2, 10, 63, 64, 127, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1}
		if i := r.IntN(2 * len(edges)); i < len(edges) {
			return edges[i]
		}
		return r.Uint64() >> r.IntN(64)
	}
	var input []byte
	var want [2][]byte // with numbers of 64 bits alone, and of 128 too
	for range testsize.Pick(500, 500, 20_000) {
		x, y := value(), value()
		input = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(input, x), y)
		for _, v := range results64(x, y) {
			want[0], want[1] = binary.LittleEndian.AppendUint64(want[0], v), binary.LittleEndian.AppendUint64(want[1], v)
		}
		for _, v := range results128(x, y) {
			want[1] = binary.LittleEndian.AppendUint64(want[1], v)
		}
	}
	each(t, "testdata/memory.c", func(t *testing.T, p *riscv.Program) {
		result := run(t, p, riscv.Options{Input: input})
		if w := want[p.ISA.XLEN/64]; !bytes.Equal(w, result.Output) {
			i := 0
			for i < min(len(w), len(result.Output)) && w[i] == result.Output[i] {
				i++
			}
			each := len(w) / (len(input) / 16)
			t.Errorf("result %d of %x differs, of %d bytes, want %d", i%each/8, input[i/each*16:][:16], len(result.Output), len(w))
		}
	})
}

// results64 returns what the guest computes from 64-bit numbers.
func results64(x, y uint64) []uint64 {
	var quotient, rest, signedQuotient, signedRest uint64
	if y != 0 {
		quotient, rest = x/y, x%y
		signedQuotient, signedRest = uint64(int64(x)/int64(y)), uint64(int64(x)%int64(y))
	}
	least := func(v uint64, width int) uint64 { // its index, from 1; 0: there is none
		if v == 0 {
			return 0
		}
		return uint64(1 + bits.TrailingZeros64(v)%width)
	}
	low := uint32(x)
	return []uint64{
		quotient, rest, signedQuotient, signedRest, x * y,
		x << (y & 63), x >> (y & 63), uint64(int64(x) >> (y & 63)),
		uint64(bits.LeadingZeros64(x)), uint64(bits.TrailingZeros64(x)), uint64(bits.OnesCount64(x)), uint64(bits.OnesCount64(x) & 1),
		least(x, 64), bits.ReverseBytes64(x),
		uint64(bits.LeadingZeros32(low)), uint64(bits.TrailingZeros32(low)), uint64(bits.OnesCount32(low)), uint64(bits.OnesCount32(low) & 1),
		uint64(bits.ReverseBytes32(low)),
	}
}

// results128 returns what the guest computes from 128-bit numbers.
func results128(x, y uint64) (out []uint64) {
	whole := func(high, low uint64) *big.Int {
		v := new(big.Int).SetUint64(high)
		return v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(low))
	}
	modulus := whole(1<<63, 0)
	modulus.Lsh(modulus, 1)
	signed := func(v *big.Int) *big.Int {
		if v.Bit(127) == 1 {
			return new(big.Int).Sub(v, modulus)
		}
		return v
	}
	v := whole(x, y)
	w := new(big.Int).SetUint64(y)
	w.Lsh(w, uint(x&63)).SetBit(w, 0, 1).Mod(w, modulus)
	s := signed(v)
	d := signed(new(big.Int).Mod(new(big.Int).Neg(w), modulus))
	by := uint(y & 127)
	for _, r := range []*big.Int{
		new(big.Int).Quo(v, w), new(big.Int).Rem(v, w), new(big.Int).Quo(s, d), new(big.Int).Rem(s, d),
		new(big.Int).Lsh(v, by), new(big.Int).Rsh(v, by), new(big.Int).Rsh(s, by), new(big.Int).Mul(v, w),
	} {
		raw := r.Mod(r, modulus).FillBytes(make([]byte, 16))
		out = append(out, binary.BigEndian.Uint64(raw[8:]), binary.BigEndian.Uint64(raw))
	}
	return out
}

// The guest's numbers for the functions.
const (
	keccak256 = iota
	sha256
	ripemd160
	secp256k1Verify
	secp256k1Recover
	secp256r1Verify
	modExp
	bn254G1Add
	bn254G1Mul
	bn254Pairing
	blake2f
	kzgPointEval
	bls12G1Add
	bls12G1MSM
	bls12G2Add
	bls12G2MSM
	bls12Pairing
	bls12MapToG1
	bls12MapToG2
	functions
)

// asked is a request to the guest, and its answer.
type asked struct {
	function byte
	in       []byte
	failed   bool
	out      []byte
}

func (a asked) record() []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{a.function}, uint32(len(a.in))), a.in...)
}

func (a asked) answer() []byte {
	if a.failed {
		return append([]byte{1}, a.out...)
	}
	return append([]byte{0}, a.out...)
}

// fromEVM returns test vectors of Ethereum's precompiles, converted to the functions here: for each function
// the first that has a result and the first that fails.
func fromEVM(t *testing.T) (all []asked) {
	narrow := func(raw []byte) (out []byte) { // without the sixteen zero bytes of EIP-2537
		for ; len(raw) >= 64; raw = raw[64:] {
			out = append(out, raw[16:64]...)
		}
		return append(out, raw...) // and a scalar
	}
	terms := func(size int) func([]byte) []byte {
		return func(raw []byte) (out []byte) {
			for ; len(raw) > 0; raw = raw[size:] {
				out = append(out, narrow(raw[:size])...)
			}
			return out
		}
	}
	same := func(raw []byte) []byte { return raw }
	truth := func(raw []byte) []byte {
		if len(raw) == 0 {
			return []byte{0}
		}
		return raw[31:]
	}
	failure := func(n int) []byte { return bytes.Repeat([]byte{0xa5}, n) } // what was there before
	kinds := map[string]struct {
		function byte
		in, out  func([]byte) []byte
		failed   []byte
	}{
		"p256": {secp256r1Verify, same, truth, []byte{0}},
		"modexp": {modExp, func(raw []byte) []byte {
			return slices.Concat(raw[31:32], raw[63:64], raw[95:96], raw[96:])
		}, same, nil},
		"bn254_add": {bn254G1Add, same, same, nil},
		"bn254_mul": {bn254G1Mul, same, same, nil},
		"blake2f":   {blake2f, same, same, nil},
		"kzg":       {kzgPointEval, func(raw []byte) []byte { return slices.Concat(raw[96:144], raw[32:96], raw[144:]) }, func([]byte) []byte { return []byte{1} }, nil},
		"g1_add":    {bls12G1Add, narrow, narrow, failure(96)},
		"g1_msm":    {bls12G1MSM, terms(160), narrow, failure(96)},
		"g2_add":    {bls12G2Add, narrow, narrow, failure(192)},
		"g2_msm":    {bls12G2MSM, terms(288), narrow, failure(192)},
		"pairing":   {bls12Pairing, narrow, truth, []byte{0}},
		"map_fp":    {bls12MapToG1, narrow, narrow, failure(96)},
		"map_fp2":   {bls12MapToG2, narrow, narrow, failure(192)},
	}
	seen := make(map[string]bool)
	for line := range strings.Lines(golden.Read(t, "precompiles/evm.txt")) {
		f := strings.Fields(line)
		kind, ok := kinds[f[0]]
		failed := len(f) == 4 && f[2] == "fail"
		if key := fmt.Sprint(f[0], failed); !ok || seen[key] {
			continue
		} else {
			seen[key] = true
		}
		raw := must.Get(hex.DecodeString(f[3]))(t)
		a := asked{function: kind.function, in: kind.in(raw), failed: failed, out: kind.failed}
		switch {
		case failed && f[0] == "blake2f":
			a.out = raw[4:68]
		case !failed:
			a.out = kind.out(must.Get(hex.DecodeString(strings.TrimLeft(f[2], "-")))(t))
		}
		all = append(all, a)
	}
	for line := range strings.Lines(golden.Read(t, "pairing/eip197.txt")) {
		if f := strings.Fields(line); f[0] == "jeff1" || f[0] == "jeff6" {
			all = append(all, asked{function: bn254Pairing, in: must.Get(hex.DecodeString(f[2]))(t), out: []byte{f[1][0] - '0'}})
		}
	}
	return all
}

// TestAccelerators: every function of the standard gives what its known answers say, and fails where they do.
func TestAccelerators(t *testing.T) {
	decode := func(text string) []byte { return must.Get(hex.DecodeString(text))(t) }
	all := append(fromEVM(t),
		asked{function: keccak256, in: []byte("abc"), out: decode("4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45")},
		asked{function: keccak256, out: decode("c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")},
		asked{function: sha256, in: []byte("abc"), out: decode("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")},
		asked{function: ripemd160, in: []byte("abc"), out: decode("0000000000000000000000008eb208f7e05d987a9b044a8e98c6b087f15a0bfc")},
		asked{function: bn254G1Add, in: slices.Concat(bytes.Repeat([]byte{0}, 127), []byte{1}), failed: true, out: bytes.Repeat([]byte{0xa5}, 64)},
		asked{function: bn254G1Mul, in: bytes.Repeat([]byte{0xff}, 96), failed: true, out: bytes.Repeat([]byte{0xa5}, 64)},
		asked{function: bn254Pairing, in: bytes.Repeat([]byte{0xff}, 192), failed: true, out: []byte{0}},
		asked{function: kzgPointEval, in: bytes.Repeat([]byte{0xff}, 160), failed: true, out: []byte{0}},
	)
	// Of this signature Ethereum's test says the signer's address.
	signed := decode("18c547e4f7b0f325ad1e56f57e26c745b09a3e503d86e00e5255ff7f715d3d1c73b1693892219d736caba55bdb67216e485557ea6b6af75f37096c9aa6a5a75feeb940b1d03b21e36b0e47e79769f095fe2ab855bd91e3a38756b7d75a9c4549")
	recover := asked{function: secp256k1Recover, in: append(slices.Clone(signed), 1)}
	const address = "a94f5374fce5edbc8e2a8697c15331677e6ebf0b"

	each(t, "testdata/accelerators.c", func(t *testing.T, p *riscv.Program) {
		key := run(t, p, riscv.Options{Input: recover.record()}).Output[1:]
		h := sha3.NewLegacyKeccak256()
		h.Write(key)
		golden.Equal(t, "address of the signer", address, hex.EncodeToString(h.Sum(nil)[12:]))

		flipped := slices.Clone(signed)
		flipped[0] ^= 1
		records := append(slices.Clone(all),
			asked{function: secp256k1Recover, in: recover.in, out: key},
			asked{function: secp256k1Recover, in: append(slices.Clone(signed), 4), failed: true, out: bytes.Repeat([]byte{0xa5}, 64)},
			asked{function: secp256k1Verify, in: slices.Concat(signed, key), out: []byte{1}},
			asked{function: secp256k1Verify, in: slices.Concat(flipped, key), out: []byte{0}},
			asked{function: secp256k1Verify, in: slices.Concat(signed, key[:63], []byte{key[63] ^ 1}), failed: true, out: []byte{0}},
			asked{function: secp256r1Verify, in: bytes.Repeat([]byte{0xff}, 160), failed: true, out: []byte{0}},
		)
		var input []byte
		for _, a := range records {
			input = append(input, a.record()...)
		}
		r := run(t, p, riscv.Options{Input: input})
		called := make(map[byte]bool)
		out := r.Output
		for _, a := range records {
			called[a.function] = true
			want := a.answer()
			got := out[:min(len(want), len(out))]
			out = out[len(got):]
			golden.Equal(t, fmt.Sprintf("answer of %d to %x", a.function, a.in), hex.EncodeToString(want), hex.EncodeToString(got))
		}
		golden.Equal(t, "bytes after the answers", 0, len(out))
		golden.Equal(t, "functions", functions, len(called))
		golden.Equal(t, "precompiles", functions, len(r.Precompiles))
		golden.Equal(t, "the machine's set", functions, len(precompile.Standard()))
	})
}
