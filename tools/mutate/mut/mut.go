// Package mut is what mutated packages import: every mutant stands in the code behind its
// number, and the environment variable MUTANT says which one a process runs. MUTANT_REACH
// names a file to which the numbers are appended that a process comes by.
package mut

import (
	"crypto/sha3"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"unsafe"
)

var (
	active  = number(os.Getenv("MUTANT"))
	reached = create(os.Getenv("MUTANT_REACH"))
	seen    [1 << 15]atomic.Bool
)

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

func create(name string) *os.File {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	return f
}

// On reports whether this process runs mutant id.
func On(id int) bool {
	if reached != nil && !seen[id].Swap(true) {
		fmt.Fprintln(reached, id)
	}
	return id == active
}

// Arg is v, and in the mutant its type's zero.
func Arg[T any](id int, v T) T {
	if On(id) {
		var zero T
		return zero
	}
	return v
}

// Empty is p, and in the mutant a new zero.
func Empty[T any](id int, p *T) *T {
	if On(id) {
		return new(T)
	}
	return p
}

// Stream is x, and in the mutant a stream that everybody knows.
func Stream(id int, x *sha3.SHAKE) *sha3.SHAKE {
	if On(id) {
		return sha3.NewSHAKE256()
	}
	return x
}

// Short is b, and in the mutant its first 8 bytes: what is read into it is narrower.
func Short(id int, b []byte) []byte {
	if On(id) {
		return b[:8]
	}
	return b
}

// Narrow is b, and in the mutant 8 bytes of it before zeros.
func Narrow(id int, b []byte) []byte {
	if On(id) {
		return append(append([]byte(nil), b[:8]...), make([]byte, len(b)-8)...)
	}
	return b
}

// Either is plain, and in the mutant other.
func Either(id int, other, plain bool) bool {
	if On(id) {
		return other
	}
	return plain
}

// Zero sets *p to zero.
func Zero[T any](p *T) {
	var zero T
	*p = zero
}

// Fix sets *p, a field element or an array of bytes, to a constant that is not zero.
func Fix[T any](p *T) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
	clear(b)
	b[0] = 1
}

// FixAll is Fix for every element.
func FixAll[T any](s []T) {
	for i := range s {
		Fix(&s[i])
	}
}

// Fixed is v, and in the mutant a constant that is not zero.
func Fixed[T any](id int, v T) T {
	if On(id) {
		Fix(&v)
	}
	return v
}
