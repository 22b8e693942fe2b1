package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// TestDescribe: a document has the program, its modules with their licences, Go, and what is no module.
func TestDescribe(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "example.org/Program", Version: "v0.1.0"},
		Deps:     []*debug.Module{{Path: "example.org/B", Version: "v2.0.0+incompatible"}, {Path: "example.org/a", Version: "v1.0.0"}},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}},
	}
	notices := "Notices  of everything\n\nGo: runtime and standard library  go1.26.8  BSD-3-Clause\nexample.org/B                      v2.0.0+incompatible  MIT, OFL-1.1\n" +
		"example.org/a  v1.0.0  ISC\nexample.org/other  v1.0.0  ISC\nuPlot  v1.6.32  MIT\n\n" + strings.Repeat("=", 98) + "\nexample.org/below  v1.0.0  MIT\n"
	d, err := describe(info, [32]byte{1}, partsOf(notices))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"bomFormat":"CycloneDX","specVersion":"1.6","version":1,"metadata":{"component":{"bom-ref":"pkg:golang/example.org/program@v0.1.0","type":"application",` +
		`"name":"example.org/Program","version":"v0.1.0","hashes":[{"alg":"SHA-256","content":"01` + strings.Repeat("00", 31) + `"}],"licenses":[{"license":{"id":"Apache-2.0"}}],` +
		`"purl":"pkg:golang/example.org/program@v0.1.0","properties":[{"name":"go:build:vcs.revision","value":"abc"}]}},"components":[` +
		`{"bom-ref":"pkg:golang/example.org/a@v1.0.0","type":"library","name":"example.org/a","version":"v1.0.0","licenses":[{"license":{"id":"ISC"}}],"purl":"pkg:golang/example.org/a@v1.0.0"},` +
		`{"bom-ref":"pkg:golang/example.org/b@v2.0.0%2Bincompatible","type":"library","name":"example.org/B","version":"v2.0.0+incompatible","licenses":[{"license":{"id":"MIT"}},{"license":{"id":"OFL-1.1"}}],"purl":"pkg:golang/example.org/b@v2.0.0%2Bincompatible"},` +
		`{"bom-ref":"pkg:golang/std@1.26.8","type":"library","name":"std","version":"go1.26.8","licenses":[{"license":{"id":"BSD-3-Clause"}}],"purl":"pkg:golang/std@1.26.8"},` +
		`{"bom-ref":"pkg:npm/uplot@1.6.32","type":"library","name":"uPlot","version":"v1.6.32","licenses":[{"license":{"id":"MIT"}}],"purl":"pkg:npm/uplot@1.6.32"}],` +
		`"dependencies":[{"ref":"pkg:golang/example.org/program@v0.1.0","dependsOn":["pkg:golang/example.org/a@v1.0.0","pkg:golang/example.org/b@v2.0.0%2Bincompatible","pkg:golang/std@1.26.8","pkg:npm/uplot@1.6.32"]}]}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	info.Deps[1].Version, info.GoVersion = "v1.0.1", "go1.27.0"
	if _, err := describe(info, [32]byte{}, partsOf(notices)); err == nil || !strings.Contains(err.Error(), "the notices lack example.org/a v1.0.1") ||
		!strings.Contains(err.Error(), "the program is built by go1.27.0, the notices are of go1.26.8") {
		t.Errorf("error %v", err)
	}
}

// TestTable: THIRD_PARTY_NOTICES has a table that can be read.
func TestTable(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "THIRD_PARTY_NOTICES"))
	if err != nil {
		t.Fatal(err)
	}
	if parts := partsOf(string(raw)); len(parts) < 40 {
		t.Errorf("%d parts: %v", len(parts), parts)
	}
}
