package precompile_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
	"github.com/zkbench/zkbench/riscv/precompile"
)

// rig is a bare guest that makes one call. It holds the number, up to six arguments, and the data that they
// point at.
type rig struct {
	number uint64
	args   []uint64
	data   []byte
}

// Where the rig has its code and its data, which begin with nine words: the number and the arguments, after the
// call its status, then how many bytes of data are committed and the number of Commit.
const (
	rigCode, rigData = 0x10000, 0x20000
	rigHead          = 9 * 8
)

// place adds data, aligned as the interface requires, and returns its address.
func (r *rig) place(data []byte) uint64 {
	r.data = append(r.data, make([]byte, -len(r.data)&7)...)
	r.data = append(r.data, data...)
	return rigData + rigHead + uint64(len(r.data)-len(data))
}

// point adds one argument for each of data: the address where it is placed.
func (r *rig) point(data ...[]byte) *rig {
	for _, d := range data {
		r.args = append(r.args, r.place(d))
	}
	return r
}

func (r *rig) value(v uint64) *rig {
	r.args = append(r.args, v)
	return r
}

// elf returns the guest's ELF file.
func (r *rig) elf() []byte {
	const a0, t0, a7 = 10, 5, 17
	load := func(rd uint32, word int32) uint32 { return rv.I(rv.OpLoad, 3, rd, t0, 8*word) }
	code := []uint32{rv.Lui(t0, rigData), load(a7, 0)}
	for i := range int32(6) {
		code = append(code, load(a0+uint32(i), 1+i))
	}
	code = append(code, rv.Ecall,
		rv.S(rv.OpStore, 3, t0, a0, 0),                           // its status to the first word
		rv.Addi(a0, t0, 0), load(a0+1, 7), load(a7, 8), rv.Ecall, // Commit
		rv.Addi(a0, 0, 0), rv.Addi(a7, 0, 93), rv.Ecall) // exit with 0
	words := append([]uint64{r.number}, make([]uint64, 6)...)
	copy(words[1:], r.args)
	var data []byte
	for _, v := range append(words, uint64(rigHead+len(r.data)), call.Commit) {
		data = binary.LittleEndian.AppendUint64(data, v)
	}
	return rv.ELF(64, rigCode, rv.Segment{At: rigCode, Flags: 5, Data: rv.Text(code...)}, rv.Segment{At: rigData, Flags: 6, Data: append(data, r.data...)})
}

// run makes the call. It returns the call's status and the data after it, or the guest's error.
func (r *rig) run(t testing.TB) (status int64, after []byte, err error) {
	t.Helper()
	result, err := r.execute(t)
	if err != nil {
		return 0, nil, err
	}
	golden.Equal(t, "calls", uint64(1), result.Precompiles[0].Calls)
	return int64(binary.LittleEndian.Uint64(result.Output)), result.Output[rigHead:], nil
}

func (r *rig) execute(t testing.TB) (*riscv.Result, error) {
	t.Helper()
	p := must.Get(riscv.Load(r.elf(), riscv.RV64IM()))(t)
	return riscv.Run(t.Context(), p, riscv.Options{Precompiles: precompile.Standard()})
}

// result returns the size bytes that the call left at its n-th argument, or nil if the call failed.
func (r *rig) result(t testing.TB, n, size int) []byte {
	t.Helper()
	status, after, err := r.run(t)
	must.Do(t, err)
	at := r.args[n] - rigData - rigHead
	if status != 0 {
		golden.Equal(t, "status", -1, status)
		return nil
	}
	return after[at:][:size]
}

// answer returns the answer that a verifying call left at its n-th argument, and reports whether the call
// failed.
func (r *rig) answer(t testing.TB, n int) (verified, failed bool) {
	t.Helper()
	status, after, err := r.run(t)
	must.Do(t, err)
	v := after[r.args[n]-rigData-rigHead]
	if v > 1 || v == 1 && status != 0 || status != 0 && status != -1 {
		t.Errorf("status %d, verified %d", status, v)
	}
	return v == 1, status != 0
}

// refused checks that the call ends the guest with a fault of this kind, whose text contains says.
func (r *rig) refused(t testing.TB, kind riscv.FaultKind, says string) {
	t.Helper()
	_, _, err := r.run(t)
	fault, ok := errors.AsType[*riscv.Fault](err)
	if !ok || fault.Kind != kind {
		t.Fatalf("%v, want a %v", err, kind)
	}
	golden.Contains(t, err.Error(), says)
}
