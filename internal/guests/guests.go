// Package guests builds programs in Go for package riscv.
package guests

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/riscv"
)

// Build compiles a package of the module in a directory, with build tags, and loads it. What is
// executed of it depends on the sources and the version of Go alone, not on the caller's environment.
// The error is a zkbench.ErrEnv.
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
	return riscv.Load(raw, nil)
}

// BuildFile is Build to a file.
func BuildFile(ctx context.Context, path, dir, pkg string, tags ...string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", strings.Join(tags, ","), "-o", path, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "GORISCV64=rva20u64", "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: go build %s for linux/riscv64: %w\n%s", zkbench.ErrEnv, pkg, err, out)
	}
	return nil
}
