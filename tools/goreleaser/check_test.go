package goreleaser

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
)

// TestConfig: GoReleaser accepts .goreleaser.yaml, which makes a draft of archives with their notices and bills of
// materials, and refuses a misspelled field in it.
func TestConfig(t *testing.T) {
	text := read(t, filepath.Join("..", "..", ".goreleaser.yaml"))
	project, err := config.LoadReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if project.Version != 2 || len(project.Builds) != 1 || len(project.Archives) != 1 || len(project.SBOMs) != 1 || !project.Release.Draft {
		t.Fatalf("version %d, %d builds, %d archives, %d bills of materials, draft %v", project.Version, len(project.Builds), len(project.Archives), len(project.SBOMs), project.Release.Draft)
	}
	var files []string
	for _, f := range project.Archives[0].Files {
		files = append(files, f.Source)
	}
	if want := []string{"LICENSE", "THIRD_PARTY_NOTICES", "README.md", "CHANGELOG.md"}; !slices.Equal(files, want) {
		t.Errorf("archives have %q, want %q", files, want)
	}
	for _, field := range []string{"name_template", "mod_timestamp", "documents"} {
		wrong := bytes.Replace(text, []byte(field), []byte(field+"s"), 1)
		if _, err := config.LoadReader(bytes.NewReader(wrong)); err == nil || bytes.Equal(wrong, text) {
			t.Errorf("a misspelled %s is accepted", field)
		}
	}
}

// TestVersion: the version that checks is the one that make dist runs.
func TestVersion(t *testing.T) {
	runs := regexp.MustCompile(`github\.com/goreleaser/goreleaser/v2@(\S+)`).FindSubmatch(read(t, filepath.Join("..", "..", "Makefile")))
	checks := regexp.MustCompile(`github\.com/goreleaser/goreleaser/v2 (\S+)`).FindSubmatch(read(t, "go.mod"))
	if runs == nil || checks == nil || !bytes.Equal(runs[1], checks[1]) {
		t.Errorf("make dist runs %q, go.mod has %q", runs, checks)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
