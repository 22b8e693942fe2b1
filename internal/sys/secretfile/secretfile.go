// Package secretfile reads files with secrets: keys, PINs. It refuses files that users other than their owner can open.
package secretfile

import (
	"fmt"
	"io"
	"os"
	"runtime"
)

// ModeError reports a file that users other than its owner can open.
type ModeError struct {
	Path string
	Mode os.FileMode // permissions
}

func (e *ModeError) Error() string {
	return fmt.Sprintf("%s has mode %04o; accepted: a file that only its owner can open; try chmod 600 %s", e.Path, e.Mode, e.Path)
}

// Read returns the contents of the file at path, and at most its first limit bytes. It returns a *ModeError if users
// other than the file's owner can open it. If root owns the file, and the process runs as another user, the file's group
// may read it: systemd and Kubernetes hand secrets to a service in this way, and root has chosen the group. Modes on
// Windows say nothing about other users, and users cannot choose the modes of terminals and pipes: there Read checks none.
func Read(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode(); runtime.GOOS != "windows" && mode.IsRegular() && mode.Perm()&foreign(ownerOf(info), os.Geteuid()) != 0 {
		return nil, &ModeError{path, mode.Perm()}
	}
	return io.ReadAll(io.LimitReader(file, limit))
}

// foreign returns the permissions that a file with a secret must not have, by the users who own it and who read it.
func foreign(owner, reader int) os.FileMode {
	if owner == 0 && reader != 0 {
		return 0o037
	}
	return 0o077
}
