package env

import (
	"bufio"
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
)

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

// cgroupQuota returns the least limit, in processors, of the process' control
// group and those above it; 0 where there is none. Version 2 first, then 1.
func cgroupQuota() float64 {
	membership, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	quota := 0.0
	lower := func(q float64) {
		if q > 0 && (quota == 0 || q < quota) {
			quota = q
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(membership)), "\n") {
		_, rest, _ := strings.Cut(line, ":")
		controllers, group, _ := strings.Cut(rest, ":")
		if controllers != "" && !strings.Contains(controllers, "cpu") {
			continue
		}
		for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
			if controllers == "" {
				data, _ := os.ReadFile(path.Join("/sys/fs/cgroup", dir, "cpu.max"))
				lower(parseMax(string(data)))
			} else {
				root := path.Join("/sys/fs/cgroup/cpu", dir)
				q, _ := os.ReadFile(path.Join(root, "cpu.cfs_quota_us"))
				p, _ := os.ReadFile(path.Join(root, "cpu.cfs_period_us"))
				lower(parseMax(string(q) + " " + string(p)))
			}
			if dir == "/" {
				break
			}
		}
	}
	return quota
}

// parseMax reads "quota period", both in microseconds; max and negative quotas
// are no limit, 0.
func parseMax(s string) float64 {
	fields := strings.Fields(s)
	if len(fields) != 2 {
		return 0
	}
	quota, errQ := strconv.ParseFloat(fields[0], 64)
	period, errP := strconv.ParseFloat(fields[1], 64)
	if errQ != nil || errP != nil || quota <= 0 || period <= 0 {
		return 0
	}
	return quota / period
}
