package riscv

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// Registers by their names in the calling convention.
const (
	ra, sp, tp     = 1, 2, 4
	a0, a1, a2, a3 = 10, 11, 12, 13
	a4, a5, a6, a7 = 14, 15, 16, 17
)

// Errors as calls return them (Linux, include/uapi/asm-generic/errno-base.h and errno.h).
const (
	notAllowed  = -1   // EPERM
	noEntry     = -2   // ENOENT
	noProcess   = -3   // ESRCH
	badFile     = -9   // EBADF
	tryAgain    = -11  // EAGAIN
	noMemory    = -12  // ENOMEM
	noAccess    = -13  // EACCES
	badAddr     = -14  // EFAULT
	exists      = -17  // EEXIST
	noDevice    = -19  // ENODEV
	noDirectory = -20  // ENOTDIR
	badValue    = -22  // EINVAL
	noMoreFiles = -24  // EMFILE
	noTerminal  = -25  // ENOTTY
	noSeek      = -29  // ESPIPE
	readOnly    = -30  // EROFS
	badRange    = -34  // ERANGE
	nameTooLong = -36  // ENAMETOOLONG
	noCall      = -38  // ENOSYS
	timedOut    = -110 // ETIMEDOUT
)

// processID is the guest's process ID, and that of its user and group.
const processID = 1000

// Layout of the guest's memory, below the 2^38 bytes that the smallest machines give a program.
const (
	stackTop  = 0x3f_ffff_f000
	stackSize = 8 << 20
	mmapTop   = 0x3f_0000_0000 // mappings are placed below it
)

// start sets up the first thread as Linux does (System V ABI, "Process Initialization"): its stack holds the
// arguments, the environment and the auxiliary vector.
func (m *machine) start() error {
	t := &thread{hart: hart{pc: m.program.Entry}, section: m.sections[0]}
	m.threads.add(t)
	if m.program.ISA != rv64gc {
		return nil // a bare program sets up its own stack
	}
	m.mem.setRights(stackTop-stackSize, stackTop, readable|writable)
	m.mmapNext = mmapTop
	m.heap = m.program.end()
	m.heapEnd = m.heap
	var text bytes.Buffer // strings at the top of the stack
	place := func(s string) int {
		text.WriteString(s)
		text.WriteByte(0)
		return text.Len() - len(s) - 1
	}
	var args, env []int
	for _, s := range slices.Concat([]string{"guest"}, m.Args) {
		args = append(args, place(s))
	}
	for _, s := range slices.Concat([]string{"GODEBUG=asyncpreemptoff=1"}, m.Env) {
		env = append(env, place(s))
	}
	seed := sha256.Sum256([]byte("zkbench/v1/riscv"))
	random := place(string(seed[:16]))
	if size := text.Len() + 8*(len(args)+len(env)); size > stackSize/4 { // with one word for each string
		return &Fault{Kind: BadCall, PC: t.pc, Detail: fmt.Sprintf("arguments and environment of %d bytes, with a pointer to each; accepted: %d", size, stackSize/4)}
	}
	base := uint64(stackTop-text.Len()) &^ 15
	words := []uint64{uint64(len(args))}
	for _, list := range [][]int{args, env} {
		for _, at := range list {
			words = append(words, base+uint64(at))
		}
		words = append(words, 0)
	}
	const ( // of the auxiliary vector
		atPhdr, atPhent, atPhnum, atPagesz, atEntry, atUID, atEUID, atGID, atEGID = 3, 4, 5, 6, 9, 11, 12, 13, 14
		atHwcap, atSecure, atRandom                                               = 16, 23, 25
	)
	words = append(words, atPhdr, m.program.headers, atPhent, 56, atPhnum, uint64(m.program.count), atPagesz, pageSize, atEntry, m.program.Entry,
		atUID, processID, atEUID, processID, atGID, processID, atEGID, processID, atHwcap, hwcap, atSecure, 0, atRandom, base+uint64(random), 0, 0)
	top := (base - uint64(8*len(words))) &^ 15
	raw := make([]byte, 0, 8*len(words))
	for _, w := range words {
		raw = binary.LittleEndian.AppendUint64(raw, w)
	}
	t.x[sp] = top
	for at, part := range map[uint64][]byte{top: raw, base: text.Bytes()} {
		if kind := m.mem.write(at, part); kind != 0 {
			return &Fault{Kind: kind, PC: t.pc, Detail: "the first stack"}
		}
	}
	return nil
}

// hwcap is the bit set of the extensions A, C, D, F, I and M, by their positions in the alphabet.
const hwcap = 1<<0 | 1<<2 | 1<<3 | 1<<5 | 1<<8 | 1<<12

// linux executes a Linux system call. It returns false if the call has ended the guest with a fault.
func (m *machine) linux(t *thread) bool {
	number := t.x[a7]
	var code int64
	switch c := findCall(number); {
	case c != nil:
		code = c.does(m, t)
	case m.program.ISA == rv64gc:
		code = m.lacks(number)
	default: // a bare program, which knows no errors of Linux
		return m.refuse(UnknownCall, callName(number))
	}
	if m.fault != nil {
		return false
	}
	t.x[a0] = result(code) // for a waiting thread, what wakes it sets a0
	return true
}

// findCall returns the system call with this number, or nil if there is none.
func findCall(number uint64) *linuxCall {
	if number >= mostCalls || linuxCalls[number].does == nil {
		return nil
	}
	return &linuxCalls[number]
}

// result converts the result of a call, an error if it is below 0, to the value of a register.
func result(v int64) uint64 { return uint64(v) }

// MissingCall is a Linux system call that a guest made and that this package does not implement. The guest
// got ENOSYS, as from a kernel without the call.
type MissingCall struct {
	Number uint64
	Name   string // with its number, for example statfs (43)
	Times  uint64 // how often the guest made it
}

const mostMissing = 64 // different calls that are recorded

// lacks records a call that is not implemented, and returns the error for it.
func (m *machine) lacks(number uint64) int64 {
	i, found := slices.BinarySearchFunc(m.missing, number, func(c MissingCall, n uint64) int { return cmp.Compare(c.Number, n) })
	switch {
	case found:
		m.missing[i].Times++
	case len(m.missing) < mostMissing:
		m.missing = slices.Insert(m.missing, i, MissingCall{number, callName(number), 1})
	}
	return noCall
}

// words writes 64-bit words to an address, and returns the call's code.
func (m *machine) words(addr uint64, words ...uint64) int64 {
	for i, w := range words {
		if m.mem.store(addr+uint64(8*i), w, 8) != 0 {
			return badAddr
		}
	}
	return 0
}
