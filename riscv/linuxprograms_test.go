package riscv_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload/guestprogram"
	"github.com/zkbench/zkbench/riscv"
)

// programOutput is what a program has written, and the code that it has ended with.
type programOutput struct {
	Out, Err string
	Code     int
}

// underQEMU runs a program on QEMU's Linux, with pipes for its standard descriptors.
func underQEMU(t *testing.T, path, input string) programOutput {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), testsize.Program(t, "qemu", "qemu-riscv64"), path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	_ = cmd.Run() // its state says how it ended
	return programOutput{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// asGuest runs a program as a guest of this package.
func asGuest(t *testing.T, path, input string) (programOutput, *riscv.Result) {
	t.Helper()
	var out, errs bytes.Buffer
	p := must.Get(riscv.Load(must.Get(os.ReadFile(path))(t), nil))(t)
	r := must.Get(ended(riscv.Run(t.Context(), p, riscv.Options{Input: []byte(input), Stdout: &out, Stderr: &errs})))(t)
	return programOutput{out.String(), errs.String(), r.Exit}, r
}

// TestLinuxPrograms: static programs of C and C++ say and end with what they do under QEMU, in the same cycles each time.
func TestLinuxPrograms(t *testing.T) {
	const input = "one and\n another and"
	all := []string{"hello.c", "calls.c", "float.c", "hello.cpp", "threads.cpp"}
	for _, file := range testsize.Pick(all[:1], all, all) {
		t.Run(file, func(t *testing.T) {
			need := "gcc"
			if filepath.Ext(file) == ".cpp" {
				need = "g++"
			}
			compiler := testsize.Program(t, "riscv-"+need, "riscv64-linux-gnu-"+need)
			path := filepath.Join(t.TempDir(), "program")
			cmd := exec.CommandContext(t.Context(), compiler, "-static", "-O2", "-pthread", "-D_GNU_SOURCE", "-o", path, filepath.Join("testdata", "linux", file), "-lm")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			likeQEMU(t, path, input)
		})
	}
}

// TestRustAndZig: so do the programs of Rust and of Zig that testdata/linux/build.sh makes.
func TestRustAndZig(t *testing.T) {
	file := must.Get(os.Open("testdata/linux/programs.tar.gz"))(t)
	defer file.Close()
	archive := tar.NewReader(must.Get(gzip.NewReader(file))(t))
	var names []string
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Do(t, err)
		if header.Typeflag != tar.TypeReg {
			continue
		}
		names = append(names, header.Name)
		t.Run(header.Name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "program")
			must.Do(t, os.WriteFile(path, must.Get(io.ReadAll(archive))(t), 0o700))
			likeQEMU(t, path, "one and\n another and")
		})
	}
	golden.Equal(t, "programs", []string{"rust", "zig-fixed", "zig-free"}, names)
}

// TestGoFiles: what a program of Go asks of files has the answer that QEMU's Linux has of pipes, and of a path that is not
// there.
func TestGoFiles(t *testing.T) {
	testsize.Full(t)
	path := filepath.Join(t.TempDir(), "files")
	must.Do(t, guestprogram.BuildFile(t.Context(), path, ".", "./testdata/files"))
	likeQEMU(t, path, "some input")
}

func likeQEMU(t *testing.T, path, input string) {
	t.Helper()
	got, r := asGuest(t, path, input)
	_, again := asGuest(t, path, input)
	golden.Equal(t, "cycles of another run", r.Cycles, again.Cycles)
	golden.Equal(t, "what it says", underQEMU(t, path, input), got)
	golden.Equal(t, "calls that are missing", "[]", fmt.Sprint(r.Missing))
}
