//go:build linux || darwin

package env

import "golang.org/x/sys/unix"

func kernel() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}
