package system

import (
	"io/fs"
	"os"
	"strings"
)

// Quota returns the least limit, in processors, of the process' control groups; 0 where
// there is none.
func Quota() float64 { return cgroupQuota(os.DirFS("/")) }

// Memory returns the machine's memory and what new work may take of it, both bounded by the
// process' control groups, in bytes; Unlimited where that is not known.
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
