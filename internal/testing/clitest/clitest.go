// Package clitest has helpers for tests of commands: commands for testscripts, and workloads with trivial operations,
// some of which fail.
package clitest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Scripts runs the testscripts in dir, or only the given files if there are any. The testscripts may use the
// commands "exits", "found", "lines", "pack" and "refuse", in addition to those of package testscript.
func Scripts(t *testing.T, dir string, files ...string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir: dir, Files: files,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// exits CODE COMMAND ... requires the command to exit with this code.
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				exits(ts, args[0], args[1:])
			},
			// found NAME PATTERN sets the variable to what the pattern's group matches in the last command's output.
			"found": func(ts *testscript.TestScript, _ bool, args []string) {
				match := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
				if len(match) != 2 {
					ts.Fatalf("no %s with one group in the output", args[1])
				}
				ts.Setenv(args[0], match[1])
			},
			// lines FILE MOST requires the file to have at most MOST lines.
			"lines": func(ts *testscript.TestScript, _ bool, args []string) {
				most, err := strconv.Atoi(args[1])
				ts.Check(err)
				if n := strings.Count(ts.ReadFile(args[0]), "\n"); n > most {
					ts.Fatalf("%d lines, at most %d wanted", n, most)
				}
			},
			// pack FILE replaces the file by FILE.gz.
			"pack": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(pack(ts.MkAbs(args[0])))
			},
			// refuse COMMAND ... requires exit code 2, one line on stderr, and no output.
			"refuse": func(ts *testscript.TestScript, _ bool, args []string) {
				exits(ts, "2", args)
				if out := ts.ReadFile("stdout"); out != "" {
					ts.Fatalf("output of a refused command: %s", out)
				}
				if lines := strings.Count(ts.ReadFile("stderr"), "\n"); lines != 1 {
					ts.Fatalf("%d lines on stderr, want 1", lines)
				}
			},
		},
	})
}

func pack(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path+record.Packed, b.Bytes(), 0o666), os.Remove(path))
}

// exits runs a command and requires it to exit with want: a code, or several separated by commas if it depends
// on the machine.
func exits(ts *testscript.TestScript, want string, args []string) {
	got := 0
	if err := ts.Exec(args[0], args[1:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if !slices.Contains(strings.Split(want, ","), strconv.Itoa(got)) {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}

// ExitCode waits for a command that was started, and returns its exit code.
func ExitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}
