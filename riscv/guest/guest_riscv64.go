package guest

import (
	"runtime"
	"unsafe"

	"github.com/zkbench/zkbench/riscv/call"
)

// ecall makes the call with this number and these values of registers a0 and a1, and returns their
// values after it.
//
//go:noescape
func ecall(number uintptr, a0 unsafe.Pointer, a1 int) (r0 unsafe.Pointer, r1 int)

// refused reports whether Linux has answered, with an error.
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

// Begin begins a section, and locks the goroutine to its thread until the matching End.
// Instructions that the goroutine retires in between are counted under the given name, and under
// the names of the enclosing sections. Instructions of goroutines that this goroutine starts are
// not counted there.
//
//go:nosplit
func Begin(name string) {
	runtime.LockOSThread()
	ecall(call.Begin, unsafe.Pointer(unsafe.StringData(name)), len(name))
}

// End ends the section that this goroutine began last.
//
//go:nosplit
func End() {
	ecall(call.End, nil, 0)
	runtime.UnlockOSThread()
}
