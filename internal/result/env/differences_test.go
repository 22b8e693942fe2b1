package env

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// Each field of the environment is either compared or only shown, and keeps
// records out of one median or not; a field that is added must be put on one side
// of both.
func TestDifferences(t *testing.T) {
	a := record.Env{
		OS: "linux", Arch: "amd64", CPU: "EPYC", Vector: []string{"avx2"}, Path: "adx", Cores: 2, GOMAXPROCS: 2,
		Governor: "performance", Kernel: "6.1", Memory: 1 << 30, Go: "go1.26", Commit: "abc", GOGC: 100, GOMEMLIMIT: -1,
	}
	golden.Equal(t, "differences to itself", 0, len(Differences(a, a)))
	for _, test := range []struct {
		field  string
		change func(e *record.Env)
		want   []string
		same   bool // may be put into one median all the same
	}{
		{"Host", func(e *record.Env) { e.Host = "other" }, []string{"host: unknown / other"}, false},
		{"OS", func(e *record.Env) { e.OS = "darwin" }, []string{"os: linux / darwin"}, false},
		{"Arch", func(e *record.Env) { e.Arch = "arm64" }, []string{"arch: amd64 / arm64"}, false},
		{"CPU", func(e *record.Env) { e.CPU = "" }, []string{"cpu: EPYC / unknown"}, false},
		{"Vector", func(e *record.Env) { e.Vector = append(e.Vector, "avx512f") }, []string{"vector: avx2 / avx2 avx512f"}, false},
		{"Path", func(e *record.Env) { e.Path = "portable" }, []string{"path: adx / portable"}, false},
		{"Cores", func(e *record.Env) { e.Cores = 4 }, []string{"cores: 2 / 4"}, false},
		{"GOMAXPROCS", func(e *record.Env) { e.GOMAXPROCS = 1 }, []string{"gomaxprocs: 2 / 1"}, true},
		{"Quota", func(e *record.Env) { e.Quota = 1.5 }, []string{"quota: none / 1.5"}, false},
		{"Governor", func(e *record.Env) { e.Governor = "powersave" }, []string{"governor: performance / powersave"}, false},
		{"GOGC", func(e *record.Env) { e.GOGC = -1 }, []string{"gogc: 100 / off"}, false},
		{"GOMEMLIMIT", func(e *record.Env) { e.GOMEMLIMIT = 1 << 30 }, []string{"gomemlimit: off / 1073741824"}, false},
		{"Kernel", func(e *record.Env) { e.Kernel = "6.2" }, nil, true},
		{"Memory", func(e *record.Env) { e.Memory = 1 << 31 }, nil, true},
		{"Go", func(e *record.Env) { e.Go = "go1.27" }, nil, false},
		{"Modules", func(e *record.Env) { e.Modules = map[string]string{"a": "v1"} }, nil, false},
		{"Commit", func(e *record.Env) { e.Commit = "def" }, nil, false},
	} {
		t.Run("field="+test.field, func(t *testing.T) {
			b := a
			test.change(&b)
			for field, from := range reflect.ValueOf(a).Fields() {
				if changed := !reflect.DeepEqual(from.Interface(), reflect.ValueOf(b).FieldByIndex(field.Index).Interface()); changed != (field.Name == test.field) {
					t.Fatalf("field %s changed: %v", field.Name, changed)
				}
			}
			golden.Equal(t, "differences", test.want, Differences(a, b))
			var d Distinct
			if first, second, again := d.Index(a), d.Index(b), d.Index(a); first != 0 || again != 0 || (second == 0) != test.same {
				t.Errorf("indices %d, %d, %d, want same %v", first, second, again, test.same)
			}
		})
	}
	golden.Equal(t, "fields of an environment, as this test knows them", 17, reflect.TypeFor[record.Env]().NumField())
}

// TestName: an environment of a host is called by it, others by their number from the second
// on.
func TestName(t *testing.T) {
	var d Distinct
	for _, e := range []record.Env{{}, {CPU: "x"}, {Host: "a"}, {Host: "b"}, {Host: "a", CPU: "x"}} {
		d.Index(e)
	}
	var got []string
	for i := range d {
		got = append(got, d.Name(i))
	}
	golden.Equal(t, "names", []string{"", "environment 2", "a", "b", "a, environment 5"}, got)
}

func TestBuildDifferences(t *testing.T) {
	a := record.Env{CPU: "EPYC", Go: "go1.26", Commit: "abc", Modules: map[string]string{"both": "v1", "unlike": "v1", "before": "v1"}}
	b := record.Env{CPU: "Xeon", Go: "go1.27", Modules: map[string]string{"both": "v1", "unlike": "v2", "after": "v1"}}
	want := []string{"commit: abc / unknown", "go: go1.26 / go1.27", "after: unknown / v1", "before: v1 / unknown", "unlike: v1 / v2"}
	golden.Equal(t, "differences", want, BuildDifferences(a, b))
	golden.Equal(t, "differences to itself", 0, len(BuildDifferences(a, a)))
}

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
