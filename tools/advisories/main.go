// Command advisories fails if a module that this repository needs has an advisory in govulncheck's
// database, even if the vulnerable code is never called:
//
//	go run -C tools ./advisories [-db URL] DIR...
//
// Each DIR is the directory of a module. The check includes modules that only tests need. Without
// a network the database cannot be fetched: the command then skips the check, and prints a
// message that the check was skipped.
//
// The exit code is 0 if there is no advisory or the check was skipped, 1 if there is an advisory,
// and 2 if the check failed.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	db := flag.String("db", "", "URL of another database of advisories, file:///DIR for example")
	flag.Parse()
	os.Exit(check(os.Stdout, os.Stderr, *db, flag.Args()))
}

// check checks the modules in these directories and returns the exit code.
func check(stdout, stderr io.Writer, db string, dirs []string) (code int) {
	if len(dirs) == 0 {
		fmt.Fprintln(stderr, "advisories: no modules; accepted: directories that have a go.mod")
		return 2
	}
	for _, dir := range dirs {
		found, err := advisories(db, dir)
		if skipped, ok := errors.AsType[*unreachable](err); ok {
			fmt.Fprintf(stdout, "SKIPPED: advisories of %s: %v\n", dir, skipped)
			continue
		}
		if err != nil {
			fmt.Fprintf(stderr, "advisories: %s: %v\n", dir, err)
			return 2
		}
		for _, a := range found {
			fmt.Fprintf(stderr, "advisories: %s: %s\n", dir, a)
			code = 1
		}
		if len(found) == 0 {
			fmt.Fprintf(stdout, "advisories: %s: none\n", dir)
		}
	}
	return code
}

// unreachable is the error if the database cannot be fetched.
type unreachable struct{ reason string }

func (e *unreachable) Error() string { return "the database cannot be fetched: " + e.reason }

// fetching is how govulncheck's error begins if it cannot fetch the database.
const fetching = "fetching vulnerabilities: "

// advisories returns one line for each advisory on a module that the module in dir needs.
func advisories(db, dir string) (lines []string, err error) {
	args := []string{"tool", "govulncheck", "-C", dir, "-format", "json", "-scan", "package", "-test"}
	if db != "" {
		args = append(args, "-db", db)
	}
	cmd := exec.Command("go", append(args, "./...")...)
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if _, reason, ok := strings.Cut(messages.String(), fetching); err != nil && ok && !strings.HasPrefix(db, "file:") {
		return nil, &unreachable{strings.TrimSpace(reason)}
	}
	if err != nil {
		return nil, fmt.Errorf("govulncheck: %w: %s", err, strings.TrimSpace(messages.String()))
	}
	return read(out)
}

// message is one of govulncheck's messages. Those without an OSV and a Finding are ignored.
type message struct {
	OSV *struct {
		ID, Summary string
	}
	Finding *struct {
		OSV   string
		Fixed string `json:"fixed_version"`
		Trace []struct {
			Module, Version string
		}
	}
}

// read parses govulncheck's messages and returns one line for each pair of module and advisory.
func read(out []byte) (lines []string, err error) {
	summaries := make(map[string]string)
	for in := json.NewDecoder(bytes.NewReader(out)); ; {
		var m message
		if err := in.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("govulncheck: %w", err)
		}
		if m.OSV != nil {
			summaries[m.OSV.ID] = m.OSV.Summary
		}
		if f := m.Finding; f != nil && len(f.Trace) > 0 {
			at := f.Trace[0]
			line := fmt.Sprintf("%s %s has advisory %s: %s; without it: %s", at.Module, at.Version, f.OSV, summaries[f.OSV], cmp.Or(f.Fixed, "no version"))
			if !slices.Contains(lines, line) { // several symbols of a module repeat it
				lines = append(lines, line)
			}
		}
	}
	return lines, nil
}
