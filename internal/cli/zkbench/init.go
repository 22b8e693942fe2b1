package zkbench

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/env"
)

//go:embed templates
var templates embed.FS

// start is something that the command init begins: files that run as they are.
type start struct {
	name, short string
	files       [][2]string // the path that is written, and the template
	next        string      // a command that uses them, in their folder
	edit        func(text string) string
}

// byBranch is how the template of a gate names the action.
const byBranch = "zkbench/zkbench@main # better a commit, which nobody can move"

// pinned returns a workflow that names the action by commit, or by its branch if commit is not the full
// hash of a commit without changes.
func pinned(workflow, commit string) string {
	if !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(commit) {
		return workflow
	}
	return strings.Replace(workflow, byBranch, "zkbench/zkbench@"+commit+" # of the zkbench that wrote this file", 1)
}

func starts() []start {
	return []start{
		{
			"gate", "Write a workflow for GitHub that compares each pull request with its base",
			[][2]string{{".github/workflows/benchmarks.yml", "gate.yml"}},
			"zkbench compare --git HEAD~1..HEAD --bench ./... --gate 5%",
			func(text string) string { return pinned(text, env.Commit()) },
		},
		{
			"prover", "Write the file of a prover in any language, which zkbench exec measures",
			[][2]string{{"prover.yaml", "prover.yaml"}},
			"zkbench exec prover.yaml",
			nil,
		},
		{
			"guest", "Write a program in Go that runs as a RISC-V guest",
			[][2]string{{"main.go", "main.go.tmpl"}, {"go.mod", "go.mod.tmpl"}},
			"zkbench guest run . --input main.go",
			nil,
		},
	}
}

// initCommand returns the command init, which writes files to begin with.
func initCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init gate|prover|guest [DIR]",
		Short: "Write files to begin with: a gate for pull requests, a prover, a guest",
		Long:  "Write files to begin with, which run as they are. They have comments on what to change.",
		Args:  cobra.ArbitraryArgs,
		RunE:  cli.ACommand,
	}
	for _, s := range starts() {
		cmd.AddCommand(&cobra.Command{
			Use: s.name + " [DIR]", Short: s.short, Args: cobra.ArbitraryArgs,
			Long: s.short + ".\nDIR is the folder for the files, by default the current one. Files that exist already are not changed.",
			RunE: func(_ *cobra.Command, args []string) error {
				dir := "."
				switch len(args) {
				case 0:
				case 1:
					dir = filepath.Clean(args[0])
				default:
					return &argument.ValueError{Field: "argument of init", Value: args[1], Accepted: "one folder"}
				}
				return s.write(stdout, dir)
			},
		})
	}
	return cmd
}

// write writes the files into the folder dir and says what to do next. It changes nothing if one of the files exists.
func (s start) write(stdout io.Writer, dir string) error {
	var paths []string
	for _, file := range s.files {
		path := filepath.Join(dir, filepath.FromSlash(file[0]))
		_, err := os.Lstat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("init %s: %w; accepted: a folder that can be written", s.name, err)
		}
		if err == nil {
			return &argument.ValueError{Field: "init " + s.name, Value: path, Accepted: "a folder in which there is no such file"}
		}
		paths = append(paths, path)
	}
	for i, file := range s.files {
		text, err := templates.ReadFile("templates/" + file[1])
		if err == nil {
			err = os.MkdirAll(filepath.Dir(paths[i]), 0o755)
		}
		if s.edit != nil {
			text = []byte(s.edit(string(text)))
		}
		if err == nil {
			err = os.WriteFile(paths[i], text, 0o644)
		}
		if err != nil {
			return &cli.ExitError{Code: cli.ExitFailed, Text: err.Error()}
		}
		fmt.Fprintln(stdout, paths[i])
	}
	next := s.next
	if dir != "." {
		next = "cd -- " + argument.Quote(dir) + " && " + next
	}
	_, err := fmt.Fprintf(stdout, "try: %s\n", next)
	return err
}
