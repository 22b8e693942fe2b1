// Package guestprogram builds programs in Go for package riscv, and finds those of this module.
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

// Guest is a program of this module: a package in riscv/guests, built with tags.
type Guest struct {
	Package string
	Tags    []string
}

// file is the guest's name in a folder.
func (g Guest) file() string { return strings.Join(append([]string{g.Package}, g.Tags...), ".") }

// Folder is where a program's guests stand, beside it.
func Folder(program string) string { return program + "-guests" }

// Find loads a guest: the one that was built with this program, or else one of the sources that this
// program is of. The error is a zkbench.ErrEnv where neither is at hand.
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

// sources is a folder of the module that this program was built from.
func sources() (dir string, ok bool) {
	if testing.Testing() {
		return ".", true // where go test runs it
	}
	_, file, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(file) {
		return "", false // which -trimpath makes of it
	}
	dir = filepath.Dir(file)
	_, err := os.Stat(dir)
	return dir, err == nil
}

var (
	mutex    sync.Mutex
	programs = make(map[string]*riscv.Program)
)

// built builds a guest of the module in a folder, once.
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

// BuildAll builds guests of the module in a folder to another folder.
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

// Build compiles a package of the module in a folder, with build tags, and loads it. What is
// executed of it depends on the sources and the version of Go alone, not on how the caller builds programs.
// The error is a zkbench.ErrEnv, or an ErrParams of what is no program.
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
		return nil, fmt.Errorf("%w: program: %s is no package main", zkbench.ErrParams, filepath.Join(dir, pkg))
	}
	return riscv.Load(raw, nil)
}

// BuildFile is Build to a file.
func BuildFile(ctx context.Context, path, dir, pkg string, tags ...string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", strings.Join(tags, ","), "-o", path, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "GORISCV64=rva20u64", "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: go build %s for linux/riscv64: %w\n%s", zkbench.ErrEnv, pkg, err, out)
	}
	return nil
}
