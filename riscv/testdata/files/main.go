// Command files asks the system what a Go program asks about files, and prints the answers.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	say := func(what string, got any, err error) { fmt.Println(what, got, err) }
	info, err := os.Stdin.Stat()
	say("stat of stdin", info.Mode(), err)
	root, err := os.Stat("/")
	say("stat of /", root.IsDir(), err)
	_, err = os.Stat("/no/such")
	say("stat", nil, err)
	_, err = os.Lstat("/no/such")
	say("lstat", nil, err)
	for _, name := range []string{"/no/such", "/no"} {
		_, err = os.ReadFile(name)
		say("read", nil, err)
	}
	say("write", nil, os.WriteFile("/no/such", nil, 0o600))
	_, err = os.MkdirTemp("/no/such", "x")
	say("a folder for the time being", nil, err)
	say("mkdir", nil, os.MkdirAll("/", 0o700))
	say("remove", nil, os.Remove("/no/such"))
	say("remove all", nil, os.RemoveAll("/no/such"))
	say("rename", nil, os.Rename("/no/such", "/other"))
	say("chdir", nil, os.Chdir("/"))
	dir, err := os.Getwd()
	say("getwd", dir, err)
	abs, err := filepath.Abs("x")
	say("abs", abs, err)
	at, err := os.Stdin.Seek(0, io.SeekCurrent)
	say("seek", at, err)
	say("sync", nil, os.Stdout.Sync())
	_, err = os.Stdin.ReadAt(make([]byte, 1), 0)
	say("read at", nil, err)
	_, err = exec.LookPath("/no/such")
	say("look", nil, err)
	out := bufio.NewWriter(os.Stdout)
	n, err := io.Copy(out, os.Stdin)
	say("copied", n, err)
	out.Flush()
	n, err = io.Copy(os.Stdout, os.Stdin)
	say("copied", n, err)
	_, err = os.Stdin.Read(make([]byte, 1))
	say("the end", nil, err)
	say("close", nil, os.Stdin.Close())
	_, err = os.Stdin.Read(make([]byte, 1))
	say("closed", nil, err)
	os.Exit(5)
}
