package system

import "golang.org/x/sys/unix"

// Quota returns 0, because only Linux has control groups.
func Quota() float64 { return 0 }

// Memory returns the machine's total memory in bytes. The available memory is not known, so it is Unlimited.
func Memory() (total, available uint64) {
	total, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return Unlimited, Unlimited
	}
	return total, Unlimited
}
