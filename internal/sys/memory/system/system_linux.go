package system

import (
	"io/fs"
	"os"
	"strings"
)

// Quota returns the lowest processor limit of the process' control groups, in processors, or 0 if there is none.
func Quota() float64 { return cgroupQuota(os.DirFS("/")) }

// Memory returns the machine's total memory and the memory that is available to new work, in bytes. The limits
// of the process' control groups bound both numbers. A number that is not known is Unlimited.
func Memory() (total, available uint64) { return memory(os.DirFS("/")) }

func memory(root fs.FS) (total, available uint64) {
	total, available = cgroupMemory(root)
	info := readString(root, "proc/meminfo")
	for key, to := range map[string]*uint64{"MemTotal": &total, "MemAvailable": &available} {
		if kib, ok := parseUint(strings.TrimSuffix(valueOf(info, key), " kB")); ok {
			*to = min(*to, kib<<10)
		}
	}
	return total, available
}
