package precompile_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv/call"
)

// marker fills the place of a result, so that a call that writes no result is noticed.
var marker = bytes.Repeat([]byte{0xa5}, 192)

// narrow removes the sixteen zero bytes that the EVM has before each number, so that 64 bytes become 48.
func narrow(raw []byte) (out []byte) {
	for ; len(raw) > 0; raw = raw[64:] {
		out = append(out, raw[16:64]...)
	}
	return out
}

// widen adds the sixteen zero bytes that narrow removes.
func widen(raw []byte) (out []byte) {
	for ; len(raw) > 0; raw = raw[48:] {
		out = append(append(out, make([]byte, 16)...), raw[:48]...)
	}
	return out
}

// narrowTerms applies narrow to what is before the scalar of each pair.
func narrowTerms(raw []byte, size int) (out []byte) {
	for ; len(raw) > 0; raw = raw[size:] {
		out = append(append(out, narrow(raw[:size-32])...), raw[size-32:size]...)
	}
	return out
}

// word returns an answer in the form that the EVM returns.
func word(verified bool) []byte {
	out := make([]byte, 32)
	if verified {
		out[31] = 1
	}
	return out
}

func pairs(number uint64, raw []byte, size int) *rig {
	r := &rig{number: number}
	return r.point(raw).value(uint64(len(raw) / size)).point(marker)
}

func power(base, exponent, modulus []byte) *rig {
	r := new(rig)
	r.number = call.ModExp
	var words []byte
	for _, number := range [][]byte{base, exponent, modulus} {
		words = binary.LittleEndian.AppendUint64(words, r.place(number))
		words = binary.LittleEndian.AppendUint64(words, uint64(len(number)))
	}
	result := r.place(bytes.Repeat([]byte{0xa5}, len(modulus)))
	r.point(binary.LittleEndian.AppendUint64(words, result))
	r.args = append(r.args, result)
	return r
}

// inEVM calls the functions as precompiles of the EVM. They return nil if the call fails.
var inEVM = map[string]func(t testing.TB, in []byte) []byte{
	"ecrecover": func(t testing.TB, in []byte) []byte {
		r := &rig{number: call.Secp256k1Recover}
		key := r.point(in[:32], in[64:128]).value(uint64(in[63]-27)).point(marker).result(t, 3, 64)
		if key == nil {
			return nil
		}
		h := sha3.NewLegacyKeccak256()
		h.Write(key)
		return append(make([]byte, 12), h.Sum(nil)[12:]...)
	},
	"p256": func(t testing.TB, in []byte) []byte {
		r := &rig{number: call.Secp256r1Verify}
		if verified, _ := r.point(in[:32], in[32:96], in[96:160], marker).answer(t, 3); !verified {
			return []byte{}
		}
		return word(true)
	},
	"modexp": func(t testing.TB, in []byte) []byte {
		n := func(i int) int { return int(binary.BigEndian.Uint32(in[32*i+28:])) }
		base, exponent, modulus := n(0), n(1), n(2)
		in = in[96:]
		return power(in[:base], in[base:][:exponent], in[base+exponent:][:modulus]).result(t, 1, modulus)
	},
	"bn254_add": func(t testing.TB, in []byte) []byte {
		r := &rig{number: call.BN254G1Add}
		return r.point(in[:64], in[64:], marker).result(t, 2, 64)
	},
	"bn254_mul": func(t testing.TB, in []byte) []byte {
		r := &rig{number: call.BN254G1Mul}
		return r.point(in[:64], in[64:], marker).result(t, 2, 64)
	},
	"blake2f": func(t testing.TB, in []byte) []byte {
		r := (&rig{number: call.Blake2F}).value(uint64(binary.BigEndian.Uint32(in)))
		return r.point(in[4:68], in[68:196], in[196:212]).value(uint64(in[212])).result(t, 1, 64)
	},
	"kzg": func(t testing.TB, in []byte) []byte {
		r := &rig{number: call.KZGPointEval}
		if verified, _ := r.point(in[96:144], in[32:64], in[64:96], in[144:192], marker).answer(t, 4); !verified {
			return nil
		}
		order := must.Get(hex.DecodeString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"))(t)
		return append(append(make([]byte, 30), 0x10, 0), order...)
	},
	"g1_add": func(t testing.TB, in []byte) []byte {
		r := &rig{number: call.BLS12G1Add}
		return widenResult(r.point(narrow(in[:128]), narrow(in[128:]), marker).result(t, 2, 96))
	},
	"g2_add": func(t testing.TB, in []byte) []byte {
		r := &rig{number: call.BLS12G2Add}
		return widenResult(r.point(narrow(in[:256]), narrow(in[256:]), marker).result(t, 2, 192))
	},
	"g1_msm": func(t testing.TB, in []byte) []byte {
		return widenResult(pairs(call.BLS12G1MSM, narrowTerms(in, 160), 128).result(t, 2, 96))
	},
	"g2_msm": func(t testing.TB, in []byte) []byte {
		return widenResult(pairs(call.BLS12G2MSM, narrowTerms(in, 288), 224).result(t, 2, 192))
	},
	"pairing": func(t testing.TB, in []byte) []byte {
		verified, failed := pairs(call.BLS12Pairing, narrow(in), 288).answer(t, 2)
		if failed {
			return nil
		}
		return word(verified)
	},
	"map_fp": func(t testing.TB, in []byte) []byte {
		r := &rig{number: call.BLS12MapFpToG1}
		return widenResult(r.point(narrow(in), marker).result(t, 1, 96))
	},
	"map_fp2": func(t testing.TB, in []byte) []byte {
		r := &rig{number: call.BLS12MapFp2ToG2}
		return widenResult(r.point(narrow(in), marker).result(t, 1, 192))
	},
}

func widenResult(raw []byte) []byte {
	if raw == nil {
		return nil
	}
	return widen(raw)
}

// TestEVM: the functions give what Ethereum's tests of its precompiles say.
func TestEVM(t *testing.T) {
	seen := 0
	for line := range strings.Lines(golden.Read(t, "precompiles/evm.txt")) {
		fields := strings.Fields(line)
		if fields[0] == "#" {
			continue
		}
		seen++
		t.Run(fields[0]+"/"+fields[1], func(t *testing.T) {
			input := must.Get(hex.DecodeString(fields[3]))(t)
			got := inEVM[fields[0]](t, input)
			if fields[2] == "fail" {
				if got != nil {
					t.Errorf("%x, want a failure", got)
				}
				return
			}
			golden.Equal(t, "result", strings.TrimLeft(fields[2], "-"), hex.EncodeToString(got))
			if got == nil {
				t.Error("a failure")
			}
		})
	}
	golden.Equal(t, "vectors", 170, seen)
}

// TestEIP197: so do pairings on BN254.
func TestEIP197(t *testing.T) {
	for line := range strings.Lines(golden.Read(t, "pairing/eip197.txt")) {
		fields := strings.Fields(line)
		if fields[0] == "#" {
			continue
		}
		t.Run(fields[0], func(t *testing.T) {
			input := must.Get(hex.DecodeString(strings.TrimLeft(fields[2], "-")))(t)
			verified, failed := pairs(call.BN254Pairing, input, 192).answer(t, 2)
			if failed || verified != (fields[1] == "1") {
				t.Errorf("%v, want %s; failed: %v", verified, fields[1], failed)
			}
		})
	}
}

// TestRIPEMD160: digests that its authors published (Dobbertin, Bosselaers, Preneel, 1996, appendix B).
func TestRIPEMD160(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "9c1185a5c5e9fc54612808977ee8f548b2258d31",
		"a":                          "0bdc9d2d256b3ee9daae347be6f4dc835a467ffe",
		"abc":                        "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc",
		"message digest":             "5d0689ef49d2fae572b881b123a85ffa21595f36",
		"abcdefghijklmnopqrstuvwxyz": "f71c27109c692c1b56bbdceb5b9d2865b3708dbc",
	} {
		r := &rig{number: call.RIPEMD160}
		sum := r.point([]byte(text)).value(uint64(len(text))).point(marker).result(t, 2, 32)
		golden.Equal(t, text, strings.Repeat("0", 24)+want, hex.EncodeToString(sum))
	}
}
