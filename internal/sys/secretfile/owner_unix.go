//go:build unix

package secretfile

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the id of the user who owns a file, or -1 if it is not known.
func ownerOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
