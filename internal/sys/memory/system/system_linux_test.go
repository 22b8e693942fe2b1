package system

import (
	"testing"
	"testing/fstest"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

func TestParseMax(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		want float64
	}{
		{"150000 100000\n", 1.5}, {"max 100000\n", 0}, {"-1\n 100000\n", 0}, {"", 0}, {"1", 0}, {"1 0", 0},
	} {
		golden.Equal(t, test.in, test.want, parseMax(test.in))
	}
}

func root(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, content := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return fsys
}

func TestQuota(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		files map[string]string
		want  float64
	}{
		{"cgroup=none", nil, 0},
		{"cgroup=2, innermost is least", map[string]string{
			"proc/self/cgroup":          "0::/a/b\n",
			"sys/fs/cgroup/a/cpu.max":   "400000 100000\n",
			"sys/fs/cgroup/a/b/cpu.max": "150000 100000\n",
		}, 1.5},
		{"cgroup=2, outer is least", map[string]string{
			"proc/self/cgroup":          "0::/a/b\n",
			"sys/fs/cgroup/a/cpu.max":   "50000 100000\n",
			"sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
		}, 0.5},
		{"cgroup=1", map[string]string{
			"proc/self/cgroup":                      "5:cpuset:/other\n3:cpu,cpuacct:/a\n0::/\n",
			"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us":  "200000\n",
			"sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/cpu/other/cpu.max":       "1 100000\n",
		}, 2},
		{"cgroup=1, seen from inside", map[string]string{
			"proc/self/cgroup":                    "3:cpu,cpuacct:/outside/a\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "300000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
		}, 3},
	} {
		golden.Equal(t, test.name, test.want, cgroupQuota(root(test.files)))
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	const meminfo = "MemTotal:        8000 kB\nMemFree:         10 kB\nMemAvailable:    6000 kB\n"
	for _, test := range []struct {
		name             string
		files            map[string]string
		total, available uint64
	}{
		{"what=nothing", nil, Unlimited, Unlimited},
		{"what=machine", map[string]string{"proc/meminfo": meminfo}, 8000 << 10, 6000 << 10},
		{"what=foreign", map[string]string{"proc/meminfo": "MemTotal: many\nMemAvailableX: 1 kB\n"}, Unlimited, Unlimited},
		{"cgroup=2", map[string]string{
			"proc/meminfo":                     meminfo,
			"proc/self/cgroup":                 "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max":       "4096000\n",
			"sys/fs/cgroup/a/memory.current":   "1096000\n",
			"sys/fs/cgroup/a/memory.stat":      "inactive_file_other 7\ninactive_file 96000\n",
			"sys/fs/cgroup/a/b/memory.max":     "max\n",
			"sys/fs/cgroup/a/b/memory.current": "1000\n",
		}, 4096000, 3096000},
		{"cgroup=2, outer leaves less", map[string]string{
			"proc/self/cgroup":                 "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max":       "4096000\n",
			"sys/fs/cgroup/a/memory.current":   "4000000\n",
			"sys/fs/cgroup/a/b/memory.max":     "1000000\n",
			"sys/fs/cgroup/a/b/memory.current": "1000\n",
		}, 1000000, 96000},
		{"cgroup=2, exceeded", map[string]string{
			"proc/self/cgroup":             "0::/\n",
			"sys/fs/cgroup/memory.max":     "1000\n",
			"sys/fs/cgroup/memory.current": "1001\n",
		}, 1000, 0},
		{"cgroup=1", map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/cgroup": "4:memory:/a\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes":   "1\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "2000000\n",
			"sys/fs/cgroup/memory/a/memory.usage_in_bytes": "700000\n",
			"sys/fs/cgroup/memory/a/memory.stat":           "inactive_file 5\ntotal_inactive_file 200000\n",
		}, 2000000, 1500000},
		{"cgroup=1, no limit", map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "1\n",
		}, 8000 << 10, 6000 << 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			total, available := memory(root(test.files))
			golden.Equal(t, "total, available", [2]uint64{test.total, test.available}, [2]uint64{total, available})
		})
	}
}

// TestMachine: this one tells what it has.
func TestMachine(t *testing.T) {
	if total, available := Memory(); total == Unlimited || available == 0 || available > total {
		t.Errorf("%d bytes available of %d", available, total)
	}
}
