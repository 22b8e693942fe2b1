// Package atomicfile replaces files atomically: a reader sees the old contents or the new, never a part.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Write replaces the file at path with the concatenation of parts. It writes a new file in the same directory,
// syncs it to disk and renames it. So a concurrent reader never sees half a file, and a program that is killed
// never leaves half a file. The new file has the mode of the old one, or 0644 if there was none. After a loss of
// power the old contents may be back, unless SyncDir was called.
func Write(path string, parts ...[]byte) (err error) {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".replace")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	for _, part := range parts {
		if _, err = file.Write(part); err != nil {
			break
		}
	}
	if err == nil {
		err = errors.Join(file.Chmod(mode), file.Sync())
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// SyncDir flushes the names in the directory at path to disk, so that files created or renamed there stay so after
// a loss of power. On Windows it does nothing, because Windows cannot flush directories.
func SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
