// Package mut is imported by mutated packages. Each mutant in their code is guarded by its number,
// and the environment variable MUTANT selects the mutant that a process runs. If MUTANT_REACH names
// a file, the process appends the numbers of the mutants that it reaches.
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

// Arg returns v. If mutant id is active, it returns the zero value of T instead.
func Arg[T any](id int, v T) T {
	if On(id) {
		var zero T
		return zero
	}
	return v
}

// Empty returns p. If mutant id is active, it returns a pointer to a new zero value instead.
func Empty[T any](id int, p *T) *T {
	if On(id) {
		return new(T)
	}
	return p
}

// Stream returns x. If mutant id is active, it returns a stream whose bytes are known to everybody
// instead.
func Stream(id int, x *sha3.SHAKE) *sha3.SHAKE {
	if On(id) {
		return sha3.NewSHAKE256()
	}
	return x
}

// Short returns b. If mutant id is active, it returns only the first 8 bytes, so that a read into
// the slice is shorter.
func Short(id int, b []byte) []byte {
	if On(id) {
		return b[:8]
	}
	return b
}

// Narrow returns b. If mutant id is active, it returns a copy in which all bytes after the first 8
// are zero.
func Narrow(id int, b []byte) []byte {
	if On(id) {
		return append(append([]byte(nil), b[:8]...), make([]byte, len(b)-8)...)
	}
	return b
}

// Either returns plain. If mutant id is active, it returns other instead.
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

// Fix sets *p to a constant other than zero. T must be a field element or an array of bytes.
func Fix[T any](p *T) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
	clear(b)
	b[0] = 1
}

// FixAll calls Fix on every element.
func FixAll[T any](s []T) {
	for i := range s {
		Fix(&s[i])
	}
}

// Fixed returns v. If mutant id is active, it returns a constant other than zero instead.
func Fixed[T any](id int, v T) T {
	if On(id) {
		Fix(&v)
	}
	return v
}
