// Package atomicfile writes files that are there as a whole or not at all.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes parts, one after the other, to a new file beside path, on the disk, and lets that
// take path's place: neither a reader nor a program that was killed finds half of it. The mode is that of the
// file before, 0644 where there was none.
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
