package boltfile

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"syscall"

	bberrors "go.etcd.io/bbolt/errors"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// Guard calls what works on bbolt's pages. bbolt answers some corruption with
// a panic, and a wrong offset reads beyond the map, which faults; both come
// back as errors.
func Guard(work func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = ledger.Corruptf("page", "bbolt stopped: %v", r)
		}
	}()
	return work()
}

// opening gives an error of bbolt.Open its type.
func opening(path string, err error) error {
	var place *fs.PathError
	var corrupt *ledger.CorruptError
	var system syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bberrors.ErrTimeout):
		return fmt.Errorf("%w: %s", ledger.ErrLocked, path)
	case errors.As(err, &place), errors.As(err, &corrupt):
		return err
	case errors.As(err, &system): // of locking or mapping the file
		return fmt.Errorf("%w: %s: %w", zkbench.ErrEnv, path, err)
	}
	return ledger.Corruptf("file", "%v", err)
}
