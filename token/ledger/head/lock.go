package head

import (
	"errors"
	"fmt"
	"os"

	"github.com/zkbench/zkbench"
)

// lockSuffix names the file that is locked. It is not the state file, which each write replaces by a new one.
const lockSuffix = ".lock"

// errHeld is returned by tryLock if another open file has the lock.
var errHeld = errors.New("held")

// fileLock is a locked file.
type fileLock struct {
	path string
	file *os.File
}

// lockFile locks the file at path, which it creates if needed, until Close is called or the process ends. It returns
// ErrLocked if another open file has the lock, in this process or in another one.
func lockFile(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(file); err != nil {
		_ = file.Close()
		if errors.Is(err, errHeld) {
			return nil, fmt.Errorf("%w: %s", ErrLocked, path)
		}
		return nil, fmt.Errorf("%w: %s: %w", zkbench.ErrEnv, path, err)
	}
	l := &fileLock{path, file}
	if !l.holds() { // it was removed meanwhile, and another one may be locked
		return nil, errors.Join(fmt.Errorf("%w: %s was replaced", ErrLocked, path), file.Close())
	}
	return l, nil
}

// holds reports whether the locked file is still the one at its path. If not, another one may be locked there.
func (l *fileLock) holds() bool {
	open, err := l.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.path)
	return err == nil && os.SameFile(open, there)
}

// Close unlocks the file first: a child process that is just being started has it open too, for a moment.
func (l *fileLock) Close() error { return errors.Join(unlock(l.file), l.file.Close()) }
