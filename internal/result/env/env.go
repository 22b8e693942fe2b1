// Package env describes the environment in which a record is measured: the machine, the Go runtime
// and the build. Fields that the platform does not report are empty, so reading never fails.
package env

import (
	"cmp"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/sys/memory/system"
)

// shown lists the modules whose versions affect what is measured.
var shown = []string{
	"github.com/consensys/gnark-crypto",
	"github.com/consensys/gnark",
	"github.com/IBM/mathlib",
	"github.com/kilic/bls12-381",
	"github.com/hyperledger/fabric-amcl",
	"github.com/HdrHistogram/hdrhistogram-go",
}

// Read returns the current environment.
func Read() record.Env {
	e := record.Env{
		OS:         runtime.GOOS,
		Arch:       runtime.GOARCH,
		CPU:        cpuModel(),
		Vector:     vectorExtensions(),
		Path:       arithmeticPath(),
		Cores:      runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		Quota:      system.Quota(),
		Governor:   governor(),
		Kernel:     kernel(),
		Go:         runtime.Version(),
		GOGC:       -1,
		GOMEMLIMIT: -1,
	}
	if total, _ := system.Memory(); total != system.Unlimited {
		e.Memory = total
	}
	samples := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(samples)
	for i, to := range []*int64{&e.GOGC, &e.GOMEMLIMIT} {
		// If a setting is off, the runtime reports the largest value of its type.
		if samples[i].Value.Kind() == metrics.KindUint64 && samples[i].Value.Uint64() < math.MaxInt64 {
			*to = int64(samples[i].Value.Uint64())
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		e.Modules, e.Commit = build(info)
	}
	return e
}

// Version describes the program's build in one line. The line has the version of the program's
// module, the commit, the version of Go, and the platform. The first is "(devel)" if the module has
// no version. The commit is left out if the program was not built in a clone.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown version"
	}
	_, commit := build(info)
	words := []string{cmp.Or(info.Main.Version, "(devel)")}
	if commit != "" {
		words = append(words, commit)
	}
	return strings.Join(append(words, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), " ")
}

// Commit returns the commit that the program was built from, with +dirty if the tree had changes. It
// returns "" if the program was not built in a clone.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	_, commit := build(info)
	return commit
}

// build returns the versions of the modules in shown, and the commit, with +dirty if the tree had
// changes.
func build(info *debug.BuildInfo) (modules map[string]string, commit string) {
	modules = make(map[string]string)
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if slices.Contains(shown, m.Path) {
			modules[m.Path] = m.Version
		}
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if commit != "" && dirty {
		commit += "+dirty"
	}
	return modules, commit
}
