package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/mod/modfile"
)

// program is the package whose program is released.
const program = "./cmd/zkbench"

// linked is a package that a released program contains, as go list describes it.
type linked struct {
	ImportPath, Dir             string
	Standard                    bool
	Module                      *module
	GoFiles, SFiles, EmbedFiles []string // relative to Dir
}

type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

// packages returns the packages that the programs of all release platforms contain, and the directory
// of the Go version that builds them. A package is repeated for each platform.
func packages(root string) (all []linked, goroot string, err error) {
	targets, err := platforms(root)
	if err != nil {
		return nil, "", err
	}
	version, err := goVersion(root)
	if err != nil {
		return nil, "", err
	}
	for _, target := range targets {
		system, arch, _ := strings.Cut(target, "_")
		env := []string{"GOTOOLCHAIN=go" + version, "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0", "GOOS=" + system, "GOARCH=" + arch}
		out, err := goCommand(root, env, "list", "-deps", "-json=ImportPath,Dir,Standard,Module,GoFiles,SFiles,EmbedFiles", program)
		if err != nil {
			return nil, "", err
		}
		for in := json.NewDecoder(bytes.NewReader(out)); ; {
			var p linked
			if err := in.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, "", fmt.Errorf("go list: %w", err)
			}
			all = append(all, p)
		}
	}
	out, err := goCommand(root, []string{"GOTOOLCHAIN=go" + version}, "env", "GOROOT")
	return all, strings.TrimSpace(string(out)), err
}

// platforms returns the platforms of the release, as OS_ARCHITECTURE.
func platforms(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		return nil, err
	}
	var config struct {
		Builds []struct{ Targets []string }
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf(".goreleaser.yaml: %w", err)
	}
	var all []string
	for _, b := range config.Builds {
		all = append(all, b.Targets...)
	}
	if len(all) == 0 {
		return nil, errors.New(".goreleaser.yaml: no targets")
	}
	return all, nil
}

// goVersion returns the Go version of the module, which builds the programs of a release.
func goVersion(root string) (string, error) {
	path := filepath.Join(root, "go.mod")
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	file, err := modfile.Parse(path, text, nil)
	if err != nil {
		return "", err
	}
	if file.Go == nil || !regexp.MustCompile(`^1\.\d+\.\d+$`).MatchString(file.Go.Version) {
		return "", fmt.Errorf("%s: no exact version of Go", path)
	}
	return file.Go.Version, nil
}

func goCommand(dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(messages.String()))
	}
	return out, nil
}
