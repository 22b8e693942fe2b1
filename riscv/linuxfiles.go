package riscv

import (
	"encoding/binary"
	"strings"
)

// A guest has standard input, output and error, which are pipes. The only path is "/", an empty directory. A guest
// cannot see the host's files.

// files is the state of the standard descriptors.
type files struct {
	closed [3]bool
}

// isOpen reports whether a descriptor is standard input, output or error, and has not been closed.
func (m *machine) isOpen(fd uint64) bool {
	return fd < uint64(len(m.files.closed)) && !m.files.closed[fd]
}

// refuseOpen returns the error code of a call that fails on every open descriptor.
func (m *machine) refuseOpen(t *thread, code int64) int64 {
	if !m.isOpen(t.x[a0]) {
		return badFile
	}
	return code
}

func (m *machine) noPosition(t *thread) int64      { return m.refuseOpen(t, noSeek) }
func (m *machine) refusePipe(t *thread) int64      { return m.refuseOpen(t, badValue) }
func (m *machine) ioctl(t *thread) int64           { return m.refuseOpen(t, noTerminal) }
func (m *machine) dup(t *thread) int64             { return m.refuseOpen(t, noMoreFiles) }
func (m *machine) refuseDirectory(t *thread) int64 { return m.refuseOpen(t, noDirectory) }

func (m *machine) lseek(t *thread) int64 {
	const last = 4 // the last value of whence, SEEK_HOLE
	if uint32(t.x[a2]) > last {
		return m.refuseOpen(t, badValue)
	}
	return m.refuseOpen(t, noSeek)
}

func (m *machine) closeFile(t *thread) int64 {
	fd := t.x[a0]
	if !m.isOpen(fd) {
		return badFile
	}
	m.files.closed[fd] = true
	return 0
}

func (m *machine) read(t *thread) int64   { return m.readInput(t.x[a0], t.x[a1], t.x[a2]) }
func (m *machine) write(t *thread) int64  { return m.writeOutput(t.x[a0], t.x[a1], t.x[a2]) }
func (m *machine) readv(t *thread) int64  { return m.vector(t, m.readInput) }
func (m *machine) writev(t *thread) int64 { return m.vector(t, m.writeOutput) }

// readInput reads from standard input.
func (m *machine) readInput(fd, addr, n uint64) int64 {
	if m.isEvent(fd) {
		if n < eventSize {
			return badValue
		}
		return m.takeEvent(addr)
	}
	if fd != 0 || !m.isOpen(fd) {
		return badFile
	}
	part := m.Input[m.input:][:min(n, uint64(len(m.Input)-m.input))]
	if m.mem.write(addr, part) != 0 {
		return badAddr
	}
	m.input += len(part)
	return int64(len(part))
}

const (
	mostWritten = 1 << 20 // bytes of one call
	eventSize   = 8       // bytes of an eventfd's number
)

// writeOutput writes to standard output or error.
func (m *machine) writeOutput(fd, addr, n uint64) int64 {
	w := m.Stdout
	switch {
	case m.isEvent(fd) && n < eventSize:
		return badValue
	case m.isEvent(fd):
		return m.signalEvent(addr)
	case fd == 0 || !m.isOpen(fd):
		return badFile
	case fd == 2:
		w = m.Stderr
	}
	part := make([]byte, min(n, mostWritten))
	if m.mem.read(addr, part) != 0 {
		return badAddr
	}
	_, _ = w.Write(part) // the guest must not notice that its reader is gone
	return int64(len(part))
}

// vector reads or writes the parts in an array of struct iovec, until a part is shorter than asked for.
func (m *machine) vector(t *thread, does func(fd, addr, n uint64) int64) (sum int64) {
	const mostParts = 1024
	x := &t.x
	if x[a2] > mostParts {
		return badValue
	}
	for i := range x[a2] {
		addr, kind := m.mem.load(x[a1]+16*i, 8)
		n, kind2 := m.mem.load(x[a1]+16*i+8, 8)
		code := int64(badAddr)
		if kind == 0 && kind2 == 0 {
			code = does(x[a0], addr, min(n, uint64(mostWritten-min(sum, mostWritten))))
		}
		if code < 0 {
			if sum > 0 {
				return sum
			}
			return code
		}
		if sum += code; uint64(code) < n {
			break
		}
	}
	return sum
}

// fcntl answers as Linux does for pipes: descriptor 0 is the end to read from, the other two are ends to
// write to.
func (m *machine) fcntl(t *thread) int64 {
	const dupFD, getFD, setFD, getFlags, setFlags, dupCloseOnExec = 0, 1, 2, 3, 4, 1030
	fd := t.x[a0]
	if !m.isOpen(fd) {
		return badFile
	}
	switch t.x[a1] {
	case getFD, setFD, setFlags:
		return 0
	case getFlags:
		return int64(min(fd, 1)) // O_RDONLY, O_WRONLY
	case dupFD, dupCloseOnExec:
		return noMoreFiles
	}
	return badValue
}

// location says where a path leads.
type location int

const (
	atRoot location = iota
	inRoot          // a name in "/", which is empty
	inNone          // a name in a directory that does not exist
)

// Arguments of calls that take paths.
const (
	here       = 1<<64 - 100 // AT_FDCWD in a register
	emptyPath  = 0x1000      // AT_EMPTY_PATH
	createFile = 0o100       // O_CREAT
)

// isHere reports whether a call means the working directory. Only 32 bits of the register count.
func isHere(folder uint64) bool { return uint32(folder) == here&0xffffffff }

// path follows a path from a folder. The code is an error if it is below 0; for an empty path it is noEntry.
func (m *machine) path(folder, addr uint64) (location, int64) {
	const longest, longestPart = 4096, 255
	var name []byte
	for {
		b, kind := m.mem.load(addr+uint64(len(name)), 1)
		switch {
		case kind != 0:
			return 0, badAddr
		case len(name) == longest:
			return 0, nameTooLong
		}
		if b == 0 {
			break
		}
		name = append(name, byte(b))
	}
	if len(name) == 0 {
		return 0, noEntry
	}
	if name[0] != '/' && !isHere(folder) {
		if m.isOpen(folder) {
			return 0, noDirectory
		}
		return 0, badFile
	}
	at := atRoot
	for part := range strings.SplitSeq(string(name), "/") {
		switch {
		case at == inRoot && part != "" || at == inNone:
			return inNone, 0
		case len(part) > longestPart:
			return 0, nameTooLong
		case part != "" && part != "." && part != "..":
			at = inRoot
		}
	}
	return at, 0
}

// openat opens nothing and returns the error for a path.
func (m *machine) openat(t *thread) int64 {
	at, code := m.path(t.x[a0], t.x[a1])
	switch {
	case code != 0:
		return code
	case at == atRoot:
		return noAccess
	case at == inRoot && t.x[a2]&createFile != 0:
		return readOnly
	}
	return noEntry
}

// changes returns the error for a call that changes what is at a path.
func (m *machine) changes(folder, addr uint64) int64 {
	at, code := m.path(folder, addr)
	switch {
	case code != 0:
		return code
	case at == atRoot:
		return readOnly
	}
	return noEntry
}

// creates returns the error for a call that creates a file at a path.
func (m *machine) creates(folder, addr uint64) int64 {
	at, code := m.path(folder, addr)
	switch {
	case code != 0:
		return code
	case at == atRoot:
		return exists
	case at == inRoot:
		return readOnly
	}
	return noEntry
}

func (m *machine) change(t *thread) int64    { return m.changes(t.x[a0], t.x[a1]) }
func (m *machine) create(t *thread) int64    { return m.creates(t.x[a0], t.x[a1]) }
func (m *machine) symlinkat(t *thread) int64 { return m.creates(t.x[a1], t.x[a2]) }

func (m *machine) execve(t *thread) int64 {
	if code := m.changes(here, t.x[a0]); code != readOnly {
		return code
	}
	return noAccess
}

func (m *machine) readlinkat(t *thread) int64 {
	if code := m.changes(t.x[a0], t.x[a1]); code != readOnly {
		return code
	}
	return badValue // not a link
}

func (m *machine) faccessat(t *thread) int64 {
	const write, read = 2, 4
	switch code := m.changes(t.x[a0], t.x[a1]); {
	case code != readOnly:
		return code
	case t.x[a2]&write != 0:
		return readOnly
	case t.x[a2]&read != 0:
		return noAccess
	}
	return 0
}

func (m *machine) chdir(t *thread) int64 {
	if code := m.changes(here, t.x[a0]); code != readOnly {
		return code
	}
	return 0
}

func (m *machine) getcwd(t *thread) int64 {
	root := []byte("/\x00")
	switch {
	case t.x[a1] < uint64(len(root)):
		return badRange
	case m.mem.write(t.x[a0], root) != 0:
		return badAddr
	}
	return int64(len(root))
}

// attributes holds what stat reports about a file and differs between files.
type attributes struct {
	mode, links uint32
	inode       uint64
	owner       uint32
}

const blockSize = 4096

// fileTime is when a file was last changed, in seconds.
const fileTime = guestEpoch / 1_000_000_000

// descriptor returns the attributes of an open descriptor.
func (m *machine) descriptor(fd uint64) (attributes, int64) {
	const pipe, nameless = 0o010600, 0o600
	switch {
	case m.isEvent(fd) || m.isEpoll(fd):
		return attributes{nameless, 1, fd + 1, processID}, 0
	case !m.isOpen(fd):
		return attributes{}, badFile
	}
	return attributes{pipe, 1, fd + 1, processID}, 0
}

// look returns the attributes of the file that a call names by a folder, a path and flags.
func (m *machine) look(folder, addr, flags uint64) (attributes, int64) {
	const root = 0o040111
	at, code := m.path(folder, addr)
	b, kind := m.mem.load(addr, 1)
	switch {
	case kind == 0 && b == 0 && flags&emptyPath != 0 && !isHere(folder):
		return m.descriptor(folder)
	case kind == 0 && b == 0 && flags&emptyPath != 0:
		at = atRoot
	case code != 0:
		return attributes{}, code
	}
	if at != atRoot {
		return attributes{}, noEntry
	}
	return attributes{root, 2, 100, 0}, 0
}

func (m *machine) fstat(t *thread) int64 {
	a, code := m.descriptor(t.x[a0])
	return m.putStat(t.x[a1], a, code)
}

func (m *machine) newfstatat(t *thread) int64 {
	a, code := m.look(t.x[a0], t.x[a1], t.x[a3])
	return m.putStat(t.x[a2], a, code)
}

// putStat writes a struct stat (include/uapi/asm-generic/stat.h), unless code is an error.
func (m *machine) putStat(addr uint64, a attributes, code int64) int64 {
	if code != 0 {
		return code
	}
	le := binary.LittleEndian
	raw := make([]byte, 128)
	le.PutUint64(raw, 1) // device
	le.PutUint64(raw[8:], a.inode)
	for i, v := range []uint32{a.mode, a.links, a.owner, a.owner} {
		le.PutUint32(raw[16+4*i:], v)
	}
	le.PutUint32(raw[56:], blockSize)
	for i := range 3 {
		le.PutUint64(raw[72+16*i:], fileTime)
	}
	if m.mem.write(addr, raw) != 0 {
		return badAddr
	}
	return 0
}

// statx writes a struct statx (include/uapi/linux/stat.h).
func (m *machine) statx(t *thread) int64 {
	const basic = 0x7ff // STATX_BASIC_STATS
	a, code := m.look(t.x[a0], t.x[a1], t.x[a2])
	if code != 0 {
		return code
	}
	le := binary.LittleEndian
	raw := make([]byte, 256)
	for i, v := range []uint32{basic, blockSize, 0, 0, a.links, a.owner, a.owner, a.mode} { // mode has 16 bits, and 16 more are unused
		le.PutUint32(raw[4*i:], v)
	}
	le.PutUint64(raw[32:], a.inode)
	for _, at := range []int{64, 96, 112} { // last access, change of attributes and of data
		le.PutUint64(raw[at:], fileTime)
	}
	le.PutUint32(raw[140:], 1) // device
	if m.mem.write(t.x[a4], raw) != 0 {
		return badAddr
	}
	return 0
}
