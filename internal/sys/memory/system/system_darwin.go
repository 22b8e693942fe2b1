package system

import "golang.org/x/sys/unix"

// Quota returns 0: there are no control groups.
func Quota() float64 { return 0 }

// Memory returns the machine's memory in bytes; what is available is not known.
func Memory() (total, available uint64) {
	total, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return Unlimited, Unlimited
	}
	return total, Unlimited
}
