package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// mostPacked is the maximum size of an archive, in bytes.
const mostPacked = 25e6

// config is the part of .goreleaser.yaml about the programs and archives.
type config struct {
	Builds []struct {
		Main                         string
		Env, Flags, LDFlags, Targets []string
		GOAMD64                      []string `yaml:"goamd64"`
	}
	Archives []struct {
		Files []struct{ Src string }
	}
}

// TestPrograms: two clones at two paths, one of a user with settings of his own, give the same
// program, which knows the tag and the commit, and fits its archive. It is the program of this platform; with ZKBENCH_LONG set
// those of all targets, compiled without what the cache has.
func TestPrograms(t *testing.T) {
	t.Parallel()
	one, version := clone(t, "one")
	other, _ := clone(t, filepath.Join("an", "other", "place"))
	text, err := os.ReadFile(filepath.Join(one, ".goreleaser.yaml"))
	must(t, err)
	var c config
	must(t, yaml.Unmarshal(text, &c))
	if len(c.Builds) != 1 || len(c.Archives) != 1 {
		t.Fatalf("%d builds and %d archives, want one of each", len(c.Builds), len(c.Archives))
	}
	own, long := runtime.GOOS+"_"+runtime.GOARCH, os.Getenv("ZKBENCH_LONG") != ""
	if !slices.Contains(c.Builds[0].Targets, own) && !long {
		t.Skipf("%s is no target", own)
	}
	for _, target := range c.Builds[0].Targets {
		if target != own && !long {
			continue
		}
		settings := []string{"GOFLAGS=-tags=purego", "GOAMD64=v3", "GOFIPS140=latest", "TZ=Asia/Tokyo"}
		if long {
			settings = append(settings, "GOCACHE="+t.TempDir())
		}
		a, b := build(t, one, &c, target, nil), build(t, other, &c, target, settings)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: %d bytes of digest %x here, %d of %x there", target, len(a), sha256.Sum256(a), len(b), sha256.Sum256(b))
		}
		packed := pack(t, one, &c, a)
		if c, d := bom(t, one, target), bom(t, other, target); c != d || strings.Count(c, `"type": "library"`) < 40 || !strings.Contains(c, `"value": "`+strings.TrimSpace(run(t, one, nil, "git", "rev-parse", "HEAD"))) {
			t.Errorf("%s: the bills of materials differ or are not complete:\n%s\n%s", target, c, d)
		}
		t.Logf("%s: sha256 %x, %.1f MB, packed %.1f MB", target, sha256.Sum256(a), float64(len(a))/1e6, float64(packed)/1e6)
		if packed > mostPacked {
			t.Errorf("%s: %d bytes packed, at most %d are wanted", target, packed, int(mostPacked))
		}
	}
	if slices.Contains(c.Builds[0].Targets, own) {
		said := run(t, t.TempDir(), nil, filepath.Join(one, "bin", own), "--version")
		commit := strings.TrimSpace(run(t, one, nil, "git", "rev-parse", "HEAD"))
		if !strings.HasPrefix(said, "zkbench "+version+" "+commit+" ") {
			t.Errorf("--version says %q, want %s and %s", said, version, commit)
		}
	}
}

// build builds the program for a target in a clone, as GoReleaser does.
func build(t *testing.T, dir string, c *config, target string, env []string) []byte {
	t.Helper()
	system, arch, _ := strings.Cut(target, "_")
	out := filepath.Join(dir, "bin", target)
	args := append([]string{"build", "-o", out}, c.Builds[0].Flags...)
	args = append(args, "-ldflags="+strings.Join(c.Builds[0].LDFlags, " "), c.Builds[0].Main)
	env = slices.Concat(env, c.Builds[0].Env, []string{"GOOS=" + system, "GOARCH=" + arch, "GOAMD64=" + strings.Join(c.Builds[0].GOAMD64, ",")})
	run(t, dir, env, "go", args...)
	program, err := os.ReadFile(out)
	must(t, err)
	return program
}

// bom returns the bill of materials of the program that build has built for a target.
func bom(t *testing.T, dir, target string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "bom")
	run(t, filepath.Join(dir, "tools"), nil, "go", "run", "./sbom", filepath.Join(dir, "bin", target), filepath.Join(dir, "THIRD_PARTY_NOTICES"), out)
	text, err := os.ReadFile(out)
	must(t, err)
	return string(text)
}

// pack returns the packed size of a program with the other files of its archive.
func pack(t *testing.T, dir string, c *config, program []byte) int {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	must(t, err)
	_, err = w.Write(program)
	must(t, err)
	for _, f := range c.Archives[0].Files {
		text, err := os.ReadFile(filepath.Join(dir, f.Src))
		must(t, err)
		_, err = w.Write(text)
		must(t, err)
	}
	must(t, w.Close())
	return b.Len()
}
