package system

import (
	"io/fs"
	"iter"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// groups yields the directories of this process' control group and its ancestors for a controller, innermost
// first, with the version (1 or 2) of control groups. It includes only directories that the process sees mounted.
// root is the file system's root.
func groups(root fs.FS, controller string) iter.Seq2[int, string] {
	return func(yield func(version int, dir string) bool) {
		for line := range strings.SplitSeq(strings.TrimSpace(readString(root, "proc/self/cgroup")), "\n") {
			_, rest, _ := strings.Cut(line, ":")
			controllers, group, ok := strings.Cut(rest, ":")
			version, mount := 1, path.Join("sys/fs/cgroup", controller)
			if controllers == "" {
				version, mount = 2, "sys/fs/cgroup"
			}
			if !ok || version == 1 && !slices.Contains(strings.Split(controllers, ","), controller) {
				continue
			}
			for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
				if !yield(version, path.Join(mount, dir)) {
					return
				}
				if dir == "/" {
					break
				}
			}
		}
	}
}

// Groups yields the directories that the given controller has for this process' control group and for the group's
// ancestors, innermost first. The first value of each pair is the version of control groups, 1 or 2.
func Groups(controller string) iter.Seq2[int, string] {
	return func(yield func(version int, dir string) bool) {
		for version, dir := range groups(os.DirFS("/"), controller) {
			if !yield(version, path.Join("/", dir)) {
				return
			}
		}
	}
}

// cgroupQuota returns the lowest processor limit of the process' control groups, in processors, or 0 if there is
// none.
func cgroupQuota(root fs.FS) float64 {
	least := math.Inf(1)
	for version, dir := range groups(root, "cpu") {
		limit := readString(root, path.Join(dir, "cpu.max"))
		if version == 1 {
			limit = readString(root, path.Join(dir, "cpu.cfs_quota_us")) + " " + readString(root, path.Join(dir, "cpu.cfs_period_us"))
		}
		if quota := parseMax(limit); quota > 0 {
			least = min(least, quota)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// parseMax parses "quota period", both in microseconds, and returns quota/period. If the quota is max or
// negative, there is no limit and it returns 0.
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

// cgroupMemory returns the lowest memory limit of the process' control groups and the least memory that one of
// them leaves, in bytes. Without a limit both are Unlimited.
//
// A group's inactive page cache counts as left, because the kernel reclaims it before it refuses memory.
func cgroupMemory(root fs.FS) (limit, left uint64) {
	limit, left = Unlimited, Unlimited
	for version, dir := range groups(root, "memory") {
		limitFile, useFile, cacheKey := "memory.max", "memory.current", "inactive_file"
		if version == 1 {
			limitFile, useFile, cacheKey = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
		}
		most, ok := parseUint(readString(root, path.Join(dir, limitFile)))
		// Without a limit, version 1 has the largest number of whole pages here.
		if !ok || most >= math.MaxInt64-1<<20 {
			continue
		}
		limit = min(limit, most)
		use, ok := parseUint(readString(root, path.Join(dir, useFile)))
		if !ok {
			continue
		}
		cache, _ := parseUint(valueOf(readString(root, path.Join(dir, "memory.stat")), cacheKey))
		left = min(left, most-min(most, use-min(use, cache)))
	}
	return limit, left
}

// readString returns the contents of a file, or "" if it cannot be read.
func readString(root fs.FS, name string) string {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(data)
}

// valueOf returns the rest of the first line that begins with key, or "" if there is none.
func valueOf(lines, key string) string {
	for line := range strings.SplitSeq(lines, "\n") {
		if value, ok := strings.CutPrefix(line, key); ok && strings.TrimLeft(value, ": \t") != value {
			return strings.TrimLeft(value, ": \t")
		}
	}
	return ""
}

func parseUint(s string) (uint64, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 64)
	return n, err == nil
}
