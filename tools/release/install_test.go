package main

import (
	"archive/zip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// mostZipped is far below the 500 MB that go accepts, because users wait for the download when they
// install the command.
const mostZipped = 20e6

// TestInstall: go install takes the command from a tag, as a proxy would serve it, and the
// command works where there is no clone.
func TestInstall(t *testing.T) {
	t.Parallel()
	source, version := clone(t, "source")
	proxy, bin := t.TempDir(), t.TempDir()
	publish(t, source, version, proxy)
	cache := strings.TrimSpace(run(t, ".", nil, "go", "env", "GOMODCACHE"))
	others := strings.TrimSpace(run(t, ".", nil, "go", "env", "GOPROXY"))
	env := []string{
		"GOBIN=" + bin,
		// A cache of its own, or the version would stay in the user's. What others have
		// published comes from his, and go.sum has checked it there.
		"GOMODCACHE=" + t.TempDir(), "GOSUMDB=off",
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(cache, "cache", "download") + "," + others,
		"GOFLAGS=-modcacherw -trimpath",
	}
	run(t, t.TempDir(), env, "go", "install", path+"/cmd/zkbench@"+version)

	command, dir := filepath.Join(bin, "zkbench"), t.TempDir()
	if said := run(t, dir, nil, command, "--version"); !strings.HasPrefix(said, "zkbench "+version+" ") {
		t.Errorf("--version says %q, want %s", said, version)
	}
	run(t, dir, nil, command, "run", "sender", "--bits", "8", "--num-inputs", "1", "--num-outputs", "1", "--count", "3", "--out", "out")
	run(t, dir, nil, command, "suite", "quick", "--plan") // which is embedded
	run(t, dir, nil, command, "report", "out")            // whose scripts are
	page, err := os.ReadFile(filepath.Join(dir, "out", "report.html"))
	if err != nil || !strings.Contains(string(page), "uPlot") {
		t.Errorf("the page has %d bytes and no plots, error %v", len(page), err)
	}
}

// publish writes the version that a clone's tag names into a directory with the layout of a proxy.
func publish(t *testing.T, source, version, proxy string) {
	t.Helper()
	dir := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	must(t, os.MkdirAll(dir, 0o777))
	file, err := os.Create(filepath.Join(dir, version+".zip"))
	must(t, err)
	must(t, modzip.CreateFromVCS(file, module.Version{Path: path, Version: version}, source, version, ""))
	must(t, file.Close())
	must(t, os.WriteFile(filepath.Join(dir, "list"), []byte(version+"\n"), 0o666))
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Unix(0, 0).UTC()})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, version+".info"), info, 0o666))
	gomod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, version+".mod"), gomod, 0o666))

	size, err := os.Stat(file.Name())
	must(t, err)
	in, err := zip.OpenReader(file.Name())
	must(t, err)
	defer in.Close()
	t.Logf("the module: %d files in %.1f MB", len(in.File), float64(size.Size())/1e6)
	if size.Size() > mostZipped {
		t.Errorf("the module's zip has %d bytes, at most %d are wanted", size.Size(), int(mostZipped))
	}
	for _, mod := range strings.Fields(run(t, source, nil, "git", "ls-files", "*/go.mod")) {
		nested := path + "@" + version + "/" + strings.TrimSuffix(mod, "go.mod")
		for _, f := range in.File {
			if strings.HasPrefix(f.Name, nested) {
				t.Errorf("%s is in the module, and is of another one", f.Name)
			}
		}
	}
}
