// Package env reads the fingerprint of the machine, the Go runtime and the build
// that a record is measured with. What a platform does not tell stays empty; a
// fingerprint never fails.
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

// shown are the modules whose versions decide what is measured.
var shown = []string{
	"github.com/consensys/gnark-crypto",
	"github.com/consensys/gnark",
	"github.com/IBM/mathlib",
	"github.com/kilic/bls12-381",
	"github.com/hyperledger/fabric-amcl",
	"github.com/HdrHistogram/hdrhistogram-go",
}

// Read returns the fingerprint of this moment.
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
		// Off is the largest value of the type that the runtime keeps it in.
		if samples[i].Value.Kind() == metrics.KindUint64 && samples[i].Value.Uint64() < math.MaxInt64 {
			*to = int64(samples[i].Value.Uint64())
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		e.Modules, e.Commit = build(info)
	}
	return e
}

// Version is that of the program: of the module where it was fetched as one, and the commit
// where it was built in a clone, with the compiler's.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of no known version"
	}
	_, commit := build(info)
	words := []string{cmp.Or(info.Main.Version, "(devel)")}
	if commit != "" {
		words = append(words, commit)
	}
	return strings.Join(append(words, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), " ")
}

// build returns the versions of the shown modules and the commit, with +dirty
// where the tree had changes.
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
