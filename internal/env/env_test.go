package env

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/zkbench/zkbench/internal/golden"
)

func TestRead(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 40))
	e := Read()
	if e.OS != runtime.GOOS || e.Arch != runtime.GOARCH || e.Go != runtime.Version() || e.GOMAXPROCS != runtime.GOMAXPROCS(0) {
		t.Errorf("wrong platform: %+v", e)
	}
	golden.Equal(t, "GOGC, GOMEMLIMIT", [2]int64{50, 1 << 40}, [2]int64{e.GOGC, e.GOMEMLIMIT})
	if e.Path == "" || e.Cores < 1 {
		t.Errorf("no path or no cores: %+v", e)
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1<<63 - 1)
	e = Read()
	golden.Equal(t, "GOGC and GOMEMLIMIT, both off", [2]int64{-1, -1}, [2]int64{e.GOGC, e.GOMEMLIMIT})
}

func TestBuild(t *testing.T) {
	info := &debug.BuildInfo{
		Deps: []*debug.Module{
			{Path: "github.com/consensys/gnark-crypto", Version: "v0.22.0"},
			{Path: "github.com/kilic/bls12-381", Version: "v0.1.0"},
			{Path: "github.com/hyperledger/fabric-amcl", Version: "v0.0.0-20230602173724-9e02669dceb2"},
			{Path: "example.com/other", Version: "v1.0.0"},
		},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}},
	}
	modules, commit := build(info)
	want := map[string]string{
		"github.com/consensys/gnark-crypto":  "v0.22.0",
		"github.com/kilic/bls12-381":         "v0.1.0",
		"github.com/hyperledger/fabric-amcl": "v0.0.0-20230602173724-9e02669dceb2",
	}
	golden.Equal(t, "modules", want, modules)
	golden.Equal(t, "commit", "abc+dirty", commit)
}
