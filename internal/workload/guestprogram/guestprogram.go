// Package guestprogram builds Go programs for package riscv, and finds the guest programs of this module.
package guestprogram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/riscv"
)

// Guest names a guest program of this module: a package in riscv/guests, with the build tags that it is built with.
type Guest struct {
	Package string
	Tags    []string
}

// file returns the name of the guest's file in the folder of built guests.
func (g Guest) file() string { return strings.Join(append([]string{g.Package}, g.Tags...), ".") }

// Folder returns the path of the folder that holds a program's guests. The folder is beside the program.
func Folder(program string) string { return program + "-guests" }

// Find loads a guest. It reads the guest's file in the folder of this program's guests. If there is no such file, it
// builds the guest from the sources that this program was built from. It returns a zkbench.ErrEnv if it finds neither
// the file nor the sources.
func Find(ctx context.Context, g Guest) (*riscv.Program, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", zkbench.ErrEnv, err)
	}
	raw, err := os.ReadFile(filepath.Join(Folder(executable), g.file()))
	if err == nil {
		return riscv.Load(raw, nil)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", zkbench.ErrEnv, err)
	}
	dir, ok := sources()
	if !ok {
		return nil, fmt.Errorf("%w: guest %s: this program's sources are not here, and there is no folder %s; make guests builds it", zkbench.ErrEnv, g.Package, Folder(executable))
	}
	return built(ctx, dir, g)
}

// sources returns a folder in the module that this program was built from, or false if it is not on this machine.
func sources() (dir string, ok bool) {
	if testing.Testing() {
		return ".", true // go test runs the program in its package's folder
	}
	_, file, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(file) {
		return "", false // the program was built with -trimpath
	}
	dir = filepath.Dir(file)
	_, err := os.Stat(dir)
	return dir, err == nil
}

var (
	mutex    sync.Mutex
	programs = make(map[string]*riscv.Program)
)

// built returns a guest, which it builds at most once. dir is a folder in the guest's module.
func built(ctx context.Context, dir string, g Guest) (*riscv.Program, error) {
	mutex.Lock()
	defer mutex.Unlock()
	if p := programs[g.file()]; p != nil {
		return p, nil
	}
	p, err := Build(ctx, dir, packagePath(g), g.Tags...)
	if err == nil {
		programs[g.file()] = p
	}
	return p, err
}

func packagePath(g Guest) string { return "github.com/zkbench/zkbench/riscv/guests/" + g.Package }

// BuildAll builds guests into one folder. The parameter dir is any folder in the module of the guests. The parameter
// to is the path of the folder for the results.
func BuildAll(ctx context.Context, dir, to string, all []Guest) error {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return fmt.Errorf("%w: %w", zkbench.ErrEnv, err)
	}
	to, err := filepath.Abs(to)
	if err != nil {
		return fmt.Errorf("%w: %w", zkbench.ErrEnv, err)
	}
	for _, g := range all {
		if err := BuildFile(ctx, filepath.Join(to, g.file()), dir, packagePath(g), g.Tags...); err != nil {
			return err
		}
	}
	return nil
}

// Build compiles a package for linux/riscv64 with build tags, and loads it. The parameter dir is the folder in which
// go build runs. The instructions depend only on the sources and the version of Go, not on the caller's build
// settings. Build returns a zkbench.ErrEnv if go build fails, for example on an error in the sources, and a
// zkbench.ErrParams if the package is not a program.
func Build(ctx context.Context, dir, pkg string, tags ...string) (*riscv.Program, error) {
	to, err := os.MkdirTemp("", "zkbench-guest-")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", zkbench.ErrEnv, err)
	}
	defer os.RemoveAll(to)
	path := filepath.Join(to, "guest")
	if err := BuildFile(ctx, path, dir, pkg, tags...); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", zkbench.ErrEnv, err)
	}
	if bytes.HasPrefix(raw, []byte("!<arch>")) {
		return nil, fmt.Errorf("%w: program: %s is not a package main", zkbench.ErrParams, filepath.Join(dir, pkg))
	}
	return riscv.Load(raw, nil)
}

// BuildFile compiles a package like Build, and writes the program to the file at the given path.
func BuildFile(ctx context.Context, path, dir, pkg string, tags ...string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", strings.Join(tags, ","), "-o", path, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "GORISCV64=rva20u64", "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: go build %s for linux/riscv64: %w\n%s", zkbench.ErrEnv, pkg, err, out)
	}
	return nil
}
