package env

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"strings"
)

func quota() float64 { return cgroupQuota(os.DirFS("/")) }

// cpuModel reads /proc/cpuinfo: "model name" on most, "Processor" and "cpu
// model" on others.
func cpuModel() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	return parseModel(data)
}

func parseModel(cpuinfo []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(cpuinfo))
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		switch strings.TrimSpace(key) {
		case "model name", "Processor", "cpu model", "cpu":
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func governor() string {
	data, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func systemMemory() (total, available uint64) { return memory(os.DirFS("/")) }

// memory returns the machine's memory and what new work may take of it, both
// bounded by the process' control groups.
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
