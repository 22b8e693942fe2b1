//go:build unix

package hosts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/zkbench/zkbench"
)

// lockMachine makes this process the only one of its user that serves on the machine, until unlock
// is called or the process ends. It waits for another one that serves. It returns zkbench.ErrEnv if
// the other one does not end within wait or the lock cannot be used, and ctx's error if ctx ends
// first.
func lockMachine(ctx context.Context, wait time.Duration) (unlock func(), err error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("zkbench-host-%d.lock", os.Getuid()))
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: lock of the machine: %w", zkbench.ErrEnv, err)
	}
	until := time.Now().Add(wait)
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = file.Close() }, nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			_ = file.Close()
			return nil, fmt.Errorf("%w: lock of the machine: %s: %w", zkbench.ErrEnv, path, err)
		case time.Now().After(until):
			_ = file.Close()
			return nil, fmt.Errorf("%w: another suite measures on this machine", zkbench.ErrEnv)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, context.Cause(ctx)
		case <-time.After(wait / 400):
		}
	}
}
