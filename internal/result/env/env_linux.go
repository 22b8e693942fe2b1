package env

import (
	"bufio"
	"bytes"
	"os"
	"strings"
)

// cpuModel reads the processor's name from /proc/cpuinfo. On most platforms it is "model name", on
// others "Processor" or "cpu model".
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
