package zkvm_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/zkvm"
)

// proved returns a program's key and a proof of its run.
func proved(t testing.TB, elf, input []byte, about zkvm.About, o zkvm.Options) (zkvm.Key, []byte) {
	t.Helper()
	p := must.Get(zkvm.Load(elf))(t)
	proof, _, err := p.Prove(t.Context(), executor.Serial(), input, about, o)
	must.Do(t, err)
	return must.Get(p.Key(t.Context(), executor.Serial(), o.Hash))(t), proof
}

// echoed is what echo's proof is about, and its input.
var (
	echoed = zkvm.About{Context: []byte("context")}
	input  = []byte("input")
)

// ofEcho returns the key of echo, and a proof that is made once.
var ofEcho = sync.OnceValues(func() (zkvm.Key, []byte) {
	p, err := zkvm.Load(echo())
	if err != nil {
		panic(err)
	}
	key, err := p.Key(context.Background(), executor.Serial(), "")
	if err != nil {
		panic(err)
	}
	proof, _, err := p.Prove(context.Background(), executor.Serial(), input, echoed, zkvm.Options{})
	if err != nil {
		panic(err)
	}
	return key, proof
})

// exits returns a program that ends with an exit code.
func exits(code int32) []byte {
	return rv.ELF(64, 0x10000, rv.Segment{At: 0x10000, Flags: 5, Data: rv.Text(rv.Addi(10, 0, code), rv.Addi(17, 0, 93), 0x73)})
}

func TestVerify(t *testing.T) {
	key, proof := ofEcho()
	run := must.Get(zkvm.Verify(key, proof, echoed))(t)
	golden.Equal(t, "run", &zkvm.Run{Output: input, Input: zkvm.DigestOf(input), Cycles: 6}, run)

	other, ofOther := proved(t, exits(0), nil, echoed, zkvm.Options{})
	reject := func(name string, key zkvm.Key, proof []byte, about zkvm.About) {
		t.Helper()
		if _, err := zkvm.Verify(key, proof, about); !errors.Is(err, zkbench.ErrProof) {
			t.Errorf("%s: %v", name, err)
		}
	}
	reject("key of another program", other, proof, echoed)
	reject("proof of another program", key, ofOther, echoed)
	reject("other context", key, proof, zkvm.About{})
	reject("other exit code", key, proof, zkvm.About{Exit: 1, Context: echoed.Context})
	// The program of one proof, and all else of another one: the key is right, and the proof is not.
	const imageEnd = 4 + 516
	reject("program of another proof", other, slices.Concat(ofOther[:imageEnd], proof[imageEnd:]), echoed)
}

// TestTampered: every byte of what a proof says is bound, and bytes of the proof that follows too.
func TestTampered(t *testing.T) {
	key, proof := ofEcho()
	says := 4 + 516 + 8 + 32 + 8 + 8 + 4 + len(input)
	for at := 0; at < len(proof); at++ {
		if at >= says+20 {
			at += len(proof) / testsize.Pick(10, 50, 50)
		}
		if at >= len(proof) {
			break
		}
		changed := bytes.Clone(proof)
		changed[at] ^= 1
		if _, err := zkvm.Verify(key, changed, echoed); !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
	for _, n := range []int{0, 1, 3, 100, says - 1, says, len(proof) - 1} {
		if _, err := zkvm.Verify(key, proof[:n], echoed); !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := zkvm.Verify(key, append(bytes.Clone(proof), 0), echoed); !errors.Is(err, zkbench.ErrMalformed) {
		t.Errorf("one byte more: %v", err)
	}
}

func TestExit(t *testing.T) {
	p := must.Get(zkvm.Load(exits(3)))(t)
	_, _, err := p.Prove(t.Context(), executor.Serial(), nil, zkvm.About{}, zkvm.Options{})
	if exit, ok := errors.AsType[*riscv.ExitError](err); !ok || exit.Code != 3 {
		t.Errorf("%v, want exit code 3", err)
	}
	// Of 259, package riscv reports the lowest byte, which is not the code that a proof has.
	_, _, err = must.Get(zkvm.Load(exits(259)))(t).Prove(t.Context(), executor.Serial(), nil, zkvm.About{Exit: 3}, zkvm.Options{})
	if exit, ok := errors.AsType[*riscv.ExitError](err); !ok || exit.Code != 259 {
		t.Errorf("%v, want exit code 259", err)
	}
	about := zkvm.About{Exit: 3}
	key, proof := proved(t, exits(3), nil, about, zkvm.Options{})
	golden.Equal(t, "exit", uint64(3), must.Get(zkvm.Verify(key, proof, about))(t).Exit)
	if _, err := zkvm.Verify(key, proof, zkvm.About{}); !errors.Is(err, zkbench.ErrProof) {
		t.Error(err)
	}
}

// TestRefused: what has no proof is refused before it is proved, with the reason.
func TestRefused(t *testing.T) {
	text := func(words ...uint32) []byte {
		return rv.ELF(64, 0x10000, rv.Segment{At: 0x10000, Flags: 5, Data: rv.Text(words...)})
	}
	for _, test := range []struct {
		name, says string
		elf        []byte
	}{
		{"ebreak", "0x10000", text(0x00100073)},
		{"control register", "0x10000", text(0xc0002573)}, // rdcycle a0
		{"endless", "cycles", text(rv.Jal(0, 0))},
		{"end of code", "illegal instruction", text(rv.Addi(0, 0, 0))},
		{"wild jump", "no code", text(rv.I(0x67, 0, 0, 0, 0x100))},
		{"more output than memory", "bytes of output after 0", text(rv.Lui(10, 0x10000), rv.Lui(17, call.Commit), rv.Addi(17, 17, call.Commit&0xfff), rv.Addi(11, 0, -1), 0x73)},
		{"precompile", "call", text(rv.Lui(17, 0x7a6b0000), rv.Addi(17, 17, 0x100), 0x73)},
	} {
		if test.name == "endless" && testing.Short() { // takes as long as all others
			continue
		}
		p := must.Get(zkvm.Load(test.elf))(t)
		_, _, err := p.Prove(t.Context(), executor.Serial(), nil, zkvm.About{}, zkvm.Options{})
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.name, err, test.says)
		}
	}
	if _, err := zkvm.Load(rv.ELF(32, 0x10000, rv.Segment{At: 0x10000, Flags: 5, Data: rv.Text(0x73)})); err == nil {
		t.Error("32 bits: no error")
	}
	p := must.Get(zkvm.Load(echo()))(t)
	if _, err := p.Key(t.Context(), executor.Serial(), "sha3"); !errors.Is(err, zkbench.ErrParams) {
		t.Errorf("hash: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Prove(ctx, executor.Serial(), nil, zkvm.About{}, zkvm.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestPoseidon(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	key, proof := proved(t, echo(), input, zkvm.About{}, zkvm.Options{Hash: stark.Poseidon})
	golden.Equal(t, "output", input, must.Get(zkvm.Verify(key, proof, zkvm.About{}))(t).Output)
}

func FuzzVerify(f *testing.F) {
	key, proof := ofEcho()
	f.Add(proof)
	f.Add(proof[:600])
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := zkvm.Verify(key, data, echoed); err == nil && !bytes.Equal(data, proof) {
			t.Error("another proof is accepted")
		}
	})
}
