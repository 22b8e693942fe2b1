package precompile_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
	"github.com/zkbench/zkbench/riscv/precompile"
)

// rig is a bare guest that makes one call, whose data are around it: the number, six arguments, and what they
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

// at adds bytes that are aligned as the interface has it, and returns their address.
func (r *rig) at(data []byte) uint64 {
	r.data = append(r.data, make([]byte, -len(r.data)&7)...)
	r.data = append(r.data, data...)
	return rigData + rigHead + uint64(len(r.data)-len(data))
}

// point is an argument that is an address, of data.
func (r *rig) point(data ...[]byte) *rig {
	for _, d := range data {
		r.args = append(r.args, r.at(d))
	}
	return r
}

func (r *rig) value(v uint64) *rig {
	r.args = append(r.args, v)
	return r
}

// elf is the guest's file.
func (r *rig) elf() []byte {
	const a0, t0, a7 = 10, 5, 17
	load := func(rd, word uint32) uint32 { return word*8<<20 | t0<<15 | 3<<12 | rd<<7 | 0x03 }
	const (
		ecall  = 0x73
		toData = rigData | t0<<7 | 0x37
	)
	code := []uint32{toData, load(a7, 0)}
	for i := range uint32(6) {
		code = append(code, load(a0+i, 1+i))
	}
	code = append(code, ecall,
		a0<<20|t0<<15|3<<12|0x23,                             // its status to the first word
		t0<<15|a0<<7|0x13, load(a0+1, 7), load(a7, 8), ecall, // Commit
		a0<<7|0x13, 93<<20|a7<<7|0x13, ecall) // exit with 0

	raw := []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	half := binary.LittleEndian.AppendUint16
	word := binary.LittleEndian.AppendUint64
	header := func(flags uint32, at, offset, size uint64) {
		raw = binary.LittleEndian.AppendUint32(raw, 1)
		raw = binary.LittleEndian.AppendUint32(raw, flags)
		for _, v := range []uint64{offset, at, at, size, size, 4096} {
			raw = word(raw, v)
		}
	}
	raw = binary.LittleEndian.AppendUint32(half(half(raw, 2), 243), 1)
	raw = word(word(word(raw, rigCode), 64), 0)
	raw = binary.LittleEndian.AppendUint32(raw, 0)
	for _, v := range []uint16{64, 56, 2, 0, 0, 0} {
		raw = half(raw, v)
	}
	const start = 64 + 2*56
	header(5, rigCode, start, uint64(4*len(code)))
	size := uint64(rigHead + len(r.data))
	header(6, rigData, start+uint64(4*len(code)), size)
	for _, w := range code {
		raw = binary.LittleEndian.AppendUint32(raw, w)
	}
	args := make([]uint64, 6)
	copy(args, r.args)
	raw = word(raw, r.number)
	for _, v := range append(args, size, call.Commit) {
		raw = word(raw, v)
	}
	return append(raw, r.data...)
}

// run makes the call, and returns its status and the data then. The error is the guest's.
func (r *rig) run(t testing.TB) (status int64, after []byte, err error) {
	t.Helper()
	p := must.Get(riscv.Load(r.elf(), &riscv.RV64IM))(t)
	result, err := riscv.Run(t.Context(), p, riscv.Options{Precompiles: precompile.Standard()})
	if err != nil {
		return 0, nil, err
	}
	golden.Equal(t, "calls", uint64(1), result.Precompiles[0].Calls)
	return int64(binary.LittleEndian.Uint64(result.Output)), result.Output[rigHead:], nil
}

// result is what the call left at its n-th argument, a number of bytes; nil: it failed.
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

// answer is what a call that verifies left at its n-th argument, and whether it failed.
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

// refused tells that the call ends the guest.
func (r *rig) refused(t testing.TB, kind riscv.FaultKind, says string) {
	t.Helper()
	_, _, err := r.run(t)
	fault, ok := errors.AsType[*riscv.Fault](err)
	if !ok || fault.Kind != kind {
		t.Fatalf("%v, want a %v", err, kind)
	}
	golden.Contains(t, err.Error(), says)
}
