package subprocess

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"
)

// Executable is a path by which the running program is opened and started, on Linux even where
// another has come to its own path, or none is there any more.
func Executable() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// Digest is the SHA-256 of a program in a file, and its size in bytes.
func Digest(path string) (digest string, size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	hash := sha256.New()
	size, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), size, err
}
