package guest

import (
	"runtime"
	"unsafe"

	"github.com/zkbench/zkbench/riscv/call"
)

// ecall is the call of a number with registers a0 and a1, and what they are then.
//
//go:noescape
func ecall(number uintptr, a0 unsafe.Pointer, a1 int) (r0 unsafe.Pointer, r1 int)

// refused tells whether Linux has answered, with an error.
func refused(r0 unsafe.Pointer) bool { return int(uintptr(r0)) < 0 }

func machineInput() ([]byte, bool) {
	at, n := ecall(call.Input, nil, 0)
	if refused(at) {
		return nil, false
	}
	return unsafe.Slice((*byte)(at), n), true
}

func machineCommit(p []byte) bool {
	r, _ := ecall(call.Commit, unsafe.Pointer(unsafe.SliceData(p)), len(p))
	return !refused(r)
}

// Begin begins a section: what this goroutine executes until the matching End is counted under the name,
// and under those of the sections that it was begun in. Until then it keeps its thread to itself.
//
//go:nosplit
func Begin(name string) {
	runtime.LockOSThread()
	ecall(call.Begin, unsafe.Pointer(unsafe.StringData(name)), len(name))
}

// End ends the section that was begun last.
//
//go:nosplit
func End() {
	ecall(call.End, nil, 0)
	runtime.UnlockOSThread()
}
